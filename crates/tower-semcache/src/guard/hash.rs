//! Maps for the tables.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are words of our own tables. Nobody else puts keys in, so that its hash need not
/// resist anyone; the one of the standard library takes half the time of a comparison.
pub(super) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Fnv>>;

/// FNV-1a, for short keys (<http://www.isthe.com/chongo/tech/comp/fnv/>).
#[derive(Clone, Debug)]
pub(super) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
