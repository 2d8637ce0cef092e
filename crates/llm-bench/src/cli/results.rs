//! What is told.

use crate::figures::{Metric, Slo};
use std::path::PathBuf;

/// What is told.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "results")]
#[command(next_help_heading = "Results")]
pub struct ResultArgs {
    /// Metrics to print, of ttft, tpot, itl, icl, e2el, ttft_from_send, e2el_from_send, client_queue_time, lag
    /// [default: ttft,tpot,itl,e2el; e2el for embeddings and --form body]
    #[arg(long, value_name = "METRICS", value_delimiter = ',', value_parser = metric)]
    pub percentile_metrics: Vec<Metric>,

    /// Percentiles of each
    #[arg(long, value_name = "PERCENTILES", value_delimiter = ',', default_value = "99", value_parser = percentile)]
    pub metric_percentiles: Vec<f64>,

    /// Targets: count answers that meet all of them, such as ttft:500 tpot:50 e2el:10000 (milliseconds)
    #[arg(long, value_name = "METRIC:MS", num_args = 1..)]
    pub goodput: Vec<Slo>,

    /// Write the figures to a JSON file, with the keys of `vllm bench serve` and some more
    #[arg(long)]
    pub save_result: bool,

    /// With what became of each request
    #[arg(long)]
    pub save_detailed: bool,

    /// Append them as one more line of the file
    #[arg(long)]
    pub append_result: bool,

    /// The folder of the file [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    pub result_dir: Option<PathBuf>,

    /// The file's name [default: LABEL-RATEqps[-concurrencyN]-MODEL-DATE.json]
    #[arg(long, value_name = "FILE")]
    pub result_filename: Option<PathBuf>,

    /// The label of the results [default: the --backend]
    #[arg(long)]
    pub label: Option<String>,

    /// More members of the JSON, for the record
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub metadata: Vec<String>,

    /// Write histograms of ttft, tpot, itl, e2el, e2el_from_send and lag as an HdrHistogram log, for --merge and other tools
    #[arg(long, value_name = "FILE")]
    pub hdr: Option<PathBuf>,

    /// No progress on the terminal
    #[arg(long, alias = "no-progress")]
    pub disable_tqdm: bool,
}

fn metric(word: &str) -> Result<Metric, String> {
    Metric::of(word)
        .ok_or_else(|| format!("known are {}", Metric::ALL.map(Metric::word).join(", ")))
}

fn percentile(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=100.0).contains(&number) => Ok(number),
        _ => Err("write a number from 0 to 100".to_owned()),
    }
}
