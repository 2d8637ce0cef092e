//! Child processes: started on loopback, pinned to a CPU, weighed, and always stopped.

mod child;
mod front;
mod nginx;
mod port;
mod usage;

pub use self::child::Child;
pub use self::front::{Binary, Front};
pub use self::nginx::Nginx;
pub use self::port::free as free_port;
pub use self::usage::{cpu_time, pin_this_process, resident_mib};
