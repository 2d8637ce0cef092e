//! Requests that somebody has had: when, and how long.

mod instant;
mod read;

use super::{Ask, Dataset, Prompt, words};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use std::time::Duration;

/// Tokens that one entry of [`Entry::blocks`] stands for, as in Mooncake's traces.
pub const BLOCK: u32 = 512;

/// One request of a trace.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Entry {
    /// When it arrived, after the first.
    pub at: Duration,
    /// Tokens in its prompt.
    pub prompt_tokens: u32,
    /// Tokens in its answer.
    pub output_tokens: u32,
    /// What the prompt's blocks of [`BLOCK`] tokens are, from its beginning: equal numbers, equal text. Empty where the trace
    /// does not tell: then the prompt is new.
    pub blocks: Vec<u64>,
}

/// Requests of a trace. What was asked is not in one: prompts are random words of the right length, with the blocks in common
/// that the trace says they had.
#[derive(Clone, Debug)]
pub struct Trace {
    entries: Vec<Entry>,
    seed: u64,
    speed: f64,
}

impl Trace {
    /// Of `entries`, which are put into the order of their times; the first is at zero.
    #[must_use]
    pub fn new(mut entries: Vec<Entry>, seed: u64) -> Self {
        entries.sort_by_key(|entry| entry.at);
        let first = entries.first().map_or(Duration::ZERO, |entry| entry.at);
        for entry in &mut entries {
            entry.at -= first;
        }
        Self {
            entries,
            seed,
            speed: 1.0,
        }
    }

    /// Replays it so many times faster.
    #[must_use]
    pub fn speed(mut self, speed: f64) -> Self {
        self.speed = speed;
        self
    }

    /// The entries, in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn text(&self, number: usize, entry: &Entry) -> String {
        let mut text = String::new();
        let mut left = entry.prompt_tokens;
        for block in &entry.blocks {
            let count = left.min(BLOCK);
            words::append(&mut text, count, &mut self.stream(*block));
            left -= count;
        }
        // After the blocks' numbers, which are no larger than a trace's length.
        words::append(&mut text, left, &mut self.stream(u64::MAX - number as u64));
        text
    }

    fn stream(&self, number: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

impl Dataset for Trace {
    fn len(&self) -> Option<usize> {
        Some(self.entries.len())
    }

    /// A request belongs to its time: each round is the same.
    fn offset(&self, _round: usize, _count: Option<usize>) -> usize {
        0
    }

    fn ask(&self, number: usize) -> Ask {
        let none = Entry::default();
        let number = number % self.entries.len().max(1);
        let entry = self.entries.get(number).unwrap_or(&none);
        Ask {
            prompt: Prompt::Text(self.text(number, entry)),
            prompt_tokens: entry.prompt_tokens,
            output_tokens: entry.output_tokens.max(1),
        }
    }

    fn times(&self) -> Option<Vec<Duration>> {
        let times = self
            .entries
            .iter()
            .map(|entry| entry.at.div_f64(self.speed));
        Some(times.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: u64, prompt_tokens: u32, blocks: &[u64]) -> Entry {
        Entry {
            at: Duration::from_secs(at),
            prompt_tokens,
            output_tokens: 3,
            blocks: blocks.to_vec(),
        }
    }

    fn words_of(trace: &Trace, number: usize) -> Vec<String> {
        match trace.ask(number).prompt {
            Prompt::Text(text) => text.split(' ').map(str::to_owned).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_trace_starts_at_zero_in_order_and_may_run_faster() {
        let trace = Trace::new(vec![entry(9, 1, &[]), entry(5, 2, &[])], 0).speed(2.0);
        assert_eq!(
            trace.times().unwrap(),
            [Duration::ZERO, Duration::from_secs(2)]
        );
        assert_eq!(trace.ask(0).prompt_tokens, 2);
    }

    #[test]
    fn prompts_share_the_blocks_that_the_trace_says() {
        let trace = Trace::new(vec![entry(0, 600, &[1, 2]), entry(1, 700, &[1, 3])], 0);
        let (a, b) = (words_of(&trace, 0), words_of(&trace, 1));
        assert_eq!((a.len(), b.len()), (600, 700));
        assert_eq!(a[..512], b[..512]);
        assert_ne!(a[512..600], b[512..600]);
    }

    #[test]
    fn without_blocks_prompts_have_nothing_in_common() {
        let trace = Trace::new(vec![entry(0, 30, &[]), entry(1, 30, &[])], 0);
        assert_ne!(words_of(&trace, 0), words_of(&trace, 1));
    }
}
