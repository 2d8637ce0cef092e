//! The synchronised cores, as plain types that know nothing of tokio.
//!
//! Rules that all of them keep: a lock is held for a few lines; no waker is called, cloned or dropped under it; no value
//! of the user's is dropped under it; and of the user's code only a key's `Eq` runs under the map's lock, before anything
//! is changed. With `--cfg tower_coalesce_loom` the locks are loom's, and `loom.rs` explores every interleaving.

mod flight;
mod flights;
#[cfg(any(feature = "http", all(test, tower_coalesce_loom)))]
mod log;
#[cfg(all(test, tower_coalesce_loom))]
mod loom;
mod waiters;

pub(crate) use self::flight::{Flight, Order};
pub(crate) use self::flights::{Entered, Flights, Hashed};
#[cfg(feature = "http")]
pub(crate) use self::log::{Cursor, Log, Read};
#[cfg(feature = "http")]
pub(crate) use self::waiters::Batch;

#[cfg(not(tower_coalesce_loom))]
pub(crate) use parking_lot::Mutex;

/// loom's mutex, without poison, like the one it stands in for.
#[cfg(tower_coalesce_loom)]
#[derive(Debug)]
pub(crate) struct Mutex<T>(::loom::sync::Mutex<T>);

#[cfg(tower_coalesce_loom)]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(::loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> ::loom::sync::MutexGuard<'_, T> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
