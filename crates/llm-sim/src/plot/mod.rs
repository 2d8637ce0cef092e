//! Plots as SVG, readable on light and dark grounds.

mod chart;
mod scale;

pub use self::chart::{Chart, Line, Scale};
pub use self::scale::{Axis, label};
