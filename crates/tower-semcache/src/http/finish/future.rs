use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::Response;
use pin_project_lite::pin_project;

use super::body::FinishBody;
use super::kept::{Kept, Kind, KindProj, Wanted};

pin_project! {
    /// The future of a [`Finish`].
    pub struct FinishFuture<F, B> {
        #[pin]
        pub(super) kind: Kind<F>,
        pub(super) keep: Option<Keep<B>>,
    }
}

/// Makes a body one that goes on.
type Keep<B> = fn(Pin<Box<B>>, Wanted, Duration) -> Kept<B>;

// === impl FinishFuture ===

impl<F, B, E> Future for FinishFuture<F, B>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<FinishBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (response, kept) = match this.kind.project() {
            KindProj::Plain { inner } => (ready!(inner.poll(cx)), None),
            KindProj::Kept { inner: kept } => {
                let call = kept.inner.as_mut().expect("not polled after completion");
                let response = ready!(call.as_mut().poll(cx));
                kept.inner = None;
                let terms = (kept.wanted.clone(), kept.deadline);
                (response, this.keep.map(|keep| (keep, terms)))
            }
        };
        Poll::Ready(response.map(|response| {
            response.map(|body| {
                FinishBody::new(match kept {
                    // Whether it is an audit is known by now.
                    Some((keep, (wanted, deadline))) if wanted.is_set() => Kind::Kept {
                        inner: keep(Box::pin(body), wanted, deadline),
                    },
                    _ => Kind::Plain { inner: body },
                })
            })
        }))
    }
}

impl<F, B> fmt::Debug for FinishFuture<F, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinishFuture").finish_non_exhaustive()
    }
}
