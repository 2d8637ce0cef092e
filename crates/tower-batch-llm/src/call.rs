//! One batch on its way through the inner service.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower::BoxError;

use crate::{
    audience::Audience,
    failure::{Failure, catch},
    stats::Running,
};

pin_project! {
    /// Drives a batch's call in a task of its own and tells its callers how it ended.
    ///
    /// Dropped before its end (the worker is gone), it tells them that.
    #[derive(Debug)]
    pub(crate) struct Call<F> {
        #[pin]
        future: Option<F>,
        audience: Audience,
        running: Running,
    }
}

// === impl Call ===

impl<F> Call<F> {
    pub(crate) fn new(future: F, audience: Audience, running: Running) -> Self {
        Self {
            future: Some(future),
            audience,
            running,
        }
    }
}

impl<F, E> Future for Call<F>
where
    F: Future<Output = Result<(), E>>,
    E: Into<BoxError>,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();

        // Correctness: the callers first. A call that spends the task's cooperative budget in
        // every poll would otherwise hide for good that nobody waits for it.
        if this.audience.poll_abandoned(cx).is_ready() {
            this.running.abandoned();
        } else if let Some(future) = this.future.as_mut().as_pin_mut() {
            let outcome = match catch(|| future.poll(cx)) {
                Ok(poll) => ready!(poll).map_err(|error| Failure::from(error.into())),
                Err(panicked) => Err(Failure::from(panicked)),
            };
            match outcome {
                Ok(()) => this.audience.dismiss(),
                Err(failure) => {
                    this.running.failed();
                    this.audience.fail(&failure);
                }
            }
        }
        // The callers know by now, so a panic of the future's own drop changes nothing.
        drop(catch(|| this.future.set(None)));
        Poll::Ready(())
    }
}
