use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::BoxError;
use tower::util::Oneshot;
use tower_service::Service;

use crate::record::Record;

pin_project! {
    /// The future of a [`Probe`](super::Probe).
    pub struct ResponseFuture<S, Req, H>
    where
        S: Service<Req>,
        H: Record<Req, S::Response>,
    {
        #[pin]
        state: State<S, Req, H>,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<S, Req, H>
    where
        S: Service<Req>,
        H: Record<Req, S::Response>,
    {
        Hit { response: Option<H::Response> },
        Miss { #[pin] call: Oneshot<S, Req>, record: H },
    }
}

// === impl ResponseFuture ===

impl<S, Req, H> ResponseFuture<S, Req, H>
where
    S: Service<Req>,
    H: Record<Req, S::Response>,
{
    pub(super) fn hit(response: H::Response) -> Self {
        Self {
            state: State::Hit {
                response: Some(response),
            },
        }
    }

    pub(super) fn miss(call: Oneshot<S, Req>, record: H) -> Self {
        Self {
            state: State::Miss { call, record },
        }
    }
}

impl<S, Req, H> Future for ResponseFuture<S, Req, H>
where
    S: Service<Req>,
    S::Error: Into<BoxError>,
    H: Record<Req, S::Response>,
{
    type Output = Result<H::Response, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProj::Hit { response } => {
                Poll::Ready(Ok(response.take().expect("not polled after completion")))
            }
            StateProj::Miss { call, record } => {
                let response = ready!(call.poll(cx)).map_err(Into::into)?;
                Poll::Ready(Ok(record.forward(response)))
            }
        }
    }
}

impl<S, Req, H> fmt::Debug for ResponseFuture<S, Req, H>
where
    S: Service<Req>,
    H: Record<Req, S::Response>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Hit { .. } => "Hit",
            State::Miss { .. } => "Miss",
        };
        f.debug_tuple("ResponseFuture").field(&state).finish()
    }
}
