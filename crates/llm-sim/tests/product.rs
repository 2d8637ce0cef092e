//! The rooms decide as the product's layers do.
//!
//! The same requests go through `tower-coalesce` and `tower-semcache` under paused time and through
//! the simulation of them; every answer must come at the same millisecond, from the same source.
//! Requests arrive at even milliseconds, one at a time, and answers take an odd number of them, no two
//! the same end: nothing is decided by the order of what happens at once.

use std::{collections::HashSet, time::Duration};

use bytes::Bytes;
use llm_sim::{
    cost::Affine,
    engine::Simulation,
    front::{Cache, CacheConfig, Coalesce, Direct, Tally},
    rng::PyRandom,
    server::{Completion, Continuous},
    workload::{Prefix, Request, Zipf},
};
use tokio::{
    task::{JoinSet, LocalSet},
    time::Instant,
};
use tower::{BoxError, Layer, ServiceExt, service_fn};
use tower_coalesce::CoalesceLayer;
use tower_semcache::{Cache as Store, CacheLayer, Cloned, Lookup, Secret};

/// When each was answered, in milliseconds, and the counts: leaders, followers, hits, misses.
#[derive(Debug, PartialEq)]
struct Outcome {
    finished_ms: Vec<u64>,
    counts: [u64; 4],
}

/// What the cache holds.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    entries: usize,
    ttl_ms: u64,
}

/// Arrival, question, length: milliseconds.
fn requests(seed: u64) -> Vec<(u64, u64, u64)> {
    let mut random = PyRandom::from_text(&format!("product:{seed}"));
    let zipf = Zipf::new(60, 1.0);
    let mut now = 0;
    let mut ends = HashSet::new();
    (0..600)
        .map(|_| {
            let key = zipf.draw(&mut random);
            // The same question has the same length.
            let length = 2 * (key * 37 % 90) + 121;
            now += 2 + 2 * random.below(8) as u64;
            while !ends.insert(now + length) {
                now += 2;
            }
            (now, key, length)
        })
        .collect()
}

fn simulated(requests: &[(u64, u64, u64)], bounds: Bounds) -> Outcome {
    let mut done: Vec<Completion> = Vec::new();
    let server = Continuous::new(u32::MAX, Affine::new(1.0, 0.0, 0.0));
    let config = CacheConfig::default()
        .entries(bounds.entries)
        .ttl_ms(bounds.ttl_ms as f64);
    let front = Coalesce::new(Cache::new(Direct::default(), config, ""));
    let mut sim = Simulation::new(vec![Box::new(server)], front);
    let all = requests
        .iter()
        .zip(0..)
        .map(|(&(at, key, length), id)| Request {
            id,
            arrival_ms: at as f64,
            prompt_tokens: 0,
            output_tokens: length as u32,
            tenant: 0,
            priority: 0,
            key,
            prefix: Prefix::Own,
        });
    sim.run_into(all, &mut done);
    done.sort_by_key(|done| done.request.id);
    let tally = Tally::of(sim.front());
    Outcome {
        finished_ms: done.iter().map(|done| done.finished_ms as u64).collect(),
        counts: [tally.leaders, tally.followers, tally.hits, tally.misses],
    }
}

async fn real(requests: &[(u64, u64, u64)], bounds: Bounds) -> Result<Outcome, BoxError> {
    let secret = Secret::random();
    let scope = secret.scope(&[]);
    let lookup = move |(key, _): &(u64, u64)| {
        Some(Lookup::new(
            &secret,
            scope,
            Bytes::copy_from_slice(&key.to_le_bytes()),
        ))
    };
    // Every entry weighs the same: so many of them, in one shard.
    let one: Store<u64> = Store::builder().build()?;
    let any = lookup(&(0, 0)).ok_or("no look-up")?;
    one.insert(&any, 0)
        .map_err(|refusal| format!("{refusal:?}"))?;
    let bytes = one.stats().bytes.saturating_mul(bounds.entries);
    let store: Store<u64> = Store::builder()
        .max_bytes(bytes)
        .max_entry_bytes(bytes)
        .ttl(Duration::from_millis(bounds.ttl_ms))
        .build()?;
    let generate = service_fn(|(key, length): (u64, u64)| async move {
        tokio::time::sleep(Duration::from_millis(length)).await;
        Ok::<_, BoxError>(key)
    });
    let single_flight = CoalesceLayer::new(|(key, _): &(u64, u64)| Some(*key));
    let cached = CacheLayer::new(store.clone(), lookup, Cloned).layer(generate);
    let service = single_flight.layer(cached);

    let start = Instant::now();
    let mut answers = JoinSet::new();
    for (id, &(at, key, length)) in requests.iter().enumerate() {
        tokio::time::sleep_until(start + Duration::from_millis(at)).await;
        let service = service.clone();
        answers.spawn_local(async move {
            let answer = service.oneshot((key, length)).await;
            assert!(answer.is_ok_and(|answer| answer == key));
            (id, start.elapsed().as_millis() as u64)
        });
    }
    let mut finished = answers.join_all().await;
    finished.sort_unstable();
    let flights = single_flight.stats().snapshot();
    let stats = store.stats();
    Ok(Outcome {
        finished_ms: finished.into_iter().map(|(_, at)| at).collect(),
        counts: [
            flights.leaders,
            flights.followers,
            stats.hits_exact,
            stats.misses,
        ],
    })
}

#[tokio::test(start_paused = true)]
async fn single_flight_and_cache_decide_as_the_layers_do() {
    let forever = 1 << 40;
    for (seed, bounds) in [
        (
            0,
            Bounds {
                entries: 1000,
                ttl_ms: forever,
            },
        ),
        (
            1,
            Bounds {
                entries: 1000,
                ttl_ms: 700,
            },
        ),
        (
            2,
            Bounds {
                entries: 1000,
                ttl_ms: 80,
            },
        ),
        (
            3,
            Bounds {
                entries: 20,
                ttl_ms: forever,
            },
        ),
        (
            4,
            Bounds {
                entries: 3,
                ttl_ms: forever,
            },
        ),
    ] {
        let requests = requests(seed);
        let ours = simulated(&requests, bounds);
        // A set of local tasks: what a service answers with need not be `Send` here.
        let theirs = LocalSet::new()
            .run_until(real(&requests, bounds))
            .await
            .unwrap();
        assert!(
            theirs.counts.iter().all(|count| *count > 0),
            "{bounds:?}: {:?}",
            theirs.counts
        );
        assert_eq!(ours.counts, theirs.counts, "{bounds:?}");
        assert_eq!(ours.finished_ms, theirs.finished_ms, "{bounds:?}");
    }
}
