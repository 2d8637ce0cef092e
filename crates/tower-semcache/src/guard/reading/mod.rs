//! A text as the rules see it.

mod amounts;
mod language;
mod terms;
mod token;

pub(super) use self::token::Token;

use super::amount::Amount;
use super::lexicon::{Entry, Lexicon};
use super::words::{Word, Words};

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
        self.word(token.first).is_some_and(|(_, word)| word.opens())
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
}
