//! How long to wait, for what.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::error::Kind;

/// How long to wait for the upstream, stage by stage. `None` waits for ever.
///
/// | limit | from | to | default | error |
/// |---|---|---|---|---|
/// | `connect` | the need of a connection | TCP, and TLS, are up | 2 s | [`ConnectTimeout`](Kind::ConnectTimeout) |
/// | `headers` | the call | the response's head | 600 s | [`HeadersTimeout`](Kind::HeadersTimeout) |
/// | `first_token` | the call | the first frame of the body | 600 s | [`FirstTokenTimeout`](Kind::FirstTokenTimeout) |
/// | `idle` | a frame | the next frame | 300 s | [`IdleTimeout`](Kind::IdleTimeout) |
/// | `total` | the call | the end of the body | none | [`TotalTimeout`](Kind::TotalTimeout) |
///
/// Between frames only the time that somebody waits for the upstream is counted: a reader that rests does not make the
/// upstream late. `total` counts everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(super) connect: Option<Duration>,
    pub(super) headers: Option<Duration>,
    pub(super) first_token: Option<Duration>,
    pub(super) idle: Option<Duration>,
    pub(super) total: Option<Duration>,
}

// === impl Limits ===

impl Limits {
    /// No limit at all.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            connect: None,
            headers: None,
            first_token: None,
            idle: None,
            total: None,
        }
    }

    /// Limits the time to a connection. Only the default client, [`Http`](super::Http), connects.
    #[must_use]
    pub fn connect(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.connect = limit.into();
        self
    }

    /// Limits the time to the response's head.
    #[must_use]
    pub fn headers(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.headers = limit.into();
        self
    }

    /// Limits the time to the first frame of the body.
    #[must_use]
    pub fn first_token(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.first_token = limit.into();
        self
    }

    /// Limits the silence between two frames.
    #[must_use]
    pub fn idle(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.idle = limit.into();
        self
    }

    /// Limits the whole call, the reader's own time included.
    #[must_use]
    pub fn total(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.total = limit.into();
        self
    }

    /// The limit that an error of this kind is about.
    pub(super) fn of(&self, kind: Kind) -> Option<Duration> {
        match kind {
            Kind::ConnectTimeout => self.connect,
            Kind::HeadersTimeout => self.headers,
            Kind::FirstTokenTimeout => self.first_token,
            Kind::IdleTimeout => self.idle,
            Kind::TotalTimeout => self.total,
            _ => None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        const fn seconds(seconds: u64) -> Option<Duration> {
            Some(Duration::from_secs(seconds))
        }
        Self {
            connect: seconds(2),
            headers: seconds(600),
            first_token: seconds(600),
            idle: seconds(300),
            total: None,
        }
    }
}

/// The clock of one call: one timer for all its stages, made at the first wait.
///
/// A frame costs no timer operation. The timer is left where it is while frames come, and moved only when it fires early or
/// an earlier deadline appears: at most once a stage and once a `idle` period.
#[derive(Debug)]
pub(super) struct Clock {
    limits: Limits,
    started: Instant,
    stage: Stage,
    sleep: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug)]
enum Stage {
    Head,
    /// What is left of `first_token`, and since when somebody waits for it.
    First {
        left: Option<Duration>,
        waiting: Option<Instant>,
    },
    Stream {
        waiting: Option<Instant>,
    },
}

// === impl Clock ===

impl Clock {
    pub(super) fn start(limits: Limits) -> Self {
        Self {
            limits,
            started: Instant::now(),
            stage: Stage::Head,
            sleep: None,
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The response's head came.
    pub(super) fn head(&mut self) {
        let left = self
            .limits
            .first_token
            .map(|limit| limit.saturating_sub(self.started.elapsed()));
        self.stage = Stage::First {
            left,
            waiting: None,
        };
    }

    /// A frame came.
    pub(super) fn frame(&mut self) {
        self.stage = Stage::Stream { waiting: None };
    }

    /// Whether the whole call took too long, however busy it is.
    pub(super) fn is_over(&self) -> bool {
        self.limits
            .total
            .is_some_and(|limit| self.started.elapsed() >= limit)
    }

    /// Waits for what is late, while the upstream is silent.
    pub(super) fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<Kind> {
        let Some((deadline, kind)) = self.deadline() else {
            return Poll::Pending;
        };
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if deadline < sleep.deadline() {
            sleep.as_mut().reset(deadline);
        }
        loop {
            ready!(sleep.as_mut().poll(cx));
            if deadline <= sleep.deadline() {
                return Poll::Ready(kind);
            }
            // It was set for an earlier stage or frame.
            sleep.as_mut().reset(deadline);
        }
    }

    /// The earliest deadline of this stage. At a tie the narrower limit is the one that is named.
    fn deadline(&mut self) -> Option<(Instant, Kind)> {
        let Limits {
            headers,
            first_token,
            idle,
            total,
            ..
        } = self.limits;
        let (since, limit, kind) = match &mut self.stage {
            Stage::Head => match (headers, first_token) {
                (Some(headers), Some(first)) if first < headers => {
                    (self.started, Some(first), Kind::FirstTokenTimeout)
                }
                (None, first) => (self.started, first, Kind::FirstTokenTimeout),
                (headers, _) => (self.started, headers, Kind::HeadersTimeout),
            },
            Stage::First { left, waiting } => (
                *waiting.get_or_insert_with(Instant::now),
                *left,
                Kind::FirstTokenTimeout,
            ),
            Stage::Stream { waiting } => (
                *waiting.get_or_insert_with(Instant::now),
                idle,
                Kind::IdleTimeout,
            ),
        };
        // A limit beyond what the clock can count is none.
        let stage = limit
            .and_then(|limit| since.checked_add(limit))
            .map(|at| (at, kind));
        let total = total.and_then(|limit| self.started.checked_add(limit));
        let total = total.map(|at| (at, Kind::TotalTimeout));
        match (stage, total) {
            (Some(stage), Some(total)) => Some(if total.0 < stage.0 { total } else { stage }),
            (stage, total) => stage.or(total),
        }
    }
}
