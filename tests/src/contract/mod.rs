//! The contract that every layer keeps, whatever else it does: readiness, clones, permits, death, cancellation.
//!
//! Each clause is a function over any way to put a layer around an [`Inner`]; [`contract!`](crate::contract!) makes a module of
//! tests of them, one a clause. The clauses come from faults that users of such layers reported.
//!
//! ```
//! use tests::contract::{self, Inner};
//! use tower::{Layer, limit::ConcurrencyLimitLayer};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! // Any layer of tower can be held against it.
//! let make = |inner: Inner| ConcurrencyLimitLayer::new(2).layer(inner);
//! contract::poll_ready_twice_takes_one_permit(make).await;
//! contract::nothing_is_left_after_the_last_handle(make).await;
//! # }
//! ```

mod clauses;
mod inner;

pub use self::clauses::*;
pub use self::inner::Inner;

/// A module of tests named `$name`, one for each clause, over `$make`: a function from an [`Inner`] to the service with the layer
/// around it.
///
/// The layer must have room for two callers and call the inner service once a request.
#[macro_export]
macro_rules! contract {
    ($name:ident, $make:expr) => {
        mod $name {
            use super::*;

            $crate::contract!(@clauses $make =>
                a_clone_that_was_not_polled_ready_is_never_called
                over_an_inner_limit_of_one_single_and_sequential_requests_finish
                poll_ready_twice_takes_one_permit
                a_reserved_place_is_free_again_when_its_handle_is_dropped
                waiters_wake_when_the_inner_service_dies
                waiters_wake_when_the_work_dies
                waiting_does_not_poll
                leaving_is_seen_with_the_cooperative_budget_spent
                leaving_gives_the_inner_permit_back
                nothing_is_left_after_the_last_handle
                an_inner_capacity_of_n_admits_exactly_n
                after_death_every_call_gives_the_same_error
            );
        }
    };
    (@clauses $make:expr => $($clause:ident)+) => { $(
        #[tokio::test(start_paused = true)]
        async fn $clause() {
            $crate::contract::$clause($make).await;
        }
    )+ };
}
