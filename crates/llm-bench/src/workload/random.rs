//! Prompts that nobody has seen before.

use super::{Ask, Dataset, Prompt, words};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// Lengths of prompts and answers, in tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// Of the part of a prompt that differs.
    pub input: u32,
    /// Of an answer, at most.
    pub output: u32,
    /// Both are uniform in ± this share of themselves; in `0 .. 1`.
    pub range_ratio: f64,
    /// Of the part of a prompt that all have in common.
    pub prefix: u32,
}

impl Lengths {
    fn draw(&self, mean: u32, random: &mut Xoshiro256PlusPlus) -> u32 {
        let mean = f64::from(mean);
        let low = (mean * (1.0 - self.range_ratio)).floor() as u32;
        let high = (mean * (1.0 + self.range_ratio)).ceil() as u32;
        random.random_range(low..=high.max(low))
    }
}

/// Random words; each prompt is new to every cache, but for the common prefix.
#[derive(Clone, Debug)]
pub struct Random {
    /// How long.
    pub lengths: Lengths,
    /// Texts in one request: more than one for embeddings.
    pub batch: u32,
    /// The seed.
    pub seed: u64,
}

impl Random {
    pub(super) fn number(&self, number: u64) -> Ask {
        let mut text = String::new();
        if self.lengths.prefix > 0 {
            words::append(
                &mut text,
                self.lengths.prefix,
                &mut stream(self.seed, u64::MAX),
            );
        }
        let prefix = text;
        let mut random = stream(self.seed, number);
        let mut prompt_tokens = 0;
        let mut draw = |random: &mut Xoshiro256PlusPlus| {
            let input = self.lengths.draw(self.lengths.input, random);
            let mut text = prefix.clone();
            words::append(&mut text, input, random);
            prompt_tokens += self.lengths.prefix + input;
            text
        };
        let prompt = match self.batch {
            0 | 1 => Prompt::Text(draw(&mut random)),
            batch => Prompt::Texts((0..batch).map(|_| draw(&mut random)).collect()),
        };
        Ask {
            prompt,
            prompt_tokens,
            output_tokens: self.lengths.draw(self.lengths.output, &mut random).max(1),
        }
    }
}

impl Dataset for Random {
    fn ask(&self, number: usize) -> Ask {
        self.number(number as u64)
    }
}

/// A source of randomness of its own for each number.
fn stream(seed: u64, number: u64) -> Xoshiro256PlusPlus {
    // The golden ratio keeps neighbouring numbers apart; seeding mixes the rest.
    Xoshiro256PlusPlus::seed_from_u64(
        seed.rotate_left(32) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(range_ratio: f64, prefix: u32) -> Random {
        Random {
            lengths: Lengths {
                input: 100,
                output: 10,
                range_ratio,
                prefix,
            },
            batch: 1,
            seed: 5,
        }
    }

    fn text(ask: &Ask) -> &str {
        match &ask.prompt {
            Prompt::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_number_is_a_prompt_and_no_two_are_alike() {
        let random = random(0.0, 0);
        let texts: std::collections::HashSet<String> =
            (0..500).map(|n| text(&random.ask(n)).to_owned()).collect();
        assert_eq!(texts.len(), 500);
        assert_eq!(text(&random.ask(7)), text(&random.ask(7)));
    }

    #[test]
    fn lengths_fill_their_range() {
        let random = random(0.5, 0);
        let asks: Vec<Ask> = (0..2000).map(|n| random.ask(n)).collect();
        let least = asks.iter().map(|ask| ask.prompt_tokens).min();
        let most = asks.iter().map(|ask| ask.prompt_tokens).max();
        assert_eq!((least, most), (Some(50), Some(150)));
        for ask in &asks {
            assert_eq!(text(ask).split(' ').count(), ask.prompt_tokens as usize);
            assert!((5..=15).contains(&ask.output_tokens));
        }
    }

    #[test]
    fn the_prefix_is_the_same_and_counts() {
        let random = random(0.0, 40);
        let (a, b) = (random.ask(0), random.ask(1));
        let words = |ask: &Ask, range: std::ops::Range<usize>| {
            text(ask).split(' ').map(str::to_owned).collect::<Vec<_>>()[range].to_vec()
        };
        assert_eq!(words(&a, 0..40), words(&b, 0..40));
        assert_ne!(words(&a, 40..140), words(&b, 40..140));
        assert_eq!(a.prompt_tokens, 140);
    }

    #[test]
    fn a_batch_is_several_texts_in_one_request() {
        let mut random = random(0.0, 0);
        random.batch = 3;
        let ask = random.ask(0);
        assert!(matches!(&ask.prompt, Prompt::Texts(texts) if texts.len() == 3));
        assert_eq!(ask.prompt_tokens, 300);
    }
}
