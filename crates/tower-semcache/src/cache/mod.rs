//! The memory store: entries and their vectors under one bound.

mod builder;
mod commit;
mod entry;
mod generation;
mod index;
mod insert;
mod lru;
mod search;
mod shard;
mod stats;
mod store;
#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use commit::{Commit, Refusal};
pub use entry::{EntryId, Hit};
pub use stats::Stats;
pub use store::Cache;

pub(crate) use generation::Generation;
