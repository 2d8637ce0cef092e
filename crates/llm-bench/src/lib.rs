//! Load tests for a serving front end, and the parts they are made of.
//!
//! | room | what is in it |
//! |---|---|
//! | [`clock`] | when something happened, in real time |
//! | [`arrivals`] | when requests are due, drawn before anything is sent |
//! | [`workload`] | what is asked |
//! | [`load`] | sends it, by the schedule, and says of every request what became of it |
//! | [`answer`] | what an answer says, read once it is over |
//! | [`figures`] | what that means: TTFT, TPOT, ITL, goodput, … each with its formula |
//! | [`serve`] | the command: one run, several, a sweep, a comparison; console, JSON, checks |
//! | [`http1`] | HTTP/1.1 as far as both ends of a load test need it |
//! | [`client`] | a connection that stamps bytes at the socket and parses them afterwards |
//! | [`upstream`] | a server that costs next to nothing and knows when it answered |
//! | [`process`] | child processes: started, pinned, weighed, always stopped |
//! | [`measure`] | quantiles, spreads, where an answer came from |
//! | [`report`] | tables for people, JSON for programs, checks for CI |
//! | [`scenario`] | the experiments |
//! | [`runtime`] | one thread, and how a test is stopped |
//!
//! Experiments stay on loopback; a load leaves it only where it is told to.
#![forbid(unsafe_code)]

pub mod answer;
pub mod arrivals;
pub mod cli;
pub mod client;
pub mod clock;
pub mod figures;
pub mod http1;
pub mod load;
pub mod measure;
pub mod process;
pub mod report;
pub mod runtime;
pub mod scenario;
pub mod serve;
pub mod upstream;
pub mod workload;

/// What stops an experiment.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
