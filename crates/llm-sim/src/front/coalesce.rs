//! Single flight: equal requests share one generation.

use std::collections::HashMap;

use super::{Front, Key, Tally, key, without_server};
use crate::{
    engine::{Context, Due},
    server::Signal,
    workload::Request,
};

/// While a request is on its way, equal ones of the same tenant wait for its answer.
///
/// A follower is given what is out already when it joins, then every token as it comes: its first
/// token is the leader's, or its own arrival where that is later. A leader that is rejected takes its
/// followers with it. Flights have no limit of age or number here, and callers do not leave.
#[derive(Clone, Debug)]
pub struct Coalesce<F> {
    inner: F,
    flights: HashMap<Key, Flight>,
    /// The flights by their leaders.
    led: HashMap<u64, Key>,
    leaders: u64,
    followers: u64,
}

#[derive(Clone, Debug, Default)]
struct Flight {
    first_token_ms: Option<f64>,
    /// Who has joined, and when.
    followers: Vec<(Request, f64)>,
}

impl<F> Coalesce<F> {
    /// Single flight before `inner`.
    #[must_use]
    pub fn new(inner: F) -> Self {
        Self {
            inner,
            flights: HashMap::new(),
            led: HashMap::new(),
            leaders: 0,
            followers: 0,
        }
    }

    fn reported(&mut self, reports: Vec<Signal>, cx: &mut Context<'_>) {
        for signal in reports {
            let now_ms = cx.now_ms();
            match signal {
                Signal::FirstToken(id) => {
                    let flight = self.led.get(&id).and_then(|key| self.flights.get_mut(key));
                    if let Some(flight) = flight {
                        flight.first_token_ms = Some(now_ms);
                    }
                    self.tell(id, Signal::FirstToken, cx);
                }
                Signal::Token(id) => self.tell(id, Signal::Token, cx),
                Signal::Done(done) => {
                    let followers = self.land(done.request.id);
                    let (first_ms, finished_ms) = (done.first_token_ms, done.finished_ms);
                    cx.complete(done);
                    for (follower, joined_ms) in followers {
                        let first_ms = first_ms.max(joined_ms);
                        cx.complete(without_server(follower, first_ms, finished_ms));
                    }
                }
                Signal::Rejected(request) => {
                    let followers = self.land(request.id);
                    cx.reject(request);
                    for (follower, _) in followers {
                        cx.reject(follower);
                    }
                }
            }
        }
    }

    /// Tells a leader and its followers of a token.
    fn tell(&self, leader: u64, token: fn(u64) -> Signal, cx: &mut Context<'_>) {
        let flight = self.led.get(&leader).and_then(|key| self.flights.get(key));
        let followers = flight.into_iter().flat_map(|flight| &flight.followers);
        followers.for_each(|(follower, _)| cx.report(token(follower.id)));
        cx.report(token(leader));
    }

    /// Ends a flight: its followers.
    fn land(&mut self, leader: u64) -> Vec<(Request, f64)> {
        self.led
            .remove(&leader)
            .and_then(|key| self.flights.remove(&key))
            .map_or_else(Vec::new, |flight| flight.followers)
    }
}

// === impl Front for Coalesce ===

impl<F> Front for Coalesce<F>
where
    F: Front,
{
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>) {
        if let Some(flight) = self.flights.get_mut(&key(&request)) {
            self.followers += 1;
            if flight.first_token_ms.is_some() {
                cx.report(Signal::FirstToken(request.id));
            }
            flight.followers.push((request, cx.now_ms()));
            return;
        }
        self.leaders += 1;
        self.flights.insert(key(&request), Flight::default());
        self.led.insert(request.id, key(&request));
        let reports = cx.inner(|cx| self.inner.arrive(request, cx));
        self.reported(reports, cx);
    }

    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>) {
        let reports = cx.inner(|cx| self.inner.signal(server, signal, cx));
        self.reported(reports, cx);
    }

    fn timer(&mut self, due: Due, cx: &mut Context<'_>) {
        // It sets none itself.
        if let Err(due) = due.token() {
            let reports = cx.inner(|cx| self.inner.timer(due, cx));
            self.reported(reports, cx);
        }
    }

    fn tally(&self, tally: &mut Tally) {
        tally.leaders += self.leaders;
        tally.followers += self.followers;
        self.inner.tally(tally);
    }
}
