//! When something happened, and waking when something is due, in real time.
//!
//! Load tests over sockets measure the world outside of this process, so their clock can never be paused.

mod alarm;
mod stamp;

pub use self::alarm::Alarm;
pub use self::stamp::Stamp;
