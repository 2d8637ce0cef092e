//! One place under the cap: sends, reads, stamps, and takes the next.

use super::digest::Raw;
use super::floor::{Floor, Ticket};
use super::target::Target;
use crate::client::{Error, Recording};
use crate::clock::Stamp;
use crate::workload::{Dataset, Dialect};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

/// What all places of a run have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) floor: Arc<Floor>,
    pub(super) targets: Vec<(Target, Dialect)>,
    pub(super) dataset: Arc<dyn Dataset>,
    pub(super) timeout: Duration,
    pub(super) out: SyncSender<Raw>,
    /// Added to the numbers of requests.
    pub(super) offset: usize,
}

/// Works until nothing waits any more.
pub(super) async fn work(shared: Arc<Shared>, mut ticket: Ticket) {
    loop {
        let ended = send(&shared, ticket).await;
        match shared.floor.next(ended) {
            Some(next) => ticket = next,
            None => return,
        }
        if !shared.floor.think().is_zero() {
            tokio::time::sleep(ticket.due.since(Stamp::now())).await;
        }
    }
}

/// Sends one request to each target, one after the other, in an order that alternates: whatever the first costs or gains by
/// being the first falls on all alike.
async fn send(shared: &Shared, ticket: Ticket) -> Stamp {
    let ask = shared.dataset.ask(ticket.number + shared.offset);
    let count = shared.targets.len();
    let mut next = ticket;
    for turn in 0..count {
        let index = (turn + ticket.number) % count;
        let Some((target, dialect)) = shared.targets.get(index) else {
            break;
        };
        let request = dialect.request(&ask);
        let mut recording = Recording::default();
        shared.floor.count_sent();
        let ticket = next.made(Stamp::now());
        let sent = Stamp::now();
        let exchange = target.exchange(&request, &mut recording);
        let result = match tokio::time::timeout(shared.timeout, exchange).await {
            Ok(result) => result,
            Err(_) => Err(Error::Timeout(shared.timeout)),
        };
        let ended = match &result {
            Ok(()) => recording.ended().unwrap_or_else(|_| Stamp::now()),
            Err(_) => Stamp::now(),
        };
        let raw = Raw {
            ticket,
            target: index,
            endpoint: dialect.endpoint(),
            form: dialect.form(),
            prompt_tokens: ask.prompt_tokens,
            sent,
            ended,
            recording,
            result,
        };
        // The reader ends after the last sender. Where it is too slow, this waits, which shows as lag.
        let _ = shared.out.send(raw);
        next = Ticket::of_worker(ticket.number, ended);
    }
    next.free
}
