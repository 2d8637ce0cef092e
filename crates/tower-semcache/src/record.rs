use std::fmt;

use tower::BoxError;

use crate::cache::{Commit, Hit, Refusal};
use crate::error::NotCached;
use crate::outcome::Outcome;
use crate::weigh::Weigh;

/// How a response of type `Res` becomes something to store, and a stored thing a response.
///
/// For HTTP it is `http::HttpRecord` (feature `http`), which records a body while it
/// streams. For responses that are plain values it is [`Cloned`].
pub trait Record<Req, Res> {
    /// What is stored.
    type Value: Weigh + Send + Sync + 'static;

    /// The response of the service with the cache around it.
    type Response;

    /// Whether the answer to this request may be stored. Default: yes.
    ///
    /// It is asked once a request, before the look-up. After a no the request may still be served
    /// from what is stored, but [`record`](Self::record) is not called for its answer, as if the
    /// caller had forbidden to store it.
    fn records(&self, asked: &Req) -> bool {
        let _ = asked;
        true
    }

    /// The answer to this request is wanted even if its caller leaves: it will be compared with a stored
    /// one, and an answer that never comes counts as a wrong one. Default: nothing follows.
    ///
    /// It is called before the inner service is. Where an answer streams, somebody has to read on in
    /// place of the caller: see `http::FinishLayer`.
    fn wanted(&self, asked: &Req) {
        let _ = asked;
    }

    /// A response from the stored answer. `None`: it cannot serve this request after all (it came
    /// in another form, say), and the request goes on as a miss.
    fn replay(&self, hit: &Hit<Self::Value>, asked: &Req) -> Option<Self::Response>;

    /// Passes a response on and sees to it that `commit` is used once it has come to a clean,
    /// complete end: before whoever reads it learns of that end, and without an await between.
    fn record(&self, response: Res, commit: Commit<Self::Value>) -> Self::Response;

    /// Passes a response on that is not recorded. `outcome` is a miss or a bypass.
    fn pass(&self, response: Res, outcome: Outcome) -> Self::Response;

    /// Passes a response on and says nothing about it: another layer already has.
    fn forward(&self, response: Res) -> Self::Response;

    /// The answer to a caller who wants a stored answer or nothing.
    ///
    /// # Errors
    ///
    /// [`NotCached`], unless the protocol has a response that says so.
    fn not_cached(&self, asked: &Req) -> Result<Self::Response, BoxError> {
        let _ = asked;
        Err(NotCached::new().into())
    }
}

/// Stores a clone of every response.
///
/// Every response that the inner service returns as `Ok` counts as complete, unless
/// [`Cloned::when`] says otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cloned;

/// Stores a clone of every response that is complete; see [`Cloned::when`].
#[derive(Clone, Copy)]
pub struct ClonedWhen<F> {
    complete: F,
}

// === impl Cloned ===

impl Cloned {
    /// Stores a clone of every response of which `complete` says that it may serve others. What
    /// else the inner service returns as `Ok` is passed on and not kept.
    ///
    /// ```
    /// use tower::{BoxError, Layer, ServiceExt, service_fn};
    /// use tower_semcache::{Cache, CacheLayer, Cloned, Lookup, Secret};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let secret = Secret::random();
    /// let policy = move |q: &&'static str| Some(Lookup::new(&secret, secret.scope(&[]), (*q).into()));
    /// let cache: Cache<String> = Cache::builder().build()?;
    /// let record = Cloned::when(|answer: &String| answer.ends_with('.'));
    /// let service = CacheLayer::new(cache.clone(), policy, record)
    ///     .layer(service_fn(|q: &'static str| async move { Ok::<_, BoxError>(q.to_owned()) }));
    ///
    /// service.clone().oneshot("whole.").await?;
    /// service.oneshot("cut of").await?;
    /// assert_eq!((cache.stats().stored, cache.stats().refused_incomplete), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub const fn when<Res, F>(complete: F) -> ClonedWhen<F>
    where
        F: Fn(&Res) -> bool,
    {
        ClonedWhen { complete }
    }
}

impl<Req, Res> Record<Req, Res> for Cloned
where
    Res: Clone + Weigh + Send + Sync + 'static,
{
    type Value = Res;
    type Response = Res;

    fn replay(&self, hit: &Hit<Res>, _: &Req) -> Option<Res> {
        Some(hit.value().clone())
    }

    fn record(&self, response: Res, commit: Commit<Res>) -> Res {
        // A refusal has been counted; the response is good all the same.
        let _ = commit.store(response.clone());
        response
    }

    fn pass(&self, response: Res, _: Outcome) -> Res {
        response
    }

    fn forward(&self, response: Res) -> Res {
        response
    }
}

// === impl ClonedWhen ===

impl<Req, Res, F> Record<Req, Res> for ClonedWhen<F>
where
    Res: Clone + Weigh + Send + Sync + 'static,
    F: Fn(&Res) -> bool,
{
    type Value = Res;
    type Response = Res;

    fn replay(&self, hit: &Hit<Res>, _: &Req) -> Option<Res> {
        Some(hit.value().clone())
    }

    fn record(&self, response: Res, commit: Commit<Res>) -> Res {
        if (self.complete)(&response) {
            // A refusal has been counted; the response is good all the same.
            let _ = commit.store(response.clone());
        } else {
            commit.refuse(Refusal::Incomplete);
        }
        response
    }

    fn pass(&self, response: Res, _: Outcome) -> Res {
        response
    }

    fn forward(&self, response: Res) -> Res {
        response
    }
}

impl<F> fmt::Debug for ClonedWhen<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClonedWhen").finish_non_exhaustive()
    }
}
