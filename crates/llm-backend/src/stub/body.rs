//! The body of a stub's answer.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

use super::events::Events;
use super::seats::Seats;
use super::stats::Work;
use crate::error::{Error, Kind};

const COMMENT: Bytes = Bytes::from_static(b": keep-alive\n\n");

/// The body of a stub's answer: whole, or a stream of server-sent events in their time.
///
/// It has the frames, and the errors, of [`client::Body`](crate::client::Body): data and trailers of
/// [`Bytes`], and [`Kind::Cut`] where it is cut off.
#[derive(Debug)]
pub struct Body {
    state: State,
}

#[derive(Debug)]
enum State {
    Full(Option<Bytes>),
    /// Announces a length, sends half of it, and breaks or falls silent.
    Half {
        half: Option<Bytes>,
        announced: u64,
        then: Then,
        work: Work,
    },
    Stream(Box<Stream>),
    Broken,
    End,
}

/// What comes where a body ends before its end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    Cut,
    Silence,
}

/// A stream, and what it was told to do wrong.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) events: Events,
    pub(super) work: Work,
    pub(super) comments: bool,
    pub(super) split: Option<usize>,
    pub(super) cut: Option<u64>,
    pub(super) stall: Option<u64>,
    pub(super) error_event: Option<u64>,
    pub(super) clock: Clock,
    /// Events that were sent.
    pub(super) sent: u64,
    /// What is left of an event.
    pub(super) rest: Bytes,
    /// An event that waits behind its comment.
    pub(super) behind: Option<Bytes>,
}

/// When steps are due.
#[derive(Debug)]
pub(super) enum Clock {
    /// So long after one another: counted from the first one, so that lateness does not add up.
    Pace {
        pace: Duration,
        started: Instant,
        sleep: Option<Pin<Box<Sleep>>>,
    },
    /// As the steps of a simulated server end.
    Seats(Seats),
}

enum Next {
    Frame(Bytes),
    Cut,
    End,
}

// === impl Body ===

impl Body {
    pub(super) fn full(bytes: Bytes) -> Self {
        Self {
            state: State::Full((!bytes.is_empty()).then_some(bytes)),
        }
    }

    pub(super) fn half(mut bytes: Bytes, then: Then, work: Work) -> Self {
        let announced = bytes.len() as u64;
        bytes.truncate(match then {
            Then::Cut => bytes.len() / 2,
            Then::Silence => 0,
        });
        let half = (!bytes.is_empty()).then_some(bytes);
        Self {
            state: State::Half {
                half,
                announced,
                then,
                work,
            },
        }
    }

    pub(super) fn stream(stream: Stream) -> Self {
        Self {
            state: State::Stream(Box::new(stream)),
        }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let next = match &mut self.state {
            State::Full(bytes) => bytes.take().map_or(Next::End, Next::Frame),
            State::Half {
                half, then, work, ..
            } => match (half.take(), then) {
                (Some(half), _) => Next::Frame(half),
                (None, Then::Silence) => return Poll::Pending,
                (None, Then::Cut) => {
                    work.fail();
                    Next::Cut
                }
            },
            State::Stream(stream) => ready!(stream.poll_next(cx)),
            State::Broken => {
                self.state = State::End;
                return Poll::Ready(Some(Err(Error::new(Kind::Cut, "stub".into()))));
            }
            State::End => Next::End,
        };
        Poll::Ready(match next {
            Next::Frame(bytes) => Some(Ok(Frame::data(bytes))),
            Next::Cut => {
                // An error makes a server drop what it has not written yet, the head included: give it the time to write.
                self.state = State::Broken;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Next::End => {
                self.state = State::End;
                None
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            State::Full(bytes) => bytes.is_none(),
            State::Half { .. } | State::Broken => false,
            State::Stream(stream) => stream.is_over(),
            State::End => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            State::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            State::Half { announced, .. } => SizeHint::with_exact(*announced),
            State::Stream(_) | State::Broken => SizeHint::default(),
            State::End => SizeHint::with_exact(0),
        }
    }
}

// === impl Stream ===

impl Stream {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        if self.rest.is_empty() {
            match self.behind.take() {
                Some(event) => self.rest = event,
                None => match ready!(self.poll_event(cx)) {
                    Next::Frame(event) if self.comments => {
                        self.rest = COMMENT;
                        self.behind = Some(event);
                    }
                    Next::Frame(event) => self.rest = event,
                    other => return Poll::Ready(other),
                },
            }
        }
        let size = self.split.unwrap_or(usize::MAX).min(self.rest.len());
        let frame = self.rest.split_to(size);
        if self.is_over() {
            // Whoever knows that this is the end does not ask again.
            self.work.complete();
        }
        Poll::Ready(Next::Frame(frame))
    }

    /// The next event, in its time.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        if self.error_event.is_some_and(|at| self.sent > at) {
            return Poll::Ready(Next::End);
        }
        let Some(step) = self.events.due() else {
            self.work.complete();
            return Poll::Ready(Next::End);
        };
        // Faults come where the next event would have.
        ready!(self.clock.poll_step(step, cx));
        if self.cut == Some(self.sent) {
            self.work.fail();
            return Poll::Ready(Next::Cut);
        }
        if self.stall == Some(self.sent) {
            return Poll::Pending;
        }
        let event = if self.error_event == Some(self.sent) {
            self.work.fail();
            Some(self.events.error())
        } else {
            self.events.next()
        };
        self.sent += 1;
        Poll::Ready(event.map_or(Next::End, Next::Frame))
    }

    /// Whether everything was sent.
    fn is_over(&self) -> bool {
        let failed = self.error_event.is_some_and(|at| self.sent > at);
        self.rest.is_empty() && self.behind.is_none() && (failed || self.events.due().is_none())
    }
}

// === impl Clock ===

impl Clock {
    pub(super) fn start(pace: Duration) -> Self {
        Self::Pace {
            pace,
            started: Instant::now(),
            sleep: None,
        }
    }

    fn poll_step(&mut self, step: u32, cx: &mut Context<'_>) -> Poll<()> {
        let (pace, started, sleep) = match self {
            Self::Pace {
                pace,
                started,
                sleep,
            } => (pace, started, sleep),
            // Whoever was refused was told so before the first step.
            Self::Seats(seats) => return seats.poll_step(step, cx).map(drop),
        };
        let after = pace.saturating_mul(step);
        if after.is_zero() {
            return Poll::Ready(());
        }
        let Some(deadline) = started.checked_add(after) else {
            return Poll::Pending;
        };
        let sleep = sleep.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() != deadline {
            sleep.as_mut().reset(deadline);
        }
        sleep.as_mut().poll(cx)
    }
}
