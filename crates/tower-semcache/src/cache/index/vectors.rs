use std::sync::Arc;

use super::asked::Asked;
use super::nearest::Nearest;
use super::rows::Rows;
use super::signs::Signs;
use super::slot::Slot;
use crate::cache::entry::EntryId;
use crate::vector::dot;

/// One scope: vectors of one length, in segments, and in a large scope their signs.
///
/// Rows are kept without gaps: the last one takes the place of one that leaves. Insertion and removal
/// take O(dimensions), whatever the number of rows: nothing is ever copied as a whole.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    dimensions: usize,
    segments: Vec<Segment>,
    len: usize,
    signs: Option<Signs>,
    /// No longer in the map: whoever waited for the lock must look again.
    pub(super) closed: bool,
}

/// Up to [`ROWS`] vectors end to end, and a slot for each.
#[derive(Debug)]
pub(super) struct Segment {
    dimensions: usize,
    coordinates: Vec<f32>,
    slots: Vec<Arc<Slot>>,
}

/// Rows of one segment.
pub(super) const ROWS: usize = 256;
/// Up to this many rows every vector is compared; beyond, signs are counted first.
pub(super) const SMALL: usize = 1_024;

// === impl Vectors ===

impl Vectors {
    /// The bytes a row costs: its coordinates and its pointer with the slack of growth (a quarter),
    /// its slot, its signs.
    pub(super) const fn cost(dimensions: usize) -> usize {
        let row = (dimensions * size_of::<f32>() + size_of::<Arc<Slot>>()) * 5 / 4;
        row + Slot::COST + Signs::cost(dimensions)
    }

    /// The bytes a scope costs beside its rows.
    pub(super) const OVERHEAD: usize = size_of::<Rows>() + 4 * size_of::<Segment>() + 64;

    pub(super) const fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// `None` in a small scope, whose vectors are all to be compared.
    pub(super) const fn signs(&self) -> Option<&Signs> {
        self.signs.as_ref()
    }

    /// The inner product with the vector at a place.
    pub(super) fn score(&self, asked: &[f32], place: u32) -> Option<f64> {
        Some(dot(asked, self.vector(place as usize)?))
    }

    /// Offers the rows of one segment by their signs.
    pub(super) fn scan(&self, number: usize, asked: &mut Asked<'_>, nearest: &mut Nearest) {
        if let (Some(signs), Some(segment)) = (&self.signs, self.segments.get(number)) {
            signs.scan(number, segment.slots.len(), asked, nearest);
        }
    }

    pub(super) fn slot(&self, place: u32) -> Option<&Arc<Slot>> {
        let place = place as usize;
        self.segments.get(place / ROWS)?.slots.get(place % ROWS)
    }

    /// Adds a row; `None` when the vectors here have another length, or no place has a number left.
    pub(super) fn insert(&mut self, id: EntryId, coordinates: &[f32]) -> Option<Arc<Slot>> {
        if self.len == 0 {
            self.dimensions = coordinates.len();
        }
        let place = u32::try_from(self.len).ok().filter(|n| *n < u32::MAX)?;
        if self.dimensions != coordinates.len() {
            return None;
        }
        let slot = Arc::new(Slot::new(id, place));
        if self.len.is_multiple_of(ROWS) {
            self.segments.push(Segment::new(self.dimensions));
        }
        self.segments
            .last_mut()?
            .push(coordinates, Arc::clone(&slot), self.len);
        self.len += 1;
        match &mut self.signs {
            Some(signs) => {
                signs.set(place as usize, coordinates);
                signs.upkeep(&self.segments, self.dimensions);
            }
            None if self.len > SMALL => {
                self.signs = Some(Signs::of(&self.segments, self.dimensions));
            }
            None => {}
        }
        Some(slot)
    }

    /// Removes a row. `false` when it had left already.
    pub(super) fn remove(&mut self, slot: &Slot) -> bool {
        let Some(place) = slot.leave().filter(|place| *place < self.len) else {
            return false;
        };
        self.len -= 1;
        let last = self.len;
        let Some((tail, front)) = self.segments.split_last_mut() else {
            return false;
        };
        let moved = tail.slots.pop();
        if place != last {
            let row = place % ROWS;
            let vector = tail.range(last % ROWS);
            let target = match front.get_mut(place / ROWS) {
                Some(segment) => {
                    let to = segment.range(row);
                    let from = tail.coordinates.get(vector);
                    if let (Some(to), Some(from)) = (segment.coordinates.get_mut(to), from) {
                        to.copy_from_slice(from);
                    }
                    segment
                }
                None => {
                    let to = tail.range(row).start;
                    tail.coordinates.copy_within(vector, to);
                    &mut *tail
                }
            };
            if let (Some(moved), Some(gap)) = (moved, target.slots.get_mut(row)) {
                moved.move_to(place);
                *gap = moved;
            }
        }
        tail.truncate(self.len);
        if tail.slots.is_empty() {
            self.segments.pop();
        }
        if self.segments.capacity() > 2 * self.segments.len() + 8 {
            self.segments.shrink_to(self.segments.len());
        }
        self.follow(place);
        true
    }

    /// The signs after a removal that put the last row into this place.
    fn follow(&mut self, place: usize) {
        if self.len <= SMALL / 2 {
            self.signs = None;
        }
        let Some(signs) = &mut self.signs else {
            return;
        };
        signs.truncate(self.segments.len());
        let segment = self.segments.get(place / ROWS);
        if let Some(vector) = segment.and_then(|segment| segment.vector(place % ROWS)) {
            signs.set(place, vector);
        }
    }

    fn vector(&self, place: usize) -> Option<&[f32]> {
        self.segments.get(place / ROWS)?.vector(place % ROWS)
    }
}

// === impl Segment ===

impl Segment {
    const fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            coordinates: Vec::new(),
            slots: Vec::new(),
        }
    }

    pub(super) fn slots(&self) -> &[Arc<Slot>] {
        &self.slots
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (&Slot, &[f32])> {
        self.slots.iter().map(AsRef::as_ref).zip(self.vectors())
    }

    pub(super) fn vectors(&self) -> impl Iterator<Item = &[f32]> {
        self.coordinates.chunks_exact(self.dimensions)
    }

    fn vector(&self, row: usize) -> Option<&[f32]> {
        self.coordinates.get(self.range(row))
    }

    const fn range(&self, row: usize) -> std::ops::Range<usize> {
        row * self.dimensions..(row + 1) * self.dimensions
    }

    fn push(&mut self, coordinates: &[f32], slot: Arc<Slot>, rows: usize) {
        let held = self.slots.len();
        // By an eighth of the scope instead of twofold: the slack is counted to every entry.
        if held == self.slots.capacity() {
            let more = (rows / 8 + 1).min(ROWS.saturating_sub(held).max(1));
            self.slots.reserve_exact(more);
            self.coordinates.reserve_exact(more * self.dimensions);
        }
        self.coordinates.extend_from_slice(coordinates);
        self.slots.push(slot);
    }

    /// Forgets the vectors without a slot, and gives back what is more than a quarter of the scope.
    fn truncate(&mut self, rows: usize) {
        let held = self.slots.len();
        self.coordinates.truncate(held * self.dimensions);
        if self.slots.capacity() - held > rows / 4 + 1 {
            let kept = held + rows / 8;
            self.slots.shrink_to(kept);
            self.coordinates.shrink_to(kept * self.dimensions);
        }
    }
}
