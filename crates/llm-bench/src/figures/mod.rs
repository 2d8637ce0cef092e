//! What the outcomes of a run mean, each figure with its formula.
//!
//! | figure | formula |
//! |---|---|
//! | TTFT | first token − due |
//! | TPOT | (last token − first token) / (tokens − tokens of the first chunk); a request has one |
//! | ITL | a pause between two arrivals / the tokens that ended it, once for each of these tokens |
//! | ICL | a pause between two arrivals |
//! | E2EL | last byte − due |
//! | throughput | whole answers / duration; their tokens / duration |
//! | goodput | whole answers that meet every target / duration |
//! | concurrency | Little's law: rate × mean time in the system = Σ (last byte − send) / duration |
//! | percentile | between the two values beside position p · (n − 1), in proportion: as NumPy and `vllm bench serve` |
//!
//! "Due" is when the request should have been sent; the same figures from the send are there too. Percentiles are over whole
//! answers; how many failed stands beside them, and in goodput and in checks they count.

mod group;
mod hdr;
mod metric;
mod pace;
mod paired;
mod slo;
mod summary;

pub use self::group::Group;
pub use self::hdr::{merge, read, write};
pub use self::metric::Metric;
pub use self::pace::Pace;
pub use self::paired::Paired;
pub use self::slo::Slo;
pub use self::summary::Summary;
