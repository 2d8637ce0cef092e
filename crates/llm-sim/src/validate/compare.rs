//! A real run beside its simulation.

use serde::Serialize;

use super::{RealRequest, RealRun};
use crate::{
    engine::Simulation,
    front::Direct,
    metrics::percentile,
    server::{Completion, Vllm, VllmConfig},
    workload::{Prefix, Request},
};

/// What other simulators say of themselves, against real servers.
pub const PEERS: &[(&str, &str)] = &[
    ("Vidur", "below 9 % (request latency)"),
    ("BLIS", "6.7 % (median)"),
    ("LLMServingSim 2", "-2.2 to +1.0 % (means)"),
];

/// Signed relative errors of the simulation, in per cent of the measured value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Errors {
    /// Mean of arrival to last token.
    pub e2e_mean: f64,
    /// Its median.
    pub e2e_p50: f64,
    /// Its 99th percentile.
    pub e2e_p99: f64,
    /// Mean time to the first token.
    pub ttft_mean: f64,
    /// Its 99th percentile.
    pub ttft_p99: f64,
    /// Mean time a token after the first.
    pub tpot_mean: f64,
    /// Its 99th percentile.
    pub tpot_p99: f64,
    /// Mean over the requests of the absolute error of arrival to last token.
    pub e2e_mape: f64,
}

/// A run and its simulation.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The run.
    pub name: String,
    /// Requests compared.
    pub requests: usize,
    /// Measured mean of arrival to last token, seconds.
    pub measured_e2e_mean_s: f64,
    /// Simulated mean of arrival to last token, seconds.
    pub simulated_e2e_mean_s: f64,
    /// Preemptions in the simulation.
    pub preemptions: u64,
    /// The errors.
    pub errors: Errors,
    /// The errors of the same model with memory without end.
    pub without_kv_limit: Errors,
}

/// Simulates a run and compares.
#[must_use]
pub fn compare(run: &RealRun) -> Comparison {
    let (done, preemptions) = simulate(run, run.config);
    let unlimited = run.config.kv_blocks(1 << 20);
    let errors = errors(&run.requests, &done);
    let mean = |of: &dyn Fn(usize) -> f64| {
        (0..run.requests.len()).map(of).sum::<f64>() / run.requests.len().max(1) as f64
    };
    Comparison {
        name: run.name.clone(),
        requests: run.requests.len(),
        measured_e2e_mean_s: mean(&|at| run.requests.get(at).map_or(0.0, e2e_s)),
        simulated_e2e_mean_s: mean(&|at| done.get(at).map_or(0.0, simulated_e2e_s)),
        preemptions,
        errors,
        without_kv_limit: self::errors(&run.requests, &simulate(run, unlimited).0),
    }
}

/// The simulated requests, in the order of the measured ones.
fn simulate(run: &RealRun, config: VllmConfig) -> (Vec<Completion>, u64) {
    let start = run
        .requests
        .first()
        .map_or(0.0, |request| request.queued_ts);
    let requests = run.requests.iter().enumerate().map(|(at, real)| Request {
        id: at as u64,
        arrival_ms: (real.queued_ts - start) * 1000.0,
        prompt_tokens: real.input_toks,
        output_tokens: real.output_toks,
        tenant: 0,
        priority: 0,
        key: at as u64,
        prefix: Prefix::Own,
    });
    let server = Vllm::new(config, run.cost.clone());
    let mut done: Vec<Completion> = Vec::with_capacity(run.requests.len());
    let mut sim = Simulation::new(vec![Box::new(server)], Direct::default());
    let report = sim.run_into(requests, &mut done);
    done.sort_by_key(|done| done.request.id);
    (done, report.counts.preemptions)
}

fn e2e_s(real: &RealRequest) -> f64 {
    real.last_token_ts - real.queued_ts
}

/// From where vLLM stamps `queued_ts`: when its loop takes the request in, between two steps. An
/// arrival's wait for that moment is in neither of the two.
fn simulated_e2e_s(done: &Completion) -> f64 {
    (done.finished_ms - done.queued_ms) / 1000.0
}

fn tpot_s(real: &RealRequest) -> f64 {
    (real.last_token_ts - real.first_token_ts)
        / f64::from(real.output_toks.saturating_sub(1).max(1))
}

fn errors(real: &[RealRequest], done: &[Completion]) -> Errors {
    let measured = |of: fn(&RealRequest) -> f64| Sample::new(real.iter().map(of));
    let simulated = |of: fn(&Completion) -> f64| Sample::new(done.iter().map(of));
    let e2e = (measured(e2e_s), simulated(simulated_e2e_s));
    let ttft = (
        measured(|real| real.first_token_ts - real.queued_ts),
        simulated(|done| (done.first_token_ms - done.queued_ms) / 1000.0),
    );
    let tpot = (
        measured(tpot_s),
        simulated(|done| done.tpot_ms().unwrap_or(0.0) / 1000.0),
    );
    let relative = |measured: f64, simulated: f64| (simulated / measured - 1.0) * 100.0;
    let mean = |(m, s): &(Sample, Sample)| relative(m.mean(), s.mean());
    let at = |(m, s): &(Sample, Sample), q: f64| relative(m.quantile(q), s.quantile(q));
    let absolute: f64 = real
        .iter()
        .zip(done)
        .map(|(real, done)| relative(e2e_s(real), simulated_e2e_s(done)).abs())
        .sum();
    Errors {
        e2e_mean: mean(&e2e),
        e2e_p50: at(&e2e, 0.5),
        e2e_p99: at(&e2e, 0.99),
        ttft_mean: mean(&ttft),
        ttft_p99: at(&ttft, 0.99),
        tpot_mean: mean(&tpot),
        tpot_p99: at(&tpot, 0.99),
        e2e_mape: absolute / real.len().max(1) as f64,
    }
}

#[derive(Debug)]
struct Sample(Vec<f64>);

impl Sample {
    fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    fn quantile(&self, q: f64) -> f64 {
        percentile(&self.0, q)
    }
}
