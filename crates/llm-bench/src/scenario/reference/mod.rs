//! The reference load test: 80 requests over 3 prompts, 16 in flight, with and without coalescing.
//!
//! 16 callers take the requests in turn. The first 16 find an empty cache; the other 64 find all three answers in it.
//!
//! | | generated | hits | coalesced | batches |
//! |---|---|---|---|---|
//! | without coalescing | 16 | 64 | 0 | 8 + 8: full, so sent at once |
//! | with | 3 | 64 | 13 | one of 3, when its window of 6 ms closes |
//!
//! A batch costs 12 ms and 3 ms an item more, so that with coalescing the slowest caller waits 6 + 12 + 3 · 3 = 27 ms.

mod counts;
pub mod in_process;
pub mod sockets;
mod summary;
mod workload;

pub use self::counts::{Batches, Counts, Mode};
pub use self::summary::report;
pub use self::workload::Run;
