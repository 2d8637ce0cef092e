//! F11: a pool is sized by Little's law; a larger one only moves the queue.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Curve, Figure, Tolerance, round};
use crate::gateway::{Gateway, chat};
use crate::virtual_time;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use llm_bench::measure::{millis, samples};
use llm_front::config::Config;
use llm_front::layers::admission::AdmissionLayer;
use llm_sim::cost::Affine;
use llm_sim::engine::Simulation;
use llm_sim::front::Direct;
use llm_sim::metrics::Sketch;
use llm_sim::server::{Completion, Continuous};
use llm_sim::theory::erlang_c;
use llm_sim::workload::{Arrivals, Length, Workload};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::{Layer, ServiceExt, service_fn};

const HOW: &str = "600 req/s of 3 ms on average through pools of 2 to 10 places, simulated, beside Erlang's formula; 600 req/s of \
40 ms through the gateway, its places counted; and the gateway's admission with 4 and with 64 places before a backend of 4";
const RATE: f64 = 600.0;
const SERVICE_MS: f64 = 3.0;
const REQUESTS: usize = 400_000;
/// So many steps make a mean service: fine enough to be as good as continuous.
const STEPS: f64 = 100.0;
const SIZES: [u32; 6] = [2, 3, 4, 6, 8, 10];

pub(super) fn measure() -> Result<Row, BoxError> {
    let mut figures = Vec::new();
    let mut rows = Vec::new();
    for size in SIZES {
        let pool = simulate(size);
        let law = wait_p99_by_law(size);
        rows.push(vec![
            json!(size),
            json!(round(pool.in_use)),
            json!(round(pool.wait_ms.mean())),
            json!(round(pool.wait_ms.quantile(0.99))),
            json!(round(law)),
        ]);
        let p99 = pool.wait_ms.quantile(0.99);
        match size {
            3 => figures.push(Figure::new(
                "pool of 3: p99 of the wait, by Erlang's",
                "ms",
                law,
                p99,
                Tolerance::Within(0.05),
            )),
            10 => {
                figures.push(Figure::new(
                    "places in use, by Little's law",
                    "",
                    RATE * SERVICE_MS / 1e3,
                    pool.in_use,
                    Tolerance::Within(0.01),
                ));
                figures.push(Figure::new(
                    "pool of 10: p99 of the wait",
                    "ms",
                    0.1,
                    p99,
                    Tolerance::AtMost,
                ));
            }
            _ => {}
        }
    }
    figures.push(
        Figure::new(
            "600 req/s × 40 ms through the gateway: in flight",
            "",
            24.0,
            in_flight()?,
            Tolerance::Exact,
        )
        .by(Clock::Virtual),
    );
    let (small, large) = (queues(4)?, queues(64)?);
    figures.push(
        Figure::new(
            "4 places before a backend of 4: wait at the backend",
            "ms",
            0.0,
            small.behind,
            Tolerance::Exact,
        )
        .by(Clock::Virtual),
    );
    figures.push(
        Figure::new(
            "64 places: wait at the pool, less than with 4",
            "ms",
            small.before,
            large.before,
            Tolerance::AtMost,
        )
        .by(Clock::Virtual),
    );
    figures.push(
        Figure::new(
            "64 places: mean total, as with 4",
            "ms",
            small.total,
            large.total,
            Tolerance::Exact,
        )
        .by(Clock::Virtual),
    );
    Ok(
        Row::new("F11", "pools sized by Little's law", Clock::Simulated, HOW, figures)
            .curve(Curve {
                caption: "A pool before 600 req/s of 3 ms; the simulation looks every 0.03 ms".to_owned(),
                heads: vec!["places", "in use", "mean wait, ms", "p99 wait, ms", "p99 wait by Erlang, ms"],
                rows,
            })
            .curve(Curve {
                caption: "100 requests at once before a backend of 4 workers, 40 ms each: a larger pool only moves the queue".to_owned(),
                heads: vec!["places", "mean wait at the pool, ms", "mean wait at the backend, ms", "mean total, ms"],
                rows: [(4, small), (64, large)]
                    .map(|(places, queues)| vec![json!(places), json!(round(queues.before)), json!(round(queues.behind)), json!(round(queues.total))])
                    .to_vec(),
            }),
    )
}

struct Pool {
    in_use: f64,
    wait_ms: Sketch,
}

fn simulate(size: u32) -> Pool {
    let step = Affine::new(SERVICE_MS / STEPS, 0.0, 0.0);
    let requests = Workload::new("report:pool", Arrivals::poisson(RATE))
        .prompt(Length::constant(0))
        .output(Length::exponential(STEPS, 1, u32::MAX));
    let mut sim = Simulation::new(
        vec![Box::new(Continuous::new(size, step))],
        Direct::default(),
    );
    let mut busy_ms = 0.0;
    let report = sim.run_into(requests.take(REQUESTS), &mut |done: &Completion| {
        busy_ms += done.finished_ms - done.scheduled_ms;
    });
    Pool {
        in_use: busy_ms / (report.span_s() * 1e3),
        wait_ms: report.latency.queue,
    }
}

/// P(W > t) = C · e^(−(c·μ − λ)·t), with Erlang's C.
fn wait_p99_by_law(size: u32) -> f64 {
    let offered = RATE * SERVICE_MS / 1e3;
    let waits = erlang_c(size, offered);
    let drain_per_ms = f64::from(size) / SERVICE_MS - RATE / 1e3;
    ((waits / 0.01).ln() / drain_per_ms).max(0.0)
}

/// Places of the gateway in use while 600 requests a second come in, evenly, for 40 ms each.
fn in_flight() -> Result<f64, BoxError> {
    virtual_time::run(async {
        let gateway = Gateway::new(&Config::default())?;
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for number in 0..600 {
            // Six in the first millisecond of every ten: 600 a second, in whole ticks of the clock.
            let at = Duration::from_millis(number / 6 * 10);
            let (gateway, request) = (
                gateway.clone(),
                chat("stub?delay=40ms", &number.to_string(), "")?,
            );
            callers.spawn(async move {
                tokio::time::sleep_until(start + at).await;
                gateway.ask(request).await
            });
        }
        tokio::time::sleep_until(start + Duration::from_millis(505)).await;
        let text = gateway.metrics();
        let places = samples(&text).find(|sample| sample.name.ends_with("upstream_in_flight"));
        let places = places.map_or(f64::NAN, |sample| sample.value);
        while let Some(answer) = callers.join_next().await {
            answer??;
        }
        Ok(places)
    })
}

/// Where a burst of 100 waits, in milliseconds on average.
#[derive(Clone, Copy)]
struct Queues {
    before: f64,
    behind: f64,
    total: f64,
}

fn queues(places: usize) -> Result<Queues, BoxError> {
    const BURST: u32 = 100;
    virtual_time::run(async move {
        let workers = Arc::new(Semaphore::new(4));
        // A backend that takes everything in and works on four at a time.
        let backend = service_fn(move |_: Request<()>| {
            let (workers, taken_in) = (workers.clone(), Instant::now());
            async move {
                // It is never closed.
                let worker = workers.acquire_owned().await.ok();
                let waited = taken_in.elapsed();
                tokio::time::sleep(Duration::from_millis(40)).await;
                drop(worker);
                let body = Bytes::from(millis(waited).to_string());
                Ok::<_, Infallible>(Response::new(Full::new(body)))
            }
        });
        let service = AdmissionLayer::new(places, Duration::from_secs(60)).layer(backend);
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for _ in 0..BURST {
            let call = service.clone().oneshot(Request::new(()));
            callers.spawn(async move {
                let body = call.await?.into_body().collect().await?.to_bytes();
                let behind: f64 = String::from_utf8_lossy(&body).parse()?;
                Ok::<_, BoxError>((behind, millis(start.elapsed())))
            });
        }
        let (mut behind, mut total) = (0.0, 0.0);
        while let Some(caller) = callers.join_next().await {
            let (waited, took) = caller??;
            behind += waited / f64::from(BURST);
            total += took / f64::from(BURST);
        }
        Ok(Queues {
            before: total - behind - 40.0,
            behind,
            total,
        })
    })
}
