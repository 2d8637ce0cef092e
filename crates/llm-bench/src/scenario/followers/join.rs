//! A second caller joins a stream of 2 s at 0.4 s.

use super::super::chat::{self, Form, Temperature};
use crate::BoxError;
use crate::client::{Connection, Recording};
use crate::clock::Stamp;
use crate::measure::{Source, Spread, millis};
use crate::process::Binary;
use crate::report::{Check, Table};
use crate::upstream::{Pace, Text, Upstream};
use serde::Serialize;
use std::time::Duration;

/// To the joining caller's first token.
pub(super) const LIMIT_MS: f64 = 5.0;

/// When the second caller comes.
const JOINS: Duration = Duration::from_millis(400);

/// A token each 100 ms from 50 ms on, the last at 1.95 s: four are out when the second caller comes, the fifth is not near.
const PACE: Pace = Pace {
    first: Duration::from_millis(50),
    tokens: 20,
    between: Duration::from_millis(100),
};

const EARLIER: usize = 4;

/// What joining came to, over all runs.
#[derive(Debug, Serialize)]
pub(super) struct Join {
    runs: u32,
    first_token_ms: Spread,
    /// Runs in which all earlier tokens were there before the next one was made.
    replayed: usize,
    /// Runs in which the joining caller had the whole stream, from the same generation.
    whole: usize,
    /// A later token, from the upstream to the joining caller: the slowest of each run.
    live_ms: Spread,
}

pub(super) async fn run(front: &Binary, runs: u32) -> Result<Join, BoxError> {
    let upstream = Upstream::start(PACE)?;
    let front = front.start(["--backend", &upstream.url()], None)?;
    let mut leader = Connection::open(front.address, None).await?;
    let mut joiner = Connection::open(front.address, None).await?;
    let mut seen = Vec::new();
    for number in 0..runs {
        let request = chat::request(&format!("join {number}"), Form::Stream, Temperature::Zero);
        let (mut first, mut second) = (Recording::default(), Recording::default());
        let joins = async {
            tokio::time::sleep(JOINS).await;
            joiner.exchange(&request, &mut second).await
        };
        tokio::try_join!(leader.exchange(&request, &mut first), joins)?;
        seen.push(Seen::of(
            &second,
            &upstream.last().sent,
            upstream.calls() == u64::from(number) + 1,
        )?);
    }
    Ok(Join {
        runs,
        first_token_ms: Spread::of(seen.iter().map(|run| run.first_ms)),
        replayed: seen.iter().filter(|run| run.replayed).count(),
        whole: seen.iter().filter(|run| run.whole).count(),
        live_ms: Spread::of(seen.iter().map(|run| run.live_ms)),
    })
}

struct Seen {
    first_ms: f64,
    replayed: bool,
    whole: bool,
    live_ms: f64,
}

impl Seen {
    fn of(joiner: &Recording, upstream: &[Stamp], one_call: bool) -> Result<Self, BoxError> {
        let events = joiner.events();
        let first = events.first().ok_or("the joining caller got no token")?;
        let next = upstream
            .get(EARLIER)
            .ok_or("the upstream made too few tokens")?;
        let live = events
            .iter()
            .zip(upstream)
            .skip(EARLIER)
            .map(|(event, sent)| millis(event.at.since(*sent)));
        Ok(Self {
            first_ms: millis(first.at.since(joiner.sent()?)),
            replayed: events.iter().filter(|event| event.at < *next).count() == EARLIER,
            whole: one_call
                && joiner.source() == Source::Coalesced
                && joiner.body() == Text::of(PACE.tokens).stream(),
            live_ms: live.fold(0.0, f64::max),
        })
    }
}

impl Join {
    pub(super) fn checks(&self) -> Vec<Check> {
        let runs = usize::try_from(self.runs).unwrap_or_default();
        vec![
            Check::at_most(
                "joining at 0.4 s: first token, slowest run",
                LIMIT_MS,
                self.first_token_ms.most,
                " ms",
            ),
            Check::equal(
                "joining at 0.4 s: runs with the 4 earlier tokens replayed",
                runs,
                self.replayed,
            ),
            Check::equal(
                "joining at 0.4 s: runs with the whole stream of one generation",
                runs,
                self.whole,
            ),
            Check::at_most(
                "joining at 0.4 s: slowest later token behind the upstream",
                LIMIT_MS,
                self.live_ms.most,
                " ms",
            ),
        ]
    }

    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(
            "followers: joining a stream of 2 s at 0.4 s (milliseconds, median (least–most) of the runs)",
            [
                "",
                "first token",
                "slowest later token",
                "replayed",
                "whole",
            ],
        );
        table.row([
            format!("{} runs", self.runs),
            format!("{:.2}", self.first_token_ms),
            format!("{:.2}", self.live_ms),
            format!("{} of {}", self.replayed, self.runs),
            format!("{} of {}", self.whole, self.runs),
        ]);
        table
    }
}
