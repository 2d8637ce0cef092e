//! The files of a real run.

use std::{
    fs,
    path::{Path, PathBuf},
};

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

/// Every run in a folder, its `sim/lss` folder included, by name.
///
/// # Errors
///
/// A folder that cannot be read, or a run whose files do not hold what they should.
pub fn find(folder: &Path) -> Result<Vec<RealRun>, Error> {
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
    let mut runs = Vec::new();
    for name in names
        .iter()
        .filter_map(|name| name.strip_suffix("__requests.jsonl"))
    {
        runs.push(load(folder, name, &names)?);
    }
    Ok(runs)
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

fn tables(folder: &Path, name: &str, names: &[String], meta: &Meta) -> Result<Tables, Error> {
    let hardware = name.split('_').next().unwrap_or(name);
    let model = meta.model.rsplit('/').next().unwrap_or(&meta.model);
    let prefix = format!("prof_{hardware}_");
    let suffix = "__dense.csv";
    let stem = names
        .iter()
        .find_map(|file| {
            let stem = file.strip_suffix(suffix)?;
            (stem.starts_with(&prefix) && stem.ends_with(model)).then_some(stem)
        })
        .ok_or_else(|| Error::new(format!("no operator tables of {model} on {hardware}")))?;
    let table = |kind: &str| read(&folder.join(PathBuf::from(format!("{stem}__{kind}.csv"))));
    let layers = layers(model)
        .ok_or_else(|| Error::new(format!("the number of layers of {model} is not known")))?;
    let parallel = meta.engine_kwargs.tensor_parallel_size.unwrap_or(1);
    if parallel > 1 {
        return Err(Error::new(format!(
            "{name}: {parallel}-way tensor parallel tables are not read"
        )));
    }
    let cost = Tables::new(
        &table("dense")?,
        &table("per_sequence")?,
        &table("attention")?,
        layers,
    )?;
    let eager = meta.engine_kwargs.enforce_eager == Some(true);
    let sizes = &meta
        .resolved_config
        .compilation_config
        .cudagraph_capture_sizes;
    Ok(match sizes {
        Some(sizes) if !eager => cost.graph_sizes(sizes.clone()),
        _ => cost,
    })
}

/// Layers of models that are often served, from their published configurations.
fn layers(model: &str) -> Option<u32> {
    const LAYERS: &[(&str, u32)] = &[
        ("llama-3.2-1b", 16),
        ("llama-3.2-3b", 28),
        ("llama-3.1-8b", 32),
        ("llama-3-8b", 32),
        ("llama-2-7b", 32),
        ("llama-2-13b", 40),
        ("llama-3.1-70b", 80),
        ("llama-3.3-70b", 80),
        ("llama-2-70b", 80),
        ("mistral-7b", 32),
        ("mixtral-8x7b", 32),
        ("qwen3-0.6b", 28),
        ("qwen3-1.7b", 28),
        ("qwen3-4b", 36),
        ("qwen3-8b", 36),
        ("qwen3-14b", 40),
        ("qwen3-32b", 64),
        ("qwen3-30b-a3b", 48),
        ("qwen2.5-7b", 28),
        ("qwen2.5-14b", 48),
        ("qwen2.5-32b", 64),
        ("qwen2.5-72b", 80),
        ("opt-13b", 40),
        ("phi-4", 40),
        ("gemma-2-9b", 42),
        ("gemma-3-12b", 48),
        ("gemma-3-27b", 62),
    ];
    let model = model.to_ascii_lowercase();
    LAYERS
        .iter()
        .find(|(name, _)| model.starts_with(name))
        .map(|(_, layers)| *layers)
}
