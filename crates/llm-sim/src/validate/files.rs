//! The files of a real run.

use std::{fs, path::Path};

use serde::Deserialize;

use crate::{
    cost::Tables,
    error::Error,
    server::{Order, Pipeline, VllmConfig},
};

/// A measured run: what was asked of a real server, when, and how long it took.
#[derive(Clone, Debug)]
pub struct RealRun {
    /// The beginning of its files' names.
    pub name: String,
    /// The server's settings.
    pub config: VllmConfig,
    /// The cost model from the operator tables.
    pub cost: Tables,
    /// The requests, by arrival.
    pub requests: Vec<RealRequest>,
}

/// One measured request; times in seconds on the server's clock.
#[derive(Clone, Debug, Deserialize)]
pub struct RealRequest {
    /// Prompt tokens.
    pub input_toks: u32,
    /// Output tokens.
    pub output_toks: u32,
    /// When the server took it in.
    pub queued_ts: f64,
    /// When its first token was out.
    pub first_token_ts: f64,
    /// When its last token was out.
    pub last_token_ts: f64,
}

#[derive(Debug, Deserialize)]
struct Meta {
    model: String,
    #[serde(default)]
    engine_kwargs: EngineKwargs,
    kv_cache: KvCache,
    #[serde(default)]
    resolved_config: Resolved,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EngineKwargs {
    tensor_parallel_size: Option<u32>,
    max_num_seqs: Option<u32>,
    max_num_batched_tokens: Option<u32>,
    enforce_eager: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct KvCache {
    num_gpu_blocks: u32,
    block_size: u32,
    #[serde(default)]
    enable_prefix_caching: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Resolved {
    scheduler_config: SchedulerConfig,
    compilation_config: CompilationConfig,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SchedulerConfig {
    async_scheduling: Option<bool>,
    long_prefill_token_threshold: Option<u32>,
    max_num_batched_tokens: Option<u32>,
    max_num_seqs: Option<u32>,
    policy: Option<String>,
    scheduler_reserve_full_isl: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompilationConfig {
    cudagraph_capture_sizes: Option<Vec<u32>>,
}

/// A run's name, and the run or why it cannot be used.
pub type Found = (String, Result<RealRun, Error>);

/// Every run in a folder (or in its `sim/lss` folder), by name: the run, or why it cannot be used.
///
/// # Errors
///
/// A folder that cannot be read.
pub fn find(folder: &Path) -> Result<Vec<Found>, Error> {
    let nested = folder.join("sim/lss");
    let folder = if nested.is_dir() {
        nested.as_path()
    } else {
        folder
    };
    let entries = fs::read_dir(folder).map_err(|source| Error::read(folder, source))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    let runs = names
        .iter()
        .filter_map(|name| name.strip_suffix("__requests.jsonl"));
    Ok(runs
        .map(|name| (name.to_owned(), load(folder, name, &names)))
        .collect())
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|source| Error::read(path, source))
}

fn load(folder: &Path, name: &str, names: &[String]) -> Result<RealRun, Error> {
    let meta_path = folder.join(format!("{name}__meta.json"));
    let meta: Meta = serde_json::from_str(&read(&meta_path)?)
        .map_err(|source| Error::with(format!("not a run: {}", meta_path.display()), source))?;
    let requests_path = folder.join(format!("{name}__requests.jsonl"));
    let mut requests = read(&requests_path)?
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(serde_json::from_str)
        .collect::<Result<Vec<RealRequest>, _>>()
        .map_err(|source| {
            Error::with(format!("not requests: {}", requests_path.display()), source)
        })?;
    requests.sort_by(|a, b| a.queued_ts.total_cmp(&b.queued_ts));
    let cost = tables(folder, name, names, &meta)?;
    Ok(RealRun {
        name: name.to_owned(),
        config: config(&meta),
        cost,
        requests,
    })
}

/// The server's settings; what a file leaves out has vLLM's default.
fn config(meta: &Meta) -> VllmConfig {
    let (kwargs, scheduler) = (&meta.engine_kwargs, &meta.resolved_config.scheduler_config);
    let seats = scheduler
        .max_num_seqs
        .or(kwargs.max_num_seqs)
        .unwrap_or(256);
    let tokens = scheduler
        .max_num_batched_tokens
        .or(kwargs.max_num_batched_tokens)
        .unwrap_or(2048);
    // vLLM keeps one block for itself, the null block.
    let mut config = VllmConfig::default()
        .max_sequences(seats)
        .max_tokens(tokens)
        .kv_blocks(meta.kv_cache.num_gpu_blocks.saturating_sub(1))
        .block_size(meta.kv_cache.block_size);
    if let Some(chunk) = scheduler
        .long_prefill_token_threshold
        .filter(|chunk| *chunk > 0)
    {
        config = config.chunk_tokens(chunk);
    }
    if !meta.kv_cache.enable_prefix_caching {
        config = config.without_prefix_caching();
    }
    if scheduler.scheduler_reserve_full_isl == Some(false) {
        config = config.without_prompt_reservation();
    }
    if scheduler.async_scheduling == Some(false) {
        config = config.pipeline(Pipeline::Synchronous);
    }
    if scheduler.policy.as_deref() == Some("priority") {
        config = config.order(Order::Priority);
    }
    config
}

/// The cost model from the operator tables of the run's model, accelerator and parallelism.
fn tables(folder: &Path, name: &str, names: &[String], meta: &Meta) -> Result<Tables, Error> {
    let hardware = name.split('_').next().unwrap_or(name);
    let model = meta.model.rsplit('/').next().unwrap_or(&meta.model);
    let parallel = meta.engine_kwargs.tensor_parallel_size.unwrap_or(1);
    let stems: Vec<&str> = names
        .iter()
        .filter(|file| file.starts_with(&format!("prof_{hardware}_")) && file.contains(model))
        .filter_map(|file| file.strip_suffix("__dense.csv"))
        .collect();
    // Several degrees of parallelism tell themselves apart by `tp1`, `tp2`, … in the name.
    let of_degree = |stem: &&&str| stem.contains(&format!("tp{parallel}"));
    let stem = match (stems.iter().find(of_degree), stems.as_slice()) {
        (Some(stem), _) => stem,
        (None, [only]) if parallel == 1 => only,
        _ => {
            let what = format!("no operator tables of {model} on {parallel} x {hardware}");
            return Err(Error::new(what));
        }
    };
    let path = |kind: &str| folder.join(format!("{stem}__{kind}.csv"));
    let (layers, hidden) = shape(model)
        .ok_or_else(|| Error::new(format!("the number of layers of {model} is not known")))?;
    let mut cost = Tables::new(
        &read(&path("dense"))?,
        &read(&path("per_sequence"))?,
        &read(&path("attention"))?,
        layers,
    )?;
    if path("moe").exists() {
        cost = cost.experts(&read(&path("moe"))?)?;
    }
    if parallel > 1 {
        cost = cost.sharded(hidden);
    }
    let eager = meta.engine_kwargs.enforce_eager == Some(true);
    let sizes = &meta
        .resolved_config
        .compilation_config
        .cudagraph_capture_sizes;
    Ok(match sizes {
        Some(sizes) if !eager => cost.graphs(sizes.clone()),
        _ => cost,
    })
}

/// Layers and hidden size of models that are often served, from their published configurations.
fn shape(model: &str) -> Option<(u32, u32)> {
    const SHAPES: &[(&str, u32, u32)] = &[
        ("llama-3.2-1b", 16, 2048),
        ("llama-3.2-3b", 28, 3072),
        ("llama-3.1-8b", 32, 4096),
        ("meta-llama-3-8b", 32, 4096),
        ("llama-3-8b", 32, 4096),
        ("llama-2-7b", 32, 4096),
        ("llama-2-13b", 40, 5120),
        ("llama-3.1-70b", 80, 8192),
        ("llama-3.3-70b", 80, 8192),
        ("llama-2-70b", 80, 8192),
        ("mistral-7b", 32, 4096),
        ("mixtral-8x7b", 32, 4096),
        ("phi-mini-moe", 32, 4096),
        ("phi-3.5-moe", 32, 4096),
        ("phi-4", 40, 5120),
        ("qwen3-0.6b", 28, 1024),
        ("qwen3-1.7b", 28, 2048),
        ("qwen3-4b", 36, 2560),
        ("qwen3-8b", 36, 4096),
        ("qwen3-14b", 40, 5120),
        ("qwen3-32b", 64, 5120),
        ("qwen3-30b-a3b", 48, 2048),
        ("qwen2.5-7b", 28, 3584),
        ("qwen2.5-14b", 48, 5120),
        ("qwen2.5-32b", 64, 5120),
        ("qwen2.5-72b", 80, 8192),
        ("opt-13b", 40, 5120),
        ("gemma-2-9b", 42, 3584),
        ("gemma-3-12b", 48, 3840),
        ("gemma-3-27b", 62, 5376),
    ];
    let model = model.to_ascii_lowercase();
    SHAPES
        .iter()
        .find(|(name, ..)| model.starts_with(name))
        .map(|(_, layers, hidden)| (*layers, *hidden))
}
