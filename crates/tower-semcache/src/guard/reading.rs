//! A text as the rules see it.

use super::amount::{Amount, Written};
use super::lexicon::{Entry, Lexicon, Number, Role};
use super::stem::stem;
use super::words::{Case, Word, Words};

/// A text cut into tokens, with its amounts.
#[derive(Debug)]
pub(super) struct Reading<'t> {
    pub(super) source: &'t str,
    pub(super) words: Words,
    /// What the tables say of each word.
    known: Vec<Option<&'static Entry>>,
    pub(super) tokens: Vec<Token>,
    pub(super) amounts: Vec<Amount>,
    /// Whether the tables know the language of the text.
    pub(super) covered: bool,
}

/// A word, a term of several words, or an amount.
#[derive(Clone, Debug)]
pub(super) struct Token {
    first: usize,
    count: usize,
    /// The length of its stem.
    stem: usize,
    pub(super) entry: Option<&'static Entry>,
    /// Which of the amounts it is.
    pub(super) amount: Option<usize>,
    /// Written like a name, or with digits in it.
    pub(super) name: bool,
    /// A clause begins here.
    pub(super) parted: bool,
}

/// How far "in the morning" may stand from its hour.
const NEAR: usize = 5;

// === impl Reading ===

impl<'t> Reading<'t> {
    pub(super) fn new(source: &'t str) -> Self {
        let lexicon = Lexicon::get();
        let words = Words::new(source);
        let mut reading = Self {
            known: words.texts().map(|word| lexicon.word(word)).collect(),
            source,
            tokens: Vec::with_capacity(words.words.len()),
            amounts: Vec::new(),
            covered: false,
            words,
        };
        let names = reading.capitals_mean_names();
        let mut at = 0;
        while at < reading.words.words.len() {
            let phrase = lexicon.phrase(reading.texts(at));
            // "two factor authentication" counts nothing.
            let counts = phrase.is_none_or(|(_, entry)| entry.unit.is_some());
            let taken = if counts {
                reading.amount(lexicon, at)
            } else {
                0
            };
            at += if taken > 0 {
                taken
            } else {
                reading.term(phrase, at, names)
            };
        }
        reading.covered = reading.is_covered();
        reading
    }

    pub(super) fn text(&self, token: &Token) -> &str {
        self.words.span(token.first, token.count)
    }

    /// What is known of the first word of a term.
    pub(super) fn first_word(&self, token: &Token) -> Option<&'static Entry> {
        self.known(token.first)
    }

    /// The last word of a term, and what is known of it.
    pub(super) fn last_word(&self, token: &Token) -> Option<(&str, Option<&'static Entry>)> {
        let at = (token.first + token.count).checked_sub(1)?;
        let (text, _) = self.word(at)?;
        Some((text, self.known(at)))
    }

    /// Whether a sentence begins with the token.
    pub(super) fn opens(&self, token: &Token) -> bool {
        self.word(token.first).is_some_and(|(_, word)| word.opens)
    }

    /// The tokens that carry what the text is about.
    pub(super) fn matter(&self) -> impl Iterator<Item = (usize, &Token)> {
        self.tokens
            .iter()
            .enumerate()
            .filter(|(_, token)| token.is_matter())
    }

    /// The stem of a word; a term of several is its own.
    pub(super) fn stem(&self, token: &Token) -> &str {
        let text = self.text(token);
        text.get(..token.stem).unwrap_or(text)
    }

    fn known(&self, at: usize) -> Option<&'static Entry> {
        self.known.get(at).copied().flatten()
    }

    /// The words from `at` on.
    fn texts(&self, at: usize) -> impl Iterator<Item = &str> + Clone {
        let rest = self.words.words.get(at..).unwrap_or_default();
        rest.iter().map(|word| self.words.text(word))
    }

    fn word(&self, at: usize) -> Option<(&str, &Word)> {
        let word = self.words.words.get(at)?;
        Some((self.words.text(word), word))
    }

    /// Where function words have capitals, or every word has, capitals say nothing.
    fn capitals_mean_names(&self) -> bool {
        let mut lower = false;
        for (word, entry) in self.words.words.iter().zip(&self.known) {
            let text = self.words.text(word);
            if word.case == Case::Lower && text.starts_with(char::is_alphabetic) {
                lower = true;
            }
            let shouted = word.case != Case::Lower && !word.opens && text.len() > 1;
            if shouted && entry.is_some_and(|entry| entry.has(Role::Function)) {
                return false;
            }
        }
        lower
    }

    /// Reads an amount at `at`; how many words it took.
    fn amount(&mut self, lexicon: &'static Lexicon, at: usize) -> usize {
        let index = self.tokens.len();
        let Some((text, word)) = self.word(at) else {
            return 0;
        };
        let parted = word.parted;
        let mut taken = 1;
        let mut unit = None;
        let mut amount;
        if let Some(sign) = self.known(at).and_then(|entry| entry.unit)
            && let Some(written) = self
                .word(at + 1)
                .and_then(|(text, _)| Written::read(text, index))
            && written.amount.unit.is_none()
        {
            // "$50", "GBP 50".
            unit = Some(sign);
            taken = 2;
            amount = written.amount;
            if !self.finish(lexicon, &mut amount, written.suffix) {
                return 0;
            }
        } else if text.starts_with(|c: char| c.is_ascii_digit()) {
            let Some(written) = Written::read(text, index) else {
                return 0;
            };
            amount = written.amount;
            if !self.finish(lexicon, &mut amount, written.suffix) {
                return 0;
            }
        } else {
            match self.known(at).and_then(|entry| entry.number) {
                Some(Number::Is(value)) => amount = Amount::whole(value, index),
                Some(Number::Times(factor)) if text.len() > 2 => {
                    amount = Amount::whole(factor, index);
                }
                _ => return 0,
            }
        }
        while let Some(entry) = self.known(at + taken) {
            match entry.number {
                Some(Number::Times(factor)) => amount.times(factor),
                Some(Number::Is(value)) if amount.plus(value) => {}
                _ => break,
            }
            taken += 1;
        }
        if amount.unit.is_none() {
            amount.unit = unit;
        }
        taken += self.bind(lexicon, &mut amount, at + taken);
        self.tokens.push(Token {
            first: at,
            count: taken,
            stem: usize::MAX,
            entry: None,
            amount: Some(self.amounts.len()),
            name: false,
            parted,
        });
        self.amounts.push(amount);
        taken
    }

    /// Applies the letters that stand right behind the digits; false where they make a name of them.
    fn finish(&self, lexicon: &Lexicon, amount: &mut Amount, suffix: &str) -> bool {
        if matches!(suffix, "" | "st" | "nd" | "rd" | "th" | "s") {
            return true;
        }
        let Some(entry) = lexicon.word(suffix) else {
            return false;
        };
        if let Some(Number::Times(factor)) = entry.number {
            amount.times(factor);
            return true;
        }
        if entry.has(Role::Forenoon) || entry.has(Role::Afternoon) {
            return amount.at_hour(entry.has(Role::Afternoon));
        }
        amount.unit = entry.unit;
        entry.unit.is_some()
    }

    /// The unit behind an amount, or its time of the day; how many words that took.
    fn bind(&self, lexicon: &Lexicon, amount: &mut Amount, at: usize) -> usize {
        let entry = self.known(at);
        let half = |role| entry.is_some_and(|entry| entry.has(role));
        if half(Role::Forenoon) || half(Role::Afternoon) {
            return usize::from(amount.at_hour(half(Role::Afternoon)));
        }
        if amount.unit.is_some() {
            return 0;
        }
        if let Some((count, entry)) = lexicon.phrase(self.texts(at))
            && let Some(unit) = entry.unit
        {
            amount.unit = Some(unit);
            return count;
        }
        if let Some(unit) = entry.and_then(|entry| entry.unit) {
            amount.unit = Some(unit);
            return 1;
        }
        let near = self.known.iter().skip(at).take(NEAR);
        for entry in near.copied().flatten() {
            if entry.number.is_some() {
                break;
            }
            let (early, late) = (entry.has(Role::Forenoon), entry.has(Role::Afternoon));
            if (early || late) && !entry.has(Role::Function) {
                amount.at_hour(late);
                break;
            }
        }
        0
    }

    /// Reads a term at `at`; how many words it took.
    fn term(&mut self, phrase: Option<(usize, &'static Entry)>, at: usize, names: bool) -> usize {
        let Some((text, word)) = self.word(at) else {
            return 1;
        };
        let (count, entry) = match phrase {
            Some((count, entry)) => (count, Some(entry)),
            None => (1, self.known(at)),
        };
        let has = |role| entry.is_some_and(|entry| entry.has(role));
        let function = has(Role::Function) || has(Role::Chatter);
        let idle = function || has(Role::Light);
        let term = function || (count > 1 && idle);
        // "Excuse me, Where": the sentence begins after the courtesy.
        let opens =
            word.opens || (word.parted && self.tokens.iter().all(|token| token.has(Role::Chatter)));
        // "package A": no article has a capital within a sentence.
        let letter = text.len() == 1 && text != "i";
        let cased = match word.case {
            Case::Lower => false,
            Case::Capital => names && !opens && (!term || letter),
            Case::Upper => names && !idle,
        };
        // "==" and "=" are two things; "%" and "$" are units.
        let unit = entry.and_then(|entry| entry.unit);
        let sign = !text.starts_with(char::is_alphanumeric) && unit.is_none();
        let technical = sign
            || text
                .chars()
                .any(|c| c.is_ascii_digit() || matches!(c, '@' | '_'))
            || text
                .get(1..)
                .is_some_and(|rest| rest.contains(['.', '+', '#', ':', '/']));
        let token = Token {
            first: at,
            count,
            stem: if count > 1 || function {
                usize::MAX
            } else {
                stem(text).len()
            },
            entry,
            amount: None,
            name: cased || technical,
            parted: word.parted,
        };
        // "in a mile": one of that unit.
        let single = at.checked_sub(1).and_then(|before| self.known(before));
        if let Some(unit) = unit.filter(|_| single.is_some_and(|entry| entry.has(Role::Single))) {
            self.amounts.push(Amount::single(unit, self.tokens.len()));
        }
        self.tokens.push(token);
        count
    }

    fn is_covered(&self) -> bool {
        if !self.source.chars().all(is_latin) {
            return false;
        }
        let (mut english, mut foreign, mut all) = (0, 0, 0);
        for token in self.tokens.iter().filter(|token| token.amount.is_none()) {
            all += 1;
            match token.entry {
                Some(entry) if entry.has(Role::Foreign) => {
                    foreign += usize::from(!entry.has(Role::Function));
                }
                Some(_) => english += 1,
                None if !token.name && !self.text(token).is_ascii() => foreign += 1,
                None => {}
            }
        }
        english > 0 && english >= foreign && english * 4 >= all
    }
}

/// Letters of the Latin script, and everything that is no letter.
fn is_latin(c: char) -> bool {
    !c.is_alphabetic()
        || c < '\u{250}'
        || ('\u{1e00}'..'\u{1f00}').contains(&c)
        || matches!(c, 'ʼ' | 'Ω' | 'µ')
}

// === impl Token ===

impl Token {
    pub(super) fn has(&self, role: Role) -> bool {
        self.entry.is_some_and(|entry| entry.has(role))
    }

    /// Whether a difference in it is one of substance.
    pub(super) fn is_matter(&self) -> bool {
        let idle = [Role::Function, Role::Light, Role::Chatter, Role::Negation];
        let idle = idle.into_iter().any(|role| self.has(role));
        self.amount.is_none() && (self.name || !idle)
    }

    /// Its words.
    pub(super) const fn words(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }

    /// Whether it is several words of a table.
    pub(super) const fn is_phrase(&self) -> bool {
        self.count > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(text: &str) -> usize {
        Reading::new(text).amounts.len()
    }

    #[test]
    fn every_kind_of_amount_is_read() {
        for text in [
            "£5",
            "5 km",
            "5km",
            "five kilometres",
            "15%",
            "half past 7",
            "7 pm",
            "2-year",
            "USD 50",
        ] {
            assert_eq!(amounts(text), 1, "{text}");
        }
        assert_eq!(amounts("two hundred and twenty five"), 2);
        assert_eq!(amounts("two factor authentication"), 0);
    }

    #[test]
    fn capitals_are_names_only_where_they_are_rare() {
        let names = |text: &str| {
            let reading = Reading::new(text);
            reading.tokens.iter().filter(|token| token.name).count()
        };
        assert_eq!(names("Fly with Norwind to Bergen"), 2);
        assert_eq!(names("DO YOU SELL GIFT CARDS"), 0);
        assert_eq!(names("Do You Sell Gift Cards"), 0);
        assert_eq!(names("my P60 form"), 1);
    }

    #[test]
    fn texts_in_other_languages_are_not_covered() {
        for text in [
            "Wie kündige ich mein Abo?",
            "¿Cómo cancelo mi pedido?",
            "comment puis-je annuler ma commande",
            "如何取消订单",
            "как отменить заказ",
            "",
        ] {
            assert!(!Reading::new(text).covered, "{text}");
        }
        for text in [
            "How do I cancel?",
            "what does 'wie geht es dir' mean in English",
            "café opening hours",
        ] {
            assert!(Reading::new(text).covered, "{text}");
        }
    }
}
