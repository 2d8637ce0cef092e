//! The gateway's own layers, outermost first.

pub mod admission;
pub mod cap;
pub mod ending;
pub mod fork;
pub mod form;
pub mod held;
pub mod label;
pub mod mark;
pub mod merge;
pub mod observe;
pub mod prompt;
pub mod shared;
pub mod split;
pub mod tenant;
