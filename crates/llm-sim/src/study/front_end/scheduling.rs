//! Inside a server: the chunk budget, KV memory, prefix caching.

use super::{
    Experiment, Plan, Row,
    run::{Metric, Requests, SEATS, Scene, Start, e2e_p95_s, goodput, itl_p99, ttft_p95},
};
use crate::{
    cost::Affine,
    front::{Direct, Front},
    server::{Pipeline, Server, Vllm, VllmConfig},
    workload::{Prefix, Request, Workload},
};

/// A server like the reference's, with vLLM's scheduler.
fn config() -> VllmConfig {
    VllmConfig::default()
        .max_sequences(SEATS)
        .max_tokens(1 << 20)
        .pipeline(Pipeline::Synchronous)
}

fn row(
    plan: &Plan,
    variant: &str,
    config: VllmConfig,
    requests: &dyn Fn(u64) -> Requests,
    metrics: &[Metric],
) -> Row {
    let scene = Scene {
        start: Start::Warm,
        servers: &|_| vec![Box::new(Vllm::new(config, Affine::SEED)) as Box<dyn Server>],
        front: &|_| Box::new(Direct::default()) as Box<dyn Front>,
        requests,
    };
    scene.row(plan, variant, metrics)
}

fn at(rate_rps: f64) -> impl Fn(u64) -> Requests {
    move |seed| Box::new(Workload::seed(seed, rate_rps))
}

pub(super) fn chunk_budget(plan: &Plan) -> Experiment {
    let row = |variant, tokens, itl, ttft| {
        let metrics: [Metric; 3] = [
            ("ITL p99, ms", itl_p99, Some(itl)),
            ("TTFT p95, ms", ttft_p95, Some(ttft)),
            ("E2E p95, s", e2e_p95_s, None),
        ];
        row(
            plan,
            variant,
            config().max_tokens(tokens),
            &at(8.0),
            &metrics,
        )
    };
    Experiment {
        name: "chunk-budget",
        title: "What does a budget of tokens a step buy?",
        setting: "one server with vLLM's scheduler, 8 requests a second",
        requests: plan.requests,
        note: "As the prototype: smaller chunks bound the gap between tokens and delay first tokens.",
        rows: vec![
            row("no budget", 1 << 20, 44.9, 79.0),
            row("256 tokens", 256, 24.7, 131.0),
        ],
    }
}

pub(super) fn kv_capacity(plan: &Plan) -> Experiment {
    let row = |variant, config: VllmConfig, e2e| {
        let metrics: [Metric; 3] = [
            ("E2E p95, s", e2e_p95_s, e2e),
            ("TTFT p95, ms", ttft_p95, None),
            (
                "preempted/1000",
                |played| {
                    let counts = &played.report.counts;
                    1000.0 * counts.preemptions as f64 / counts.done.max(1) as f64
                },
                None,
            ),
        ];
        row(plan, variant, config, &at(8.0), &metrics)
    };
    let tokens = |tokens: u32| config().kv_blocks(tokens / 16);
    let eager = |kv| {
        tokens(kv)
            .max_tokens(256)
            .without_prefix_caching()
            .without_prompt_reservation()
    };
    Experiment {
        name: "kv-capacity",
        title: "How much KV memory does it take?",
        setting: "one server with vLLM's scheduler, blocks of 16 tokens, 8 requests a second; eager: no prefix cache, \
                  and a sequence is admitted once its first chunk of 256 tokens fits",
        requests: plan.requests,
        note: "There is a cliff, and the scheduler's rules say where. vLLM's admit a sequence once its whole prompt fits, and a \
preempted one finds most of its blocks in the prefix cache: 12k tokens still do. Eager admission without that cache \
preempts each request more than once and computes it anew, and the server falls behind for good: the prototype's \
cliff, if not its figures, whose rules are not recorded. Behind the cliff a figure is one of the length of the run.",
        rows: vec![
            row("no limit", config(), Some(6.7)),
            row("20k tokens", tokens(20_000), Some(6.7)),
            row("16k tokens", tokens(16_000), Some(21.0)),
            row("12k tokens", tokens(12_000), Some(429.0)),
            row("10k tokens", tokens(10_000), None),
            row("8k tokens", tokens(8_000), None),
            row("20k tokens, eager", eager(20_000), Some(6.7)),
            row("16k tokens, eager", eager(16_000), Some(21.0)),
            row("12k tokens, eager", eager(12_000), Some(429.0)),
        ],
    }
}

pub(super) fn shared_prefix(plan: &Plan) -> Experiment {
    let requests = |seed| {
        let begin_alike = Workload::seed(seed, 10.0).map(|request| Request {
            prefix: Prefix::Shared {
                group: 0,
                tokens: request.prompt_tokens.min(200),
            },
            ..request
        });
        Box::new(begin_alike) as Requests
    };
    let row = |variant, config: VllmConfig, good| {
        let metrics: [Metric; 3] = [
            ("goodput", goodput, Some(good)),
            ("TTFT p95, ms", ttft_p95, None),
            ("E2E p95, s", e2e_p95_s, None),
        ];
        row(plan, variant, config, &requests, &metrics)
    };
    Experiment {
        name: "shared-prefix",
        title: "What is a cached prefix worth?",
        setting: "one server with vLLM's scheduler, 10 requests a second; the first 200 prompt tokens are everybody's; \
                  good: TTFT < 0.5 s, TPOT < 50 ms",
        requests: plan.requests,
        note: "As the prototype within what one seed can say: at 95 % of capacity the waits of one run are far from those of the next.",
        rows: vec![
            row(
                "computed each time",
                config().without_prefix_caching(),
                0.66,
            ),
            row("cached", config(), 0.95),
        ],
    }
}
