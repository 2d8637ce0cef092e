//! From vectors and verdicts to curves, thresholds and intervals.

mod curve;
mod interval;
mod outcome;
mod thresholds;

pub use self::{
    curve::{Counts, Point, curve, grid},
    interval::{Share, clopper_pearson},
    outcome::{Found, Outcome, outcomes},
    thresholds::{Limit, Thresholds, lowest},
};
