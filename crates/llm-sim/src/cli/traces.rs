//! `trace-stats`: what traces are like.

use std::path::{Path, PathBuf};

use super::output::{Output, Table};
use crate::{
    error::Error,
    trace::{Trace, TraceStats},
};

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Trace files: `.csv` (Azure), `.jsonl` or `.jsonl.gz` (Mooncake) [default: those of the data]
    files: Vec<PathBuf>,
}

/// The traces of the public data.
const KNOWN: [&str; 4] = [
    "sim/azure/AzureLLMInferenceTrace_conv.csv",
    "sim/azure/AzureLLMInferenceTrace_code.csv",
    "sim/mooncake/conversation_trace.jsonl.gz",
    "sim/mooncake/synthetic_trace.jsonl.gz",
];

pub(super) fn run(args: &Args, data: &Path, output: &mut Output) -> Result<(), Error> {
    let files = if args.files.is_empty() {
        KNOWN
            .iter()
            .map(|file| data.join(file))
            .filter(|file| file.exists())
            .collect()
    } else {
        args.files.clone()
    };
    if files.is_empty() {
        return Err(Error::new(format!("no traces in {}", data.display())));
    }
    let stats: Vec<TraceStats> = files
        .iter()
        .map(|file| Trace::read(file).map(|trace| trace.stats()))
        .collect::<Result<_, _>>()?;
    let mut table = Table::new([
        "trace",
        "requests",
        "req/s",
        "peak",
        "gap cv",
        "disp 10 s",
        "prompt mean",
        "p50",
        "p99",
        "output mean",
        "p50",
        "p99",
        "duplicates",
        "prefix reuse",
    ]);
    let share = |share: Option<f64>| {
        share.map_or_else(|| "?".to_owned(), |share| format!("{:.2} %", share * 100.0))
    };
    for stats in &stats {
        table.row([
            stats.name.clone(),
            stats.requests.to_string(),
            format!("{:.2}", stats.rate_rps),
            format!("{:.0}", stats.peak_rps),
            format!("{:.2}", stats.gap_variation),
            format!("{:.1}", stats.dispersion_10s),
            format!("{:.0}", stats.prompt.mean),
            format!("{:.0}", stats.prompt.p50),
            format!("{:.0}", stats.prompt.p99),
            format!("{:.0}", stats.output.mean),
            format!("{:.0}", stats.output.p50),
            format!("{:.0}", stats.output.p99),
            share(stats.duplicates),
            share(stats.prefix_reuse),
        ]);
    }
    output.line(&table.to_string())?;
    output.value(&stats)
}
