//! What is answered to a call, and when.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Response, StatusCode};

use super::answer;
use super::body::{Body, Clock, Stream, Then};
use super::events::Events;
use super::request::{Call, Endpoint};
use super::script::Script;
use super::seats::Seats;
use super::service::Shared;
use super::stats::Work;
use crate::error::{Error, Kind};

/// What is answered after the wait.
pub(super) enum Reply {
    Response(Response<Body>),
    Drop,
    Work {
        call: Box<Call>,
        work: Work,
        seats: Option<Seats>,
    },
}

// === impl Reply ===

impl Reply {
    /// Ready when its beginning is: the first token of a stream, all of another answer.
    pub(super) fn poll_begin(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self::Work {
            call,
            work,
            seats: Some(seats),
        } = self
        else {
            return Poll::Ready(());
        };
        let step = if call.stream.is_some() { 0 } else { u32::MAX };
        if ready!(seats.poll_step(step, cx)).is_err() {
            work.fail();
            let message = "the prompt and its answer do not fit in the memory of the server";
            *self = Self::Response(answer::error(StatusCode::BAD_REQUEST, message));
        }
        Poll::Ready(())
    }
}

// === impl Shared ===

impl Shared {
    /// Reads a request, and decides what to answer after which time.
    pub(super) fn plan(&self, endpoint: Endpoint, body: &[u8]) -> (Duration, Reply) {
        let call = match Call::parse(endpoint, body, &self.settings) {
            Ok(call) => call,
            Err(message) => {
                self.counters.failed();
                let response = answer::error(StatusCode::BAD_REQUEST, &message);
                return (Duration::ZERO, Reply::Response(response));
            }
        };
        let delay = call.script.delay;
        if let Some(reply) = self.fault(&call) {
            self.counters.failed();
            return (delay.unwrap_or_default(), reply);
        }
        let items = call.prompts.len();
        let work = self.counters.work(items);
        let seats = self.seats(&call);
        let delay = match seats {
            Some(_) => Duration::ZERO,
            None => delay.unwrap_or_else(|| self.settings.cost(items)),
        };
        (
            delay,
            Reply::Work {
                call: Box::new(call),
                work,
                seats,
            },
        )
    }

    /// What comes instead of an answer.
    fn fault(&self, call: &Call) -> Option<Reply> {
        let Script {
            fail_first,
            status,
            retry_after,
            drop,
            ..
        } = call.script;
        let failing = match fail_first {
            Some(count) if self.counters.fails(&call.model, count) => {
                Some(status.unwrap_or(StatusCode::SERVICE_UNAVAILABLE))
            }
            Some(_) => None,
            None => status,
        };
        let Some(status) = failing else {
            return drop.then_some(Reply::Drop);
        };
        let mut response = answer::error(status, "the stub was told to fail");
        if let Some(seconds) = retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        Some(Reply::Response(response))
    }

    /// Answers, after the wait.
    pub(super) fn give(&self, reply: Reply) -> Result<Response<Body>, Error> {
        match reply {
            Reply::Response(response) => Ok(response),
            Reply::Drop => Err(Error::new(Kind::Closed, "stub".into())),
            Reply::Work { call, work, seats } if call.stream.is_some() => {
                Ok(self.stream(&call, work, seats))
            }
            Reply::Work { call, work, .. } => Ok(self.whole(&call, work)),
        }
    }

    fn whole(&self, call: &Call, mut work: Work) -> Response<Body> {
        let bytes = Bytes::from(answer::whole(call, &self.settings));
        let then = match (call.script.cut, call.script.stall) {
            (Some(_), _) => Then::Cut,
            (None, Some(_)) => Then::Silence,
            (None, None) => {
                work.complete();
                return answer::json(StatusCode::OK, bytes);
            }
        };
        answer::json(StatusCode::OK, Bytes::new()).map(|_| Body::half(bytes, then, work))
    }

    fn stream(&self, call: &Call, work: Work, seats: Option<Seats>) -> Response<Body> {
        let script = &call.script;
        let mut response = Response::new(Body::stream(Stream {
            events: Events::new(call, &self.settings),
            work,
            comments: script.comments,
            split: script.split,
            cut: script.cut,
            stall: script.stall,
            error_event: script.error_event,
            clock: match seats {
                Some(seats) => Clock::Seats(seats),
                None => Clock::start(script.pace.unwrap_or(self.settings.pace)),
            },
            sent: 0,
            rest: Bytes::new(),
            behind: None,
        }));
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        );
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}
