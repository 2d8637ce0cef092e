//! How long the semantic tier takes to decide, and whether it finds the nearest: search, candidates,
//! guard, one thread, embedding excluded. In CPU time of that thread, where the system tells it: a busy
//! machine then disturbs less.
//!
//! ```sh
//! cargo bench -p tower-semcache --bench decision    # 10,000 and 100,000 rows
//! cargo bench -p tower-semcache --bench decision -- --rows 1000000     # about 5 GB of memory
//! cargo bench -p tower-semcache --bench decision -- --rows 10000,100000,1000000 --json results/index.json
//! cargo bench -p tower-semcache --bench decision -- --vectors FILE     # 384 little-endian f32 a row
//! ```
//!
//! The instruction set is that of the machine. What older ones do is seen by switching the newer sets off:
//!
//! ```sh
//! export RUSTFLAGS="-C target-cpu=x86-64-v2 --cfg disable_dispatch_avx2 --cfg disable_dispatch_avx512"
//! export RUSTFLAGS="--cfg disable_dispatch_sse4_2 --cfg disable_dispatch_avx2 --cfg disable_dispatch_avx512"
//! ```
//!
//! `--json` writes one run into the file, beside those of other builds.
//!
//! Without `--bench` (as `cargo test --all-targets` runs it) it does 2,000 rows, to see that it works.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a program that measures and prints"
)]

mod data;

use std::hint::black_box;
use std::time::Duration;

use fearless_simd::{Level, Simd, dispatch};
use serde_json::{Value, json};
use tower_semcache::{AcceptAll, Cache, Lookup, Secret, Threshold, Vector};

use self::data::{DIMENSIONS, Data, cosine};

/// Low, so that a nearest that is far has to be found as well.
const THRESHOLD: f32 = 0.5;
/// How often all is asked.
const PASSES: usize = 3;
const SECRET: Secret = Secret::from_bytes([5; 32]);

struct Args {
    rows: Vec<usize>,
    vectors: Option<String>,
    json: Option<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse()?;
    let mut results = Vec::new();
    println!("{}, built for {}", instructions(), built_for());
    println!(
        "data            rows   decision us: p50      p99      max   recall@1   store us: p50      p99      max   all, us   p99 of each pass"
    );
    for data in args.data()? {
        results.push(measure(&data)?);
    }
    if let Some(path) = &args.json {
        let run = json!({
            "command": args.command(path),
            "instructions": instructions(),
            "built_for": built_for(),
            "dimensions": DIMENSIONS,
            "threshold": THRESHOLD,
            "results": results,
        });
        // cargo runs a bench in the folder of its crate.
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        record(&std::path::Path::new(root).join(path), run)?;
    }
    Ok(())
}

/// Puts a run in the place of the one of the same command.
fn record(path: &std::path::Path, run: Value) -> Result<(), Box<dyn std::error::Error>> {
    let known = std::fs::read(path).ok();
    let known = known.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let mut runs = match known {
        Some(mut all) => all["runs"].take().as_array().cloned().unwrap_or_default(),
        None => Vec::new(),
    };
    match runs.iter_mut().find(|old| old["command"] == run["command"]) {
        Some(old) => *old = run,
        None => runs.push(run),
    }
    let text = serde_json::to_string_pretty(&json!({ "runs": runs }))?;
    Ok(std::fs::write(path, format!("{text}\n"))?)
}

fn measure(data: &Data) -> Result<Value, Box<dyn std::error::Error>> {
    let cache: Cache<u32> = Cache::builder().max_bytes(usize::MAX / 2).build()?;
    let threshold = Threshold::new(THRESHOLD)?;
    let mut stored = Vec::with_capacity(data.rows.len());
    for (n, row) in (0u32..).zip(&data.rows) {
        let (lookup, vector) = (lookup(n), Vector::from(row.clone()));
        let begun = now();
        cache
            .begin(lookup)
            .vector(vector)
            .store(n)
            .map_err(|e| format!("{e:?}"))?;
        stored.push(since(begun));
    }
    let mut passes = Vec::new();
    let mut found = Vec::new();
    for _ in 0..PASSES {
        let mut decided = Vec::with_capacity(data.asked.len());
        found.clear();
        for (n, asked) in (u32::MAX / 2..).zip(&data.asked) {
            let (lookup, vector) = (lookup(n), Vector::from(asked.clone()));
            let begun = now();
            let hit = match cache.get(&lookup) {
                Some(hit) => Some(hit),
                None => cache.get_similar(&lookup, vector, threshold, &AcceptAll),
            };
            decided.push(since(begun));
            found.push(hit.map(|hit| *hit.value()));
        }
        passes.push(decided);
    }
    // Comparing all of them takes 50 ms at a million rows: a sample is enough there.
    let compared = (20_000_000 / data.rows.len()).clamp(100, data.asked.len());
    let begun = now();
    let right = found.iter().zip(&data.asked).take(compared);
    let right = right.filter(|(found, asked)| {
        let best = black_box(best_of_all(&data.rows, asked));
        // Two rows as near as one another are both right; so is nothing, when nothing reaches the
        // threshold.
        match found {
            Some(n) => cosine(&data.rows[*n as usize], asked) >= best - 1e-6,
            None => best < f64::from(threshold.get()),
        }
    });
    let recall = right.count() as f64 / compared as f64;
    let all = since(begun) / compared as f64;
    let decision = Percentiles::of(passes.concat());
    let passes: Vec<_> = passes
        .into_iter()
        .map(|all| tenths(Percentiles::of(all).p99))
        .collect();
    let store = Percentiles::of(stored);
    println!(
        "{:<10} {:>9}       {:>12.1} {:>8.1} {:>8.1} {:>10.4} {:>15.1} {:>8.1} {:>8.0} {:>9.0}   {:?}",
        data.name,
        data.rows.len(),
        decision.p50,
        decision.p99,
        decision.max,
        recall,
        store.p50,
        store.p99,
        store.max,
        all,
        passes
    );
    Ok(json!({
        "data": data.name,
        "rows": data.rows.len(),
        "asked": data.asked.len(),
        "decision_us": decision.to_json(),
        "decision_p99_us_of_each_pass": passes,
        "store_us": store.to_json(),
        "compare_all_us": all.round(),
        "recall_at_1": recall,
        "recall_compared": compared,
        "bytes_a_row": cache.bytes() / data.rows.len(),
    }))
}

/// The instruction set that is dispatched to.
fn instructions() -> String {
    let level = dispatch!(Level::new(), simd => format!("{:?}", simd.level()));
    level.split('(').next().unwrap_or_default().to_owned()
}

/// What the compiler was told to expect of every machine.
const fn built_for() -> &'static str {
    if cfg!(debug_assertions) {
        "debugging"
    } else if cfg!(not(target_arch = "x86_64")) {
        std::env::consts::ARCH
    } else if cfg!(target_feature = "avx512f") {
        "x86-64-v4"
    } else if cfg!(target_feature = "avx2") {
        "x86-64-v3"
    } else if cfg!(target_feature = "sse4.2") {
        "x86-64-v2"
    } else {
        "x86-64"
    }
}

fn tenths(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

fn since(begun: Duration) -> f64 {
    now().saturating_sub(begun).as_secs_f64() * 1e6
}

#[cfg(unix)]
fn now() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(not(unix))]
fn now() -> Duration {
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
}

fn lookup(n: u32) -> Lookup {
    let canonical = bytes::Bytes::copy_from_slice(&n.to_le_bytes());
    let scope = SECRET.scope(&[("tenant", b"one")]);
    Lookup::new(&SECRET, scope, canonical).text("how do I get a new card")
}

fn best_of_all(rows: &[Vec<f32>], asked: &[f32]) -> f64 {
    let cosines = rows.iter().map(|row| cosine(row, asked));
    cosines.fold(f64::NEG_INFINITY, f64::max)
}

/// Microseconds.
struct Percentiles {
    p50: f64,
    p99: f64,
    max: f64,
}

// === impl Percentiles ===

impl Percentiles {
    fn of(mut all: Vec<f64>) -> Self {
        all.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| all[((all.len() - 1) as f64 * share).round() as usize];
        Self {
            p50: at(0.5),
            p99: at(0.99),
            max: at(1.0),
        }
    }

    fn to_json(&self) -> Value {
        json!({ "p50": tenths(self.p50), "p99": tenths(self.p99), "max": tenths(self.max) })
    }
}

// === impl Args ===

impl Args {
    fn parse() -> Result<Self, Box<dyn std::error::Error>> {
        let mut this = Self {
            rows: vec![2_000],
            vectors: None,
            json: None,
        };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--bench" if this.rows == [2_000] => this.rows = vec![10_000, 100_000],
                "--rows" => {
                    let rows = value()?;
                    this.rows = rows.split(',').map(str::parse).collect::<Result<_, _>>()?;
                }
                "--vectors" => this.vectors = Some(value()?),
                "--json" => this.json = Some(value()?),
                _ => {}
            }
        }
        Ok(this)
    }

    /// The command that makes a file again.
    fn command(&self, path: &str) -> String {
        let flags = option_env!("RUSTFLAGS").map(|flags| format!("RUSTFLAGS=\"{flags}\" "));
        let rows: Vec<_> = self.rows.iter().map(usize::to_string).collect();
        format!(
            "{}cargo bench -p tower-semcache --bench decision -- --rows {} --json {path}",
            flags.unwrap_or_default(),
            rows.join(",")
        )
    }

    fn data(&self) -> Result<impl Iterator<Item = Data>, Box<dyn std::error::Error>> {
        let real = self.vectors.as_ref().map(Data::read).transpose()?;
        let made = if real.is_some() {
            &[]
        } else {
            self.rows.as_slice()
        };
        let kinds = [Data::random, Data::clustered, Data::wordings, Data::hard];
        let made = made.iter().flat_map(move |n| kinds.map(|kind| (kind, *n)));
        Ok(real.into_iter().chain(made.map(|(kind, n)| kind(n))))
    }
}
