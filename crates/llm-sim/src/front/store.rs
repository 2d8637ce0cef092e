//! Answers by question: a life time and an order of use.

use std::collections::{BTreeMap, HashMap};

use super::Key;

/// Stored answers, at most so many, each for so long; the least recently used makes room.
///
/// The rules are those of `tower_semcache::Cache`: life is counted from the moment an answer is
/// stored, use does not prolong it, and an answer begun before the stored one does not replace it.
/// The bound is another, answers instead of bytes; and where room is needed the product also looks,
/// two places an insertion, for an answer whose life is over.
#[derive(Clone, Debug)]
pub struct Store {
    entries: HashMap<Key, Entry>,
    /// Keys by their last use.
    order: BTreeMap<u64, Key>,
    used: u64,
    capacity: usize,
    ttl_ms: f64,
    pub(super) expired: u64,
    pub(super) evicted: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    stored_ms: f64,
    used: u64,
}

impl Store {
    /// A store for this many answers (at least 1), each for so long, in milliseconds.
    #[must_use]
    pub fn new(capacity: usize, ttl_ms: f64) -> Self {
        Self {
            entries: HashMap::new(),
            order: BTreeMap::new(),
            used: 0,
            capacity: capacity.max(1),
            ttl_ms,
            expired: 0,
            evicted: 0,
        }
    }

    /// The age of the live answer to this question, which becomes the most recently used.
    pub fn get(&mut self, tenant: u32, question: u64, now_ms: f64) -> Option<f64> {
        let key = (tenant, question);
        let entry = self.entries.get_mut(&key)?;
        if now_ms - entry.stored_ms >= self.ttl_ms {
            self.order.remove(&entry.used);
            self.entries.remove(&key);
            self.expired += 1;
            return None;
        }
        self.order.remove(&entry.used);
        self.used += 1;
        entry.used = self.used;
        self.order.insert(self.used, key);
        Some(now_ms - entry.stored_ms)
    }

    /// Stores an answer that was asked for at `began_ms`; false where a later one stands.
    pub fn put(&mut self, tenant: u32, question: u64, began_ms: f64, now_ms: f64) -> bool {
        let key = (tenant, question);
        if let Some(old) = self.entries.get(&key).copied() {
            if now_ms - old.stored_ms < self.ttl_ms && old.stored_ms > began_ms {
                return false;
            }
            self.order.remove(&old.used);
            self.entries.remove(&key);
        }
        while self.entries.len() >= self.capacity {
            let Some(oldest) = self.order.pop_first().map(|(_, key)| key) else {
                break;
            };
            if let Some(entry) = self.entries.remove(&oldest) {
                match now_ms - entry.stored_ms < self.ttl_ms {
                    true => self.evicted += 1,
                    false => self.expired += 1,
                }
            }
        }
        self.used += 1;
        let entry = Entry {
            stored_ms: now_ms,
            used: self.used,
        };
        self.entries.insert(key, entry);
        self.order.insert(self.used, key);
        true
    }

    /// Answers in the store, dead ones that nobody has asked for included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
