//! What stands between arrivals and servers.
//!
//! A [`Front`] sees each arrival, each signal of a server and its own timers, and acts through a
//! [`Context`]. The last one hands requests to servers; every other wraps the next, as a tower layer
//! wraps a service, and hears from it in the words of a server: first token, done, rejected.
//!
//! | front | the product's | code |
//! |---|---|---|
//! | [`Coalesce`] | `tower-coalesce` | its own: the product's flights are futures and wakers, a simulation has neither |
//! | [`Cache`] | `tower-semcache` | its own: the product's store keeps bytes and reads tokio's clock for each; a simulation asks it millions of times a second |
//! | [`Lookup`] | `tower-semcache`, seen only by its hit rate | its own: there is nothing to look up |
//! | [`Admission`] | the gateway's admission | its own: a semaphore's permits wait in futures |
//! | [`Batching`] | `tower-batch-llm` | its own: the product's worker is a task that sleeps |
//! | [`Direct`], [`Hedged`] | the balancer and its hedging | its own: the product reads the load of connections, here servers tell it |
//!
//! That the rooms decide as the product does is tested where it can be: `tests/product.rs` plays the
//! same requests to the layers themselves, under paused time, and compares every count.
//!
//! # Examples
//!
//! The order of the product: single flight, then the cache, then admission, then hedging.
//!
//! ```
//! use std::sync::Arc;
//!
//! use llm_sim::{
//!     cost::Affine,
//!     engine::Simulation,
//!     front::{Admission, Balance, Cache, CacheConfig, Coalesce, Front, Hedge, Hedged, Tally},
//!     server::{Continuous, Server},
//!     workload::{Workload, Zipf},
//! };
//!
//! let servers = (0..4)
//!     .map(|_| Box::new(Continuous::new(32, Affine::SEED)) as Box<dyn Server>)
//!     .collect();
//! let hedged = Hedged::new(Balance::TwoChoices, Hedge::after(100.0).budget(0.05), "doc");
//! let admission = Admission::new(hedged, 128).queue(256);
//! let cache = Cache::new(admission, CacheConfig::default().ttl_ms(60_000.0), "doc");
//! let mut sim = Simulation::new(servers, Coalesce::new(cache));
//! let questions = Workload::seed(0, 60.0).popularity(Arc::new(Zipf::new(1000, 1.0)));
//! let report = sim.run(questions.take(2000));
//! let tally = Tally::of(sim.front());
//! assert_eq!(report.counts.done, 2000);
//! assert_eq!(tally.dispatched - tally.hedges + tally.hits + tally.followers, 2000);
//! ```

mod admission;
mod balance;
mod batching;
mod cache;
mod coalesce;
mod direct;
mod hedge;
mod lookup;
mod store;
mod tally;

pub use self::{
    admission::Admission,
    balance::Balance,
    batching::{Batching, Window},
    cache::{Cache, CacheConfig},
    coalesce::Coalesce,
    direct::Direct,
    hedge::{Hedge, Hedged},
    lookup::Lookup,
    store::Store,
    tally::Tally,
};
use crate::{
    engine::{Context, Due},
    server::{Completion, Signal},
    workload::Request,
};

/// A policy in front of the servers.
pub trait Front {
    /// A request arrives.
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>);

    /// Server number `server` reports.
    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>);

    /// A timer is due, of this front or of one within it.
    fn timer(&mut self, due: Due, cx: &mut Context<'_>) {
        let _ = (due, cx);
    }

    /// Adds what it has counted, and what the fronts within it have.
    fn tally(&self, tally: &mut Tally) {
        let _ = tally;
    }
}

impl<F> Front for Box<F>
where
    F: Front + ?Sized,
{
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>) {
        (**self).arrive(request, cx);
    }

    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>) {
        (**self).signal(server, signal, cx);
    }

    fn timer(&mut self, due: Due, cx: &mut Context<'_>) {
        (**self).timer(due, cx);
    }

    fn tally(&self, tally: &mut Tally) {
        (**self).tally(tally);
    }
}

/// Who may share an answer: the same question of the same tenant.
type Key = (u32, u64);

const fn key(request: &Request) -> Key {
    (request.tenant, request.key)
}

/// An answer that no server made for this request.
const fn without_server(request: Request, first_token_ms: f64, finished_ms: f64) -> Completion {
    Completion {
        queued_ms: first_token_ms,
        scheduled_ms: first_token_ms,
        first_token_ms,
        finished_ms,
        cached_tokens: request.prompt_tokens,
        preemptions: 0,
        request,
    }
}
