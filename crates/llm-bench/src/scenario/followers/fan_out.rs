//! 50 callers of one slow answer.

use super::super::chat::{self, Form, Temperature};
use crate::BoxError;
use crate::client::{Connection, Recording, Sources, open_many};
use crate::clock::Stamp;
use crate::measure::{Spread, millis};
use crate::process::Binary;
use crate::report::{Check, Table};
use crate::upstream::{Pace, Upstream};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// From the upstream's answer to the last caller's.
pub(super) const LIMIT_MS: f64 = 5.0;

const CALLERS: usize = 50;

const UPSTREAM_MS: [u64; 3] = [50, 200, 400];

/// What one delay of the upstream came to, over all runs.
#[derive(Debug, Serialize)]
pub(super) struct FanOut {
    upstream_ms: u64,
    runs: u32,
    calls: u64,
    /// The last of 50 callers, behind the upstream's answer.
    last_ms: Spread,
}

pub(super) async fn run(front: &Binary, runs: u32) -> Result<Vec<FanOut>, BoxError> {
    let upstream = Upstream::start(Pace::AT_ONCE)?;
    let front = front.start(["--backend", &upstream.url()], None)?;
    let mut connections = open_many(front.address, CALLERS, Sources::Any).await?;
    let mut measured = Vec::new();
    for delay in UPSTREAM_MS {
        upstream.set(Pace {
            first: Duration::from_millis(delay),
            ..Pace::AT_ONCE
        });
        let before = upstream.calls();
        let mut last = Vec::new();
        for number in 0..runs {
            let request = chat::request(
                &format!("answer {number} in {delay}"),
                Form::Whole,
                Temperature::Zero,
            );
            let (ended, kept) = herd(connections, request.into()).await?;
            connections = kept;
            let answered = upstream
                .last()
                .sent
                .last()
                .copied()
                .ok_or("the upstream never answered")?;
            last.push(millis(ended.since(answered)));
        }
        let calls = upstream.calls() - before;
        measured.push(FanOut {
            upstream_ms: delay,
            runs,
            calls,
            last_ms: Spread::of(last),
        });
    }
    Ok(measured)
}

/// All at once; when the last had its answer.
async fn herd(
    connections: Vec<Connection>,
    request: Arc<[u8]>,
) -> Result<(Stamp, Vec<Connection>), BoxError> {
    let barrier = Arc::new(Barrier::new(connections.len()));
    let mut callers = JoinSet::new();
    for mut connection in connections {
        let (barrier, request) = (barrier.clone(), request.clone());
        callers.spawn(async move {
            barrier.wait().await;
            let mut recording = Recording::default();
            connection.exchange(&request, &mut recording).await?;
            match recording.status() {
                200 => Ok::<_, BoxError>((recording.ended()?, connection)),
                status => Err(format!("a caller was answered {status}").into()),
            }
        });
    }
    let (mut last, mut kept) = (Stamp::now(), Vec::new());
    let mut first = true;
    while let Some(caller) = callers.join_next().await {
        let (ended, connection) = caller??;
        last = if std::mem::take(&mut first) {
            ended
        } else {
            last.max(ended)
        };
        kept.push(connection);
    }
    Ok((last, kept))
}

impl FanOut {
    pub(super) fn checks(&self) -> Vec<Check> {
        let delay = self.upstream_ms;
        vec![
            Check::equal(
                format!("upstream of {delay} ms, {CALLERS} callers: generations"),
                u64::from(self.runs),
                self.calls,
            ),
            Check::at_most(
                format!(
                    "upstream of {delay} ms, {CALLERS} callers: last answer behind it, slowest run"
                ),
                LIMIT_MS,
                self.last_ms.most,
                " ms",
            ),
        ]
    }
}

pub(super) fn table(measured: &[FanOut]) -> Table {
    let mut table = Table::new(
        format!(
            "followers: {CALLERS} callers of one answer (milliseconds, median (least–most) of the runs)"
        ),
        ["upstream", "runs", "generations", "last answer behind it"],
    );
    for FanOut {
        upstream_ms,
        runs,
        calls,
        last_ms,
    } in measured
    {
        table.row([
            format!("{upstream_ms} ms"),
            runs.to_string(),
            calls.to_string(),
            format!("{last_ms:.2}"),
        ]);
    }
    table
}
