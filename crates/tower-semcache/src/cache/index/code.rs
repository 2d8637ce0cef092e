//! Loops over signs. They are plain; `dispatch!` compiles each for several instruction sets (on x86-64:
//! SSE2, SSE4.2, AVX2, AVX-512 with its popcounts) and takes the best one of the machine it runs on.

use fearless_simd::{Level, dispatch};

use super::vectors::ROWS;

/// Signs counted between two questions whether the block may be left.
const BITS: usize = u64::BITS as usize;
/// Bytes of as many signs.
pub(super) const STEP: usize = BITS / 8;

/// On which side of the centre each coordinate lies, 64 a word.
pub(super) fn words(coordinates: &[f32], centre: &[f32]) -> impl Iterator<Item = u64> {
    let chunks = coordinates.chunks(BITS).zip(centre.chunks(BITS));
    chunks.map(|(coordinates, centre)| dispatch!(Level::new(), _simd => word(coordinates, centre)))
}

#[inline(always)]
fn word(coordinates: &[f32], centre: &[f32]) -> u64 {
    let sides = coordinates.iter().zip(centre).enumerate();
    sides.fold(0, |word, (i, (x, middle))| {
        word | (u64::from(x > middle) << i)
    })
}

/// In how many signs each row of a block differs from the asked ones. `false` as soon as every row
/// differs in more of the signs seen so far than the limit for so many of them.
pub(super) fn distances(
    asked: &[u8],
    limits: &[u16],
    block: &[u8],
    distances: &mut [u16; ROWS],
) -> bool {
    dispatch!(Level::new(), _simd => count(asked, limits, block, distances))
}

#[inline(always)]
fn count(asked: &[u8], limits: &[u16], block: &[u8], distances: &mut [u16; ROWS]) -> bool {
    let (columns, _) = block.as_chunks::<ROWS>();
    *distances = [0; ROWS];
    let steps = columns.chunks(STEP).zip(asked.chunks(STEP));
    for ((columns, asked), limit) in steps.zip(limits) {
        // Eight signs of eight columns: no sum exceeds a byte, so that a register holds 16 to 64.
        let mut sums = [0u8; ROWS];
        for (column, asked) in columns.iter().zip(asked) {
            for (sum, signs) in sums.iter_mut().zip(column) {
                *sum += (signs ^ asked).count_ones() as u8;
            }
        }
        let mut least = u16::MAX;
        for (distance, sum) in distances.iter_mut().zip(&sums) {
            *distance = distance.saturating_add(u16::from(*sum));
            least = least.min(*distance);
        }
        if least > *limit {
            return false;
        }
    }
    true
}
