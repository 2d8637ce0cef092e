//! Servers and workloads from arguments.

use std::{path::PathBuf, time::Duration};

use crate::{
    cost::{Preset, presets},
    error::Error,
    front::Balance,
    server::{Continuous, Order, Padding, Pipeline, Server, Static, Vllm, VllmConfig},
    trace::Trace,
    workload::{Arrivals, Length, Request, Workload},
};

/// A server, by name and settings.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ServerArgs {
    /// Accelerator and model: see `presets`.
    #[arg(long, default_value = "seed")]
    preset: String,
    /// The scheduler; continuous for the reference's preset, vLLM's for the others.
    #[arg(long)]
    policy: Option<PolicyName>,
    /// Sequences a step, at most.
    #[arg(long)]
    seats: Option<u32>,
    /// Tokens a step, at most.
    #[arg(long)]
    max_tokens: Option<u32>,
    /// Prompt tokens of one sequence a step, at most.
    #[arg(long)]
    chunk: Option<u32>,
    /// KV blocks of 16 tokens.
    #[arg(long)]
    kv_blocks: Option<u32>,
    /// The order of admission.
    #[arg(long)]
    order: Option<OrderName>,
    /// Plan a step only after the results of the last.
    #[arg(long)]
    synchronous: bool,
    /// Turn the prefix cache off.
    #[arg(long)]
    no_prefix_caching: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum PolicyName {
    Sequential,
    Static,
    StaticUnpadded,
    Continuous,
    Vllm,
    Sglang,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OrderName {
    Fcfs,
    Priority,
    ShortestFirst,
    LongestPrefix,
    Fair,
}

/// How requests are dealt out.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum BalanceName {
    Random,
    RoundRobin,
    TwoChoices,
    LeastOutstanding,
}

impl From<BalanceName> for Balance {
    fn from(name: BalanceName) -> Self {
        match name {
            BalanceName::Random => Self::Random,
            BalanceName::RoundRobin => Self::RoundRobin,
            BalanceName::TwoChoices => Self::TwoChoices,
            BalanceName::LeastOutstanding => Self::LeastOutstanding,
        }
    }
}

impl ServerArgs {
    pub(super) fn preset(&self) -> Result<&'static Preset, Error> {
        presets::find(&self.preset).ok_or_else(|| {
            let names: Vec<&str> = presets::ALL.iter().map(|preset| preset.name).collect();
            Error::new(format!(
                "no preset {:?}; there are {}",
                self.preset,
                names.join(", ")
            ))
        })
    }

    /// Makes one server; with `series`, one that records itself over time.
    pub(super) fn make(&self, preset: &Preset, series: bool) -> Box<dyn Server> {
        let cost = preset.cost;
        let seats = self.seats.unwrap_or(preset.max_sequences);
        let fixed = |padding| Box::new(Static::new(seats as usize, 6.0, padding, cost));
        let default = if preset.is_stepwise() {
            PolicyName::Continuous
        } else {
            PolicyName::Vllm
        };
        match self.policy.unwrap_or(default) {
            PolicyName::Sequential => Box::new(Static::sequential(cost)),
            PolicyName::Static => fixed(Padding::Padded),
            PolicyName::StaticUnpadded => fixed(Padding::Unpadded),
            PolicyName::Continuous => Box::new(Continuous::new(seats, cost)),
            policy @ (PolicyName::Vllm | PolicyName::Sglang) => {
                let base = match policy {
                    PolicyName::Sglang => VllmConfig::sglang(),
                    _ => VllmConfig::default(),
                };
                let server = Vllm::new(self.config(base, preset, seats), cost);
                Box::new(if series {
                    server.record_series(100.0)
                } else {
                    server
                })
            }
        }
    }

    fn config(&self, base: VllmConfig, preset: &Preset, seats: u32) -> VllmConfig {
        let mut config = base
            .max_sequences(seats)
            .max_tokens(self.max_tokens.unwrap_or(preset.max_tokens))
            .kv_blocks(self.kv_blocks.unwrap_or_else(|| preset.kv_blocks()));
        if let Some(chunk) = self.chunk {
            config = config.chunk_tokens(chunk);
        }
        if let Some(order) = self.order {
            config = config.order(match order {
                OrderName::Fcfs => Order::Fcfs,
                OrderName::Priority => Order::Priority,
                OrderName::ShortestFirst => Order::ShortestFirst,
                OrderName::LongestPrefix => Order::LongestPrefix,
                OrderName::Fair => Order::Fair,
            });
        }
        if self.synchronous {
            config = config.pipeline(Pipeline::Synchronous);
        }
        if self.no_prefix_caching {
            config = config.without_prefix_caching();
        }
        config
    }
}

/// A workload, by its laws or from a trace.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct WorkloadArgs {
    /// Play a trace at the load asked for, instead of drawing requests.
    #[arg(long)]
    trace: Option<PathBuf>,
    /// Prompt tokens: `MEDIAN:SIGMA` (log-normal) or a constant [default: the reference's law]
    #[arg(long, value_parser = length)]
    prompt: Option<Length>,
    /// Output tokens: `MEDIAN:SIGMA` (log-normal) or a constant [default: the reference's law]
    #[arg(long, value_parser = length)]
    output: Option<Length>,
    /// Variation of the gaps between arrivals: 1 is Poisson, more is bursty.
    #[arg(long, default_value_t = 1.0)]
    burstiness: f64,
    /// Prompt tokens that every request shares, before its own.
    #[arg(long, default_value_t = 0)]
    shared_prefix: u32,
}

/// A workload that can be played at any load.
#[derive(Debug)]
pub(super) struct Source {
    trace: Option<Trace>,
    prompt: Length,
    output: Length,
    burstiness: f64,
    shared_prefix: u32,
}

impl WorkloadArgs {
    pub(super) fn source(&self, preset: &Preset) -> Result<Source, Error> {
        let (prompt, output) = if preset.one_step {
            (Length::constant(0), Length::constant(1))
        } else {
            (Length::SEED_PROMPT, Length::SEED_OUTPUT)
        };
        Ok(Source {
            trace: self.trace.as_deref().map(Trace::read).transpose()?,
            prompt: self.prompt.clone().unwrap_or(prompt),
            output: self.output.clone().unwrap_or(output),
            burstiness: self.burstiness,
            shared_prefix: self.shared_prefix,
        })
    }
}

impl Source {
    /// Endless requests of one seed at one load.
    pub(super) fn at(&self, seed: u64, rate_rps: f64) -> Box<dyn Iterator<Item = Request> + '_> {
        if let Some(trace) = &self.trace {
            return Box::new(trace.at_rate(rate_rps));
        }
        let arrivals = if (self.burstiness - 1.0).abs() < 1e-9 {
            Arrivals::poisson(rate_rps)
        } else {
            Arrivals::gamma(rate_rps, self.burstiness)
        };
        let workload = Workload::new(&format!("sim:{seed}"), arrivals)
            .prompt(self.prompt.clone())
            .output(self.output.clone())
            .shared_prefix(1, self.shared_prefix);
        Box::new(workload)
    }
}

/// `300:0.6` is log-normal with median 300 and σ 0.6; `300` is constant.
fn length(text: &str) -> Result<Length, String> {
    let parse = |text: &str| text.parse::<f64>().map_err(|error| error.to_string());
    match text.split_once(':') {
        Some((median, sigma)) => Ok(Length::log_normal(
            parse(median)?,
            parse(sigma)?,
            1,
            131_072,
        )),
        None => Ok(Length::constant(parse(text)? as u32)),
    }
}

/// `100ms`, `1.5s` or a number of milliseconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, scale) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => match text.strip_suffix('s') {
            Some(number) => (number, 1.0),
            None => (text, 1e-3),
        },
    };
    let number: f64 = number
        .trim()
        .parse()
        .map_err(|_| format!("not a time: {text}"))?;
    Duration::try_from_secs_f64(number * scale).map_err(|error| error.to_string())
}

/// Milliseconds.
pub(super) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_seconds_and_milliseconds() {
        for (text, want) in [("100ms", 100.0), ("1.5s", 1500.0), ("20", 20.0)] {
            assert_eq!(ms(duration(text).unwrap()), want);
        }
        assert!(duration("soon").is_err() && duration("-1s").is_err());
    }
}
