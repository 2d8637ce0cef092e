//! Load tests for a serving front end, and the parts they are made of.
//!
//! | room | what is in it |
//! |---|---|
//! | [`clock`] | when something happened, in real time |
//! | [`schedule`] | who sends what, when |
//! | [`http1`] | HTTP/1.1 as far as both ends of a load test need it |
//! | [`client`] | a connection that stamps bytes at the socket and parses them afterwards |
//! | [`upstream`] | a server that costs next to nothing and knows when it answered |
//! | [`process`] | child processes: started, pinned, weighed, always stopped |
//! | [`measure`] | quantiles, spreads, where an answer came from |
//! | [`report`] | tables for people, JSON for programs, checks for CI |
//! | [`scenario`] | the experiments |
//!
//! Everything stays on loopback.
#![forbid(unsafe_code)]

pub mod cli;
pub mod client;
pub mod clock;
pub mod http1;
pub mod measure;
pub mod process;
pub mod report;
pub mod scenario;
pub mod schedule;
pub mod upstream;

/// What stops an experiment.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
