//! What is asked.

use clap::ValueEnum;
use std::path::PathBuf;

/// What is asked.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "dataset")]
#[command(next_help_heading = "Prompts")]
pub struct DatasetArgs {
    /// Which prompts [default: random; trace with --trace]
    #[arg(long)]
    pub dataset_name: Option<DatasetName>,

    /// The file of --dataset-name custom: JSON lines with `prompt`, `messages` or `turns`, perhaps `output_tokens`
    #[arg(long, value_name = "FILE")]
    pub dataset_path: Option<PathBuf>,

    /// Replay this trace: CSV (TIMESTAMP,ContextTokens,GeneratedTokens) or JSON lines (timestamp in ms, input_length,
    /// output_length, hash_ids). When and how long is the trace's; prompts are random words, in common where hash_ids say so
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dataset_path"])]
    pub trace: Option<PathBuf>,

    /// Replay the trace so many times faster
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive, requires = "trace")]
    pub trace_speed: f64,

    /// Requests [default: 1000; a trace's own number; unlimited with --duration]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub num_prompts: Option<u64>,

    /// The seed of prompts and arrivals: equal seeds, equal requests at equal times
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Tokens of a prompt, of random and zipf [default: 1024]
    #[arg(long, visible_alias = "random-input-len", value_name = "TOKENS")]
    pub input_len: Option<u32>,

    /// Tokens of an answer, at most [default: 128; 256 of custom]
    #[arg(long, visible_aliases = ["random-output-len", "custom-output-len"], value_name = "TOKENS")]
    pub output_len: Option<u32>,

    /// Lengths are uniform in ± this share; in 0..1
    #[arg(long, visible_alias = "range-ratio", default_value_t = 0.0, value_name = "SHARE", value_parser = share)]
    pub random_range_ratio: f64,

    /// Tokens at the beginning that all prompts have in common
    #[arg(long, default_value_t = 0, value_name = "TOKENS")]
    pub random_prefix_len: u32,

    /// Texts in one request, of embeddings
    #[arg(long, default_value_t = 1, value_name = "TEXTS", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub random_batch_size: u32,

    /// zipf: so many different prompts
    #[arg(long, default_value_t = 1000, value_name = "PROMPTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub zipf_prompts: u32,

    /// zipf: the k-th is asked in proportion to 1 / k^EXPONENT; 0 asks all alike
    #[arg(long, default_value_t = 1.0, value_name = "EXPONENT")]
    pub zipf_exponent: f64,

    /// custom: do not ask a prompt twice
    #[arg(long)]
    pub no_oversample: bool,

    /// custom: keep the order of the file
    #[arg(long)]
    pub disable_shuffle: bool,
}

/// Kinds of prompts.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum DatasetName {
    /// Random words, new to every cache
    Random,
    /// Random words, some of which are asked again and again
    Zipf,
    /// A file of prompts
    Custom,
    /// A file of times and lengths
    #[value(alias = "timed_trace")]
    Trace,
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 => Ok(number),
        _ => Err("write a number above 0".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..1.0).contains(&number) => Ok(number),
        _ => Err("write a number from 0 to below 1".to_owned()),
    }
}
