//! CPU time a request, in interleaved rounds.

use super::load::closed_loop;
use super::path::{Path, Servers};
use crate::BoxError;
use crate::cli::Cli;
use crate::client::{Connection, Sources, open_many};
use crate::clock::Stamp;
use crate::measure::micros;
use crate::report::progress;

/// Connections of each path.
const CONNECTIONS: usize = 32;

/// A path, measured once a round.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) path: Path,
    /// CPU time a request, in microseconds.
    pub(super) cpu_us: Vec<f64>,
    /// Requests a second.
    pub(super) rate: Vec<f64>,
}

struct Lane {
    measured: Measured,
    connections: Vec<Connection>,
}

pub(super) async fn measure(servers: &Servers<'_>, cli: &Cli) -> Result<Vec<Measured>, BoxError> {
    let count = usize::try_from(cli.requests)?;
    let mut lanes = Vec::new();
    for path in Path::ALL {
        let Some(address) = servers.address(path) else {
            continue;
        };
        let connections = open_many(address, CONNECTIONS, Sources::Any).await?;
        let measured = Measured {
            path,
            cpu_us: Vec::new(),
            rate: Vec::new(),
        };
        lanes.push(Lane {
            measured,
            connections,
        });
    }
    for round in 0..=usize::try_from(cli.rounds)? {
        progress(&match round {
            0 => "overhead: warming up".to_owned(),
            _ => format!("overhead: round {round} of {}", cli.rounds),
        });
        // Each round begins with another path, so that none always runs first.
        let lanes_count = lanes.len();
        lanes.rotate_left(round % lanes_count.max(1));
        for lane in &mut lanes {
            let count = if round == 0 { count.min(1000) } else { count };
            turn(servers, lane, round, count).await?;
        }
    }
    lanes.sort_by_key(|lane| {
        Path::ALL
            .iter()
            .position(|path| *path == lane.measured.path)
    });
    Ok(lanes.into_iter().map(|lane| lane.measured).collect())
}

/// One path in one round; round 0 leaves no trace.
async fn turn(
    servers: &Servers<'_>,
    lane: &mut Lane,
    round: usize,
    count: usize,
) -> Result<(), BoxError> {
    let path = lane.measured.path;
    // Whoever answers from a cache must have been asked once.
    if round == 0 && !path.calls_upstream() {
        fill(servers, path).await?;
    }
    let (calls, cpu, begun) = (
        servers.upstream.calls(),
        servers.cpu_time(path)?,
        Stamp::now(),
    );
    let connections = std::mem::take(&mut lane.connections);
    lane.connections = closed_loop(connections, path, round * 10_000_000, count).await?;
    let (took, cpu) = (
        Stamp::now().since(begun),
        servers.cpu_time(path)?.saturating_sub(cpu),
    );
    let calls = servers.upstream.calls() - calls;
    let expected = if path.calls_upstream() {
        count as u64
    } else {
        0
    };
    if calls != expected {
        return Err(format!(
            "{}: the upstream saw {calls} calls, not {expected}",
            path.word()
        )
        .into());
    }
    if round > 0 {
        lane.measured.cpu_us.push(micros(cpu) / count as f64);
        lane.measured.rate.push(count as f64 / took.as_secs_f64());
    }
    Ok(())
}

async fn fill(servers: &Servers<'_>, path: Path) -> Result<(), BoxError> {
    let Some(address) = servers.address(path) else {
        return Ok(());
    };
    let mut connection = Connection::open(address, None).await?;
    let request = path.request(0, super::super::chat::Form::Whole);
    Ok(connection
        .exchange(&request, &mut crate::client::Recording::default())
        .await?)
}
