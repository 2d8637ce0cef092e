use std::sync::Arc;

use fearless_simd::{Level, dispatch};

use super::nearest::Nearest;
use super::vectors::{ROWS, Segment};

/// One bit a coordinate: on which side of the scope's mean it lies.
///
/// Two vectors with a small angle between them differ in few signs ([random hyperplane
/// hashing](https://doi.org/10.1145/509907.509965)); counting the signs that differ costs a hundredth
/// of an inner product. Embeddings of one model share a direction; without taking the mean out, a
/// coordinate far from zero would tell no two of them apart.
///
/// The mean is that of a sample, taken anew after as many insertions as there were rows. From then on
/// each insertion codes one block afresh, so that no writer holds the lock for long; meanwhile some
/// blocks are coded about the old mean and some about the new one, and the asked vector about each.
#[derive(Debug)]
pub(super) struct Signs {
    centre: Centre,
    blocks: Vec<Block>,
    /// Blocks before this one are coded about the current centre.
    coded: usize,
    /// Insertions before the centre is computed anew.
    due: usize,
}

/// The signs of one segment: first the first word of every row, then the second of every row, so
/// that a vector register takes several rows at a time, whatever the number of dimensions.
#[derive(Debug)]
struct Block {
    centre: Centre,
    words: Box<[u64]>,
}

/// The asked vector, coded about the centre of the block at hand.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    coordinates: &'a [f32],
    centre: Option<Centre>,
    words: Vec<u64>,
}

type Centre = Arc<[f32]>;

const BITS: usize = u64::BITS as usize;
/// Rows from which the mean is computed. Its error is a thirtieth of the spread of a coordinate.
const SAMPLED: usize = 1_024;

// === impl Signs ===

impl Signs {
    /// The bytes the signs of one row cost: its own, those of the rows that its block has room for
    /// (up to a half: there are none in a small scope), and a share of two centres.
    pub(super) const fn cost(dimensions: usize) -> usize {
        dimensions.div_ceil(BITS) * size_of::<u64>() * 3 / 2 + dimensions / 32
    }

    pub(super) fn of(segments: &[Segment], dimensions: usize) -> Self {
        let mut signs = Self {
            centre: mean(segments, dimensions),
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
            self.centre = mean(segments, dimensions);
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
        let Some(block) = self.blocks.get(number) else {
            return;
        };
        let mut distances = [0; ROWS];
        let words = asked.about(&block.centre);
        let least = distances_to(words, &block.words, &mut distances);
        if least < nearest.limit() {
            let first = u32::try_from(number * ROWS).unwrap_or(u32::MAX);
            nearest.offer(first, distances.get(..rows).unwrap_or_default());
        }
    }

    /// In how many signs a row differs from this vector, coded about the same centre.
    #[cfg(test)]
    pub(super) fn distance(&self, slot: &super::Slot, coordinates: &[f32]) -> Option<u32> {
        let place = slot.place()?;
        let block = self.blocks.get(place / ROWS)?;
        let mut distances = [0; ROWS];
        let mut asked = Asked::new(coordinates);
        distances_to(asked.about(&block.centre), &block.words, &mut distances);
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
    fn new(centre: &Centre) -> Self {
        let words = centre.len().div_ceil(BITS);
        Self {
            centre: Arc::clone(centre),
            words: vec![0; words * ROWS].into_boxed_slice(),
        }
    }

    fn set(&mut self, row: usize, coordinates: &[f32]) {
        let words = self.words.iter_mut().skip(row).step_by(ROWS);
        code(coordinates, &self.centre, words);
    }
}

// === impl Asked ===

impl<'a> Asked<'a> {
    pub(super) const fn new(coordinates: &'a [f32]) -> Self {
        Self {
            coordinates,
            centre: None,
            words: Vec::new(),
        }
    }

    fn about(&mut self, centre: &Centre) -> &[u64] {
        let known = self.centre.as_ref();
        if !known.is_some_and(|known| Arc::ptr_eq(known, centre)) {
            self.words.clear();
            self.words.resize(centre.len().div_ceil(BITS), 0);
            code(self.coordinates, centre, self.words.iter_mut());
            self.centre = Some(Arc::clone(centre));
        }
        &self.words
    }
}

// The loops below are plain; `dispatch!` compiles each for several instruction sets (on x86-64: SSE2,
// SSE4.2, AVX2 with popcnt, AVX-512 with vpopcntdq) and takes the best one of the machine it runs on.

/// On which side of the centre each coordinate lies.
fn code<'a>(coordinates: &[f32], centre: &[f32], words: impl Iterator<Item = &'a mut u64>) {
    let chunks = coordinates.chunks(BITS).zip(centre.chunks(BITS));
    for ((coordinates, centre), word) in chunks.zip(words) {
        *word = dispatch!(Level::new(), _simd => code_word(coordinates, centre));
    }
}

#[inline(always)]
fn code_word(coordinates: &[f32], centre: &[f32]) -> u64 {
    let sides = coordinates.iter().zip(centre).enumerate();
    sides.fold(0, |word, (i, (x, middle))| {
        word | (u64::from(x > middle) << i)
    })
}

/// In how many signs each row of a block differs from the asked ones, and the least of these.
fn distances_to(asked: &[u64], block: &[u64], distances: &mut [u32; ROWS]) -> u32 {
    dispatch!(Level::new(), _simd => count(asked, block, distances))
}

#[inline(always)]
fn count(asked: &[u64], block: &[u64], distances: &mut [u32; ROWS]) -> u32 {
    let (columns, _) = block.as_chunks::<ROWS>();
    let mut sums = [0u64; ROWS];
    for (column, asked) in columns.iter().zip(asked) {
        for (sum, word) in sums.iter_mut().zip(column) {
            *sum += u64::from((word ^ asked).count_ones());
        }
    }
    let mut least = u32::MAX;
    for (distance, sum) in distances.iter_mut().zip(&sums) {
        *distance = *sum as u32;
        least = least.min(*distance);
    }
    least
}

fn rows(segments: &[Segment]) -> usize {
    segments.iter().map(|segment| segment.slots().len()).sum()
}

fn mean(segments: &[Segment], dimensions: usize) -> Centre {
    let step = rows(segments).div_ceil(SAMPLED).max(1);
    let mut sums = vec![0.0f32; dimensions];
    let mut sampled = 0u16;
    let all = segments.iter().flat_map(Segment::vectors);
    for coordinates in all.step_by(step) {
        sampled += 1;
        for (sum, x) in sums.iter_mut().zip(coordinates) {
            *sum += x;
        }
    }
    let scale = f32::from(sampled.max(1)).recip();
    sums.into_iter().map(|sum| sum * scale).collect()
}
