//! Inside a server: the chunk budget, KV memory, prefix caching.

use super::{
    Experiment, Plan, Row,
    run::{Metric, Played, Requests, SEATS, Scene, Start, e2e_p95_s, goodput, itl_p99, ttft_p95},
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

/// A server whose KV memory holds so many tokens, and the prototype's E2E p95 where it has the same rules.
fn kv_row(
    plan: &Plan,
    variant: &str,
    config: VllmConfig,
    tokens: u32,
    prototype: Option<f64>,
) -> Row {
    let metrics: [Metric; 3] = [
        ("E2E p95, s", e2e_p95_s, prototype),
        ("TTFT p95, ms", ttft_p95, None),
        ("preempted/1000", preempted_per_mille, None),
    ];
    row(
        plan,
        variant,
        config.kv_blocks(tokens / 16),
        &at(8.0),
        &metrics,
    )
}

fn preempted_per_mille(played: &Played) -> f64 {
    let counts = &played.report.counts;
    1000.0 * counts.preemptions as f64 / counts.done.max(1) as f64
}

pub(super) fn kv_capacity(plan: &Plan) -> Experiment {
    let row = |variant, tokens, prototype| kv_row(plan, variant, config(), tokens, prototype);
    Experiment {
        name: "kv-capacity",
        title: "How much KV memory does it take?",
        setting: "one server with vLLM's scheduler, blocks of 16 tokens, 8 requests a second",
        requests: plan.requests,
        note: "vLLM admits a sequence once its whole prompt fits, admits nobody in a step that preempts, and a preempted \
sequence finds most of its blocks in the prefix cache: the cliff is at 10k. Without these rules it is at 16k: see kv-cliff.",
        rows: vec![
            row("no limit", 16 << 20, Some(6.7)),
            row("20k tokens", 20_000, Some(6.7)),
            row("16k tokens", 16_000, None),
            row("12k tokens", 12_000, None),
            row("10k tokens", 10_000, None),
            row("8k tokens", 8_000, None),
        ],
    }
}

pub(super) fn kv_cliff(plan: &Plan) -> Experiment {
    let plan = &Plan {
        requests: 2 * plan.requests,
        ..*plan
    };
    let chunked = config().max_sequences(256).max_tokens(256);
    let caching = chunked
        .without_prompt_reservation()
        .without_admission_pause();
    let eager = caching.without_prefix_caching();
    let pausing = chunked
        .without_prompt_reservation()
        .without_prefix_caching();
    let reserving = chunked.without_admission_pause().without_prefix_caching();
    let row = |variant, config, tokens, prototype| kv_row(plan, variant, config, tokens, prototype);
    Experiment {
        name: "kv-cliff",
        title: "What if memory is handed out eagerly?",
        setting: "as kv-capacity, but 256 seats, chunks of 256 tokens, no prefix cache: a sequence is admitted once its \
                  first chunk fits, even in a step that preempts",
        requests: plan.requests,
        note: "As the prototype, whose rules and length of run are not recorded: these came out of trying them all, and give its \
three figures together. Single runs scatter around ours by 0.3, 19 and 38 s (standard deviation); its one run is within that, or \
little outside. At 12k each request is preempted two or three times and computed anew each time, and the server falls \
behind for good: there a figure is one of the length of the run, and at the edge of the cliff one of the seed. Each of vLLM's \
rules moves the cliff.",
        rows: vec![
            row("20k tokens", eager, 20_000, Some(6.7)),
            row("16k tokens", eager, 16_000, Some(21.0)),
            row("12k tokens", eager, 12_000, Some(429.0)),
            row(
                "12k, but nobody is admitted in a step that preempts",
                pausing,
                12_000,
                None,
            ),
            row(
                "12k, but admitted once the prompt fits",
                reserving,
                12_000,
                None,
            ),
            row("12k, but with a prefix cache", caching, 12_000, None),
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
