//! MT19937, the generator of Matsumoto and Nishimura (1998).

const N: usize = 624;
const M: usize = 397;
const UPPER: u32 = 0x8000_0000;
const LOWER: u32 = 0x7fff_ffff;

/// The Mersenne Twister with a period of 2¹⁹⁹³⁷ − 1, 32 bits a draw.
#[derive(Clone)]
pub struct Mt19937 {
    state: [u32; N],
    next: usize,
}

#[expect(
    clippy::indexing_slicing,
    reason = "every index is reduced modulo the fixed length of the state; this is the hottest loop of a run"
)]
impl Mt19937 {
    /// A generator from one word.
    fn from_word(word: u32) -> Self {
        let mut state = [0; N];
        state[0] = word;
        for i in 1..N {
            let before = state[i - 1];
            state[i] = 1_812_433_253_u32
                .wrapping_mul(before ^ (before >> 30))
                .wrapping_add(i as u32);
        }
        Self { state, next: N }
    }

    /// A generator from a key of any length, as `init_by_array` of the authors does.
    #[must_use]
    pub fn from_key(key: &[u32]) -> Self {
        let mut this = Self::from_word(19_650_218);
        let key = if key.is_empty() { &[0] } else { key };
        let state = &mut this.state;
        let (mut i, mut j) = (1, 0);
        for _ in 0..N.max(key.len()) {
            let before = state[i - 1];
            state[i] = (state[i] ^ (before ^ (before >> 30)).wrapping_mul(1_664_525))
                .wrapping_add(key[j])
                .wrapping_add(j as u32);
            i += 1;
            if i >= N {
                state[0] = state[N - 1];
                i = 1;
            }
            j = (j + 1) % key.len();
        }
        for _ in 0..N - 1 {
            let before = state[i - 1];
            state[i] = (state[i] ^ (before ^ (before >> 30)).wrapping_mul(1_566_083_941))
                .wrapping_sub(i as u32);
            i += 1;
            if i >= N {
                state[0] = state[N - 1];
                i = 1;
            }
        }
        state[0] = UPPER;
        this
    }

    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.next >= N {
            self.refill();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    fn refill(&mut self) {
        let state = &mut self.state;
        for i in 0..N {
            let y = (state[i] & UPPER) | (state[(i + 1) % N] & LOWER);
            let twist = if y & 1 == 0 { 0 } else { 0x9908_b0df };
            state[i] = state[(i + M) % N] ^ (y >> 1) ^ twist;
        }
        self.next = 0;
    }
}

impl std::fmt::Debug for Mt19937 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mt19937")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_first_outputs_come_out() {
        // mt19937ar.out: init_by_array({0x123, 0x234, 0x345, 0x456}).
        let mut mt = Mt19937::from_key(&[0x123, 0x234, 0x345, 0x456]);
        let first: Vec<u32> = (0..5).map(|_| mt.next_u32()).collect();
        assert_eq!(
            first,
            [
                1_067_595_299,
                955_945_823,
                477_289_528,
                4_107_218_783,
                4_228_976_476
            ]
        );
    }
}
