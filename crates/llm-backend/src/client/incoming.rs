//! The body of a response, which drives the connection that it comes over.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::driver::Driver;
use super::pool::Pool;

/// The body of a response from [`Http`](super::Http).
///
/// Dropping it before its end closes the connection; at its end the connection goes back to the pool.
#[derive(Debug)]
pub struct Incoming {
    inner: hyper::body::Incoming,
    driver: Driver,
    pool: Pool,
}

// === impl Incoming ===

impl Incoming {
    pub(super) fn new(inner: hyper::body::Incoming, driver: Driver, pool: Pool) -> Self {
        let mut body = Self {
            inner,
            driver,
            pool,
        };
        // One that is empty may never be polled.
        body.finish_at_end();
        body
    }

    fn finish_at_end(&mut self) {
        if self.inner.is_end_stream() {
            self.driver.finish(&self.pool);
        }
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Self {
            inner,
            driver,
            pool,
        } = &mut *self;
        let frame = ready!(driver.poll(cx, |cx| Pin::new(&mut *inner).poll_frame(cx)));
        match &frame {
            Some(Ok(_)) => self.finish_at_end(),
            None => driver.finish(pool),
            Some(Err(_)) => *driver = Driver::Nobody,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
