//! How fast, and in how much memory: `cargo test --release -p llm-sim --test speed -- --ignored`.

use std::time::SystemTime;

use llm_sim::{
    cost::{Affine, presets},
    engine::Simulation,
    front::{Balance, Direct},
    server::{Continuous, Server, Vllm, VllmConfig},
    workload::{Arrivals, Workload},
};

/// Seconds since `start`.
fn seconds(start: SystemTime) -> f64 {
    start
        .elapsed()
        .map_or(f64::INFINITY, |elapsed| elapsed.as_secs_f64())
}

#[test]
#[ignore = "measures time: only meaningful in a release build on a quiet machine"]
fn continuous_batching_simulates_five_million_tokens_a_second() {
    let start = SystemTime::now();
    let mut sim = Simulation::new(
        vec![Box::new(Continuous::new(32, Affine::SEED))],
        Direct::default(),
    );
    let report = sim.run(Workload::seed(0, 9.0).take(300_000));
    let rate = report.counts.output_tokens as f64 / seconds(start) / 1e6;
    eprintln!("{rate:.0} million simulated tokens a second");
    assert!(rate >= 5.0);
}

#[test]
#[ignore = "measures time: only meaningful in a release build on a quiet machine"]
fn a_million_requests_through_four_vllm_replicas_take_less_than_a_minute() {
    let preset = presets::find("a100-llama-3-8b").unwrap();
    let start = SystemTime::now();
    let servers = (0..4)
        .map(|_| {
            let config = VllmConfig::default().kv_blocks(preset.kv_blocks());
            Box::new(Vllm::new(config, preset.cost)) as Box<dyn Server>
        })
        .collect();
    let mut sim = Simulation::new(servers, Direct::new(Balance::LeastOutstanding, "speed"));
    let report = sim.run(Workload::new("speed", Arrivals::poisson(40.0)).take(1_000_000));
    let took = seconds(start);
    eprintln!(
        "{took:.1} s, {:.1} M tokens a second",
        report.counts.output_tokens as f64 / took / 1e6
    );
    assert_eq!(report.counts.done, 1_000_000);
    assert!(took <= 60.0);
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "reads the memory of the whole process: run it alone"]
fn memory_is_flat_in_the_number_of_requests_done() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<f64>()
            .unwrap()
            / 1024.0
    };
    let run = |requests| {
        let server = Vllm::new(VllmConfig::default().kv_blocks(4000), Affine::SEED);
        let mut sim = Simulation::new(vec![Box::new(server)], Direct::default());
        let report = sim.run(Workload::seed(0, 6.0).take(requests));
        assert_eq!(report.counts.done, requests as u64);
        resident()
    };
    let (short, long) = (run(20_000), run(1_000_000));
    eprintln!("{short:.1} MB after 20,000 requests, {long:.1} MB after 1,000,000 more");
    assert!(long < short + 8.0);
}
