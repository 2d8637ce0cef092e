//! Over sockets, against the binary that people run.

use super::workload::{Answer, CALLERS, PAUSE, REQUESTS, Run, body};
use super::{Batches, Mode};
use crate::BoxError;
use crate::arrivals::Cursor;
use crate::client::{Connection, Recording, Sources, get, open_many, post};
use crate::clock::Stamp;
use crate::process::Binary;
use crate::report::progress;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// So many runs of each mode, each against a front end that was just started.
///
/// # Errors
/// A run could not be made.
pub async fn runs(front: &Binary, count: u32) -> Result<Vec<(Mode, Run)>, BoxError> {
    progress(&format!(
        "reference, over sockets: {count} runs with and without coalescing"
    ));
    let mut runs = Vec::new();
    for _ in 0..count {
        for mode in Mode::BOTH {
            runs.push((mode, run(front, mode).await?));
        }
    }
    Ok(runs)
}

async fn run(front: &Binary, mode: Mode) -> Result<Run, BoxError> {
    let arguments = [
        "--backend",
        "stub",
        "--batch-window-mode",
        "fixed",
        "--batch-window",
        "6ms",
        "--batch-items",
        "8",
    ];
    let front = front.start(
        arguments
            .into_iter()
            .chain(["--cache", "on", "--coalesce", mode.switch()]),
        None,
    )?;
    let connections = warm(open_many(front.address, CALLERS, Sources::Any).await?).await?;
    let before = Batches::read(&metrics(front.address).await?);
    let cursor = Cursor::new(REQUESTS);
    let barrier = Arc::new(Barrier::new(CALLERS));
    let mut callers = JoinSet::new();
    for connection in connections {
        callers.spawn(call(connection, barrier.clone(), cursor.clone()));
    }
    let (mut answers, mut first) = (Vec::new(), Vec::new());
    while let Some(caller) = callers.join_next().await {
        let (sent, mut own) = caller??;
        first.extend(sent);
        answers.append(&mut own);
    }
    let spread = first
        .iter()
        .max()
        .zip(first.iter().min())
        .map_or(Duration::ZERO, |(last, first)| last.since(*first));
    let batches = Batches::read(&metrics(front.address).await?).since(&before);
    Ok(Run::new(&answers, batches, spread))
}

/// One request on each connection, for a prompt of its own: every page that a request touches has been touched once, and
/// every connection has been accepted.
async fn warm(connections: Vec<Connection>) -> Result<Vec<Connection>, BoxError> {
    let mut callers = JoinSet::new();
    for (mut connection, number) in connections.into_iter().zip(0..) {
        callers.spawn(async move {
            let request = post(
                "/v1/generate",
                format!(r#"{{"prompt":"warm-up {number}"}}"#).as_bytes(),
            );
            connection
                .exchange(&request, &mut Recording::default())
                .await
                .map(|()| connection)
        });
    }
    let mut warmed = Vec::new();
    while let Some(caller) = callers.join_next().await {
        warmed.push(caller??);
    }
    Ok(warmed)
}

/// Calls until the cursor is empty; with the moment of the first send.
async fn call(
    mut connection: Connection,
    barrier: Arc<Barrier>,
    cursor: Cursor,
) -> Result<(Option<Stamp>, Vec<Answer>), BoxError> {
    let (mut first, mut answers) = (None, Vec::new());
    let mut recording = Recording::default();
    barrier.wait().await;
    while let Some(number) = cursor.take() {
        connection
            .exchange(
                &post("/v1/generate", body(number).as_bytes()),
                &mut recording,
            )
            .await?;
        if recording.status() != 200 {
            return Err(format!("request {number} was answered {}", recording.status()).into());
        }
        let sent = recording.sent()?;
        first = first.or(Some(sent));
        answers.push(Answer {
            source: recording.source(),
            took: recording.ended()?.since(sent),
        });
        tokio::time::sleep(PAUSE).await;
    }
    Ok((first, answers))
}

async fn metrics(front: std::net::SocketAddr) -> Result<String, BoxError> {
    let mut recording = Recording::default();
    Connection::open(front, None)
        .await?
        .exchange(&get("/metrics"), &mut recording)
        .await?;
    Ok(String::from_utf8_lossy(&recording.body()).into_owned())
}
