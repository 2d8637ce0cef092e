//! What a cache would find for each case, whatever its threshold.

use rayon::prelude::*;
use tower_semcache::Similarity;
use tower_semcache::guard::Guard;

use crate::set::{Half, Pool, Set};
use crate::vectors::{Vectors, cosine};

/// The best entry that the guard accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The cosine, rounded as the cache does.
    pub similarity: Similarity,
    /// Whether its answer is the right one.
    pub right: bool,
}

/// What came of a case. It is served at every threshold up to the similarity found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What kind of traffic, or of trap.
    pub family: String,
    /// The half of its case.
    pub half: Half,
    /// Whether a right answer is cached.
    pub answerable: bool,
    /// What was found.
    pub found: Option<Found>,
}

/// How many candidates a cache shows its guard in one search.
const MAX_GUARDED: usize = 1_024;

/// What a cache would find for each case of a set.
///
/// The search is the cache's: all entries by their cosine, rounded to six digits, the earlier one first where it is the
/// same; the first one that the guard accepts.
#[must_use]
pub fn outcomes<G>(set: &Set, vectors: &Vectors, guard: &G) -> Vec<Outcome>
where
    G: Guard + Sync,
{
    let cases = set.cases.par_iter().map(|case| {
        let pool = set.pools.get(case.pool);
        let found = pool.and_then(|pool| search(&case.asked, pool, vectors, guard));
        Outcome {
            family: case.family.clone(),
            half: case.half,
            answerable: case.answerable,
            found: found.map(|(similarity, answer)| Found {
                similarity,
                right: answer == case.answer,
            }),
        }
    });
    cases.collect()
}

fn search<G: Guard>(
    asked: &str,
    pool: &Pool,
    vectors: &Vectors,
    guard: &G,
) -> Option<(Similarity, u32)> {
    let vector = vectors.of(asked)?;
    let mut candidates: Vec<_> = pool
        .entries
        .iter()
        .filter_map(|(text, answer)| {
            let similarity = Similarity::new(cosine(vector, vectors.of(text)?))?;
            Some((similarity, text, *answer))
        })
        .collect();
    candidates.sort_by_key(|(similarity, ..)| std::cmp::Reverse(*similarity));
    candidates
        .into_iter()
        .take(MAX_GUARDED)
        .find(|(similarity, text, _)| guard.accepts_at(asked, text, *similarity).is_accept())
        .map(|(similarity, _, answer)| (similarity, answer))
}
