//! Studies: many runs, summarised with intervals.

mod capacity;
mod sweep;

pub use self::{
    capacity::{capacity, stationary_capacity},
    sweep::{Point, Setup, sweep},
};
