//! What is asked.
//!
//! A [`Dataset`] says what request number n asks for, an [`Ask`]; a [`Dialect`] makes it an HTTP request. Both are functions of
//! their number (and a seed): a request is the same whenever it is made, in whatever order, and however long a run lasts.

mod ask;
mod custom;
mod dialect;
mod random;
mod trace;
mod words;
mod zipf;

pub use self::ask::{Ask, Dataset, Prompt};
pub use self::custom::{Custom, Order};
pub use self::dialect::{Dialect, Endpoint, Form};
pub use self::random::{Lengths, Random};
pub use self::trace::{BLOCK, Entry, Trace};
pub use self::zipf::Zipf;
