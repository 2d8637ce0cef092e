use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tokio::time::Sleep;
use tower::BoxError;
use tower::util::Oneshot;
use tower_service::Service;

use crate::bounded::{Candidate, Decision, NEIGHBOURS};
use crate::cache::{Cache, Commit, Generation, Hit, Sequel};
use crate::guard::{AcceptAll, Guard};
use crate::lookup::Lookup;
use crate::matching::Matching;
use crate::outcome::{Detail, Outcome};
use crate::record::Record;
use crate::semantic::{Bounded, NoEmbedder, Semantic, Trial};
use crate::vector::{Unit, Vector};

pin_project! {
    /// The future of a [`CacheService`](crate::CacheService).
    pub struct ResponseFuture<S, Req, H, V, E = NoEmbedder, G = AcceptAll>
    where
        S: Service<Req>,
        H: Record<Req, S::Response>,
        E: Service<Arc<str>>,
    {
        #[pin]
        state: State<S, Req, H, V, E, G>,
        record: H,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, Req, H, V, E, G>
    where
        S: Service<Req>,
        H: Record<Req, S::Response>,
        E: Service<Arc<str>>,
    {
        Embed {
            #[pin]
            embed: Oneshot<E, Arc<str>>,
            #[pin]
            deadline: Sleep,
            search: Option<Search<S, Req, V, G>>,
        },
        Call {
            #[pin]
            call: Oneshot<S, Req>,
            commit: Option<Commit<V>>,
            outcome: Outcome,
        },
        Done {
            response: Option<Result<H::Response, BoxError>>,
        },
    }
}

/// A request that found no equal one, and all it needs to go on.
pub(crate) struct Miss<S, Req, V> {
    pub(crate) request: Req,
    pub(crate) inner: S,
    pub(crate) cache: Cache<V>,
    pub(crate) lookup: Lookup,
    pub(crate) generation: Generation,
}

/// A miss whose text is being embedded.
struct Search<S, Req, V, G> {
    miss: Miss<S, Req, V>,
    guard: Arc<G>,
    bounded: Option<Bounded<V>>,
}

/// What a search came to.
enum Found<R, V> {
    /// A response, from this.
    Served(R, Detail),
    /// Nothing that may be served.
    Nothing(Sequel<V>),
}

/// How many of the nearest texts a guard reads for a decision under a bound.
const GUARDED: usize = 8;

// === impl Miss ===

impl<S, Req, V> Miss<S, Req, V> {
    /// The text to embed, when somebody can use its vector: this request, or a later one that
    /// looks for its answer.
    pub(crate) fn wants_embedding(&self) -> Option<Arc<str>> {
        let text = self.lookup.text.as_ref();
        let text = text.filter(|_| self.lookup.control.lookup || self.stores())?;
        Some(Arc::clone(text))
    }

    /// Whether the answer will be stored, if it can be.
    fn stores(&self) -> bool {
        let control = self.lookup.allowed();
        control.store && !control.only_if_cached
    }
}

impl<S, Req, H, V, E, G> State<S, Req, H, V, E, G>
where
    S: Service<Req>,
    H: Record<Req, S::Response, Value = V>,
    E: Service<Arc<str>>,
{
    /// Nothing stored will do: on to the inner service.
    fn go_on(miss: Miss<S, Req, V>, vector: Option<Unit>, sequel: Sequel<V>, record: &H) -> Self {
        let Miss {
            request,
            inner,
            cache,
            lookup,
            generation,
        } = miss;
        if lookup.control.only_if_cached {
            cache.counters().not_cached.add(1);
            return Self::Done {
                response: Some(record.not_cached(&request)),
            };
        }
        cache.counters().misses.add(1);
        let stores = lookup.control.store;
        let commit = stores.then(|| Commit::new(cache, lookup, generation, vector).then(sequel));
        Self::Call {
            call: Oneshot::new(inner, request),
            commit,
            outcome: Outcome::Miss,
        }
    }
}

// === impl Search ===

impl<S, Req, V, G> Search<S, Req, V, G> {
    /// The response to a similar request, or what to do without one.
    fn finish<H, E>(self, vector: Option<Vector>, record: &H) -> State<S, Req, H, V, E, G>
    where
        S: Service<Req>,
        H: Record<Req, S::Response, Value = V>,
        E: Service<Arc<str>>,
        G: Guard,
    {
        let counters = self.miss.cache.counters();
        let unit = vector.and_then(|vector| {
            let unit = Unit::new(vector);
            if unit.is_none() {
                counters.embeddings_invalid.add(1);
            }
            unit
        });
        match self.look(unit.as_ref(), record) {
            Found::Served(response, detail) => {
                counters.hit(detail);
                State::Done {
                    response: Some(Ok(response)),
                }
            }
            Found::Nothing(sequel) => State::go_on(self.miss, unit, sequel, record),
        }
    }

    fn look<H>(&self, unit: Option<&Unit>, record: &H) -> Found<H::Response, V>
    where
        S: Service<Req>,
        H: Record<Req, S::Response, Value = V>,
        G: Guard,
    {
        let Miss {
            request,
            cache,
            lookup,
            ..
        } = &self.miss;
        let serve = |hit: Hit<V>| {
            let response = record.replay(&hit, request)?;
            Some(Found::Served(response, hit.detail()))
        };
        // Once more the exact tier: an equal request may have been answered meanwhile.
        if let Some(served) = cache.get(lookup).and_then(serve) {
            return served;
        }
        let Some(unit) = unit else {
            return Found::Nothing(Sequel::None);
        };
        let served = match (lookup.matching, &self.bounded) {
            (Matching::Threshold(threshold), _) => cache
                .nearest(lookup, unit, threshold, self.guard.as_ref())
                .and_then(serve),
            (Matching::Bounded, Some(bounded)) => return self.decide(bounded, unit, record),
            (Matching::Bounded, None) | (Matching::Exact, _) => None,
        };
        served.unwrap_or(Found::Nothing(Sequel::None))
    }

    /// Has it decided under the bound.
    fn decide<H>(&self, bounded: &Bounded<V>, unit: &Unit, record: &H) -> Found<H::Response, V>
    where
        S: Service<Req>,
        H: Record<Req, S::Response, Value = V>,
        G: Guard,
    {
        let Miss {
            request,
            cache,
            lookup,
            ..
        } = &self.miss;
        // Whoever lets no answer be stored lets none be compared; and without audits nothing is served.
        let Some(asked) = lookup.text.as_ref().filter(|_| self.miss.stores()) else {
            return Found::Nothing(Sequel::None);
        };
        let neighbours = cache.neighbours_of(lookup, unit, NEIGHBOURS);
        let candidates: Vec<_> = neighbours
            .iter()
            .enumerate()
            .map(|(at, near)| {
                let read = at < GUARDED && !near.vetoed;
                // Correctness: all that decides whether an answer can be served comes before the coin.
                let accepted = read
                    && self
                        .guard
                        .accepts_at(asked, &near.text, near.similarity)
                        .is_accept()
                    && cache
                        .peek_neighbour(near)
                        .is_some_and(|hit| record.replay(&hit, request).is_some());
                Candidate {
                    similarity: near.similarity.get(),
                    cluster: near.cluster.into(),
                    accepted,
                    literal: read && literals_agree(asked, &near.text),
                }
            })
            .collect();
        let ticket = match bounded.decide(&candidates) {
            Decision::Serve { candidate } => {
                let hit = neighbours
                    .get(candidate)
                    .and_then(|near| cache.get_neighbour(lookup, near));
                let served = hit.and_then(|hit| {
                    let response = record.replay(&hit, request)?;
                    Some(Found::Served(response, hit.detail()))
                });
                return served.unwrap_or(Found::Nothing(Sequel::None));
            }
            Decision::Audit(ticket) | Decision::Explore(ticket, _) => ticket,
            Decision::Refuse(_, cluster) => {
                return Found::Nothing(Sequel::Cluster(cluster.into()));
            }
        };
        let stored = neighbours
            .get(ticket.candidate())
            .and_then(|near| cache.peek_neighbour(near));
        let trial = Trial::new(
            bounded.clone(),
            ticket,
            Arc::clone(asked),
            stored,
            neighbours,
        );
        Found::Nothing(Sequel::Trial(trial))
    }
}

#[cfg(feature = "guards")]
fn literals_agree(asked: &str, cached: &str) -> bool {
    crate::guard::Literal.accepts(asked, cached).is_accept()
}

#[cfg(not(feature = "guards"))]
fn literals_agree(_: &str, _: &str) -> bool {
    true
}

// === impl ResponseFuture ===

impl<S, Req, H, V, E, G> ResponseFuture<S, Req, H, V, E, G>
where
    S: Service<Req>,
    H: Record<Req, S::Response, Value = V>,
    E: Service<Arc<str>>,
{
    pub(crate) fn done(response: Result<H::Response, BoxError>, record: H) -> Self {
        Self {
            state: State::Done {
                response: Some(response),
            },
            record,
        }
    }

    pub(crate) fn pass(call: Oneshot<S, Req>, record: H, outcome: Outcome) -> Self {
        Self {
            state: State::Call {
                call,
                commit: None,
                outcome,
            },
            record,
        }
    }

    pub(crate) fn miss(miss: Miss<S, Req, V>, record: H) -> Self {
        Self {
            state: State::go_on(miss, None, Sequel::None, &record),
            record,
        }
    }

    pub(crate) fn embed(
        semantic: Semantic<V, E, G>,
        text: Arc<str>,
        miss: Miss<S, Req, V>,
        record: H,
    ) -> Self {
        let Semantic {
            embedder,
            guard,
            deadline,
            bounded,
        } = semantic;
        miss.cache.counters().embeddings.add(1);
        let state = State::Embed {
            embed: Oneshot::new(embedder, text),
            deadline: tokio::time::sleep(deadline),
            search: Some(Search {
                miss,
                guard,
                bounded,
            }),
        };
        Self { state, record }
    }
}

impl<S, Req, H, V, E, G> Future for ResponseFuture<S, Req, H, V, E, G>
where
    S: Service<Req>,
    S::Error: Into<BoxError>,
    H: Record<Req, S::Response, Value = V>,
    E: Service<Arc<str>, Response = Vector>,
    G: Guard,
{
    type Output = Result<H::Response, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let next = match this.state.as_mut().project() {
                StateProj::Embed {
                    embed,
                    deadline,
                    search,
                } => {
                    // Correctness: the embedding first, so that one that is there when the
                    // deadline passes still counts. Both have this waker until one is ready.
                    let vector = match embed.poll(cx) {
                        Poll::Ready(vector) => vector.map_err(|_| Failed::Error),
                        Poll::Pending => {
                            ready!(deadline.poll(cx));
                            Err(Failed::Late)
                        }
                    };
                    let search = search.take().expect("the state is left right after");
                    let counters = search.miss.cache.counters();
                    match &vector {
                        Ok(_) => {}
                        Err(Failed::Error) => counters.embeddings_failed.add(1),
                        Err(Failed::Late) => counters.embeddings_late.add(1),
                    }
                    search.finish(vector.ok(), this.record)
                }
                StateProj::Call {
                    call,
                    commit,
                    outcome,
                } => {
                    let response = ready!(call.poll(cx)).map_err(Into::into)?;
                    return Poll::Ready(Ok(match commit.take() {
                        Some(commit) => this.record.record(response, commit),
                        None => this.record.pass(response, *outcome),
                    }));
                }
                StateProj::Done { response } => {
                    return Poll::Ready(response.take().expect("not polled after completion"));
                }
            };
            // Drops the embedding, finished or late, before the inner service is called.
            this.state.set(next);
        }
    }
}

enum Failed {
    Error,
    Late,
}

impl<S, Req, H, V, E, G> fmt::Debug for ResponseFuture<S, Req, H, V, E, G>
where
    S: Service<Req>,
    H: Record<Req, S::Response>,
    E: Service<Arc<str>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Embed { .. } => "Embed",
            State::Call { .. } => "Call",
            State::Done { .. } => "Done",
        };
        f.debug_tuple("ResponseFuture").field(&state).finish()
    }
}
