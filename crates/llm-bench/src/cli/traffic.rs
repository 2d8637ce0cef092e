//! When requests are sent.

use super::dataset::positive;
use clap::ValueEnum;
use std::str::FromStr;
use std::time::Duration;

/// When requests are sent.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "traffic")]
#[command(next_help_heading = "Traffic")]
pub struct TrafficArgs {
    /// Requests a second; inf: all at once
    #[arg(long, value_name = "RATE", default_value = "inf", value_parser = positive)]
    pub request_rate: f64,

    /// How evenly: 1 is a Poisson process, less is burstier, more is evener, inf is constant. Intervals are gamma distributed
    /// with this shape
    #[arg(long, value_name = "SHAPE", default_value_t = 1.0, value_parser = positive)]
    pub burstiness: f64,

    /// At most so many requests in flight. In an open loop those over it wait, and their waiting counts; in a closed loop it is
    /// the number of workers
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_concurrency: Option<u32>,

    /// open: by a schedule drawn before the run, whatever becomes of the answers, as independent users do. closed: a worker's
    /// next request is due when its last one is answered [default: closed with --max-concurrency and without a rate or a trace]
    #[arg(long, value_name = "KIND")]
    pub r#loop: Option<Loop>,

    /// Send for so long
    #[arg(long, value_name = "TIME", value_parser = super::duration::duration)]
    pub duration: Option<Duration>,

    /// Let the rate grow over the run, instead of --request-rate
    #[arg(
        long,
        value_name = "STRATEGY",
        requires = "ramp_up_start_rps",
        requires = "ramp_up_end_rps",
        conflicts_with = "request_rate"
    )]
    pub ramp_up_strategy: Option<RampName>,

    /// The rate at the first request
    #[arg(long, value_name = "RATE", requires = "ramp_up_strategy", value_parser = positive)]
    pub ramp_up_start_rps: Option<f64>,

    /// The rate at the last one
    #[arg(long, value_name = "RATE", requires = "ramp_up_strategy", value_parser = positive)]
    pub ramp_up_end_rps: Option<f64>,

    /// Requests before the measured ones; other prompts than theirs, but for custom ones
    #[arg(long, value_name = "REQUESTS", default_value_t = 0)]
    pub num_warmups: u32,

    /// Send each request here as well, right before or after, in turns, and tell the difference with its 95 % interval: what the
    /// first server (a front end, say) costs beside this one
    #[arg(long, value_name = "URL", conflicts_with_all = ["sweep", "repeat"])]
    pub compare: Option<String>,

    /// Run the whole test so many times, with other requests, and tell each figure's mean with its 95 % interval
    #[arg(long, value_name = "RUNS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,

    /// Run it at each of these values: request-rate=1,2,4 or max-concurrency=1,2,4,8
    #[arg(long, value_name = "FLAG=VALUES", conflicts_with = "repeat")]
    pub sweep: Option<Sweep>,

    /// End a sweep where more load brings no more answers: throughput grows by less than half as much as the load
    #[arg(long, requires = "sweep")]
    pub stop_on_saturation: bool,
}

/// Who decides when a request is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Loop {
    /// A schedule
    Open,
    /// The last answer
    Closed,
}

/// How a rate grows.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum RampName {
    /// By the same number of requests a second each time
    Linear,
    /// By the same factor each time
    Exponential,
}

/// What a sweep changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SweepOver {
    /// Requests a second.
    RequestRate,
    /// Requests in flight.
    MaxConcurrency,
}

/// A sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// What it changes.
    pub over: SweepOver,
    /// To what, one after the other.
    pub values: Vec<f64>,
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "write request-rate=1,2,4 or max-concurrency=1,2,4".to_owned();
        let (flag, values) = text.split_once('=').ok_or_else(form)?;
        let over = match flag {
            "request-rate" => SweepOver::RequestRate,
            "max-concurrency" => SweepOver::MaxConcurrency,
            _ => return Err(form()),
        };
        let values = values
            .split(',')
            .map(positive)
            .collect::<Result<Vec<f64>, _>>()
            .map_err(|_| form())?;
        let is_whole = |value: &f64| value.fract() == 0.0 && *value <= f64::from(u32::MAX);
        match over == SweepOver::RequestRate || values.iter().all(is_whole) {
            true => Ok(Self { over, values }),
            false => Err(form()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_a_flag_and_its_values() {
        let sweep: Sweep = "request-rate=0.5,1,2".parse().unwrap();
        assert_eq!(
            (sweep.over, sweep.values),
            (SweepOver::RequestRate, vec![0.5, 1.0, 2.0])
        );
        for wrong in [
            "1,2,4",
            "rate=1",
            "request-rate=",
            "request-rate=1,0",
            "max-concurrency=1.5",
        ] {
            assert!(wrong.parse::<Sweep>().is_err(), "{wrong}");
        }
    }
}
