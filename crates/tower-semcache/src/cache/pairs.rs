use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::scope::{Digest, DigestHasher};

/// Pairs of requests whose answers were reported as different, kept when the entry itself has gone:
/// it may be stored again. The oldest pair is forgotten first.
#[derive(Debug)]
pub(crate) struct Pairs {
    known: Mutex<Known>,
    /// Spares the lock while there are none.
    len: AtomicUsize,
    max: usize,
}

type Pair = (Digest, Digest);

#[derive(Debug, Default)]
struct Known {
    all: HashSet<Pair, BuildHasherDefault<DigestHasher>>,
    order: VecDeque<Pair>,
}

// === impl Pairs ===

impl Pairs {
    /// As many as take a sixty-fourth of these bytes, and no more than 4,096.
    pub(crate) fn within(bytes: usize) -> Self {
        let cost = size_of::<Pair>() * 2 + (size_of::<Pair>() + 1) * 16 / 7;
        Self {
            known: Mutex::default(),
            len: AtomicUsize::new(0),
            max: (bytes / 64 / cost).clamp(1, 4_096),
        }
    }

    pub(crate) fn remember(&self, one: Digest, two: Digest) {
        let pair = sorted(one, two);
        let mut known = self.known.lock();
        if known.all.insert(pair) {
            known.order.push_back(pair);
        }
        if known.order.len() > self.max
            && let Some(oldest) = known.order.pop_front()
        {
            known.all.remove(&oldest);
        }
        self.len.store(known.order.len(), Ordering::Release);
    }

    pub(crate) fn contains(&self, one: Digest, two: Digest) -> bool {
        let some = self.len.load(Ordering::Acquire) > 0;
        some && self.known.lock().all.contains(&sorted(one, two))
    }
}

fn sorted(one: Digest, two: Digest) -> Pair {
    if one <= two { (one, two) } else { (two, one) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Secret;

    #[test]
    fn a_pair_is_known_in_both_orders_until_it_is_the_oldest_of_too_many() {
        let secret = Secret::from_bytes([2; 32]);
        let key = |n: u32| secret.entry(&secret.scope(&[]), &n.to_le_bytes());
        let pairs = Pairs::within(0);
        assert!(!pairs.contains(key(1), key(2)));
        pairs.remember(key(1), key(2));
        pairs.remember(key(2), key(1));
        assert!(pairs.contains(key(1), key(2)) && pairs.contains(key(2), key(1)));
        assert!(!pairs.contains(key(1), key(1)));
        pairs.remember(key(3), key(4));
        assert!(pairs.contains(key(4), key(3)) && !pairs.contains(key(1), key(2)));
    }
}
