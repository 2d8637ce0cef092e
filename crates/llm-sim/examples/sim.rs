//! Prints the reference's table, computed again: `cargo run --release -p llm-sim --example sim`.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for curve in llm_sim::reference::table() {
        for row in &curve.rows {
            writeln!(
                out,
                "{:<10} {:>5} req/s: {:>6} req/s, {:>8} tok/s, p50 {:>8} s, p95 {:>8} s",
                curve.policy,
                row.rate_rps,
                row.throughput_rps,
                row.output_tokens_per_s,
                row.latency_p50_s,
                row.latency_p95_s,
            )?;
        }
    }
    Ok(())
}
