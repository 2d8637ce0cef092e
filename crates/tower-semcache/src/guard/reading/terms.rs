//! Words and terms: what they are, and whether they are names.

use super::Reading;
use super::token::Token;
use crate::guard::amount::Amount;
use crate::guard::lexicon::{Entry, Role};
use crate::guard::stem::stem;
use crate::guard::words::Case;

impl Reading<'_> {
    /// Where function words have capitals, or every word has, capitals say nothing.
    pub(super) fn capitals_mean_names(&self) -> bool {
        let mut lower = false;
        for (word, entry) in self.words.words.iter().zip(&self.known) {
            let text = self.words.text(word);
            if word.case == Case::Lower && text.starts_with(char::is_alphabetic) {
                lower = true;
            }
            let shouted = word.case != Case::Lower && !word.opens() && text.len() > 1;
            if shouted && entry.is_some_and(|entry| entry.has(Role::Function)) {
                return false;
            }
        }
        lower
    }

    /// Reads a term at `at`; how many words it took.
    pub(super) fn term(
        &mut self,
        phrase: Option<(usize, &'static Entry)>,
        at: usize,
        names: bool,
    ) -> usize {
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
        let opens = word.opens()
            || (word.parted && self.tokens.iter().all(|token| token.has(Role::Chatter)));
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
}

#[cfg(test)]
mod tests {
    use super::Reading;

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
}
