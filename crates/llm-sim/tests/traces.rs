//! Traces, and questions about capacity.

mod common;

use llm_sim::{
    cost::{Affine, presets},
    engine::Simulation,
    front::{Balance, Direct, Lookup},
    metrics::Limits,
    plan::{self, Metric, Question, Target},
    reference::Policy,
    server::{Continuous, Mixing, Pipeline, Server, Vllm, VllmConfig},
    study::{self, Setup},
    trace::Trace,
    workload::{Arrivals, Length, Request, Workload},
};

#[test]
fn azures_hour_is_what_its_authors_say() {
    let Some(file) = common::data("sim/azure/AzureLLMInferenceTrace_conv.csv") else {
        return;
    };
    let trace = Trace::read(&file).unwrap();
    let stats = trace.stats();
    assert_eq!(stats.requests, 19_366);
    assert!((stats.rate_rps - 5.53).abs() < 0.01);
    assert_eq!(stats.duplicates, None);
    // Played at another load it keeps its shape, and goes on after its end.
    let twice: Vec<Request> = trace.at_rate(11.06).take(40_000).collect();
    let rate = 40_000.0 / (twice.last().unwrap().arrival_ms / 1000.0);
    assert!((rate - 11.06).abs() < 0.1, "{rate}");
    assert!(
        twice
            .windows(2)
            .all(|pair| pair[0].arrival_ms <= pair[1].arrival_ms)
    );
}

#[cfg(feature = "gzip")]
#[test]
fn mooncakes_conversations_repeat_prefixes_but_hardly_prompts() {
    let Some(file) = common::data("sim/mooncake/conversation_trace.jsonl.gz") else {
        return;
    };
    let stats = Trace::read(&file).unwrap().stats();
    assert_eq!(stats.requests, 12_031);
    assert!((stats.duplicates.unwrap() - 0.0098).abs() < 0.0005);
    assert!((stats.prefix_reuse.unwrap() - 0.366).abs() < 0.001);
}

#[cfg(feature = "gzip")]
#[test]
fn a_large_cache_finds_the_prefixes_that_a_trace_repeats() {
    let Some(file) = common::data("sim/mooncake/conversation_trace.jsonl.gz") else {
        return;
    };
    let trace = Trace::read(&file).unwrap();
    let requests = common::scaled(12_031, 600);
    let server = Vllm::new(
        VllmConfig::large().kv_blocks(1 << 22),
        Affine::new(1.0, 0.0, 1e-4),
    );
    let mut sim = Simulation::new(vec![Box::new(server)], Direct::default());
    let report = sim.run(trace.requests.iter().take(requests).cloned());
    assert_eq!(report.counts.done, requests as u64);
    let hits = sim.server_stats().next().unwrap().prefix_hit_rate();
    let tolerance = if cfg!(debug_assertions) { 0.2 } else { 0.05 };
    assert!((hits - 0.366).abs() < tolerance, "prefix hit rate {hits}");
}

fn forward(rate_rps: f64, hit_rate: f64, most_replicas: usize) -> plan::Answer {
    let preset = presets::find("forward").expect("a preset of that name exists");
    plan::answer(
        &Question {
            server: &|| Box::new(Continuous::new(13, preset.cost)) as Box<dyn Server>,
            workload: &|rate| {
                let workload = Workload::new("forward", Arrivals::poisson(rate))
                    .prompt(Length::constant(0))
                    .output(Length::constant(1));
                Box::new(workload)
            },
            rate_rps,
            target: Target {
                metric: Metric::EndToEnd,
                quantile: 0.99,
                limit_ms: Some(100.0),
                goodput: None,
            },
            limits: Limits::default(),
            hit_rate,
            lookup_ms: 0.9,
            balance: Balance::LeastOutstanding,
            price_per_hour: Some(2.0),
            requests: common::scaled(200_000, 20_000),
            most_replicas,
        },
        |_| {},
    )
}

#[test]
fn six_hundred_a_second_within_100_ms_take_two_replicas() {
    let answer = forward(600.0, 0.0, 64);
    assert_eq!(answer.replicas, Some(2));
    common::close(
        "capacity",
        answer.capacity_rps,
        13.0 / 21.6e-3,
        0.001,
        0.001,
    );
    let load = |replicas| {
        answer
            .fleets
            .iter()
            .find(|fleet| fleet.replicas == replicas)
            .unwrap()
            .utilisation
    };
    common::close("one replica", load(1), 0.997, 0.002, 0.002);
    common::close("two replicas", load(2), 0.4985, 0.002, 0.002);
    let (_, cached) = answer
        .what_if
        .iter()
        .find(|(name, _)| name.contains("52"))
        .unwrap();
    common::close("with a cache", cached.utilisation, 0.239, 0.003, 0.003);
    // Means of the stages add up to the mean of the whole.
    let (total, stages) = answer.budget.split_last().unwrap();
    let sum: f64 = stages.iter().map(|stage| stage.mean_ms).sum();
    common::close("Σ of the stages", sum, total.mean_ms, 1e-9, 1e-9);
}

#[test]
fn a_target_beyond_the_largest_fleet_is_said_to_be_out_of_reach() {
    let answer = forward(6000.0, 0.0, 4);
    assert_eq!(answer.replicas, None);
    assert!(answer.fleets.iter().all(|fleet| !fleet.meets));
}

#[test]
fn the_batching_curve_has_its_published_points() {
    let preset = presets::find("forward").unwrap();
    for (seats, want) in [
        (1, 138.9),
        (2, 238.0),
        (4, 370.0),
        (8, 513.0),
        (16, 635.0),
        (32, 721.0),
    ] {
        let server = Box::new(Continuous::new(seats, preset.cost)) as Box<dyn Server>;
        let requests = Workload::new("curve", Arrivals::at_once())
            .prompt(Length::constant(0))
            .output(Length::constant(1));
        let report = Simulation::new(vec![server], Direct::default()).run(requests.take(3200));
        common::close(
            &format!("{seats} seats"),
            report.requests_per_s(),
            want,
            0.002,
            0.002,
        );
    }
}

#[test]
fn hits_and_misses_both_pay_the_look_up() {
    let server = Box::new(Continuous::new(32, Affine::SEED)) as Box<dyn Server>;
    let front = Lookup::new(Direct::default(), 0.4, 5.0, "test");
    let mut hits = 0;
    let mut sim = Simulation::new(vec![server], front);
    let report = sim.run_into(
        Workload::seed(0, 2.0).take(1000),
        &mut |done: &llm_sim::server::Completion| {
            assert!(done.scheduled_ms - done.request.arrival_ms >= 5.0 - 1e-6);
            hits += u32::from((done.e2e_ms() - 5.0).abs() < 1e-6);
        },
    );
    assert_eq!(report.counts.done, 1000);
    assert!((330..470).contains(&hits), "{hits} hits");
}

#[test]
fn prompts_first_gives_first_tokens_sooner_and_later_ones_later() {
    let run = |config: VllmConfig| {
        let server = Box::new(Vllm::new(config, Affine::SEED)) as Box<dyn Server>;
        let mut sim = Simulation::new(vec![server], Direct::default());
        let requests = common::scaled(4000, 500);
        let report = sim.run(Workload::seed(0, 6.0).take(requests));
        assert_eq!(report.counts.done, requests as u64);
        (
            report.latency.ttft.mean(),
            sim.server_stats().next().unwrap().itl.quantile(0.99),
        )
    };
    let base = VllmConfig::default()
        .pipeline(Pipeline::Synchronous)
        .max_tokens(256);
    let (mixed, first) = (run(base), run(base.mixing(Mixing::PrefillFirst)));
    assert!(
        first.0 < mixed.0,
        "first tokens after {} and {} ms",
        first.0,
        mixed.0
    );
    assert!(first.1 > mixed.1, "gaps of {} and {} ms", first.1, mixed.1);
}

/// Load at which p95 reaches 10 s: the published stationary capacities.
#[test]
fn stationary_capacities_are_the_published_ones() {
    for (policy, highest, want) in [
        (Policy::Sequential, 0.9, 0.598),
        (Policy::Static, 2.9, 1.21),
        (Policy::Continuous, 10.5, 9.97),
    ] {
        let setup = Setup {
            server: &|| policy.server(),
            workload: &|seed, rate| {
                Box::new(Workload::new(
                    &format!("ours:{seed}"),
                    Arrivals::poisson(rate),
                ))
            },
            replicas: 1,
            balance: Balance::RoundRobin,
            requests: common::scaled(50_000, 10_000),
            warm_up: 1_000,
            seeds: common::scaled(12, 2) as u64,
            limits: Limits::default(),
        };
        let capacity = study::stationary_capacity(&setup, 10_000.0, highest, |_, _| {});
        common::close(policy.name(), capacity.mean, want, 0.02, 0.06);
    }
}
