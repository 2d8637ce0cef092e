use std::time::Duration;

use super::store::Cache;
use crate::error::InvalidSetting;
use crate::weigh::Weigh;

/// The settings of a [`Cache`]; see [`Cache::builder`].
#[derive(Clone, Debug)]
pub struct Builder {
    max_bytes: usize,
    max_entry_bytes: Option<usize>,
    ttl: Duration,
}

const MIB: usize = 1 << 20;
const MAX_SHARDS: usize = 16;
/// A shard holds at least this many of the largest entries, so that the order of use still counts.
const LARGEST_A_SHARD: usize = 4;
/// Beyond the reach of a clock: a life of this length is one that never ends.
pub(super) const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

// === impl Builder ===

impl Builder {
    pub(super) const fn new() -> Self {
        Self {
            max_bytes: 256 * MIB,
            max_entry_bytes: None,
            ttl: Duration::from_secs(60 * 60),
        }
    }

    /// Bytes for everything: answers, keys, texts, vectors and the tables around them. Default:
    /// 256 MiB.
    #[must_use]
    pub const fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Bytes for one entry, everything included. Default: 4 MiB, or `max_bytes` when that is less.
    #[must_use]
    pub const fn max_entry_bytes(mut self, bytes: usize) -> Self {
        self.max_entry_bytes = Some(bytes);
        self
    }

    /// How long an answer stays fresh, counted from the moment it is stored; use does not prolong
    /// it. Default: one hour.
    #[must_use]
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Builds the cache.
    ///
    /// # Errors
    ///
    /// When a bound or the life time is zero, or one entry may be larger than the whole.
    pub fn build<V>(self) -> Result<Cache<V>, InvalidSetting>
    where
        V: Weigh,
    {
        let Self {
            max_bytes,
            max_entry_bytes,
            ttl,
        } = self;
        let max_entry_bytes = max_entry_bytes.unwrap_or_else(|| max_bytes.min(4 * MIB));
        if max_bytes == 0 {
            return Err(InvalidSetting::new("a cache of zero bytes holds nothing"));
        }
        if max_entry_bytes == 0 {
            return Err(InvalidSetting::new(
                "a cache whose entries have zero bytes holds nothing",
            ));
        }
        if max_entry_bytes > max_bytes {
            return Err(InvalidSetting::new(
                "one entry may be larger than the whole cache",
            ));
        }
        if ttl.is_zero() {
            return Err(InvalidSetting::new(
                "a cache with a life time of zero serves nothing",
            ));
        }
        let shards = (max_bytes / max_entry_bytes / LARGEST_A_SHARD).clamp(1, MAX_SHARDS);
        Ok(Cache::new(
            max_bytes,
            max_entry_bytes,
            ttl.min(FOREVER),
            shards,
        ))
    }
}
