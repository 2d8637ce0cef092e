//! How fast the model is on this machine, in either precision, with one thread and with two:
//!
//! ```text
//! cargo run --release -p llm-embed --features minilm --example figures -- DIR [--threads 1,2] [--json results/embedding.json]
//! ```
#![expect(
    clippy::print_stdout,
    clippy::disallowed_types,
    reason = "a program that measures real time"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use llm_embed::minilm::{MiniLm, Precision};
use serde_json::{Value, json};
use tower::{BoxError, ServiceExt};

/// Of [`TOKENS`] tokens, the two special ones included.
const PROMPT: &str = "how do i convert a distance of 5 km to miles?";
const TOKENS: u32 = 15;

/// Callers that come at once.
const CALLERS: usize = 32;

const COMMAND: &str = "cargo run --release -p llm-embed --features minilm --example figures -- \
                       models/all-MiniLM-L6-v2 --json results/embedding.json";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let (mut folder, mut threads, mut json) = (None, "1,2".to_owned(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => threads = arguments.next().ok_or("--threads needs numbers")?,
            "--json" => json = Some(arguments.next().ok_or("--json needs a file")?),
            _ => folder = Some(argument),
        }
    }
    let folder = folder.ok_or("which folder?")?;
    let mut rows = Vec::new();
    for precision in [Precision::Fp32, Precision::Int8] {
        for threads in threads.split(',') {
            rows.push(row(Path::new(&folder), precision, threads.parse()?).await?);
        }
    }
    if let Some(file) = json {
        let result = json!({
            "command": COMMAND,
            "instructions": instructions(),
            "prompt": PROMPT,
            "prompt_tokens": TOKENS,
            "callers": CALLERS,
            "rows": rows,
        });
        std::fs::write(file, format!("{result:#}\n"))?;
    }
    Ok(())
}

async fn row(folder: &Path, precision: Precision, threads: usize) -> Result<Value, BoxError> {
    let builder = MiniLm::builder().threads(threads).precision(precision);
    let model = builder.load(folder)?;
    println!("{precision}, threads: {threads}, {}", model.id());

    let mut alone = Times::new();
    for _ in 0..600 {
        let started = Instant::now();
        model.embed(&[PROMPT])?;
        alone.add(started);
    }
    let (p50, p99, cpu) = (alone.ms(0.5), alone.ms(0.99), alone.cpu_ms(600));
    println!("  one text: p50 {p50:.2} ms, p99 {p99:.2} ms, CPU {cpu:.2} ms");

    let texts: Vec<String> = (0..CALLERS)
        .map(|n| PROMPT.replace('5', &n.to_string()))
        .collect();
    let mut by_hand = Times::new();
    for _ in 0..40 {
        let started = Instant::now();
        model.embed(&texts)?;
        by_hand.add(started);
    }
    let by_hand = CALLERS as f64 / by_hand.ms(0.5) * 1e3;
    println!("  {CALLERS} texts by hand: {by_hand:.0} a second");

    let service = model.service();
    let texts: Vec<Arc<str>> = texts.into_iter().map(Arc::from).collect();
    let mut batched = Times::new();
    for _ in 0..60 {
        let started = Instant::now();
        let calls: Vec<_> = texts
            .iter()
            .map(|text| tokio::spawn(service.clone().oneshot(Arc::clone(text))))
            .collect();
        for call in calls {
            call.await??;
        }
        batched.add(started);
    }
    let rate = |share| CALLERS as f64 / batched.ms(share) * 1e3;
    let (median, slow, fast) = (rate(0.5), rate(0.9), rate(0.1));
    let batched_cpu = batched.cpu_ms(60 * CALLERS);
    println!(
        "  {CALLERS} callers at once: {median:.0} a second ({slow:.0} to {fast:.0}), CPU {batched_cpu:.2} ms a text"
    );
    Ok(json!({
        "precision": precision.to_string(),
        "threads": threads,
        "one_text": { "p50_ms": cut(p50), "p99_ms": cut(p99), "cpu_ms": cut(cpu) },
        "callers_at_once": {
            "texts_a_second": median.round(),
            "texts_a_second_p10_to_p90": [slow.round(), fast.round()],
            "cpu_ms_a_text": cut(batched_cpu),
        },
    }))
}

fn cut(ms: f64) -> f64 {
    (ms * 100.0).round() / 100.0
}

fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512vnni") {
            return "AVX-512, VNNI";
        }
        if is_x86_feature_detected!("avx512bw") {
            return "AVX-512";
        }
        if is_x86_feature_detected!("avx2") {
            return "AVX2";
        }
    }
    std::env::consts::ARCH
}

/// What some runs took.
struct Times {
    each: Vec<Duration>,
    cpu: f64,
}

impl Times {
    fn new() -> Self {
        Self {
            each: Vec::new(),
            cpu: cpu_ms(),
        }
    }

    fn add(&mut self, started: Instant) {
        self.each.push(started.elapsed());
    }

    /// The time that this share of the runs kept to.
    fn ms(&self, share: f64) -> f64 {
        let mut each = self.each.clone();
        each.sort_unstable();
        let at = (each.len() as f64 * share) as usize;
        each.get(at).map_or(f64::NAN, Duration::as_secs_f64) * 1e3
    }

    /// What the processors gave to this process since, for each of some texts: neighbours disturb it less than
    /// they do the time on the wall.
    fn cpu_ms(&self, texts: usize) -> f64 {
        (cpu_ms() - self.cpu) / texts as f64
    }
}

fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.split(' ').skip(13).take(2);
    let ticks = ticks.filter_map(|ticks| ticks.parse::<f64>().ok());
    // A tick is 10 ms wherever Linux runs.
    ticks.sum::<f64>() * 10.0
}
