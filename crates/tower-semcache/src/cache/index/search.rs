use parking_lot::RwLockReadGuard;

use super::asked::Asked;
use super::nearest::{Near, Nearest};
use super::rows::Rows;
use super::vectors::Vectors;
use super::{Candidate, Depth, Found};
use crate::cache::entry::EntryId;
use crate::matching::Similarity;
use crate::vector::Unit;

/// One search of one scope.
#[derive(Debug)]
pub(super) struct Search<'a> {
    rows: &'a Rows,
    vectors: RwLockReadGuard<'a, Vectors>,
    unit: &'a Unit,
    least: Similarity,
    depth: Depth,
}

/// Segments between two moments at which a search lets a writer pass: 32,768 rows.
const STRETCH: usize = 128;
/// Vectors compared between two such moments.
const COMPARED: usize = 32;
/// Most of what a cache serves is as similar as that: looking for it first, the search leaves a block of
/// rows after a third of their signs, and reads a third of the memory.
const PROMISING: f64 = 0.9;
/// Cosines are rounded to six digits.
const ROUNDING: f64 = 1e-6;

// === impl Search ===

impl<'a> Search<'a> {
    pub(super) fn new(rows: &'a Rows, unit: &'a Unit, least: Similarity, depth: Depth) -> Self {
        Self {
            vectors: rows.read(),
            rows,
            unit,
            least,
            depth,
        }
    }

    /// The rows at the least similarity or above, in any order; one may be there twice.
    pub(super) fn run(mut self) -> Found {
        if self.vectors.dimensions() != self.unit.as_slice().len() {
            return Found::default();
        }
        let least = f64::from(self.least.get());
        if self.depth != Depth::Nearest || least >= PROMISING {
            return self.from(least);
        }
        let found = self.from(PROMISING);
        let nearest = found.candidates.iter().map(|c| c.similarity).max();
        let nearest = nearest.map_or(least, |nearest| f64::from(nearest.get()));
        if !found.more || nearest >= PROMISING {
            return found;
        }
        self.from(nearest)
    }

    /// Looks for the rows that reach this cosine, or the nearest of them.
    fn from(&mut self, floor: f64) -> Found {
        let least = f64::from(self.least.get());
        let mut asked = Asked::new(self.unit.as_slice(), floor - ROUNDING);
        let Some(near) = self.presorted(&mut asked) else {
            return self.all();
        };
        let mut found = self.compare(&asked, near);
        found.more |= floor > least;
        found
    }

    /// The rows nearest by their signs, the nearest last; `None` when the scope has no signs, or no longer.
    ///
    /// Correctness: writers may pass between two stretches. A removal moves the last row to an earlier
    /// place. Going from the last segment to the first, the row may be met twice, never missed.
    fn presorted(&mut self, asked: &mut Asked<'_>) -> Option<Vec<Near>> {
        let mut nearest = Nearest::new(self.depth.rows());
        let mut end = self.vectors.segments().len();
        loop {
            self.vectors.signs()?;
            let start = end.saturating_sub(STRETCH);
            for number in (start..end).rev() {
                self.vectors.scan(number, asked, &mut nearest);
            }
            if start == 0 {
                return Some(nearest.into_rows());
            }
            self.rows.pass(&mut self.vectors, nearest.met());
            end = start;
        }
    }

    /// Compares the vectors, the nearest by signs first, as long as one may still be wanted.
    fn compare(&mut self, asked: &Asked<'_>, mut near: Vec<Near>) -> Found {
        let least = f64::from(self.least.get());
        let (all, full) = (near.len(), near.len() == self.depth.rows());
        let mut found = Found::default();
        let mut best = least;
        while let Some(next) = near.last() {
            if self.depth == Depth::Nearest && next.distance > asked.limit(best - ROUNDING) {
                found.more = next.distance <= asked.limit(least - ROUNDING);
                break;
            }
            for row in near.split_off(near.len().saturating_sub(COMPARED)) {
                let Some(cosine) = self.vectors.score(self.unit.as_slice(), row.place) else {
                    continue;
                };
                best = best.max(cosine);
                let slot = || Some(self.vectors.slot(row.place)?.id);
                found.candidates.extend(self.similar(cosine, slot));
            }
            self.rows.pass(&mut self.vectors, &mut near);
        }
        found.more |= full && found.candidates.len() > all / 2;
        found
    }

    fn all(&self) -> Found {
        let rows = self.vectors.segments().iter().flat_map(|s| s.rows());
        let candidates = rows.filter_map(|(slot, vector)| {
            let cosine = crate::vector::dot(self.unit.as_slice(), vector);
            self.similar(cosine, || Some(slot.id))
        });
        Found {
            candidates: candidates.collect(),
            more: false,
        }
    }

    fn similar(&self, cosine: f64, id: impl FnOnce() -> Option<EntryId>) -> Option<Candidate> {
        let similarity = Similarity::new(cosine).filter(|s| *s >= self.least)?;
        let id = id()?;
        Some(Candidate { similarity, id })
    }
}
