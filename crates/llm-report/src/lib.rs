//! The experiments whose figures are exact, made again, and one report of every result there is.
//!
//! | room | what is in it |
//! |---|---|
//! | [`cli`] | the command line |
//! | [`virtual_time`] | a clock that stands still until everybody waits |
//! | [`gateway`] | the whole gateway, in process |
//! | [`budget`] | the latency budget: techniques, each with what was expected and what was measured |
//! | [`results`] | the folder of the results |
//! | [`compare`] | whether a result that was made again is the one that is kept |
//! | [`section`] | what a result says, and means |
//! | [`chart`] | lines and bars as SVG |
//! | [`page`] | the report as HTML and Markdown |
#![forbid(unsafe_code)]

pub mod budget;
pub mod chart;
pub mod cli;
pub mod compare;
pub mod gateway;
pub mod page;
mod part;
pub mod results;
mod run;
pub mod section;
pub mod virtual_time;

pub use self::run::run;

/// What stops an experiment.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
