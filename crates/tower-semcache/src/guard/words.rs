//! A text as a row of words: lower case, short forms written out, punctuation gone.

use std::ops::Range;
use std::sync::LazyLock;

use super::hash::Table;
use super::table;

/// A text cut into words.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The words, one after the other, as they are compared.
    buffer: String,
    pub(super) words: Vec<Word>,
}

/// One word, number or sign.
#[derive(Clone, Debug)]
pub(super) struct Word {
    range: Range<usize>,
    pub(super) case: Case,
    /// Whether a sentence begins with it.
    pub(super) opens: Opens,
    /// A comma or another sign stands before it.
    pub(super) parted: bool,
}

/// What begins with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Opens {
    /// Nothing.
    Nothing,
    /// A line, or what stands after a colon.
    Line,
    /// A sentence, the text's first or after a full stop.
    Sentence,
}

/// How a word was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// No capital.
    Lower,
    /// A capital first.
    Capital,
    /// Several capitals, or one within.
    Upper,
}

/// Short forms and what they stand for.
struct Contractions {
    whole: Table<&'static str, &'static str>,
    /// Words that capitals make another word: "US".
    capitals: Table<&'static str, &'static str>,
    endings: Vec<(&'static str, &'static str)>,
}

static CONTRACTIONS: LazyLock<Contractions> = LazyLock::new(Contractions::load);

// === impl Words ===

impl Words {
    pub(super) fn new(text: &str) -> Self {
        let mut words = Self {
            buffer: String::with_capacity(text.len() + 16),
            words: Vec::with_capacity(text.len() / 4 + 4),
        };
        words.read(text);
        words
    }

    pub(super) fn text(&self, word: &Word) -> &str {
        self.buffer.get(word.range.clone()).unwrap_or_default()
    }

    /// The words from `first` on, `count` of them, with blanks between.
    pub(super) fn span(&self, first: usize, count: usize) -> &str {
        let start = self.words.get(first).map(|word| word.range.start);
        let last = self.words.get((first + count).saturating_sub(1));
        start
            .zip(last.map(|word| word.range.end))
            .and_then(|(start, end)| self.buffer.get(start..end))
            .unwrap_or_default()
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| self.text(word))
    }

    fn read(&mut self, text: &str) {
        let calm = text.contains(char::is_lowercase);
        let mut end = 0;
        let (mut opens, mut parted) = (Opens::Sentence, false);
        while let Some(c) = char_at(text, end) {
            let start = end;
            end += c.len_utf8();
            if c.is_alphanumeric() {
                end = word_end(text, start, end);
                let word = text.get(start..end).unwrap_or_default();
                let shouted = calm && word.starts_with(|c: char| c.is_ascii_uppercase());
                let capital = shouted.then(|| CONTRACTIONS.capitals.get(word)).flatten();
                self.push(capital.copied().unwrap_or(word), opens, parted);
                (opens, parted) = (Opens::Nothing, false);
            } else if c.is_whitespace() {
                if c == '\n' {
                    (opens, parted) = (opens.max(Opens::Line), true);
                }
            } else if is_sign(c) {
                self.sign(c, parted);
                (opens, parted) = (Opens::Nothing, false);
            } else if c == '-' && self.is_minus(text, start) {
                self.sign(c, parted);
            } else if !is_mute(c) {
                parted = true;
                opens = opens.max(match c {
                    '.' | '!' | '?' | '\u{2026}' => Opens::Sentence,
                    ':' => Opens::Line,
                    _ => Opens::Nothing,
                });
            }
        }
    }

    /// A minus stands between numbers, with a blank behind it, or right before one that begins.
    fn is_minus(&self, text: &str, at: usize) -> bool {
        let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let (before, rest) = (text.get(..at), text.get(at + 1..));
        let (before, rest) = (before.unwrap_or_default(), rest.unwrap_or_default());
        let counted = self
            .words
            .last()
            .is_some_and(|word| number(self.text(word)));
        let apart = before.is_empty() || before.ends_with([' ', '(']);
        if counted {
            rest.starts_with(' ') && number(rest.trim_start())
        } else {
            apart && number(rest)
        }
    }

    fn sign(&mut self, sign: char, parted: bool) {
        let start = self.buffer.len();
        self.buffer.push(sign);
        self.add(start, Case::Lower, Opens::Nothing, parted);
    }

    fn push(&mut self, word: &str, opens: Opens, parted: bool) {
        let case = Case::of(word);
        let start = self.buffer.len();
        if word.is_ascii() {
            self.buffer.push_str(word);
            if let Some(lower) = self.buffer.get_mut(start..).filter(|_| case != Case::Lower) {
                lower.make_ascii_lowercase();
            }
        } else {
            for c in word.chars() {
                if matches!(c, '’' | '‘' | 'ʼ') {
                    self.buffer.push('\'');
                } else {
                    self.buffer.extend(c.to_lowercase());
                }
            }
        }
        let lower = self.buffer.get(start..).unwrap_or_default();
        if let Some(long) = CONTRACTIONS.whole.get(lower) {
            self.buffer.truncate(start);
            return self.expand(long, case, opens, parted);
        }
        if let Some(at) = lower.find('\'') {
            let (stem, ending) = (&lower.get(..at), &lower.get(at..));
            if let (Some(stem), Some("'s" | "'")) = (stem, ending) {
                let length = stem.len();
                self.buffer.truncate(start + length);
                return self.add(start, case, opens, parted);
            }
            let known = CONTRACTIONS.endings.iter();
            for (short, long) in known {
                if let Some(stem) = lower.strip_suffix(short) {
                    let length = stem.len();
                    self.buffer.truncate(start + length);
                    self.add(start, case, opens, parted);
                    return self.expand(long, Case::Lower, Opens::Nothing, false);
                }
            }
        }
        self.add(start, case, opens, parted);
    }

    fn expand(&mut self, long: &str, case: Case, opens: Opens, parted: bool) {
        for (at, word) in long.split(' ').enumerate() {
            let start = self.buffer.len();
            self.buffer.push_str(word);
            let opens = if at == 0 { opens } else { Opens::Nothing };
            self.add(start, case, opens, parted && at == 0);
        }
    }

    fn add(&mut self, start: usize, case: Case, opens: Opens, parted: bool) {
        let range = start..self.buffer.len();
        if !range.is_empty() {
            // What several words say is read as one piece of the buffer.
            self.buffer.push(' ');
            self.words.push(Word {
                range,
                case,
                opens,
                parted,
            });
        }
    }
}

fn is_inner(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || c.is_alphanumeric()
        || matches!(c, '\'' | '’' | '‘' | 'ʼ')
        || is_mark(c)
}

/// Signs that are words of their own.
fn is_sign(c: char) -> bool {
    matches!(
        c,
        '$' | '£'
            | '€'
            | '¥'
            | '₹'
            | '₩'
            | '%'
            | '°'
            | '+'
            | '*'
            | '/'
            | '^'
            | '='
            | '<'
            | '>'
            | '&'
            | '|'
            | '~'
    )
}

fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

/// Where the word ends that goes from `start` to `end` at least.
fn word_end(text: &str, start: usize, mut end: usize) -> usize {
    loop {
        let rest = text.as_bytes().get(end..).unwrap_or_default();
        end += rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        let Some(c) = char_at(text, end) else {
            return end;
        };
        let goes_on = is_inner(c) || {
            let rest = text.get(end + c.len_utf8()..).unwrap_or_default();
            !c.is_whitespace() && joins(c, text.get(start..end).unwrap_or_default(), rest)
        };
        if !goes_on {
            return end;
        }
        end += c.len_utf8();
    }
}

/// Hyphens join words, quotes surround them: neither ends a clause.
fn is_mute(c: char) -> bool {
    matches!(
        c,
        '-' | '‐' | '‑' | '_' | '"' | '\'' | '`' | '“' | '”' | '„' | '«' | '»' | '‘' | '’'
    )
}

/// A combining mark belongs to the letter before it.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200d}' | '\u{fe0f}')
}

/// Whether a sign goes on with the word: `3.5`, `1,000`, `9:15`, `node.js`, `a@b.c`, `C++`, `5/6`.
fn joins(c: char, word: &str, rest: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    let numeric = word.ends_with(digit) && rest.starts_with(digit);
    match c {
        '.' | '@' | '_' => rest.starts_with(char::is_alphanumeric),
        ',' | ':' | '/' => numeric && word.starts_with(digit),
        '-' => numeric && is_date(word),
        '+' => word.len() <= 2 && (rest.starts_with('+') || word.ends_with('+')),
        '#' => word.len() == 1,
        _ => false,
    }
}

/// The beginning of a date: `2021` or `2021-03`.
fn is_date(word: &str) -> bool {
    let (year, month) = word.split_once('-').unwrap_or((word, "00"));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    year.len() == 4 && month.len() == 2 && digits(year) && digits(month)
}

// === impl Word ===

impl Word {
    /// Whether a capital of it says nothing: it begins a sentence or a line.
    pub(super) fn opens(&self) -> bool {
        self.opens != Opens::Nothing
    }
}

// === impl Case ===

impl Case {
    fn of(word: &str) -> Self {
        let (first, more) = if word.is_ascii() {
            let mut bytes = word.bytes();
            let first = bytes.next().is_some_and(|byte| byte.is_ascii_uppercase());
            (first, bytes.any(|byte| byte.is_ascii_uppercase()))
        } else {
            let mut chars = word.chars();
            let first = chars.next().is_some_and(char::is_uppercase);
            (first, chars.any(char::is_uppercase))
        };
        match (first, more) {
            (_, true) => Self::Upper,
            (true, false) => Self::Capital,
            (false, false) => Self::Lower,
        }
    }
}

// === impl Contractions ===

impl Contractions {
    fn load() -> Self {
        let mut all = Self {
            whole: Table::default(),
            capitals: Table::default(),
            endings: Vec::new(),
        };
        for (section, line) in table::sections(include_str!("data/stems.txt")) {
            match (section, line.split_once(' ')) {
                ("irregular", Some((short, long))) => {
                    all.whole.insert(short, long);
                }
                ("capitals", Some((short, long))) => {
                    all.capitals.insert(short, long);
                }
                ("contractions", Some(ending)) => all.endings.push(ending),
                _ => {}
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        Words::new(text).texts().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn short_forms_are_written_out_and_punctuation_goes() {
        assert_eq!(words("What’s up, don't stop!"), "what is up do not stop");
        assert_eq!(words("I can't; they'll"), "i can not they will");
        assert_eq!(words("part-time, e-mail"), "part time e mail");
    }

    #[test]
    fn numbers_signs_and_technical_names_stay_whole() {
        assert_eq!(words("£1,000 at 9:15 (v3.11)"), "£ 1,000 at 9:15 v3.11");
        assert_eq!(
            words("C++ and C# on node.js, a@b.org"),
            "c++ and c# on node.js a@b.org"
        );
        assert_eq!(words("10 - 2 or 10-2 or 5/6"), "10 - 2 or 10 2 or 5/6");
        assert_eq!(words("50% of 3"), "50 % of 3");
    }

    #[test]
    fn a_possessive_is_cut() {
        assert_eq!(
            words("Ann's book, the dogs' bowl"),
            "ann book the dogs bowl"
        );
    }
}
