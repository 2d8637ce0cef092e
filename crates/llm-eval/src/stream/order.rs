//! In which order requests arrive, and which answer each has.

use std::str::FromStr;

use super::chance::Chance;

/// How a stream is made of labelled texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Any order.
    Shuffled,
    /// One class after the other: every class is new once.
    Blocks,
    /// Any order; at half time the answers of a quarter of the classes change.
    Change,
    /// Any order, and an answer that has nothing to do with the text.
    Random,
}

/// A stream of requests.
#[derive(Debug)]
pub(super) struct Stream {
    /// Texts, in the order they arrive.
    pub(super) texts: Vec<usize>,
    /// The answer to each text, at its time.
    pub(super) answers: Vec<u64>,
}

const ORDER: u64 = 1;
const CLASSES: u64 = 2;
const ANSWERS: u64 = 3;

// === impl Order ===

impl Order {
    /// Every order.
    pub const ALL: [Self; 4] = [Self::Shuffled, Self::Blocks, Self::Change, Self::Random];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shuffled => "shuffled",
            Self::Blocks => "blocks",
            Self::Change => "change",
            Self::Random => "random",
        }
    }

    pub(super) fn stream(self, classes: &[u32], seed: u64) -> Stream {
        let mut texts: Vec<usize> = (0..classes.len()).collect();
        Chance::new(seed, ORDER).shuffle(&mut texts);
        let mut names: Vec<u32> = classes.to_vec();
        names.sort_unstable();
        names.dedup();
        Chance::new(seed, CLASSES).shuffle(&mut names);
        let rank = |text: &usize| {
            let class = classes.get(*text);
            names.iter().position(|name| Some(name) == class)
        };
        let mut answers: Vec<u64> = classes.iter().map(|class| u64::from(*class)).collect();
        match self {
            Self::Shuffled => {}
            Self::Blocks => texts.sort_by_cached_key(rank),
            Self::Change => {
                let late = texts.get(texts.len() / 2..).unwrap_or(&[]);
                for text in late {
                    let changes = rank(text).is_some_and(|rank| rank < names.len() / 4);
                    if let (true, Some(answer)) = (changes, answers.get_mut(*text)) {
                        *answer += 1 << 32;
                    }
                }
            }
            Self::Random => {
                let mut chance = Chance::new(seed, ANSWERS);
                for answer in &mut answers {
                    *answer = chance.below(names.len()) as u64;
                }
            }
        }
        Stream { texts, answers }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|order| order.as_str() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("no such order; there are {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Vec<u32> {
        (0..800).map(|text| text % 8).collect()
    }

    #[test]
    fn every_text_arrives_once_whatever_the_order() {
        for order in Order::ALL {
            let mut texts = order.stream(&classes(), 1).texts;
            texts.sort_unstable();
            assert_eq!(texts, (0..800).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_order_is_known_by_its_name() {
        for order in Order::ALL {
            assert_eq!(order.as_str().parse(), Ok(order));
        }
        assert!("sorted".parse::<Order>().is_err());
    }

    #[test]
    fn blocks_bring_one_class_after_the_other() {
        let texts = Order::Blocks.stream(&classes(), 1).texts;
        let mut seen: Vec<u32> = texts.iter().map(|text| classes()[*text]).collect();
        seen.dedup();
        assert_eq!(seen.len(), 8);
    }

    #[test]
    fn a_quarter_of_the_answers_change_at_half_time_and_no_earlier() {
        let Stream { texts, answers } = Order::Change.stream(&classes(), 1);
        let changed = |text: &&usize| answers[**text] >= 1 << 32;
        assert_eq!(texts[..400].iter().filter(changed).count(), 0);
        let late = texts[400..].iter().filter(changed).count();
        assert!((60..140).contains(&late), "{late}");
    }

    #[test]
    fn random_answers_do_not_go_by_the_class() {
        let answers = Order::Random.stream(&classes(), 1).answers;
        let same = (0..800).filter(|text| answers[*text] == *text as u64 % 8);
        assert!(same.count() < 200);
    }
}
