//! A server that costs next to nothing and knows when it answered.
//!
//! It runs inside the load test's own process, so that its stamps and the callers' are of one clock, and so that all it costs
//! falls on the load test's CPU. Its answers are made beforehand: one read, one write a call.

mod answer;
mod connection;
mod script;
mod server;

pub use self::answer::{Pace, Text};
pub use self::script::{Part, Script};
pub use self::server::{Last, Upstream, serve};
