//! CPU time a request, in interleaved rounds.

use super::super::chat::Form;
use super::load::closed_loop;
use super::path::{Path, Servers};
use crate::BoxError;
use crate::cli::Experiment;
use crate::client::{Connection, Recording, Sources, open_many};
use crate::clock::Stamp;
use crate::measure::micros;
use crate::report::progress;
use std::hint::black_box;

/// Connections of each path.
const CONNECTIONS: usize = 32;

/// Requests before each measurement, on its connections.
const WARM_UP: usize = 320;

/// Numbers set aside for one round: no prompt comes twice.
const NUMBERS: usize = 10_000_000;

/// Memory that is touched and given back before each turn: more than any path takes in one.
///
/// In a virtual machine, a page that was never used, or not for a while, has to be found by the host: ten times as long as its own
/// kernel takes, and charged to whoever touches it first. The next pages that a process gets are the last ones given back.
const TOUCHED: usize = 64 << 20;

const PAGE: usize = 4096;

/// A path, measured once a round.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) path: Path,
    /// CPU time a request, in microseconds.
    pub(super) cpu_us: Vec<f64>,
    /// Requests a second.
    pub(super) rate: Vec<f64>,
}

pub(super) async fn measure(
    servers: &Servers<'_>,
    cli: &Experiment,
) -> Result<Vec<Measured>, BoxError> {
    let count = usize::try_from(cli.requests)?;
    let mut lanes: Vec<Measured> = Path::ALL
        .into_iter()
        .filter(|path| servers.address(*path).is_some())
        .map(|path| Measured {
            path,
            cpu_us: Vec::new(),
            rate: Vec::new(),
        })
        .collect();
    for round in 0..=usize::try_from(cli.rounds)? {
        progress(&match round {
            0 => "overhead: warming up".to_owned(),
            _ => format!("overhead: round {round} of {}", cli.rounds),
        });
        // Each round begins with another path, so that none always runs first.
        let by = 1.min(lanes.len());
        lanes.rotate_left(by);
        for lane in &mut lanes {
            let count = if round == 0 { count.min(1000) } else { count };
            turn(servers, lane, round, count).await?;
        }
    }
    lanes.sort_by_key(|lane| Path::ALL.iter().position(|path| *path == lane.path));
    Ok(lanes)
}

/// One path in one round; round 0 leaves no trace.
async fn turn(
    servers: &Servers<'_>,
    lane: &mut Measured,
    round: usize,
    count: usize,
) -> Result<(), BoxError> {
    let path = lane.path;
    let Some(address) = servers.address(path) else {
        return Ok(());
    };
    // Whoever answers from a cache must have been asked once.
    if round == 0 && !path.calls_upstream() {
        let mut connection = Connection::open(address, None).await?;
        let request = path.request(0, Form::Whole);
        connection
            .exchange(&request, &mut Recording::default())
            .await?;
    }
    touch(TOUCHED);
    // New ones each time: a server may close what was idle while the others had their turns.
    let connections = open_many(address, CONNECTIONS, Sources::Any).await?;
    // From above 0, the number of the request that is asked again and again.
    let from = (round + 1) * NUMBERS;
    let connections = closed_loop(connections, path, from, WARM_UP).await?;
    let (calls, cpu, begun) = (
        servers.upstream.calls(),
        servers.cpu_time(path)?,
        Stamp::now(),
    );
    let connections = closed_loop(connections, path, from + WARM_UP, count).await?;
    let took = Stamp::now().since(begun);
    let cpu = servers.cpu_time(path)?.saturating_sub(cpu);
    let calls = servers.upstream.calls() - calls;
    drop(connections);
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
        lane.cpu_us.push(micros(cpu) / count as f64);
        lane.rate.push(count as f64 / took.as_secs_f64());
    }
    Ok(())
}

/// Has the host find pages, and gives them back.
fn touch(bytes: usize) {
    let mut memory = vec![0_u8; bytes];
    for page in memory.chunks_mut(PAGE) {
        page.fill(1);
    }
    black_box(memory);
}
