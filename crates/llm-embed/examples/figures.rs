//! How fast the model is on this machine: `cargo run --release -p llm-embed --features minilm --example figures -- DIR [THREADS]`.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_types,
    reason = "a program that measures real time"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use llm_embed::minilm::MiniLm;
use tower::{BoxError, ServiceExt};

/// Fifteen tokens, the two special ones included.
const PROMPT: &str = "how do i convert a distance of 5 km to miles?";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder?")?;
    let threads = arguments.next().map_or(Ok(1), |threads| threads.parse())?;
    let started = Instant::now();
    let model = MiniLm::builder().threads(threads).load(folder)?;
    println!("loaded in {:?}: {model:?}", started.elapsed());

    let (mut times, cpu) = (Vec::new(), Cpu::now());
    for _ in 0..300 {
        let started = Instant::now();
        model.embed(&[PROMPT])?;
        times.push(started.elapsed());
    }
    println!("one text: p50 {:?}, {}", median(&mut times), cpu.per(300));

    let texts: Vec<String> = (0..32)
        .map(|n| PROMPT.replace('5', &n.to_string()))
        .collect();
    let (mut times, cpu) = (Vec::new(), Cpu::now());
    for _ in 0..40 {
        let started = Instant::now();
        model.embed(&texts)?;
        times.push(started.elapsed());
    }
    let rate = 32.0 / median(&mut times).as_secs_f64();
    println!("32 texts: {rate:.0} a second, {}", cpu.per(40 * 32));

    let service = model.service();
    let texts: Vec<Arc<str>> = texts.into_iter().map(Arc::from).collect();
    let (mut times, cpu) = (Vec::new(), Cpu::now());
    for _ in 0..40 {
        let started = Instant::now();
        let calls: Vec<_> = texts
            .iter()
            .map(|text| tokio::spawn(service.clone().oneshot(Arc::clone(text))))
            .collect();
        for call in calls {
            call.await??;
        }
        times.push(started.elapsed());
    }
    let rate = 32.0 / median(&mut times).as_secs_f64();
    println!(
        "32 callers at once: {rate:.0} a second, {}",
        cpu.per(40 * 32)
    );

    let (mut times, cpu) = (Vec::new(), Cpu::now());
    for text in texts.iter().cycle().take(300) {
        let started = Instant::now();
        service.clone().oneshot(Arc::clone(text)).await?;
        times.push(started.elapsed());
    }
    println!("one caller: p50 {:?}, {}", median(&mut times), cpu.per(300));
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Time that the processors gave to this process, which neighbours do not disturb.
struct Cpu(f64);

impl Cpu {
    fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let ticks = stat.split(' ').skip(13).take(2);
        // A tick is 10 ms wherever Linux runs.
        Self(
            ticks
                .filter_map(|ticks| ticks.parse::<f64>().ok())
                .sum::<f64>()
                * 10.0,
        )
    }

    fn per(&self, texts: u32) -> String {
        let spent = Self::now().0 - self.0;
        format!("{:.2} ms of CPU a text", spent / f64::from(texts))
    }
}
