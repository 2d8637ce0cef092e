//! Random numbers: the Mersenne Twister as CPython seeds and reads it.
//!
//! Every run is a function of a seed, and a seed is a string, so that `workload:0:0.5` here and
//! `random.Random("workload:0:0.5")` in Python draw the same workload.

mod mt;
mod python;

pub use self::{mt::Mt19937, python::PyRandom};
