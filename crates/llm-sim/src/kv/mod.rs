//! The paged KV cache: blocks, prefix hashes, least recently used eviction.

mod lru;
mod pool;
mod table;

pub use self::{pool::BlockPool, table::BlockTable};
