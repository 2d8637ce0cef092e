//! One run.

use super::digest::{self, Live};
use super::floor::{Floor, Ticket};
use super::slot::{self, Shared};
use super::{Outcome, Stop, Target};
use crate::BoxError;
use crate::clock::{Alarm, Stamp};
use crate::workload::{Dataset, Dialect};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tokio::task::JoinSet;

/// Recordings that may wait to be read.
const UNREAD: usize = 1 << 16;

/// What is to be sent, to whom, when.
#[derive(Clone, Debug)]
pub struct Load {
    pub(super) targets: Vec<(Target, Dialect)>,
    pub(super) dataset: Arc<dyn Dataset>,
    pub(super) pacing: Pacing,
    pub(super) cap: Option<usize>,
    pub(super) duration: Option<Duration>,
    pub(super) timeout: Duration,
    pub(super) offset: usize,
    pub(super) stop: Stop,
}

/// When requests are due.
#[derive(Clone, Debug, PartialEq)]
pub enum Pacing {
    /// At these times, in ascending order, whatever becomes of the ones before.
    Open(Vec<Duration>),
    /// When the last one of the same worker was answered. The cap is the number of workers; without one, it is one.
    Closed {
        /// How many; none goes on until the end of [`Load::duration`].
        count: Option<usize>,
        /// From an answer to the worker's next request.
        think: Duration,
    },
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Ran {
    /// When it started: what all times of its outcomes count from.
    pub start: Stamp,
    /// What became of each request that was sent, in the order of their numbers.
    pub outcomes: Vec<Outcome>,
    /// From the start to the last end.
    pub duration: Duration,
    /// Of an open loop: when the last request was due, as long as it was sent.
    pub scheduled: Duration,
    /// Requests that were due and not sent, since the run was stopped.
    pub unsent: usize,
}

impl Load {
    /// `dataset`'s requests, to `targets`, in each one's own dialect. Where there are several, each request goes to all, one after
    /// the other: a paired comparison.
    #[must_use]
    pub fn new(targets: Vec<(Target, Dialect)>, dataset: Arc<dyn Dataset>, pacing: Pacing) -> Self {
        Self {
            targets,
            dataset,
            pacing,
            cap: None,
            duration: None,
            timeout: Duration::from_secs(600),
            offset: 0,
            stop: Stop::default(),
        }
    }

    /// At most so many requests in flight; none by default.
    #[must_use]
    pub fn cap(mut self, cap: impl Into<Option<usize>>) -> Self {
        self.cap = cap.into();
        self
    }

    /// Ends a closed loop: nothing is sent after so long.
    #[must_use]
    pub fn duration(mut self, duration: impl Into<Option<Duration>>) -> Self {
        self.duration = duration.into();
        self
    }

    /// Gives a request up after so long: 600 s by default.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Begins with request `offset` of the dataset: a warm-up asks what the run does not.
    #[must_use]
    pub const fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// Ends when `stop` says so.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }
}

/// Runs it, and tells `watch` four times a second how far it is, from another thread.
///
/// It belongs on a `current_thread` runtime with nothing else to do. Dropped, it closes every connection in use.
///
/// # Errors
/// The system has no thread, timer or descriptor left. What goes wrong with a request is its [`Outcome`].
pub async fn run<W>(load: Load, watch: W) -> Result<Ran, BoxError>
where
    W: FnMut(&Live) + Send + 'static,
{
    let mut alarm = Alarm::new()?;
    let (out, inbox) = sync_channel(UNREAD);
    let start = Stamp::now();
    let floor = Arc::new(Floor::new(&load, start));
    let reader = {
        let floor = floor.clone();
        std::thread::Builder::new()
            .name("llm-bench-read".to_owned())
            .spawn(move || digest::read(&inbox, &floor, start, watch))?
    };
    let shared = Arc::new(Shared {
        floor: floor.clone(),
        targets: load.targets,
        dataset: load.dataset,
        timeout: load.timeout,
        out,
        offset: load.offset,
    });
    // Aborted with this future.
    let mut slots = JoinSet::new();
    let work = |slots: &mut JoinSet<()>, ticket: Ticket| {
        slots.spawn(slot::work(shared.clone(), ticket));
    };
    let mut unsent = 0;
    let mut scheduled = Duration::ZERO;
    match &load.pacing {
        Pacing::Open(times) => {
            for (number, &time) in times.iter().enumerate() {
                let due = start + time;
                tokio::select! {
                    // Correctness: biased, so that a schedule that is behind, whose alarm rings at once, can be stopped.
                    biased;
                    () = load.stop.stopped() => {
                        unsent = times.len() - number + floor.forget_waiting();
                        break;
                    }
                    rung = alarm.until(due) => rung?,
                }
                scheduled = time;
                if let Some(ticket) = floor.due(number, due) {
                    work(&mut slots, ticket);
                }
                while slots.try_join_next().is_some() {}
            }
        }
        Pacing::Closed { .. } => {
            for _ in 0..load.cap.unwrap_or(1) {
                let Some(ticket) = floor.begin(Stamp::now()) else {
                    break;
                };
                work(&mut slots, ticket);
            }
        }
    }
    loop {
        tokio::select! {
            biased;
            ended = slots.join_next() => {
                if ended.is_none() {
                    break;
                }
            }
            () = load.stop.stopped(), if !load.stop.is_stopped() => unsent += floor.forget_waiting(),
        }
    }
    // The last sender: the reader ends.
    drop(shared);
    let outcomes = reader
        .join()
        .map_err(|_| "the thread that reads the answers has failed")?;
    let duration = outcomes
        .iter()
        .map(|outcome| outcome.ended)
        .max()
        .unwrap_or_default();
    Ok(Ran {
        start,
        outcomes,
        duration,
        scheduled,
        unsent,
    })
}
