//! The first byte of a stream, through a server and straight from the upstream, in turns.

use super::super::chat::Form;
use super::path::{Path, Servers};
use crate::BoxError;
use crate::client::{Connection, Recording};
use crate::measure::{Sorted, micros};
use crate::upstream::Pace;
use serde::Serialize;
use std::time::Duration;

/// Streams on each way.
const STREAMS: usize = 1000;

/// Above the numbers of all requests before, so that no prompt has been asked.
const FROM: usize = 900_000_000_000;

/// Not measured.
const WARM_UP: usize = 100;

/// Two tokens, the second apart from the first.
const PACE: Pace = Pace {
    first: Duration::ZERO,
    tokens: 2,
    between: Duration::from_millis(1),
};

const PATHS: [Path; 3] = [Path::Bypass, Path::Miss, Path::Proxy];

/// From a request to the first byte of the stream's content, in microseconds, one stream at a time.
#[derive(Debug, Serialize)]
pub(super) struct FirstByte {
    #[serde(skip)]
    pub(super) path: Path,
    pub(super) way: &'static str,
    /// Through the server.
    pub(super) p50_us: f64,
    /// Through the server, less straight from the upstream in the same turn.
    pub(super) behind_p50_us: f64,
    pub(super) behind_p99_us: f64,
}

struct Lane {
    path: Path,
    connection: Connection,
    took: Vec<f64>,
    behind: Vec<f64>,
}

pub(super) async fn measure(servers: &Servers<'_>) -> Result<Vec<FirstByte>, BoxError> {
    servers.upstream.set(PACE);
    let mut direct = Connection::open(servers.upstream.address(), None).await?;
    let mut lanes = Vec::new();
    for path in PATHS {
        if let Some(address) = servers.address(path) {
            let connection = Connection::open(address, None).await?;
            lanes.push(Lane {
                path,
                connection,
                took: Vec::new(),
                behind: Vec::new(),
            });
        }
    }
    let mut recording = Recording::default();
    for number in 0..WARM_UP + STREAMS {
        for lane in &mut lanes {
            let request = lane.path.request(FROM + number, Form::Stream);
            let straight = first(&mut direct, &request, &mut recording).await?;
            let through = first(&mut lane.connection, &request, &mut recording).await?;
            if recording.source() != lane.path.source() {
                return Err(format!("{}: {:?}", lane.path.word(), recording.source()).into());
            }
            if number >= WARM_UP {
                lane.took.push(through);
                lane.behind.push(through - straight);
            }
        }
    }
    servers.upstream.set(Pace::AT_ONCE);
    let figures = lanes.into_iter().map(
        |Lane {
             path, took, behind, ..
         }| {
            let behind = Sorted::new(behind);
            FirstByte {
                path,
                way: path.word(),
                p50_us: Sorted::new(took).median(),
                behind_p50_us: behind.median(),
                behind_p99_us: behind.quantile(0.99),
            }
        },
    );
    Ok(figures.collect())
}

async fn first(
    connection: &mut Connection,
    request: &[u8],
    recording: &mut Recording,
) -> Result<f64, BoxError> {
    connection.exchange(request, recording).await?;
    let first = recording
        .first_content()
        .ok_or("a stream without content")?;
    Ok(micros(first.since(recording.sent()?)))
}
