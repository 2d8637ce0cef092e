use std::sync::Arc;

use super::slot::Slot;

/// The rows whose signs differ least from the asked ones, as many as are wanted.
///
/// Rows are met by their place, at the price of a comparison, and settled as slots before a writer
/// passes, who may give the place to another row.
#[derive(Debug)]
pub(super) struct Nearest {
    wanted: usize,
    /// Whoever differs in as many signs or more is not among them.
    limit: u32,
    /// Of this stretch. Up to twice as many as wanted, so that cutting back costs O(1) a row.
    met: Vec<(u32, u32)>,
    settled: Vec<(u32, Arc<Slot>)>,
}

// === impl Nearest ===

impl Nearest {
    pub(super) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            limit: u32::MAX,
            met: Vec::with_capacity(2 * wanted),
            settled: Vec::with_capacity(2 * wanted),
        }
    }

    pub(super) const fn limit(&self) -> u32 {
        self.limit
    }

    /// Offers rows one after another, the first of which has this place.
    #[inline]
    pub(super) fn offer(&mut self, first: u32, distances: &[u32]) {
        for (place, distance) in (first..).zip(distances) {
            if *distance < self.limit {
                self.met.push((*distance, place));
                if self.met.len() >= 2 * self.wanted {
                    self.limit = self.limit.min(cut(&mut self.met, self.wanted));
                }
            }
        }
    }

    /// Ends a stretch: the rows met are known by their slots from now on.
    pub(super) fn settle<'a>(&mut self, slot: impl Fn(u32) -> Option<&'a Arc<Slot>>) {
        cut(&mut self.met, self.wanted);
        let met = self.met.drain(..);
        let met = met.filter_map(|(distance, place)| Some((distance, Arc::clone(slot(place)?))));
        self.settled.extend(met);
        self.limit = self.limit.min(cut(&mut self.settled, self.wanted));
    }

    /// No more than are wanted. A row may be among them twice when it was moved meanwhile.
    pub(super) fn into_slots(self) -> Vec<Arc<Slot>> {
        self.settled.into_iter().map(|(_, slot)| slot).collect()
    }
}

/// Keeps the nearest ones, and says from which distance on nobody more is wanted.
fn cut<T>(rows: &mut Vec<(u32, T)>, wanted: usize) -> u32 {
    if rows.len() < wanted || wanted == 0 {
        return u32::MAX;
    }
    let (_, furthest, _) = rows.select_nth_unstable_by_key(wanted - 1, |(distance, _)| *distance);
    let limit = furthest.0;
    rows.truncate(wanted);
    limit
}
