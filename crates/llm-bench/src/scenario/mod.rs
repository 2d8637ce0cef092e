//! The experiments.

pub mod followers;
pub mod generator;
pub mod herd;
pub mod overhead;
pub mod reference;

mod chat;
mod run;

pub use self::run::run;
