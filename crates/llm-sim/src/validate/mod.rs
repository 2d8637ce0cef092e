//! The simulator against real runs of vLLM.
//!
//! A run is three files, `NAME__meta.json` (the server's settings), `NAME__requests.jsonl` (the
//! times of each request) and the operator tables of its model and accelerator,
//! `prof_…__{dense,per_sequence,attention}.csv`. The settings and the tables are all that the
//! simulator is given, beside arrivals and lengths: no parameter is fitted to the run.

mod compare;
mod files;

pub use self::{
    compare::{Comparison, Errors, PEERS, compare},
    files::{Found, RealRequest, RealRun, find},
};
