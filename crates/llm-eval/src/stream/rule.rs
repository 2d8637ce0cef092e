//! What a cache does with a request, and the loop around it.

use super::chance::Chance;
use super::order::Stream;
use super::space::{Near, Space};

/// A way to decide.
pub(super) trait Rule {
    /// How many of the nearest entries it looks at.
    const NEIGHBOURS: usize;

    /// One request. `near` are the nearest entries, the most similar first; `judge` compares the
    /// answer stored with one of them, an index into `near`, with a fresh one.
    fn request(&mut self, near: &[Near], judge: &mut dyn FnMut(usize) -> bool) -> Step;

    /// Looked at after every request: how many of the answers served may have been wrong.
    fn bound(&self) -> Option<Bound> {
        None
    }
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Served by one of the nearest entries, an index.
    Hit(usize),
    /// A fresh answer, which becomes an entry.
    Stored,
    /// A fresh answer, which does not.
    Passed,
}

/// What a certificate says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// The bound of the wrong ones: V̄.
    pub(super) wrong: u64,
    /// What was promised: δ N + Σ c.
    pub(super) allowed: f64,
}

/// A judge that may see a difference where there is none.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    pub(super) false_alarms: f64,
    pub(super) chance: Chance,
}

/// Counts of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Counts {
    /// Requests.
    pub requests: u64,
    /// Served from the cache.
    pub hits: u64,
    /// Of these, wrong.
    pub wrong: u64,
    /// Comparisons a judge was asked for.
    pub judged: u64,
    /// The same, after the first 2,000 requests.
    pub judged_late: u64,
    /// Whether there were ever more wrong ones than the certificate's bound.
    pub broke_bound: bool,
    /// Whether there were ever more wrong ones than promised.
    pub broke_promise: bool,
    /// The number of requests before the first hit.
    pub first_hit: u64,
}

/// From here on a request is late.
pub(super) const LATE: u64 = 2_000;

/// Sends a stream through an empty cache.
pub(super) fn run<R>(space: &Space, stream: &Stream, rule: &mut R, mut judge: Judge) -> Counts
where
    R: Rule,
{
    let mut counts = Counts::default();
    let mut entries = Vec::new();
    let mut near = Vec::new();
    let answer = |text: Option<&usize>| text.and_then(|text| stream.answers.get(*text));
    for text in &stream.texts {
        space.nearest(*text, &entries, R::NEIGHBOURS, &mut near);
        let fresh = answer(Some(text));
        let stored = |at: usize| answer(near.get(at).and_then(|near| entries.get(near.entry)));
        let mut judged = 0;
        let step = rule.request(&near, &mut |at| {
            judged += 1;
            stored(at) == fresh && judge.chance.uniform() >= judge.false_alarms
        });
        counts.judged += judged;
        if counts.requests >= LATE {
            counts.judged_late += judged;
        }
        match step {
            Step::Hit(at) => {
                if counts.hits == 0 {
                    counts.first_hit = counts.requests;
                }
                counts.hits += 1;
                counts.wrong += u64::from(stored(at) != fresh);
            }
            Step::Stored => entries.push(*text),
            Step::Passed => {}
        }
        counts.requests += 1;
        if let Some(bound) = rule.bound() {
            counts.broke_bound |= counts.wrong > bound.wrong;
            counts.broke_promise |= counts.wrong as f64 > bound.allowed;
        }
    }
    counts
}
