//! Reads what was recorded, on a thread of its own.

use super::floor::{Floor, Ticket};
use super::outcome::{Arrived, End, Outcome};
use crate::answer::{Answer, Arrival, Counted};
use crate::client::{Error, Recording};
use crate::clock::Stamp;
use crate::measure::{Histogram, Source};
use crate::workload::{Endpoint, Form};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

/// Between two looks for new recordings. The sending thread never wakes this one: that would cost it more than sending does.
const LOOK: Duration = Duration::from_millis(10);

/// Between two reports to whoever watches.
const REPORT: Duration = Duration::from_millis(250);

/// A request as it was recorded.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) ticket: Ticket,
    pub(super) target: usize,
    pub(super) endpoint: Endpoint,
    pub(super) form: Form,
    pub(super) prompt_tokens: u32,
    pub(super) sent: Stamp,
    pub(super) ended: Stamp,
    pub(super) recording: Recording,
    pub(super) result: Result<(), Error>,
}

/// How far a run is.
#[derive(Debug)]
pub struct Live {
    /// Since its start.
    pub elapsed: Duration,
    /// Requests sent.
    pub sent: u64,
    /// Of these, without an answer so far.
    pub in_flight: usize,
    /// Whole answers.
    pub completed: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Time to first token, of whole answers so far.
    pub ttft: Histogram,
    /// End-to-end latency, of whole answers so far.
    pub e2el: Histogram,
}

/// Reads recordings until there can be no more, and tells `watch` now and then.
pub(super) fn read(
    inbox: &Receiver<Raw>,
    floor: &Arc<Floor>,
    start: Stamp,
    mut watch: impl FnMut(&Live),
) -> Vec<Outcome> {
    // Of this thread alone: on Linux the priority is a thread's. Where it cannot be lowered, it is as all are.
    let _ = rustix::process::setpriority_process(None, 10);
    let mut outcomes = Vec::new();
    let mut live = Live {
        elapsed: Duration::ZERO,
        sent: 0,
        in_flight: 0,
        completed: 0,
        failed: 0,
        ttft: Histogram::new(),
        e2el: Histogram::new(),
    };
    let mut reported = start;
    loop {
        match inbox.try_recv() {
            Ok(raw) => {
                let outcome = raw.outcome(start);
                live.count(&outcome);
                outcomes.push(outcome);
            }
            Err(TryRecvError::Empty) => std::thread::sleep(LOOK),
            Err(TryRecvError::Disconnected) => break,
        }
        let now = Stamp::now();
        if now.since(reported) >= REPORT {
            reported = now;
            live.elapsed = now.since(start);
            (live.sent, live.in_flight) = (floor.sent(), floor.in_flight());
            watch(&live);
        }
    }
    outcomes.sort_by_key(|outcome| (outcome.number, outcome.target));
    outcomes
}

impl Live {
    fn count(&mut self, outcome: &Outcome) {
        if !outcome.is_whole() {
            self.failed += 1;
            return;
        }
        self.completed += 1;
        self.e2el.record(outcome.e2el());
        if let Some(ttft) = outcome.ttft() {
            self.ttft.record(ttft);
        }
    }
}

impl Raw {
    fn outcome(self, start: Stamp) -> Outcome {
        let answer = Answer::read(&self.recording, self.endpoint, self.form);
        let status = self.recording.status();
        let (end, why) = self.end(&answer, status);
        let (output_tokens, counted) = match self.endpoint {
            Endpoint::Embeddings => (0, Counted::Server),
            _ => answer.output_tokens(),
        };
        let usage = answer.usage.unwrap_or_default();
        Outcome {
            number: self.ticket.number,
            target: self.target,
            due: self.ticket.due.since(start),
            free: self.ticket.free.since(start),
            sent: self.sent.since(start),
            ended: self.ended.since(start),
            end,
            why: why.map(String::into_boxed_str),
            status,
            source: match status {
                0 => Source::Unsaid,
                _ => self.recording.source(),
            },
            arrivals: arrived(&answer.arrivals, output_tokens, start),
            prompt_tokens: usage.prompt.unwrap_or(u64::from(self.prompt_tokens)),
            cached_tokens: usage.cached.unwrap_or_default(),
            output_tokens,
            counted,
        }
    }

    fn end(&self, answer: &Answer, status: u16) -> (End, Option<String>) {
        let why = |error: &Error| {
            let mut why = error.to_string();
            if let Some(source) = std::error::Error::source(error) {
                why = format!("{why}: {source}");
            }
            Some(why)
        };
        match &self.result {
            Err(error) => {
                let end = match error {
                    Error::Connect(_) => End::Connect,
                    Error::Cut(_) => End::Cut,
                    Error::Timeout(_) => End::Timeout,
                    Error::Malformed(_) | Error::TooLarge(_) => End::Malformed,
                    Error::Io(_) | Error::Nothing => End::Socket,
                };
                (end, why(error))
            }
            Ok(()) if !(200..300).contains(&status) => {
                let body = self.recording.body();
                let said = Answer::read(&self.recording, self.endpoint, Form::Body).error;
                let said = said.unwrap_or_else(|| {
                    String::from_utf8_lossy(body.get(..body.len().min(200)).unwrap_or_default())
                        .into_owned()
                });
                (End::Status, Some(format!("{status}: {said}")))
            }
            Ok(()) => match (&answer.error, answer.whole) {
                (Some(error), _) => (End::ErrorEvent, Some(error.clone())),
                (None, true) => (End::Whole, None),
                (None, false) => (
                    End::Incomplete,
                    Some("the answer ends without a finish reason".to_owned()),
                ),
            },
        }
    }
}

/// Gives each arrival its tokens: those the server told, or else its chunks' share of the whole.
///
/// A server counts a token or two that it never shows (end of text). Where there are no more tokens than that beyond the
/// chunks, each chunk has one.
fn arrived(arrivals: &[Arrival], output_tokens: u64, start: Stamp) -> Vec<Arrived> {
    let chunks: u64 = arrivals
        .iter()
        .map(|arrival| u64::from(arrival.chunks))
        .sum();
    let share = match output_tokens > chunks + 2 {
        true => output_tokens as f64 / chunks.max(1) as f64,
        false => 1.0,
    };
    let arrived = arrivals.iter().map(|arrival| Arrived {
        at: arrival.at.since(start),
        chunks: arrival.chunks,
        tokens: arrival
            .tokens
            .map_or(f64::from(arrival.chunks) * share, |tokens| tokens as f64),
    });
    arrived.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(chunks: &[u32], told: Option<u64>, output_tokens: u64) -> Vec<f64> {
        let start = Stamp::now();
        let arrivals: Vec<Arrival> = chunks
            .iter()
            .map(|&chunks| Arrival {
                at: start,
                chunks,
                tokens: told,
            })
            .collect();
        arrived(&arrivals, output_tokens, start)
            .iter()
            .map(|arrived| arrived.tokens)
            .collect()
    }

    #[test]
    fn chunks_have_their_share_of_the_tokens() {
        assert_eq!(tokens(&[1, 1, 1], None, 12), [4.0, 4.0, 4.0]);
        assert_eq!(tokens(&[1, 2], None, 12), [4.0, 8.0]);
    }

    #[test]
    fn a_token_that_is_never_shown_makes_no_chunk_larger() {
        assert_eq!(tokens(&[1, 1, 1], None, 4), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn what_the_server_tells_is_believed() {
        assert_eq!(tokens(&[1, 1], Some(3), 6), [3.0, 3.0]);
    }
}
