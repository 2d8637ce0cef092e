//! The room that batches cuts batches as `tower-batch-llm` does.
//!
//! The same requests go through the layer under paused time and through the simulation of it; every
//! answer must come at the same millisecond, from a batch of the same size. Requests arrive at
//! multiples of 64 ms, windows end between them, and a batch takes 1 ms more than a multiple. So what
//! ends is told from what arrives, and nothing is decided by the order of what happens at once.

use std::time::Duration;

use llm_sim::{
    cost::Affine,
    engine::Simulation,
    front::{Batching, Direct, Tally, Window},
    rng::PyRandom,
    server::{Completion, Continuous, Padding, Server, Static},
    workload::{Prefix, Request},
};
use tokio::{task::JoinSet, time::Instant};
use tower::{BoxError, Layer, ServiceExt};
use tower_batch_llm::{BatchLayer, batch_fn};

const ITEMS: usize = 8;

/// A forward of so many items takes so long.
const BASE_MS: u64 = 64 * 12 + 1;
const ITEM_MS: u64 = 64;

#[derive(Clone, Copy, Debug)]
struct Setting {
    window: Window,
    in_flight: usize,
    /// The mean time between arrivals, in units of 64 ms.
    gap: u64,
}

/// When each was answered, in milliseconds, and how many batches there were.
#[derive(Debug, PartialEq)]
struct Outcome {
    finished_ms: Vec<u64>,
    batches: u64,
}

fn arrivals(seed: u64, gap: u64) -> Vec<u64> {
    let mut random = PyRandom::from_text(&format!("batching:{seed}"));
    let mut now = 0;
    let mut next = || {
        now += 64 * (1 + random.below(2 * gap as usize - 1) as u64);
        now
    };
    (0..400).map(|_| next()).collect()
}

fn simulated(arrivals: &[u64], setting: Setting) -> Outcome {
    // One accelerator, whose forward grows with the batch; or as many as it takes, all alike.
    let server: Box<dyn Server> = if setting.in_flight == 1 {
        let forward = Affine::new(BASE_MS as f64, ITEM_MS as f64, 0.0);
        Box::new(Static::new(ITEMS, 0.0, Padding::Padded, forward))
    } else {
        Box::new(Continuous::new(u32::MAX, Affine::new(1.0, 0.0, 0.0)))
    };
    let output_tokens = match setting.in_flight {
        1 => 1,
        _ => BASE_MS as u32,
    };
    let requests = arrivals.iter().zip(0..).map(|(&at, id)| Request {
        id,
        arrival_ms: at as f64,
        prompt_tokens: 0,
        output_tokens,
        tenant: 0,
        priority: 0,
        key: id,
        prefix: Prefix::Own,
    });
    let front =
        Batching::new(Direct::default(), ITEMS, setting.window).max_in_flight(setting.in_flight);
    let mut sim = Simulation::new(vec![server], front);
    let mut done: Vec<Completion> = Vec::new();
    sim.run_into(requests, &mut done);
    done.sort_by_key(|done| done.request.id);
    Outcome {
        finished_ms: done.iter().map(|done| done.finished_ms as u64).collect(),
        batches: Tally::of(sim.front()).batches,
    }
}

async fn real(arrivals: &[u64], setting: Setting) -> Result<Outcome, BoxError> {
    let window = match setting.window {
        Window::Fixed(ms) => tower_batch_llm::Window::Fixed(Duration::from_millis(ms as u64)),
        Window::WhileBusy(ms) => {
            tower_batch_llm::Window::WhileBusy(Duration::from_millis(ms as u64))
        }
    };
    let alone = setting.in_flight == 1;
    let forward = batch_fn(move |items: Vec<u64>| async move {
        let more = if alone {
            items.len() as u64 * ITEM_MS
        } else {
            0
        };
        tokio::time::sleep(Duration::from_millis(BASE_MS + more)).await;
        Ok::<_, BoxError>(items.into_iter().map(Ok).collect())
    });
    let layer = BatchLayer::new(ITEMS)
        .window(window)
        .max_in_flight(setting.in_flight)
        .queue_capacity(arrivals.len());
    let stats = layer.stats();
    let service = layer.layer(forward);

    let start = Instant::now();
    let mut answers = JoinSet::new();
    for (id, &at) in (0_u64..).zip(arrivals) {
        tokio::time::sleep_until(start + Duration::from_millis(at)).await;
        let service = service.clone();
        answers.spawn(async move {
            let answer = service.oneshot(id).await;
            assert!(answer.is_ok_and(|answer| answer == id));
            (id, start.elapsed().as_millis() as u64)
        });
    }
    let mut finished = answers.join_all().await;
    finished.sort_unstable();
    let stats = stats.snapshot();
    Ok(Outcome {
        finished_ms: finished.into_iter().map(|(_, at)| at).collect(),
        batches: (1..=ITEMS).map(|size| stats.batches_of(size)).sum(),
    })
}

#[tokio::test(start_paused = true)]
async fn batches_are_cut_as_the_layer_cuts_them() {
    for window in [
        Window::Fixed(64.0 * 5.0 + 32.0),
        Window::Fixed(64.0 * 40.0 + 32.0),
        Window::WhileBusy(64.0 * 5.0 + 32.0),
        Window::WhileBusy(64.0 * 40.0 + 32.0),
    ] {
        for in_flight in [1, 3] {
            for (seed, gap) in [(0, 3), (1, 6), (2, 30)] {
                let setting = Setting {
                    window,
                    in_flight,
                    gap,
                };
                let arrivals = arrivals(seed, setting.gap);
                let ours = simulated(&arrivals, setting);
                let theirs = real(&arrivals, setting).await.unwrap();
                assert_eq!(ours, theirs, "{setting:?}");
            }
        }
    }
}
