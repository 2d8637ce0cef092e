//! What a run is summarised by; nothing here grows with the number of requests, unless it says so.

mod interval;
mod latency;
mod little;
mod percentile;
mod series;
mod sketch;

pub use self::{
    interval::Interval,
    latency::{Latency, Limits},
    little::Little,
    percentile::{percentile, round},
    series::Series,
    sketch::Sketch,
};
