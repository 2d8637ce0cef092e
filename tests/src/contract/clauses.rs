//! The clauses. Each is given a way to put the layer around an inner service, and fails by panicking.

use super::Inner;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};
use tower::{BoxError, Service, ServiceExt};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Lets every task run until it waits, without letting time pass.
async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

/// Fails instead of hanging. Time is paused, so this costs nothing.
async fn soon<F: Future>(future: F) -> F::Output {
    timeout(600 * SECOND, future).await.expect("it hangs")
}

/// What an error says, its sources included.
fn words(error: &BoxError) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        words.push_str(": ");
        words.push_str(&error.to_string());
        source = Error::source(error);
    }
    words
}

macro_rules! clause {
    ($(#[doc = $doc:literal])+ $name:ident($make:ident) $body:block) => {
        $(#[doc = $doc])+
        ///
        /// # Panics
        /// When the layer does not keep it.
        pub async fn $name<M, S>($make: M)
        where
            M: Fn(Inner) -> S,
            S: Service<u32, Response = u32, Error = BoxError, Future: Send> + Clone + Send + 'static,
        $body
    };
}

clause! {
    /// The inner service is only ever called on the very handle that was polled ready, whichever clone of the layer is called.
    a_clone_that_was_not_polled_ready_is_never_called(make) {
        let inner = Inner::new(2, MS);
        let mut service = make(inner.look());
        for n in 0..20 {
            // The clone is made of a handle that is ready, and both are used.
            soon(service.ready()).await.expect("ready");
            let clone = service.clone();
            let (a, b) = soon(async { tokio::join!(service.call(2 * n), clone.oneshot(2 * n + 1)) }).await;
            assert_eq!((a.expect("an answer"), b.expect("an answer")), (20 * n, 20 * n + 10));
        }
        assert_eq!(inner.calls(), 40);
    }
}

clause! {
    /// Over an inner service with one place, one request finishes, and so do a thousand one after the other, on one handle and on clones.
    over_an_inner_limit_of_one_single_and_sequential_requests_finish(make) {
        let inner = Inner::new(1, MS);
        let mut service = make(inner.look());
        for n in 0..500 {
            let one = soon(async { service.ready().await?.call(2 * n).await }).await;
            assert_eq!(one.expect("an answer"), 20 * n);
            let other = soon(service.clone().oneshot(2 * n + 1)).await;
            assert_eq!(other.expect("an answer"), 20 * n + 10);
        }
        assert_eq!((inner.calls(), inner.most()), (1_000, 1));
    }
}

clause! {
    /// However often a handle is polled ready, it takes one place and stays ready: the other place is for the other handle.
    poll_ready_twice_takes_one_permit(make) {
        let inner = Inner::new(2, MS);
        let service = make(inner.look());
        let mut one = service.clone();
        for _ in 0..3 {
            soon(poll_fn(|cx| one.poll_ready(cx))).await.expect("ready, and still ready");
        }
        let mut two = service.clone();
        soon(poll_fn(|cx| two.poll_ready(cx))).await.expect("there is a second place");
        assert_eq!(soon(two.call(2)).await.expect("an answer"), 20);
        assert_eq!(soon(one.call(1)).await.expect("an answer"), 10);
        drop((one, two, service));
        settle().await;
        assert_eq!(inner.free(), 2);
    }
}

clause! {
    /// A handle that is dropped ready and unused gives back what it reserved.
    a_reserved_place_is_free_again_when_its_handle_is_dropped(make) {
        let service = make(Inner::new(2, MS));
        for n in 0..10 {
            let mut handles = [service.clone(), service.clone()];
            for handle in &mut handles {
                soon(poll_fn(|cx| handle.poll_ready(cx))).await.expect("ready");
            }
            drop(handles);
            assert_eq!(soon(service.clone().oneshot(n)).await.expect("an answer"), 10 * n);
        }
    }
}

clause! {
    /// Callers who wait for an inner place are woken, with an error, when there will never be one.
    waiters_wake_when_the_inner_service_dies(make) {
        let inner = Inner::new(0, MS);
        let service = make(inner.look());
        let callers: Vec<_> = (0..10).map(|n| tokio::spawn(service.clone().oneshot(n))).collect();
        sleep(SECOND).await;
        assert_eq!(inner.calls(), 0);
        inner.die();
        let died = Instant::now();
        for caller in callers {
            let error = soon(caller).await.expect("no panic").expect_err("it is dead");
            assert!(words(&error).contains("the inner service is dead"), "{}", words(&error));
        }
        assert!(died.elapsed() < SECOND, "woken late");
    }
}

clause! {
    /// Callers who wait for work that panics hear of it: as an error, or, where the work runs in their own future, as the panic. None hangs.
    waiters_wake_when_the_work_dies(make) {
        let inner = Inner::panicking(SECOND);
        let service = make(inner.look());
        // Two of each, so that what is shared is shared.
        let callers: Vec<_> = (0..10).map(|n| tokio::spawn(service.clone().oneshot(n / 2))).collect();
        for caller in callers {
            let ended = soon(caller).await;
            assert!(!matches!(ended, Ok(Ok(_))), "nobody has answered: {ended:?}");
        }
        settle().await;
        assert_eq!(inner.alive(), 0);
    }
}

clause! {
    /// A caller is polled when there is something for it and not otherwise: twice in a call of a second, with 15 others waiting.
    waiting_does_not_poll(make) {
        let service = make(Inner::new(100, SECOND));
        let polls: Vec<Arc<AtomicUsize>> = (0..16).map(|_| Arc::default()).collect();
        // Half of them ask the same.
        let callers = polls.iter().zip(0_u32..).map(|(polls, n)| {
            let (polls, mut service) = (polls.clone(), service.clone());
            tokio::spawn(async move {
                let service = service.ready().await?;
                let mut call = std::pin::pin!(service.call(n.min(8)));
                poll_fn(|cx| {
                    polls.fetch_add(1, Ordering::SeqCst);
                    call.as_mut().poll(cx)
                })
                .await
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            soon(caller).await.expect("no panic").expect("an answer");
        }
        let polls: Vec<usize> = polls.iter().map(|polls| polls.load(Ordering::SeqCst)).collect();
        assert!(polls.iter().all(|polls| *polls <= 2), "{polls:?}");
    }
}

clause! {
    /// When the callers have left, the work is dropped at once, though it spends the cooperative budget of whoever polls it.
    leaving_is_seen_with_the_cooperative_budget_spent(make) {
        let inner = Inner::greedy();
        let service = make(inner.look());
        let callers: Vec<_> = (0..8).map(|n| tokio::spawn(service.clone().oneshot(n))).collect();
        settle().await;
        // A batch may have a window. Time cannot pass any more once somebody is at work who never rests.
        while inner.alive() == 0 {
            sleep(MS).await;
            settle().await;
        }
        for caller in &callers {
            caller.abort();
        }
        settle().await;
        assert_eq!(inner.alive(), 0, "calls live on");
    }
}

clause! {
    /// Callers who leave, waiting or at work, leave no place of the inner service taken.
    leaving_gives_the_inner_permit_back(make) {
        let inner = Inner::new(1, SECOND);
        let service = make(inner.look());
        for n in 0..20 {
            let callers: Vec<_> = (0..5).map(|k| tokio::spawn(service.clone().oneshot(5 * n + k))).collect();
            sleep(10 * MS).await;
            for caller in &callers {
                caller.abort();
            }
            sleep(10 * MS).await;
            assert_eq!((inner.alive(), inner.free()), (0, 1), "after round {n}");
        }
        assert_eq!(soon(service.oneshot(1_000)).await.expect("an answer"), 10_000);
    }
}

clause! {
    /// When the last handle and the last caller are gone, no task, no call and no place is left.
    nothing_is_left_after_the_last_handle(make) {
        let tasks = Handle::current().metrics().num_alive_tasks();
        let inner = Inner::new(2, 10 * MS);
        let service = make(inner.look());
        let mut leavers = Vec::new();
        for n in 0..100 {
            let call = timeout((n % 20) * MS, service.clone().oneshot(n / 2));
            leavers.push(tokio::spawn(call));
        }
        drop(service);
        for leaver in leavers {
            let _ = soon(leaver).await.expect("no panic");
        }
        sleep(SECOND).await;
        assert_eq!((inner.alive(), inner.free()), (0, 2));
        assert_eq!(Handle::current().metrics().num_alive_tasks(), tasks);
    }
}

clause! {
    /// As many calls run at one time as the inner service has places: not one more, and not one fewer.
    an_inner_capacity_of_n_admits_exactly_n(make) {
        for places in [1, 3, 7] {
            let inner = Inner::new(places, SECOND);
            let service = make(inner.look());
            let callers: Vec<_> = (0..20).map(|n| tokio::spawn(service.clone().oneshot(n))).collect();
            for (caller, n) in callers.into_iter().zip(0..) {
                assert_eq!(soon(caller).await.expect("no panic").expect("an answer"), 10 * n);
            }
            assert_eq!((inner.calls(), inner.most()), (20, places));
        }
    }
}

clause! {
    /// Polled or called again after the inner service has died, the service gives the same error each time, and never panics or hangs.
    after_death_every_call_gives_the_same_error(make) {
        let inner = Inner::new(2, MS);
        let mut service = make(inner.look());
        assert_eq!(soon(service.clone().oneshot(1)).await.expect("an answer"), 10);
        inner.die();
        let mut heard = Vec::new();
        for n in 2..8 {
            let again = soon(async { service.ready().await?.call(n).await }).await;
            heard.push(words(&again.expect_err("it is dead")));
            let clone = soon(service.clone().oneshot(100 + n)).await;
            heard.push(words(&clone.expect_err("it is dead")));
        }
        heard.dedup();
        assert_eq!(heard.len(), 1, "{heard:?}");
    }
}
