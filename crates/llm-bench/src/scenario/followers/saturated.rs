//! Cache hits while every place at the backend is taken and many wait for one.

use super::super::chat::{self, Form, Temperature};
use crate::BoxError;
use crate::client::{Connection, Recording, Sources, open_many};
use crate::measure::{Sorted, Source, millis};
use crate::process::Binary;
use crate::report::{Check, Table};
use crate::upstream::{Pace, Upstream};
use serde::Serialize;
use std::time::Duration;
use tokio::task::JoinSet;

/// A hit, 99 of 100.
pub(super) const LIMIT_MS: f64 = 1.0;

/// Places at the backend.
const PLACES: u64 = 8;

/// Callers who want one.
const CALLERS: usize = 64;

const HITS: usize = 500;

/// Longer than all hits together.
const UPSTREAM: Duration = Duration::from_secs(20);

/// How hits did.
#[derive(Debug, Serialize)]
pub(super) struct Saturated {
    hits: usize,
    backend_places: u64,
    callers_waiting: u64,
    p50_ms: f64,
    p99_ms: f64,
    most_ms: f64,
}

pub(super) async fn run(front: &Binary) -> Result<Saturated, BoxError> {
    let upstream = Upstream::start(Pace::AT_ONCE)?;
    let places = PLACES.to_string();
    let front = front.start(
        ["--backend", &upstream.url(), "--max-upstream", &places],
        None,
    )?;
    let hit = chat::request("explain vector retrieval", Form::Whole, Temperature::Zero);
    let mut connection = Connection::open(front.address, None).await?;
    let mut recording = Recording::default();
    connection.exchange(&hit, &mut recording).await?;
    upstream.set(Pace {
        first: UPSTREAM,
        ..Pace::AT_ONCE
    });
    let before = upstream.calls();
    // Dropped at the end of this function: nobody waits for these answers.
    let mut waiting = JoinSet::new();
    for (mut connection, number) in open_many(front.address, CALLERS, Sources::Any)
        .await?
        .into_iter()
        .zip(0..)
    {
        let request = chat::request(&format!("slow {number}"), Form::Whole, Temperature::Zero);
        waiting.spawn(async move {
            connection
                .exchange(&request, &mut Recording::default())
                .await
        });
    }
    let full = async {
        while upstream.calls() - before < PLACES {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // The others have been read and wait inside.
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    tokio::time::timeout(Duration::from_secs(5), full)
        .await
        .map_err(|_| "the backend was never saturated")?;
    let mut took = Vec::with_capacity(HITS);
    for _ in 0..HITS {
        connection.exchange(&hit, &mut recording).await?;
        match recording.source() {
            Source::Hit => took.push(millis(recording.ended()?.since(recording.sent()?))),
            source => return Err(format!("expected a hit, got {source:?}").into()),
        }
    }
    let at_backend = upstream.calls() - before;
    if let Some(ended) = waiting.try_join_next() {
        return Err(format!("a slow caller had an answer too early: {ended:?}").into());
    }
    let took = Sorted::new(took);
    Ok(Saturated {
        hits: HITS,
        backend_places: at_backend,
        callers_waiting: CALLERS as u64 - at_backend,
        p50_ms: took.median(),
        p99_ms: took.quantile(0.99),
        most_ms: took.most(),
    })
}

impl Saturated {
    pub(super) fn checks(&self) -> Vec<Check> {
        vec![
            Check::equal(
                "saturated: calls at the backend",
                PLACES,
                self.backend_places,
            ),
            Check::at_most("saturated: hit, p99", LIMIT_MS, self.p99_ms, " ms"),
        ]
    }

    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(
            "followers: cache hits while the backend is saturated",
            ["", "p50", "p99", "slowest"],
        );
        table.row([
            format!(
                "{} hits; {} at the backend, {} waiting",
                self.hits, self.backend_places, self.callers_waiting
            ),
            format!("{:.3} ms", self.p50_ms),
            format!("{:.3} ms", self.p99_ms),
            format!("{:.3} ms", self.most_ms),
        ]);
        table
    }
}
