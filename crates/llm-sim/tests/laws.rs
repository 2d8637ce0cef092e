//! The laws of queueing theory: each a degenerate setting of the one simulator.
//!
//! In a release build 10⁶ jobs a law and 2 %; in a debug build fewer jobs, and the tolerance that
//! their scatter asks for.

mod common;

use common::{close, scaled};
use llm_sim::{
    cost::Affine,
    engine::{Report, Simulation},
    front::Direct,
    server::{Continuous, Padding, Server, Static},
    theory,
    workload::{Arrivals, Length, Workload},
};

/// A step of 1 ms whatever is in it.
const TICK: Affine = Affine::new(1.0, 0.0, 0.0);
/// 1 ms a sequence: the accelerator is shared.
const SHARED: Affine = Affine::new(0.0, 1.0, 0.0);

fn run(
    server: impl Server + 'static,
    seed: &str,
    rate: f64,
    output: Length,
    jobs: usize,
) -> Report {
    let jobs_of = Workload::new(seed, Arrivals::poisson(rate))
        .prompt(Length::constant(0))
        .output(output);
    let mut sim = Simulation::new(vec![Box::new(server)], Direct::default());
    let report = sim.run(jobs_of.take(jobs));
    assert_eq!(
        report.little.area_ns(),
        report.little.sojourns_ns(),
        "Little's law is exact"
    );
    assert_eq!(report.little.backward(), 0, "time runs forward");
    assert_eq!(report.counts.done, jobs as u64);
    report
}

#[test]
fn md1_waits_as_pollaczek_and_khinchine_say() {
    let jobs = scaled(1_000_000, 60_000);
    let report = run(
        Static::sequential(TICK),
        "md1",
        0.7,
        Length::constant(1000),
        jobs,
    );
    close(
        "M/D/1",
        report.latency.e2e.mean(),
        theory::mg1_sojourn(0.7, 1000.0, 1e6),
        0.02,
        0.05,
    );
}

#[test]
fn mm1_waits_as_pollaczek_and_khinchine_say() {
    let jobs = scaled(1_000_000, 60_000);
    let service = Length::exponential(1000.0, 0, u32::MAX);
    let report = run(Static::sequential(TICK), "mm1", 0.7, service, jobs);
    close(
        "M/M/1",
        report.latency.e2e.mean(),
        theory::mg1_sojourn(0.7, 1000.0, 2e6),
        0.02,
        0.08,
    );
}

#[test]
fn the_sequential_reference_is_an_mg1_queue() {
    // Its service: 0.05 ms a prompt token and 6.25 ms an output token, of the reference's laws.
    let jobs = scaled(1_000_000, 60_000);
    let (mut sum, mut squares, draws) = (0.0, 0.0, 2_000_000 / 10);
    for request in Workload::new("moments", Arrivals::poisson(1.0)).take(draws) {
        let service =
            f64::from(request.prompt_tokens) * 0.05 + f64::from(request.output_tokens) * 6.25;
        sum += service;
        squares += service * service;
    }
    let (mean, square) = (sum / draws as f64, squares / draws as f64);
    let rate = 0.5;
    let mut sim = Simulation::new(
        vec![Box::new(Static::sequential(Affine::SEED))],
        Direct::default(),
    );
    let report = sim.run(Workload::new("mg1", Arrivals::poisson(rate)).take(jobs));
    let want = theory::mg1_sojourn(rate / 1000.0 * mean, mean, square);
    close("M/G/1", report.latency.e2e.mean(), want, 0.02, 0.08);
}

#[test]
fn processor_sharing_is_insensitive_to_the_law_of_lengths() {
    let jobs = scaled(1_000_000, 8_000);
    let want = theory::processor_sharing_sojourn(0.6, 200.0);
    for (name, law) in [
        ("constant", Length::constant(200)),
        ("exponential", Length::exponential(200.0, 1, u32::MAX)),
        ("two points", Length::two_point(50, 500, 2.0 / 3.0)),
    ] {
        let server = Continuous::new(u32::MAX, SHARED);
        let report = run(server, "ps", 3.0, law, jobs);
        close(
            &format!("M/G/1-PS {name}"),
            report.latency.e2e.mean(),
            want,
            0.02,
            0.12,
        );
    }
}

#[test]
fn an_infinite_server_holds_rate_times_service() {
    let jobs = scaled(1_000_000, 20_000);
    let server = Continuous::new(u32::MAX, TICK);
    let report = run(
        server,
        "mginf",
        40.0,
        Length::two_point(50, 500, 2.0 / 3.0),
        jobs,
    );
    close("M/G/inf E[T]", report.latency.e2e.mean(), 200.0, 0.02, 0.04);
    close("M/G/inf E[N]", report.little.mean(), 40.0 * 0.2, 0.02, 0.05);
}

#[test]
fn mmc_waits_as_erlang_says() {
    let jobs = scaled(1_000_000, 30_000);
    let server = Continuous::new(8, TICK);
    let report = run(
        server,
        "mmc",
        32.0,
        Length::exponential(200.0, 1, u32::MAX),
        jobs,
    );
    close(
        "M/M/8",
        report.latency.e2e.mean(),
        theory::mmc_sojourn(8, 6.4, 200.0),
        0.02,
        0.05,
    );
}

/// Tokens a second of a server that always has work.
fn saturated(server: impl Server + 'static, requests: usize) -> f64 {
    let mut sim = Simulation::new(vec![Box::new(server)], Direct::default());
    sim.run(Workload::new("saturated", Arrivals::at_once()).take(requests))
        .tokens_per_s()
}

#[test]
fn saturated_servers_do_what_the_closed_forms_say() {
    let requests = scaled(400_000, 40_000);
    // Of the reference's laws: E[P], E[O], and E[max] of 32 outputs.
    let (mut prompts, mut outputs, mut longest) = (0.0, 0.0, 0.0);
    let mut all = Workload::new("saturated", Arrivals::at_once()).take(requests);
    let batches = requests / 32;
    for _ in 0..batches {
        let mut max = 0;
        for request in all.by_ref().take(32) {
            prompts += f64::from(request.prompt_tokens);
            outputs += f64::from(request.output_tokens);
            max = max.max(request.output_tokens);
        }
        longest += f64::from(max);
    }
    let draws = (batches * 32) as f64;
    let law = theory::Saturation {
        step: 6.0,
        per_sequence: 0.25,
        per_prompt_token: 0.05,
        mean_prompt: prompts / draws,
        mean_output: outputs / draws,
    };
    let longest = longest / batches as f64;
    // The published means and throughputs, to which the sample's must be close.
    close("E[O]", law.mean_output, 176.4, 0.005, 0.02);
    close("E[P]", law.mean_prompt, 359.0, 0.005, 0.02);
    close("E[max]", longest, 749.3, 0.005, 0.02);
    let cost = Affine::SEED;
    let continuous = saturated(Continuous::new(32, cost), requests);
    close(
        "continuous, law",
        continuous,
        law.continuous(32.0),
        0.005,
        0.005,
    );
    close("continuous", continuous, 1853.9, 0.005, 0.01);
    let sequential = saturated(Static::sequential(cost), requests);
    close(
        "sequential, law",
        sequential,
        law.sequential(),
        0.005,
        0.005,
    );
    close("sequential", sequential, 157.43, 0.005, 0.005);
    let padded = saturated(Static::new(32, 6.0, Padding::Padded, cost), requests);
    close(
        "padded, law",
        padded,
        law.padded(32.0, longest),
        0.005,
        0.005,
    );
    close("padded", padded, 510.8, 0.005, 0.02);
    let unpadded = saturated(Static::new(32, 6.0, Padding::Unpadded, cost), requests);
    close(
        "unpadded, law",
        unpadded,
        law.unpadded(32.0, longest),
        0.005,
        0.005,
    );
    close("unpadded", unpadded, 857.0, 0.02, 0.04);
}
