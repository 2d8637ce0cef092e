//! Sends requests by a schedule, and says of every one of them what became of it.
//!
//! Two threads: the caller's, which only sends, reads and stamps, and one of lower priority that reads what was recorded
//! (see [`answer`](crate::answer)). Latency counts from the moment a request was **due**, so a request that could not be sent in
//! time, for the cap on requests in flight or because the load generator is too slow, is not measured as if nobody had waited
//! for it.
//!
//! ```text
//!    due ───────────▶ free ──────────▶ sent ─────────▶ first token ───── … ─────▶ ended
//!         queued              lag           ttft_from_send
//!     (waits for a place   (our own         e2el_from_send ────────────────────▶
//!      under the cap)      lateness)
//!    ttft, e2el ────────────────────────────────────────────────────────────────▶
//! ```
//!
//! A list of start times and lengths, sent to a server:
//!
//! ```no_run
//! use llm_bench::load::{Load, Pacing, Target, run};
//! use llm_bench::workload::{Dataset, Dialect, Endpoint, Entry, Form, Trace};
//! use serde_json::Map;
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! # async fn example() -> Result<(), llm_bench::BoxError> {
//! let at = |ms, prompt_tokens, output_tokens| Entry {
//!     at: Duration::from_millis(ms),
//!     prompt_tokens,
//!     output_tokens,
//!     ..Entry::default()
//! };
//! let trace = Trace::new(vec![at(0, 100, 20), at(35, 250, 80)], 0);
//! let target = Target::parse("http://127.0.0.1:8000")?;
//! let path = Endpoint::Completions.path();
//! let dialect = Dialect::new(Endpoint::Completions, path, target.authority(), "model", Form::Stream, &[], &Map::new());
//! let times = trace.times().unwrap_or_default();
//! let load = Load::new(vec![(target, dialect)], Arc::new(trace), Pacing::Open(times));
//! for outcome in run(load, |_| ()).await?.outcomes {
//!     println!("{} {:?} {:?} {:?}", outcome.number, outcome.end, outcome.ttft(), outcome.e2el());
//! }
//! # Ok(())
//! # }
//! ```

mod digest;
mod floor;
mod outcome;
mod run;
mod slot;
mod stop;
mod target;

pub use self::digest::Live;
pub use self::outcome::{Arrived, End, Outcome};
pub use self::run::{Load, Pacing, Ran, run};
pub use self::stop::Stop;
pub use self::target::Target;
