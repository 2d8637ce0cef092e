//! When requests are due, drawn before anything is sent.
//!
//! An **open loop** sends by a schedule that knows nothing of the answers, as independent users do: [`Arrivals`] draws it. A
//! **closed loop** sends a caller's next request when the last one is answered, as a fixed number of workers does: its requests
//! are only numbered, by a [`Cursor`].
//!
//! ```
//! use llm_bench::arrivals::{Arrivals, Burstiness};
//!
//! let steady = Arrivals::Rate { rate: 10.0, burstiness: Burstiness::Constant };
//! let times = steady.of_count(3, 0);
//! assert_eq!(times.iter().map(|time| time.as_millis()).collect::<Vec<_>>(), [0, 100, 200]);
//! ```

mod cursor;
mod ramp;
mod schedule;

pub use self::cursor::Cursor;
pub use self::ramp::{Ramp, Strategy};
pub use self::schedule::{Arrivals, Burstiness};
