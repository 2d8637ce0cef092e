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

use crate::cache::Commit;
use crate::guard::{AcceptAll, Guard};
use crate::outcome::Outcome;
use crate::record::Record;
use crate::semantic::{Found, Miss, NoEmbedder, Onward, Search, Semantic};
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

// === impl State ===

impl<S, Req, H, V, E, G> State<S, Req, H, V, E, G>
where
    S: Service<Req>,
    H: Record<Req, S::Response, Value = V>,
    E: Service<Arc<str>>,
{
    /// What a search came to, carried out.
    fn searched(search: Search<S, Req, V, G>, vector: Option<Vector>, record: &H) -> Self
    where
        G: Guard,
    {
        let counters = search.miss().cache.counters();
        let unit = vector.and_then(|vector| {
            let unit = Unit::new(vector);
            if unit.is_none() {
                counters.embeddings_invalid.add(1);
            }
            unit
        });
        match search.look(unit.as_ref(), record) {
            Found::Served(response, detail) => {
                counters.hit(detail);
                Self::Done {
                    response: Some(Ok(response)),
                }
            }
            Found::Nothing(next) => Self::go_on(search.into_miss(), unit, next, record),
        }
    }

    /// Nothing stored will do: on to the inner service.
    fn go_on(miss: Miss<S, Req, V>, vector: Option<Unit>, next: Onward<V>, record: &H) -> Self {
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
        let Onward { sequel, outcome } = next;
        if sequel.is_audit() {
            record.wanted(&request);
        }
        let stores = lookup.control.store;
        let commit = stores.then(|| {
            let commit = Commit::new(cache, lookup, generation, vector);
            commit.then(sequel).said(outcome)
        });
        Self::Call {
            call: Oneshot::new(inner, request),
            commit,
            outcome,
        }
    }
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
            state: State::go_on(miss, None, Onward::default(), &record),
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
            deadline,
            decider,
        } = semantic;
        miss.cache.counters().embeddings.add(1);
        let state = State::Embed {
            embed: Oneshot::new(embedder, text),
            deadline: tokio::time::sleep(deadline),
            search: Some(Search::new(miss, decider)),
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
                    let counters = search.miss().cache.counters();
                    match &vector {
                        Ok(_) => {}
                        Err(Failed::Error) => counters.embeddings_failed.add(1),
                        Err(Failed::Late) => counters.embeddings_late.add(1),
                    }
                    State::searched(search, vector.ok(), this.record)
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
