//! Thousands of identical requests at once: one generation, and everybody has its whole answer.

use super::chat::{self, Form, Temperature};
use crate::BoxError;
use crate::cli::Experiment;
use crate::client::{Connection, Recording, Sources, open_many};
use crate::clock::Stamp;
use crate::measure::{Sorted, Source, Tally, millis};
use crate::process::Binary;
use crate::report::{Check, Machine, Report, Table, progress};
use crate::upstream::{Pace, Text, Upstream};
use bytes::Bytes;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// Until the upstream's last byte.
const UPSTREAM: Duration = Duration::from_secs(5);

/// A caller who waits longer has no answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Connections from one loopback address: well below its ports, used ones of the last minute included.
const EACH: usize = 5000;

/// Descriptors for everything but callers.
const SPARE: u64 = 200;

/// Runs it, streamed and not.
///
/// # Errors
/// The system allows too few open files, or the front end cannot be reached.
pub async fn run(cli: &Experiment, front: &Binary) -> Result<Report, BoxError> {
    let needed = u64::from(cli.callers) + SPARE;
    let allowed = rlimit::increase_nofile_limit(needed)?;
    if allowed < needed {
        return Err(format!(
            "{needed} open files are needed, the hard limit is {allowed}: ask for fewer --callers"
        )
        .into());
    }
    let callers = usize::try_from(cli.callers)?;
    let mut table = Table::new(
        format!("herd: {callers} identical requests at once, the upstream takes {UPSTREAM:?}"),
        [
            "",
            "generations",
            "whole answers",
            "sent within",
            "first after upstream",
            "p50",
            "last",
        ],
    );
    let (mut checks, mut measured) = (Vec::new(), Vec::new());
    for form in [Form::Whole, Form::Stream] {
        let herd = herd(front, form, callers).await?;
        table.row([
            herd.form.to_owned(),
            herd.upstream_calls.to_string(),
            format!("{} of {callers}", herd.whole_answers),
            format!("{:.0} ms", herd.sent_within_ms),
            format!("{:.0} ms", herd.behind_upstream_ms.first),
            format!("{:.0} ms", herd.behind_upstream_ms.p50),
            format!("{:.0} ms", herd.behind_upstream_ms.last),
        ]);
        checks.extend(herd.checks(callers));
        measured.push(herd);
    }
    Ok(Report {
        scenario: "herd",
        command: cli.again(),
        machine: Machine::here(),
        expected: json!({ "callers": callers, "upstream_calls": 1, "whole_answers": callers, "coalesced": callers - 1 }),
        measured: serde_json::to_value(measured)?,
        checks,
        tables: vec![table],
        notes: vec![
            "the callers are one process on one thread, so its own work is in the time to the last answer".to_owned(),
        ],
    })
}

#[derive(Debug, Serialize)]
struct Herd {
    form: &'static str,
    upstream_calls: u64,
    sources: Tally,
    whole_answers: usize,
    /// Up to three of them, in words.
    failures: Vec<String>,
    sent_within_ms: f64,
    behind_upstream_ms: Behind,
}

/// From the upstream's last byte to the callers'.
#[derive(Debug, Serialize)]
struct Behind {
    first: f64,
    p50: f64,
    p99: f64,
    last: f64,
}

impl Herd {
    fn checks(&self, callers: usize) -> Vec<Check> {
        let form = self.form;
        vec![
            Check::equal(
                format!("{form}: calls the upstream saw"),
                1,
                self.upstream_calls,
            ),
            Check::equal(
                format!("{form}: callers with the whole right answer"),
                callers,
                self.whole_answers,
            ),
            Check::equal(
                format!("{form}: coalesced"),
                callers as u64 - 1,
                self.sources.coalesced,
            ),
            Check::at_most(
                format!("{form}: all sent within"),
                millis(UPSTREAM),
                self.sent_within_ms,
                " ms",
            ),
        ]
    }
}

async fn herd(front: &Binary, form: Form, callers: usize) -> Result<Herd, BoxError> {
    let (word, pace, subnet) = match form {
        Form::Whole => (
            "not streamed",
            Pace {
                first: UPSTREAM,
                tokens: 16,
                between: Duration::ZERO,
            },
            1,
        ),
        // The last of six tokens after 5 s.
        Form::Stream => (
            "streamed",
            Pace {
                first: UPSTREAM / 2,
                tokens: 6,
                between: UPSTREAM / 10,
            },
            2,
        ),
    };
    let text = Text::of(pace.tokens);
    let right = match form {
        Form::Whole => text.whole.clone(),
        Form::Stream => text.stream(),
    };
    let upstream = Upstream::start(pace)?;
    let room = (callers + 100).max(16_384).to_string();
    let front = front.start(
        ["--backend", &upstream.url(), "--max-requests", &room],
        None,
    )?;
    progress(&format!("herd, {word}: opening {callers} connections"));
    let connections = open_many(
        front.address,
        callers,
        Sources::Spread { subnet, each: EACH },
    )
    .await?;
    progress(&format!("herd, {word}: {callers} requests"));
    let request: Arc<[u8]> =
        chat::request("summarize checkout incident", form, Temperature::Zero).into();
    let barrier = Arc::new(Barrier::new(callers));
    let mut tasks = JoinSet::new();
    for connection in connections {
        let (request, barrier, right) = (request.clone(), barrier.clone(), right.clone());
        tasks.spawn(async move {
            barrier.wait().await;
            tokio::time::timeout(PATIENCE, call(connection, &request, &right)).await?
        });
    }
    let (mut answers, mut failures) = (Vec::with_capacity(callers), Vec::new());
    while let Some(task) = tasks.join_next().await {
        match task? {
            Ok(answer) => answers.push(answer),
            Err(error) if failures.len() < 3 => failures.push(error.to_string()),
            Err(_) => {}
        }
    }
    let end = upstream
        .last()
        .sent
        .last()
        .copied()
        .ok_or("the upstream never answered")?;
    let behind: Sorted = answers
        .iter()
        .map(|answer| millis(answer.ended.since(end)))
        .collect();
    let sent = answers.iter().map(|answer| answer.sent);
    let sent_within = sent
        .clone()
        .max()
        .zip(sent.min())
        .map_or(Duration::ZERO, |(last, first)| last.since(first));
    Ok(Herd {
        form: word,
        upstream_calls: upstream.calls(),
        sources: answers.iter().map(|answer| answer.source).collect(),
        whole_answers: answers.len(),
        failures,
        sent_within_ms: millis(sent_within),
        behind_upstream_ms: Behind {
            first: behind.least(),
            p50: behind.median(),
            p99: behind.quantile(0.99),
            last: behind.most(),
        },
    })
}

/// A whole, right answer.
#[derive(Debug)]
struct Answer {
    source: Source,
    sent: Stamp,
    ended: Stamp,
}

async fn call(
    mut connection: Connection,
    request: &[u8],
    right: &Bytes,
) -> Result<Answer, BoxError> {
    let mut recording = Recording::default();
    connection.exchange(request, &mut recording).await?;
    let (status, body) = (recording.status(), recording.body());
    if status != 200 || body != *right {
        return Err(format!(
            "answered {status}, {} of {} bytes right",
            agreeing(&body, right),
            right.len()
        )
        .into());
    }
    Ok(Answer {
        source: recording.source(),
        sent: recording.sent()?,
        ended: recording.ended()?,
    })
}

fn agreeing(body: &[u8], right: &[u8]) -> usize {
    body.iter().zip(right).take_while(|(a, b)| a == b).count()
}
