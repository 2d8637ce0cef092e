use std::sync::Arc;

use super::asked::Asked;
use super::centre::Centre;
use super::code;
use super::nearest::Nearest;
use super::vectors::{ROWS, Segment};

/// One bit a coordinate: on which side of the scope's mean it lies.
///
/// Two vectors with a small angle between them differ in few signs; counting those that differ costs a
/// hundredth of an inner product. Embeddings of one model share a direction; without taking the mean
/// out, a coordinate far from zero would tell no two of them apart. See [`Centre`] for what the count
/// says about the cosine.
///
/// The mean is that of a sample, taken anew after as many insertions as there were rows. From then on
/// each insertion codes one block afresh, so that no writer holds the lock for long; meanwhile some
/// blocks are coded about the old mean and some about the new one, and the asked vector about each.
#[derive(Debug)]
pub(super) struct Signs {
    centre: Arc<Centre>,
    blocks: Vec<Block>,
    /// Blocks before this one are coded about the current centre.
    coded: usize,
    /// Insertions before the centre is computed anew.
    due: usize,
}

/// The signs of one segment: the first eight of every row, then the next eight of every row, and so
/// on. A vector register takes many rows at a time, whatever the number of dimensions, and what is not
/// near by its first signs costs no memory traffic for the others.
#[derive(Debug)]
struct Block {
    centre: Arc<Centre>,
    columns: Box<[u8]>,
}

// === impl Signs ===

impl Signs {
    /// The bytes the signs of one row cost: its own, those of the rows that its block has room for
    /// (up to a half: there are none in a small scope), and a share of two centres.
    pub(super) const fn cost(dimensions: usize) -> usize {
        columns(dimensions) * 3 / 2 + dimensions / 32
    }

    pub(super) fn of(segments: &[Segment], dimensions: usize) -> Self {
        let mut signs = Self {
            centre: Arc::new(Centre::of(segments, dimensions)),
            blocks: Vec::with_capacity(segments.len()),
            coded: 0,
            due: rows(segments),
        };
        while signs.coded < segments.len() {
            signs.code_next(segments);
        }
        signs
    }

    /// Codes a row that is new, or new at its place.
    pub(super) fn set(&mut self, place: usize, coordinates: &[f32]) {
        let (number, row) = (place / ROWS, place % ROWS);
        if number == self.blocks.len() {
            self.blocks.push(Block::new(&self.centre));
            // The first of them all, or all before it are done.
            if self.coded == number {
                self.coded += 1;
            }
        }
        if let Some(block) = self.blocks.get_mut(number) {
            block.set(row, coordinates);
        }
    }

    /// A share of the upkeep: for every insertion, once.
    pub(super) fn upkeep(&mut self, segments: &[Segment], dimensions: usize) {
        self.due = self.due.saturating_sub(1);
        if self.due == 0 {
            self.centre = Arc::new(Centre::of(segments, dimensions));
            self.coded = 0;
            self.due = rows(segments);
        }
        if self.coded < self.blocks.len() {
            self.code_next(segments);
        }
    }

    /// Forgets the blocks from this one on.
    pub(super) fn truncate(&mut self, blocks: usize) {
        self.blocks.truncate(blocks);
        self.coded = self.coded.min(blocks);
        if self.blocks.capacity() > 2 * blocks + 8 {
            self.blocks.shrink_to(blocks);
        }
    }

    /// Offers the rows of one segment, as many as it has.
    pub(super) fn scan(
        &self,
        number: usize,
        rows: usize,
        asked: &mut Asked<'_>,
        nearest: &mut Nearest,
    ) {
        let mut distances = [0; ROWS];
        if let Some(limit) = self.read(number, nearest.limit(), asked, &mut distances) {
            let first = u32::try_from(number * ROWS).unwrap_or(u32::MAX);
            nearest.offer(first, distances.get(..rows).unwrap_or_default(), limit);
        }
    }

    /// In how many signs each row of one segment differs, and in how many it may: no more than `most`.
    /// `None` when none can be near, which the first signs may have told.
    pub(super) fn read(
        &self,
        number: usize,
        most: u16,
        asked: &mut Asked<'_>,
        distances: &mut [u16; ROWS],
    ) -> Option<u16> {
        let block = self.blocks.get(number)?;
        let asked = asked.about(&block.centre)?;
        let limit = asked.limits.last_mut()?;
        *limit = most.min(*limit);
        let limit = *limit;
        code::distances(&asked.signs, &asked.limits, &block.columns, distances).then_some(limit)
    }

    /// In how many signs a row differs from this vector, coded about the same centre.
    #[cfg(test)]
    pub(super) fn distance(&self, slot: &super::Slot, coordinates: &[f32]) -> Option<u16> {
        let place = slot.place()?;
        let block = self.blocks.get(place / ROWS)?;
        let mut distances = [0; ROWS];
        let mut asked = Asked::new(coordinates, -1.0);
        let asked = asked.about(&block.centre)?;
        code::distances(&asked.signs, &asked.limits, &block.columns, &mut distances);
        distances.get(place % ROWS).copied()
    }

    fn code_next(&mut self, segments: &[Segment]) {
        let mut block = Block::new(&self.centre);
        if let Some(segment) = segments.get(self.coded) {
            for (row, coordinates) in segment.vectors().enumerate() {
                block.set(row, coordinates);
            }
        }
        match self.blocks.get_mut(self.coded) {
            Some(old) => *old = block,
            None => self.blocks.push(block),
        }
        self.coded += 1;
    }
}

// === impl Block ===

impl Block {
    fn new(centre: &Arc<Centre>) -> Self {
        Self {
            centre: Arc::clone(centre),
            columns: vec![0; columns(centre.mean().len()) * ROWS].into_boxed_slice(),
        }
    }

    fn set(&mut self, row: usize, coordinates: &[f32]) {
        let words = code::words(coordinates, self.centre.mean());
        let columns = self.columns.iter_mut().skip(row).step_by(ROWS);
        for (column, signs) in columns.zip(words.flat_map(u64::to_le_bytes)) {
            *column = signs;
        }
    }
}

/// The bytes of one row.
const fn columns(dimensions: usize) -> usize {
    dimensions.div_ceil(code::STEP * 8) * code::STEP
}

fn rows(segments: &[Segment]) -> usize {
    segments.iter().map(|segment| segment.slots().len()).sum()
}
