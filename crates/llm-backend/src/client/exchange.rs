//! One request over one connection, up to the head of its response.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use ::http::{Request, Response};

use super::connection::{Answer, Connection};
use super::driver::Driver;
use super::incoming::Incoming;
use super::pool::Pool;
use super::wire::Ear;
use crate::RequestBody;

/// A request that was sent.
pub(super) struct Exchange {
    driver: Driver,
    answer: Pin<Box<dyn Future<Output = Answer> + Send>>,
    /// That of a connection that has served before.
    reused: Option<Ear>,
}

/// The connection was lost before the response's head.
pub(super) struct Lost {
    pub(super) error: hyper::Error,
    /// The request, if not one byte of it was written.
    pub(super) unsent: Option<Request<RequestBody>>,
    /// Whether the connection had served before, and not one byte of an answer came: its server may have closed it while the
    /// request was on its way.
    pub(super) stale: bool,
}

// === impl Exchange ===

impl Exchange {
    pub(super) fn begin(
        mut connection: Box<Connection>,
        request: Request<RequestBody>,
        pool: &Pool,
    ) -> Self {
        let reused = connection.is_reused().then(|| connection.ear());
        let is_whole = request.body().bytes().is_some();
        let answer = connection.send(request);
        let driver = match is_whole {
            true => Driver::Caller(connection),
            false => Driver::task(connection, pool.clone()),
        };
        Self {
            driver,
            answer,
            reused,
        }
    }

    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        pool: &Pool,
    ) -> Poll<Result<Response<Incoming>, Lost>> {
        let Self {
            driver,
            answer,
            reused,
        } = self;
        let answered = ready!(driver.poll(cx, |cx| answer.as_mut().poll(cx)));
        let driver = std::mem::replace(driver, Driver::Nobody);
        Poll::Ready(match answered {
            Ok(response) => Ok(response.map(|body| Incoming::new(body, driver, pool.clone()))),
            Err(mut lost) => Err(Lost {
                unsent: lost.take_message(),
                error: lost.into_error(),
                stale: reused.as_ref().is_some_and(|ear| !ear.has_heard()),
            }),
        })
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("driver", &self.driver)
            .finish_non_exhaustive()
    }
}
