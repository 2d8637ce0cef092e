//! How far a run is, on the terminal.

use crate::cli::Cli;
use crate::load::Live;
use crate::measure::Histogram;
use std::io::{IsTerminal, Write};

fn is_on(cli: &Cli) -> bool {
    !cli.results.disable_tqdm && std::io::stderr().is_terminal()
}

/// One line, rewritten four times a second by the thread that reads the answers: whoever sends never waits for a terminal.
pub(super) fn watch(cli: &Cli, count: Option<usize>) -> impl FnMut(&Live) + Send + 'static {
    let is_on = is_on(cli);
    move |live| {
        if is_on {
            let _ = write!(std::io::stderr(), "\r\x1b[2K{}", line(live, count));
        }
    }
}

pub(super) fn clear(cli: &Cli) {
    if is_on(cli) {
        let _ = write!(std::io::stderr(), "\r\x1b[2K");
    }
}

fn line(live: &Live, count: Option<usize>) -> String {
    let of = count.map_or(String::new(), |count| format!("/{count}"));
    let mut line = format!(
        "{:6.1} s  sent {}{of}  in flight {}  done {}",
        live.elapsed.as_secs_f64(),
        live.sent,
        live.in_flight,
        live.completed
    );
    if live.failed > 0 {
        line.push_str(&format!("  FAILED {}", live.failed));
    }
    for (name, histogram) in [("TTFT", &live.ttft), ("E2EL", &live.e2el)] {
        if histogram.count() > 0 {
            line.push_str(&format!(
                "  {name} ms p50 {} p99 {}",
                short(histogram, 0.5),
                short(histogram, 0.99)
            ));
        }
    }
    line
}

fn short(histogram: &Histogram, q: f64) -> String {
    let ms = histogram.quantile_ms(q);
    let digits = if ms < 10.0 { 2 } else { 0 };
    format!("{ms:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_line_tells_how_far_a_run_is() {
        let live = Live {
            elapsed: Duration::from_millis(12_340),
            sent: 120,
            in_flight: 7,
            completed: 110,
            failed: 3,
            ttft: [Duration::from_micros(1500)].into_iter().collect(),
            e2el: Histogram::new(),
        };
        assert_eq!(
            line(&live, Some(500)),
            "  12.3 s  sent 120/500  in flight 7  done 110  FAILED 3  TTFT ms p50 1.50 p99 1.50"
        );
    }
}
