//! A connection that stamps bytes at the socket and parses them afterwards.
//!
//! While an answer arrives, only its end is looked for. What it says (status, fields, content, events) is read off the
//! [`Recording`] once it is over, so that parsing one answer never delays the stamp of the next.
//!
//! ```no_run
//! use llm_bench::client::{Connection, Recording, post};
//!
//! # async fn example() -> Result<(), llm_bench::BoxError> {
//! let mut connection = Connection::open(([127, 0, 0, 1], 8080).into(), None).await?;
//! let mut recording = Recording::default();
//! connection.exchange(&post("/v1/generate", br#"{"prompt":"hello"}"#), &mut recording).await?;
//! println!("{} in {:?}", recording.status(), recording.ended()?.since(recording.sent()?));
//! # Ok(())
//! # }
//! ```

mod connection;
mod error;
mod pool;
mod recording;
mod request;

pub use self::connection::Connection;
pub use self::error::Error;
pub use self::pool::{Sources, open_many};
pub use self::recording::{Recording, Timed};
pub use self::request::{get, post};
