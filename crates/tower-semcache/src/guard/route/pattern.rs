//! A row of words.

/// A pattern of `route.txt`, without its first word.
#[derive(Debug)]
pub(super) struct Pattern {
    begins: Place,
    rest: Vec<Part>,
}

/// What begins with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Within,
    Sentence,
    Text,
}

#[derive(Debug)]
enum Part {
    /// One of these words; `#` is any number.
    Word(Vec<&'static str>),
    /// The text ends.
    End,
    /// None to two words.
    Gap,
}

/// How many words a gap may hold.
const GAP: usize = 2;

// === impl Pattern ===

impl Pattern {
    pub(super) fn new(line: &'static str) -> Self {
        let words = line.trim_start_matches('^');
        Self {
            begins: match line.len() - words.len() {
                0 => Place::Within,
                1 => Place::Text,
                _ => Place::Sentence,
            },
            rest: words.split_whitespace().skip(1).map(Part::new).collect(),
        }
    }

    /// The words that it may begin with.
    pub(super) fn first(line: &'static str) -> impl Iterator<Item = &'static str> {
        let mut words = line.trim_start_matches('^').split_whitespace();
        words.next().unwrap_or_default().split('/')
    }

    /// How many words it takes behind its first, where that stands at `place`.
    pub(super) fn matches(&self, rest: &[&str], place: Place) -> Option<usize> {
        (place >= self.begins).then(|| matched(&self.rest, rest))?
    }
}

fn matched(parts: &[Part], words: &[&str]) -> Option<usize> {
    let Some((part, parts)) = parts.split_first() else {
        return Some(0);
    };
    match part {
        Part::Gap => (0..=GAP.min(words.len())).find_map(|gap| {
            let taken = matched(parts, words.get(gap..)?)?;
            Some(gap + taken)
        }),
        Part::End => words.is_empty().then_some(0),
        Part::Word(_) => {
            let (word, rest) = words.split_first()?;
            let taken = part.fits(word).then(|| matched(parts, rest))??;
            Some(taken + 1)
        }
    }
}

// === impl Part ===

impl Part {
    fn new(part: &'static str) -> Self {
        match part {
            "*" => Self::Gap,
            "$" => Self::End,
            words => Self::Word(words.split('/').collect()),
        }
    }

    /// Whether this word is the part.
    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Word(words) => words
                .iter()
                .any(|known| *known == word || (*known == "#" && is_number(word))),
            Self::Gap | Self::End => false,
        }
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || "$£€¥".contains(c))
}
