//! How good a semantic cache is: how many of the questions that a stored answer would answer it serves, and how many of
//! those that none would it answers wrongly.
//!
//! [`set`] reads labelled texts: pairs, classes, or the reference system's look-ups. [`vectors`] embeds them, [`guards`]
//! judges them. [`score`] makes curves of them, finds thresholds on one half and reports them on the other, with
//! intervals. [`command`] is the command line. `cargo xtask cache-eval --help` is where to begin.
#![forbid(unsafe_code)]

pub mod command;
pub mod guards;
pub mod score;
pub mod set;
pub mod stream;
pub mod train;
pub mod vectors;

/// The project's own labelled pairs, one JSON object a line: `data/README.md` says what is in them.
pub const LABELLED: &str = include_str!("../data/labelled.jsonl");
