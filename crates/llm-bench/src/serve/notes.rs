//! What a reader has to know to read the figures right.

use super::plan::Plan;
use crate::cli::Cli;
use crate::figures::Summary;
use crate::measure::Source;

/// In sentences.
pub(super) fn notes(cli: &Cli, plan: &Plan, summary: &Summary) -> Vec<String> {
    let all = &summary.all;
    let mut notes = Vec::new();
    if all.cached_tokens > 0 {
        let share = all.cached_tokens as f64 / all.input_tokens as f64 * 100.0;
        notes.push(format!(
            "the server's prefix cache was warm: {share:.1} % of the prompts' tokens came from it"
        ));
    }
    if all.uncounted > 0 {
        notes.push(format!(
            "{} answers came without usage: their chunks were counted as tokens",
            all.uncounted
        ));
    }
    if all.failed() > 0 {
        let p99 = all.quantile_with_failed(0.99);
        let p99 = if p99.is_infinite() {
            "infinite".to_owned()
        } else {
            format!("{p99:.2} ms")
        };
        notes.push(format!("percentiles are over whole answers; with the failed requests as never answered, P99 E2EL is {p99}"));
    }
    if summary.unsent > 0 {
        notes.push(format!(
            "stopped early: {} requests that were due were not sent",
            summary.unsent
        ));
    }
    let only = |source| matches!(summary.sources.as_slice(), [(only, _)] if *only == source);
    if only(Source::Bypass) && cli.target.temperature != Some(0.0) {
        notes.push(
            "the front end passed every request by: --temperature 0 lets it share answers"
                .to_owned(),
        );
    }
    if plan.is_open && cli.traffic.max_concurrency.is_some() {
        let queued = all.series(crate::figures::Metric::ClientQueueTime);
        if queued.quantile(0.99) > 1.0 {
            notes.push(format!(
                "--max-concurrency held requests back by {:.2} ms on average, {:.2} at p99: their latency counts it",
                queued.mean(),
                queued.quantile(0.99)
            ));
        }
    }
    if cli.target.tokenizer.is_some()
        || cli.target.skip_tokenizer_init
        || cli.target.tokenizer_mode.is_some()
        || cli.target.trust_remote_code
    {
        notes.push("there is no tokenizer here, so flags for it have no effect: tokens are as the server counts them".to_owned());
    }
    notes
}

/// Requests that failed, by how, each with an example.
pub(super) fn failures(summary: &Summary) -> Vec<String> {
    let lines = summary
        .all
        .failures
        .iter()
        .map(|((end, _), (count, example))| format!("{count} × {}: {example}", end.word()));
    lines.collect()
}
