//! The memory store: entries and their vectors under one bound.

mod builder;
mod commit;
mod entry;
mod feedback;
mod generation;
mod hit;
mod index;
mod insert;
mod lru;
mod neighbours;
mod pairs;
mod promote;
mod search;
mod shard;
mod stats;
mod store;
mod trust;

#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use commit::{Commit, Refusal};
pub use entry::EntryId;
pub use hit::Hit;
pub use neighbours::Neighbour;
pub use promote::Provenance;
pub use stats::Stats;
pub use store::Cache;

pub(crate) use commit::Sequel;
pub(crate) use generation::Generation;
