//! The rules of vLLM's scheduler, and what it conserves.

mod common;

use llm_sim::{
    cost::Affine,
    engine::{Report, Simulation},
    front::{Balance, Direct},
    server::{Completion, Order, Pipeline, Server, Signal, Stop, Vllm, VllmConfig},
    workload::{Arrivals, Length, Prefix, Request, Workload},
};
use proptest::prelude::*;

/// 1 ms a step, and 1 ms per thousand prompt tokens.
const COST: Affine = Affine::new(1.0, 0.0, 0.001);

fn request(id: u64, arrival_ms: f64, prompt_tokens: u32, output_tokens: u32) -> Request {
    Request {
        id,
        arrival_ms,
        prompt_tokens,
        output_tokens,
        tenant: 0,
        priority: 0,
        key: id,
        prefix: Prefix::Own,
    }
}

fn run(config: VllmConfig, requests: Vec<Request>) -> (Report, Vec<Completion>) {
    let mut done: Vec<Completion> = Vec::new();
    let server = Box::new(Vllm::new(config, COST)) as Box<dyn Server>;
    let mut sim = Simulation::new(vec![server], Direct::default());
    let report = sim.run_into(requests, &mut done);
    (report, done)
}

fn synchronous() -> VllmConfig {
    VllmConfig::default().pipeline(Pipeline::Synchronous)
}

#[test]
fn a_long_prompt_is_computed_in_chunks_of_the_budget() {
    let (_, done) = run(synchronous(), vec![request(0, 0.0, 5000, 2)]);
    // Chunks of 2048, 2048 and 904, then one decode step.
    assert_eq!(done[0].first_token_ms, 3.0 + 5.0);
    assert_eq!(done[0].finished_ms, 3.0 + 5.0 + 1.0);
}

#[test]
fn decoding_goes_before_the_next_chunk() {
    let config = synchronous().max_tokens(100);
    let (_, done) = run(
        config,
        vec![request(0, 0.0, 50, 10), request(1, 0.0, 149, 1)],
    );
    // Step 1: 50 of the first and 50 of the second; step 2: one token and 99 of the second.
    assert_eq!(done[0].request.id, 1);
    assert!((done[0].finished_ms - (2.0 + 0.199)).abs() < 1e-9);
}

#[test]
fn with_a_pipeline_an_arrival_waits_for_the_planned_step_too() {
    let requests = vec![request(0, 0.0, 1000, 100), request(1, 2.5, 10, 1)];
    let (_, asynchronous) = run(VllmConfig::default(), requests.clone());
    let (_, synchronous) = run(synchronous(), requests);
    // Steps end at 2, 3, 4, 5 …: the arrival at 2.5 is seen at 3.
    assert!((synchronous[0].first_token_ms - 4.01).abs() < 1e-9);
    assert!((asynchronous[0].first_token_ms - 5.01).abs() < 1e-9);
}

#[test]
fn without_a_known_end_a_pipeline_plans_one_step_too_many() {
    let mut steps = Vec::new();
    for stop in [Stop::AtLimit, Stop::EndOfSequence] {
        let server = Vllm::new(VllmConfig::default().stop(stop), COST);
        let mut sim = Simulation::new(vec![Box::new(server)], Direct::default());
        assert_eq!(sim.run(vec![request(0, 0.0, 10, 5)]).counts.done, 1);
        steps.push(sim.server_stats().next().unwrap().steps);
    }
    assert_eq!(steps, [5, 6]);
}

#[test]
fn a_missing_block_preempts_the_last_which_comes_back_first() {
    // Nine blocks; both start with four, and each needs a sixth before its end.
    let config = synchronous().kv_blocks(9).without_prefix_caching();
    let requests = vec![
        request(0, 0.0, 64, 32),
        request(1, 0.0, 64, 32),
        request(2, 0.0, 16, 1),
    ];
    let (report, done) = run(config, requests);
    assert_eq!(report.counts.done, 3);
    let by_id = |id| done.iter().find(|done| done.request.id == id).unwrap();
    assert_eq!((by_id(0).preemptions, by_id(1).preemptions), (0, 1));
    assert!(by_id(1).finished_ms > by_id(0).finished_ms);
}

#[test]
fn a_preempted_sequence_finds_what_the_prefix_cache_still_holds() {
    let requests = vec![request(0, 0.0, 64, 32), request(1, 0.0, 64, 32)];
    let prefill = |config: VllmConfig| {
        let mut sim = Simulation::new(vec![Box::new(Vllm::new(config, COST))], Direct::default());
        assert_eq!(sim.run(requests.clone()).counts.done, 2);
        sim.server_stats().next().unwrap().prefill_tokens
    };
    let config = synchronous().kv_blocks(9);
    let (with, without) = (prefill(config), prefill(config.without_prefix_caching()));
    assert!(
        with < without,
        "{with} tokens computed with a prefix cache, {without} without"
    );
}

#[test]
fn a_request_that_can_never_fit_is_rejected() {
    let (report, _) = run(synchronous().kv_blocks(4), vec![request(0, 0.0, 64, 1)]);
    assert_eq!((report.counts.done, report.counts.rejected), (0, 1));
    assert_eq!(report.little.present(), 0);
}

#[test]
fn a_shared_prefix_is_computed_once() {
    let requests: Vec<Request> = (0..4)
        .map(|id| Request {
            prefix: Prefix::Shared {
                group: 1,
                tokens: 160,
            },
            ..request(id, id as f64 * 100.0, 200, 1)
        })
        .collect();
    let (_, done) = run(synchronous(), requests);
    let cached: Vec<u32> = done.iter().map(|done| done.cached_tokens).collect();
    assert_eq!(cached, [0, 160, 160, 160]);
}

#[test]
fn the_order_of_admission_is_the_one_asked_for() {
    // One seat: the first runs, the rest are ordered.
    let base = synchronous().max_sequences(1);
    let mut requests = vec![
        request(0, 0.0, 16, 9),
        request(1, 1.0, 16, 9),
        request(2, 1.1, 16, 3),
        request(3, 1.2, 16, 6),
    ];
    requests[3].priority = -1;
    let order = |config, requests: &[Request]| {
        let (_, done) = run(config, requests.to_vec());
        done.iter().map(|done| done.request.id).collect::<Vec<_>>()
    };
    assert_eq!(order(base, &requests), [0, 1, 2, 3]);
    assert_eq!(order(base.order(Order::Priority), &requests), [0, 3, 1, 2]);
    assert_eq!(
        order(base.order(Order::ShortestFirst), &requests),
        [0, 2, 3, 1]
    );
    requests[3].prefix = Prefix::Shared {
        group: 0,
        tokens: 16,
    };
    requests[3].prompt_tokens = 32;
    requests[0].prefix = Prefix::Shared {
        group: 0,
        tokens: 16,
    };
    requests[0].prompt_tokens = 32;
    assert_eq!(
        order(base.order(Order::LongestPrefix), &requests),
        [0, 3, 1, 2]
    );
}

#[test]
fn a_busy_tenant_does_not_starve_a_quiet_one() {
    let config = synchronous().max_sequences(1);
    let mut requests: Vec<Request> = (0..20).map(|id| request(id, 0.0, 100, 10)).collect();
    requests.push(Request {
        tenant: 1,
        ..request(20, 5.0, 100, 10)
    });
    let place = |order| {
        let (_, done) = run(config.order(order), requests.clone());
        done.iter()
            .position(|done| done.request.tenant == 1)
            .unwrap()
    };
    assert_eq!(place(Order::Fcfs), 20);
    assert!(place(Order::Fair) <= 2);
}

#[test]
fn the_least_urgent_is_preempted_even_if_it_came_first() {
    let config = synchronous()
        .order(Order::Priority)
        .kv_blocks(9)
        .without_prefix_caching();
    let mut requests = vec![request(0, 0.0, 64, 32), request(1, 0.5, 64, 32)];
    requests[0].priority = 5;
    let (_, done) = run(config, requests);
    let by_id = |id| done.iter().find(|done| done.request.id == id).unwrap();
    assert_eq!((by_id(0).preemptions, by_id(1).preemptions), (1, 0));
}

#[test]
fn a_cancelled_sequence_frees_its_blocks_and_reports_nothing() {
    for config in [synchronous(), VllmConfig::default()] {
        let mut server = Vllm::new(config, COST);
        let mut signals = Vec::new();
        server.submit(0.0, request(0, 0.0, 100, 10));
        server.submit(0.0, request(1, 0.0, 100, 3));
        server.wake(0.0, &mut signals);
        assert!(server.cancel(0.5, 0));
        assert!(!server.cancel(0.5, 0));
        while let Some(next) = server.next() {
            server.wake(next, &mut signals);
        }
        let done = |id| {
            signals
                .iter()
                .any(|s| matches!(s, Signal::Done(done) if done.request.id == id))
        };
        assert!(!done(0) && done(1));
        assert_eq!(server.pool().used(), 0);
    }
}

#[test]
fn four_replicas_share_the_load_and_the_same_seed_gives_the_same_bytes() {
    let report = || {
        let servers = (0..4)
            .map(|_| {
                Box::new(Vllm::new(
                    VllmConfig::default().kv_blocks(600),
                    Affine::SEED,
                )) as _
            })
            .collect();
        let mut sim = Simulation::new(servers, Direct::new(Balance::TwoChoices, "bytes"));
        let requests = common::scaled(20_000, 1_500);
        let report = sim.run(Workload::seed(3, 30.0).take(requests));
        let steps: Vec<u64> = sim.server_stats().map(|stats| stats.steps).collect();
        (format!("{report:?}"), steps)
    };
    let (first, second) = (report(), report());
    assert_eq!(first, second);
    assert!(first.1.iter().all(|steps| *steps > 0));
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Fcfs),
        Just(Order::Priority),
        Just(Order::ShortestFirst),
        Just(Order::LongestPrefix),
        Just(Order::Fair),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever the settings: every request leaves once, Little's law is exact, every block comes
    /// back, and each sequence gets exactly its tokens.
    #[test]
    fn nothing_is_lost(
        seed in 0_u64..1000,
        order in orders(),
        pipeline in prop_oneof![Just(Pipeline::Synchronous), Just(Pipeline::Asynchronous)],
        stop in prop_oneof![Just(Stop::AtLimit), Just(Stop::EndOfSequence)],
        kv_blocks in 20_u32..200,
        seats in 1_u32..40,
        budget in 1_u32..600,
        caching in any::<bool>(),
        reserve in any::<bool>(),
        pause in any::<bool>(),
        rate in 1.0_f64..200.0,
    ) {
        let mut config = VllmConfig::default()
            .order(order).pipeline(pipeline).stop(stop)
            .kv_blocks(kv_blocks).max_sequences(seats).max_tokens(budget);
        if !caching { config = config.without_prefix_caching(); }
        if !reserve { config = config.without_prompt_reservation(); }
        if !pause { config = config.without_admission_pause(); }
        let requests = Workload::new(&format!("lost:{seed}"), Arrivals::gamma(rate, 2.0))
            .prompt(Length::log_normal(120.0, 1.0, 1, 2000))
            .output(Length::log_normal(30.0, 1.0, 1, 400))
            .shared_prefix(3, 40)
            .tenants(3)
            .take(60);
        let mut server = Vllm::new(config, Affine::SEED);
        let mut waiting: Vec<Request> = requests.collect();
        waiting.reverse();
        let mut signals = Vec::new();
        let mut now = 0.0;
        loop {
            let arrival = waiting.last().map(|request| request.arrival_ms);
            let (next, arrives) = match (server.next(), arrival) {
                (Some(next), Some(arrival)) if arrival <= next => (arrival, true),
                (Some(next), _) => (next, false),
                (None, Some(arrival)) => (arrival, true),
                (None, None) => break,
            };
            prop_assert!(next >= now, "time runs forward");
            now = next;
            if arrives {
                let request = waiting.pop().unwrap();
                server.submit(now, request);
            } else {
                server.wake(now, &mut signals);
            }
            let load = server.load();
            prop_assert!(load.running <= seats);
            prop_assert!(load.kv_used <= load.kv_total);
            prop_assert!(load.outstanding() == 0 || server.next().is_some(), "no idle server with work");
        }
        let mut left: Vec<u64> = signals.iter().filter_map(|signal| match signal {
            Signal::Done(done) => Some(done.request.id),
            Signal::Rejected(request) => Some(request.id),
            Signal::FirstToken(_) | Signal::Token(_) => None,
        }).collect();
        left.sort_unstable();
        prop_assert_eq!(left, (0..60).collect::<Vec<u64>>());
        prop_assert_eq!(server.pool().used(), 0);
        let made: u64 = signals.iter().map(|signal| match signal {
            Signal::Done(done) => u64::from(done.request.output_tokens),
            _ => 0,
        }).sum();
        prop_assert_eq!(server.stats().output_tokens, made);
        for signal in &signals {
            if let Signal::Done(done) = signal {
                prop_assert!(done.scheduled_ms >= done.request.arrival_ms);
                prop_assert!(done.first_token_ms > done.scheduled_ms);
                prop_assert!(done.finished_ms >= done.first_token_ms);
            }
        }
    }
}
