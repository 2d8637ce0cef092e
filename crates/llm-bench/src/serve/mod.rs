//! The command that loads a server: one run, several, a sweep, a comparison.

mod check;
mod command;
mod compare;
mod console;
mod detail;
mod file;
mod merged;
mod notes;
mod plan;
mod progress;
mod repeat;
mod result;
mod round;
mod sweep;

pub use self::check::Condition;
pub use self::command::{Verdict, run};
pub use self::merged::show as show_merged;
