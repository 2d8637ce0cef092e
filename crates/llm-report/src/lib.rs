//! The experiments whose figures are exact, run again, and one report of every result there is.
//!
//! | room | what is in it |
//! |---|---|
//! | [`cli`] | the command line |
//! | [`virtual_time`] | a clock that stands still until everybody waits |
//! | [`gateway`] | the whole gateway, in process |
//! | [`budget`] | the latency budget: techniques, each with what was expected and what was measured |
#![forbid(unsafe_code)]

pub mod budget;
pub mod cli;
pub mod gateway;
mod run;
pub mod virtual_time;

pub use self::run::run;

/// What stops an experiment.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
