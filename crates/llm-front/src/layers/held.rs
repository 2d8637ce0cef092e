//! A body that holds something until it ends.

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// Passes `B` on untouched and lets `T` go at its end, whichever it is: clean, an error, or dropped.
    #[derive(Debug)]
    pub struct Held<B, T> {
        #[pin]
        body: B,
        held: Option<T>,
    }
}

impl<B, T> Held<B, T> {
    /// Holds `held` while `body` lasts.
    pub const fn new(body: B, held: T) -> Self {
        Self {
            body,
            held: Some(held),
        }
    }
}

impl<B, T> Body for Held<B, T>
where
    B: Body,
{
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        // A body that says it has ended may never be polled again: let go with its last frame.
        if !matches!(frame, Some(Ok(_))) || this.body.is_end_stream() {
            *this.held = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
