//! HTTP/1.1 as far as both ends of a load test need it: heads, and where a body ends.

mod chunked;
mod error;
mod framing;
mod head;

pub use self::chunked::Chunks;
pub use self::error::Malformed;
pub use self::framing::{Framing, Progress};
pub use self::head::{RequestHead, ResponseHead, header};
