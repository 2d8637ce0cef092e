//! How long the semantic tier takes to decide, and whether it finds the nearest: search, candidates,
//! guard, one thread, embedding excluded. In CPU time of that thread, where the system tells it: a busy
//! machine then disturbs less.
//!
//! ```sh
//! cargo bench -p tower-semcache --bench decision    # 10,000 and 100,000 rows
//! cargo bench -p tower-semcache --bench decision -- --rows 1000000     # about 3 GB of memory
//! cargo bench -p tower-semcache --bench decision -- --rows 10000,100000,1000000 --json results/index.json
//! cargo bench -p tower-semcache --bench decision -- --vectors FILE     # 384 little-endian f32 a row
//! ```
//!
//! Without `--bench` (as `cargo test --all-targets` runs it) it does 2,000 rows, to see that it works.
#![expect(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a program that measures and prints"
)]

use std::hint::black_box;
use std::time::Duration;

use serde_json::{Value, json};
use tower_semcache::{AcceptAll, Cache, Lookup, Secret, Threshold, Vector};

const DIMENSIONS: usize = 384;
const SECRET: Secret = Secret::from_bytes([5; 32]);

/// Repeatable noise: xorshift, twelve uniform numbers to a normal one.
struct Noise(u64);

/// Rows to store, and rows to ask for: each is near one that is stored.
struct Data {
    name: &'static str,
    rows: Vec<Vec<f32>>,
    asked: Vec<Vec<f32>>,
}

struct Args {
    rows: Vec<usize>,
    vectors: Option<String>,
    json: Option<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse()?;
    let mut results = Vec::new();
    println!(
        "data            rows   decision us: p50      p99      max   recall@1   store us: p50      p99      max   all, us"
    );
    for data in args.data()? {
        results.push(measure(&data)?);
    }
    if let Some(path) = &args.json {
        let rows: Vec<_> = args.rows.iter().map(usize::to_string).collect();
        let command = format!(
            "cargo bench -p tower-semcache --bench decision -- --rows {} --json {path}",
            rows.join(",")
        );
        let all = json!({
            "command": command,
            "dimensions": DIMENSIONS,
            "instructions": instructions(),
            "results": results,
        });
        // cargo runs a bench in the folder of its crate.
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let text = format!("{}\n", serde_json::to_string_pretty(&all)?);
        std::fs::write(std::path::Path::new(root).join(path), text)?;
    }
    Ok(())
}

fn measure(data: &Data) -> Result<Value, Box<dyn std::error::Error>> {
    let cache: Cache<u32> = Cache::builder().max_bytes(usize::MAX / 2).build()?;
    let threshold = Threshold::new(0.5)?;
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
    let mut decided = Vec::with_capacity(data.asked.len());
    let mut found = Vec::with_capacity(data.asked.len());
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
    let (decision, store) = (Percentiles::of(decided), Percentiles::of(stored));
    println!(
        "{:<10} {:>9}       {:>12.1} {:>8.1} {:>8.1} {:>10.4} {:>15.1} {:>8.1} {:>8.0} {:>9.0}",
        data.name,
        data.rows.len(),
        decision.p50,
        decision.p99,
        decision.max,
        recall,
        store.p50,
        store.p99,
        store.max,
        all
    );
    Ok(json!({
        "data": data.name,
        "rows": data.rows.len(),
        "asked": data.asked.len(),
        "decision_us": decision.to_json(),
        "store_us": store.to_json(),
        "compare_all_us": all.round(),
        "recall_at_1": recall,
        "recall_compared": compared,
        "bytes_a_row": cache.bytes() / data.rows.len(),
    }))
}

/// The instruction set that is dispatched to.
fn instructions() -> String {
    let level = format!("{:?}", fearless_simd::Level::new());
    level.split('(').next().unwrap_or_default().to_owned()
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

/// Of vectors of norm one.
fn cosine(one: &[f32], two: &[f32]) -> f64 {
    let mut sums = [0.0f32; 16];
    for (one, two) in one.as_chunks::<16>().0.iter().zip(two.as_chunks::<16>().0) {
        for ((sum, x), y) in sums.iter_mut().zip(one).zip(two) {
            *sum += x * y;
        }
    }
    sums.iter().map(|x| f64::from(*x)).sum()
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = cosine(&vector, &vector).sqrt() as f32;
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
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
        let tenths = |x: f64| (x * 10.0).round() / 10.0;
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

    fn data(&self) -> Result<impl Iterator<Item = Data>, Box<dyn std::error::Error>> {
        let real = self.vectors.as_ref().map(Data::read).transpose()?;
        let made = if real.is_some() {
            &[]
        } else {
            self.rows.as_slice()
        };
        let made = made
            .iter()
            .flat_map(|n| [Data::random(*n), Data::clustered(*n)]);
        Ok(real.into_iter().chain(made))
    }
}

// === impl Data ===

impl Data {
    /// Directions without any order.
    fn random(rows: usize) -> Self {
        let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
        let rows: Vec<_> = (0..rows).map(|_| unit(noise.vector(1.0))).collect();
        Self::asking("random", rows, &mut noise)
    }

    /// A direction that all share, topics about it, and texts about the topics, some hundred each: the
    /// cosine is 0.2 between topics and 0.75 within one.
    fn clustered(rows: usize) -> Self {
        let mut noise = Noise(0x2545_f491_4f6c_dd1d);
        let common = noise.vector(0.5);
        let topics: Vec<_> = (0..rows.div_ceil(300))
            .map(|_| noise.near(&common, 0.9))
            .collect();
        let rows = (0..rows)
            .map(|n| unit(noise.near(&topics[n % topics.len()], 0.6)))
            .collect();
        Self::asking("clustered", rows, &mut noise)
    }

    /// Every fifth row is asked for, the others stored.
    fn read(path: impl AsRef<std::path::Path>) -> Result<Self, std::io::Error> {
        let bytes = std::fs::read(path)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        let numbers: Vec<_> = numbers.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let all = numbers
            .chunks_exact(DIMENSIONS)
            .map(|row| unit(row.to_vec()));
        let (asked, rows): (Vec<_>, Vec<_>) = all.enumerate().partition(|(n, _)| n % 5 == 0);
        let plain = |rows: Vec<(usize, Vec<f32>)>| rows.into_iter().map(|(_, row)| row).collect();
        Ok(Self {
            name: "file",
            rows: plain(rows),
            asked: plain(asked),
        })
    }

    /// Asks for a text near a stored one: the cosine is 0.95.
    fn asking(name: &'static str, rows: Vec<Vec<f32>>, noise: &mut Noise) -> Self {
        let step = (rows.len() / 2_000).max(1);
        let size = 0.33 / (DIMENSIONS as f32).sqrt();
        let near = |row: &Vec<f32>| unit(noise.near(row, size));
        let asked = rows.iter().step_by(step).map(near).collect();
        Self { name, rows, asked }
    }
}

// === impl Noise ===

impl Noise {
    fn uniform(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u32 << 24) as f32
    }

    fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.uniform()).sum::<f32>() - 6.0
    }

    fn vector(&mut self, size: f32) -> Vec<f32> {
        (0..DIMENSIONS).map(|_| size * self.normal()).collect()
    }

    fn near(&mut self, middle: &[f32], by: f32) -> Vec<f32> {
        middle.iter().map(|x| x + by * self.normal()).collect()
    }
}
