//! The experiments whose figures are exact: made again and kept, or made again and held against what is kept.

mod budget;
mod load_test;
mod page;
mod simulation;

use crate::BoxError;
use crate::cli::Part;
use crate::results::Results;

/// What is not as it must be, in words.
pub(crate) type Findings = Vec<String>;

/// Makes a part again, into `results`.
pub(crate) fn make(part: Part, results: &Results) -> Result<Findings, BoxError> {
    match part {
        Part::Budget => budget::make(results),
        Part::Loadtest => load_test::make(results),
        Part::Simulation => simulation::make(results),
        Part::Page => page::make(results),
    }
}

/// Makes a part again, and holds it against what `kept` has. What was made is put into `made`.
pub(crate) fn check(part: Part, kept: &Results, made: &Results) -> Result<Findings, BoxError> {
    match part {
        Part::Budget => budget::check(kept, made),
        Part::Loadtest => load_test::check(kept, made),
        Part::Simulation => simulation::check(kept),
        Part::Page => page::check(kept),
    }
}
