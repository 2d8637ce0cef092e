//! What stands between arrivals and servers.
//!
//! A [`Front`] sees each arrival, each signal of a server and its own timers, and acts through a
//! [`Context`]. [`Direct`] only balances; a cache, single flight, hedging or
//! an admission limit is a front that wraps another, as a tower layer wraps a service.

mod balance;
mod direct;
mod lookup;

pub use self::{balance::Balance, direct::Direct, lookup::Lookup};
use crate::{engine::Context, server::Signal, workload::Request};

/// A policy in front of the servers.
pub trait Front {
    /// A request arrives.
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>);

    /// Server number `server` reports.
    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>);

    /// A timer that was set with this token is due.
    fn timer(&mut self, token: u64, cx: &mut Context<'_>) {
        let _ = (token, cx);
    }
}
