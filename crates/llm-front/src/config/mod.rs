//! Settings: flags, environment, a TOML file, one table of defaults.
//!
//! A flag wins over the environment, the environment over the file, the file over the default. What cannot work is
//! refused at start, with the fix in the message.

mod check;
mod defaults;
mod file;
mod promise;
pub mod types;

pub use check::Refused;
pub use defaults::{Config, Settings};
pub use file::Unreadable;
