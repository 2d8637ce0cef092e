//! Whether a message leans on what was said before it.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::guard::reading::Reading;
use crate::guard::table;

/// The words of `history.txt`.
struct Leaning {
    sections: HashMap<&'static str, HashSet<&'static str>>,
    continues: Vec<Vec<&'static str>>,
    requests: Vec<Vec<&'static str>>,
    existential: Vec<Vec<&'static str>>,
}

/// Words of substance in a message that stands by itself: with someone or something named, without.
const ENOUGH: [usize; 2] = [2, 4];

static LEANING: LazyLock<Leaning> = LazyLock::new(Leaning::load);

/// Whether a message can be answered without what was said before it.
///
/// ```
/// use tower_semcache::guard::stands_alone;
///
/// assert!(stands_alone("Do you deliver to Norway?"));
/// assert!(!stands_alone("How much does it cost?"));
/// assert!(!stands_alone("Can I bring my dog?"));
/// ```
#[must_use]
pub fn stands_alone(message: &str) -> bool {
    let leaning = &*LEANING;
    let reading = Reading::new(message);
    let words: Vec<&str> = reading.words.texts().collect();
    let has = |section: &str| words.iter().any(|word| leaning.has(section, word));
    let opens = |patterns: &[Vec<&str>]| patterns.iter().any(|pattern| words.starts_with(pattern));
    let continues = opens(&leaning.continues) || opens(&leaning.requests);
    if continues || has("asker") || refers(&words) || bare_definite(&reading) {
        return false;
    }
    let matter = reading.matter().map(|(_, token)| token.words().len());
    let matter = matter.sum::<usize>() + reading.amounts.len();
    let named = has("asked") || reading.matter().any(|(_, token)| token.name);
    let [named_enough, enough] = ENOUGH;
    reading.covered && matter >= if named { named_enough } else { enough }
}

/// Whether a word stands for something said before: "it", and "there" unless as in "is there".
fn refers(words: &[&str]) -> bool {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let mut idle = LEANING.existential.iter();
        match idle.find(|pattern| rest.starts_with(pattern)) {
            Some(pattern) => rest = rest.get(pattern.len()..).unwrap_or_default(),
            None if LEANING.has("refers", word) => return true,
            None => rest = after,
        }
    }
    false
}

/// "the cost" without saying of what: it was said before.
fn bare_definite(reading: &Reading<'_>) -> bool {
    let tokens = reading.tokens.iter().enumerate();
    let mut articles = tokens.filter(|(_, token)| LEANING.has("article", reading.text(token)));
    articles.any(|(at, _)| {
        let mut rest = reading.tokens.iter().skip(at + 1);
        let named = reading.tokens.get(at + 1).is_some_and(|token| token.name);
        !named && !rest.any(|token| LEANING.has("complement", reading.text(token)))
    })
}

/// Whether a message is a question of its own: not an assent, a choice or an instruction, which mean
/// what was offered before.
pub(super) fn asks(message: &str) -> bool {
    let reading = Reading::new(message);
    let words: Vec<&str> = reading.words.texts().collect();
    let mut rest = words.as_slice();
    while let Some(pattern) = LEANING
        .continues
        .iter()
        .find(|pattern| rest.starts_with(pattern))
    {
        rest = rest.get(pattern.len()..).unwrap_or_default();
    }
    let question = rest.first().is_some_and(|word| LEANING.has("asks", word));
    question
        && !LEANING
            .requests
            .iter()
            .any(|pattern| rest.starts_with(pattern))
}

// === impl Leaning ===

impl Leaning {
    fn load() -> Self {
        let mut leaning = Self {
            sections: HashMap::new(),
            continues: Vec::new(),
            requests: Vec::new(),
            existential: Vec::new(),
        };
        for (section, term) in table::sections(include_str!("../data/history.txt")) {
            let words = || term.split(' ').collect();
            match section {
                "continues" => leaning.continues.push(words()),
                "request" => leaning.requests.push(words()),
                "existential" => leaning.existential.push(words()),
                _ => {
                    leaning.sections.entry(section).or_default().insert(term);
                }
            }
        }
        leaning
    }

    fn has(&self, section: &str, word: &str) -> bool {
        self.sections
            .get(section)
            .is_some_and(|words| words.contains(word))
    }
}
