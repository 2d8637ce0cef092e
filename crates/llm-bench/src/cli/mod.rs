//! The command line.

mod dataset;
mod duration;
mod experiment;
mod results;
mod target;
mod traffic;

pub use self::dataset::{DatasetArgs, DatasetName};
pub use self::experiment::{Experiment, Name};
pub use self::results::ResultArgs;
pub use self::target::{Backend, FormName, TargetArgs};
pub use self::traffic::{Loop, RampName, Sweep, SweepOver, TrafficArgs};

use clap::Parser;
use std::path::PathBuf;

/// Load tests: of any OpenAI-compatible server, and of llm-front.
///
/// Without --scenario it loads the server at --base-url, with the flags, the JSON keys and the
/// report of `vllm bench serve`:
///
///   cargo xtask bench --base-url http://127.0.0.1:8000 --request-rate 10 --num-prompts 300
///   cargo xtask bench --endpoint /v1/chat/completions --max-concurrency 16 --duration 30s
///   cargo xtask bench --base-url http://127.0.0.1:8080 --compare http://127.0.0.1:8000 \
///       --max-concurrency 1 --duration 30s
///   cargo xtask bench --request-rate 20 --goodput ttft:500 tpot:50 --check 'p99_e2el<5000'
///   cargo xtask bench --sweep request-rate=1,2,4,8 --num-prompts 100 --stop-on-saturation
///
/// Latency counts from the moment a request should have been sent. When the load generator
/// cannot keep its schedule (p99 lag above 10 ms, or below 99 % of the rate), the run fails:
/// it measured the load generator.
///
/// With --scenario it runs one of the experiments on llm-front:
///
///   reference  80 requests over 3 prompts, 16 in flight, with and without coalescing. How many
///              are generated, answered from the cache, and coalesced is exact, and so are the
///              batches. Once in process under paused time, once over sockets against the
///              release binary
///   overhead   CPU time a request (bypassed, recorded miss, exact hit) of the whole process on
///              one core, beside nginx where it is installed, in interleaved rounds; the first
///              byte of a stream against the upstream's own; memory when idle
///   herd       10,000 identical requests at once, streamed and not, against an upstream of 5 s:
///              one generation
///   followers  joining a stream that is half over; 50 callers of one slow answer; cache hits
///              while the backend is saturated
///   generator  what this load generator itself can do: 20,000 requests a second on one core
///
/// Exit code: 1 when a --check fails or the schedule was not kept, 2 when the test could not be
/// run.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "llm-bench",
    bin_name = "cargo xtask bench",
    version,
    max_term_width = 110,
    verbatim_doc_comment
)]
pub struct Cli {
    #[command(flatten)]
    scenario: experiment::Args,

    /// Fail (exit code 1) when a figure is not as it must be. With --scenario: no value, the marks are the experiment's own; no
    /// file is written unless --out says so. Without: FIGURE<NUMBER, also <=, >, >=, ==, such as 'p99_e2el<500', 'failed==0',
    /// 'hit_rate>0.5', 'request_throughput>=9.9'; milliseconds. Failed requests count as never answered
    #[arg(long, num_args = 0.., value_name = "FIGURE<NUMBER")]
    pub check: Option<Vec<String>>,

    /// Which server
    #[command(flatten)]
    pub target: TargetArgs,

    /// What is asked
    #[command(flatten)]
    pub dataset: DatasetArgs,

    /// When
    #[command(flatten)]
    pub traffic: TrafficArgs,

    /// What is told
    #[command(flatten)]
    pub results: ResultArgs,

    /// Serve prepared answers at this address until killed: the upstream of `--scenario generator`
    #[arg(long, value_name = "ADDR", hide = true)]
    pub upstream: Option<std::net::SocketAddr>,

    /// Merge the histograms of these --hdr files, print their percentiles, and stop: several load generators as one
    #[arg(long, num_args = 1.., value_name = "FILE", help_heading = "Results")]
    pub merge: Option<Vec<PathBuf>>,
}

impl Cli {
    /// The experiment that is asked for, if one is.
    #[must_use]
    pub fn experiment(&self) -> Option<Experiment> {
        self.scenario.experiment(self.check.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(
            std::iter::once("llm-bench").chain(line.split(' ').filter(|word| !word.is_empty())),
        )
    }

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_line_of_vllm_bench_serve_is_understood() {
        let cli = parse(
            "--backend openai-chat --base-url http://127.0.0.1:8000 --endpoint /v1/chat/completions --model m --dataset-name random \
             --random-input-len 128 --random-output-len 32 --num-prompts 50 --request-rate inf --burstiness 0.5 --max-concurrency 8 \
             --num-warmups 2 --seed 1 --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,99 --goodput ttft:500 tpot:50 \
             --save-result --result-dir out --ignore-eos --temperature 0 --disable-tqdm --skip-tokenizer-init",
        )
        .unwrap();
        assert!(cli.experiment().is_none());
        assert_eq!(cli.results.goodput.len(), 2);
        assert_eq!(cli.results.metric_percentiles, [50.0, 90.0, 99.0]);
        assert_eq!(cli.traffic.request_rate, f64::INFINITY);
        assert_eq!(cli.dataset.input_len, Some(128));
    }

    #[test]
    fn a_scenario_takes_no_flags_of_a_load_and_the_reverse() {
        for line in [
            "--scenario herd --request-rate 5",
            "--scenario reference --base-url http://x",
            "--callers 5",
            "--runs 3",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
        assert!(parse("--scenario herd --callers 50 --check").is_ok());
    }

    #[test]
    fn a_check_has_no_value_or_several() {
        assert_eq!(
            parse("--scenario reference --check").unwrap().check,
            Some(Vec::new())
        );
        let checks = parse("--check p99_e2el<500 failed==0 --seed 1")
            .unwrap()
            .check
            .unwrap();
        assert_eq!(checks, ["p99_e2el<500", "failed==0"]);
    }
}
