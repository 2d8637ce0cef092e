//! Studies: many runs, summarised with intervals.

mod capacity;
pub mod front_end;
mod sweep;

pub use self::{
    capacity::{capacity, stationary_capacity},
    sweep::{Point, Setup, sweep},
};
