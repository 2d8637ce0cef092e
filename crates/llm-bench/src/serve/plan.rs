//! What the flags mean.

use crate::BoxError;
use crate::arrivals::{Arrivals, Burstiness, Ramp, Strategy};
use crate::cli::{Backend, Cli, DatasetName, FormName, Loop, RampName};
use crate::load::{Load, Pacing, Stop, Target};
use crate::workload::{
    Custom, Dataset, Dialect, Endpoint, Form, Lengths, Order, Random, Trace, Zipf,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What the flags mean: all of it is settled before anything is sent.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) endpoint: Endpoint,
    pub(super) form: Form,
    pub(super) model: String,
    pub(super) targets: Vec<(Target, Dialect)>,
    pub(super) dataset: Arc<dyn Dataset>,
    pub(super) is_open: bool,
    /// Requests; none where only the duration ends it.
    pub(super) count: Option<usize>,
    /// The times of a trace, where they are to be kept.
    times: Option<Arrivals>,
}

impl Plan {
    pub(super) fn of(cli: &Cli, model: String, targets: Vec<Target>) -> Result<Self, BoxError> {
        let (endpoint, path) = endpoint(cli)?;
        let dataset = dataset(cli)?;
        let form = match cli.target.form {
            FormName::Stream if endpoint != Endpoint::Embeddings => Form::Stream,
            _ => Form::Body,
        };
        let fields = fields(&cli.target.header)?;
        let extra = extra(cli, endpoint, is_synthetic(cli));
        let name = cli.target.served_model_name.as_deref().unwrap_or(&model);
        let dialect = |target: &Target| {
            let path = format!("{}{path}", target.path());
            Dialect::new(
                endpoint,
                &path,
                target.authority(),
                name,
                form,
                &fields,
                &extra,
            )
        };
        let targets = targets
            .into_iter()
            .map(|target| (target.clone(), dialect(&target)))
            .collect();
        let traffic = &cli.traffic;
        let times = dataset
            .times()
            .filter(|_| traffic.request_rate.is_infinite() && traffic.ramp_up_strategy.is_none());
        let by_rate = traffic.request_rate.is_finite()
            || traffic.ramp_up_strategy.is_some()
            || times.is_some();
        let is_open = match traffic.r#loop {
            Some(kind) => kind == Loop::Open,
            None => by_rate || traffic.max_concurrency.is_none(),
        };
        let plan = Self {
            count: count(cli, &*dataset),
            endpoint,
            form,
            model,
            targets,
            dataset,
            is_open,
            times: times.map(Arrivals::Times),
        };
        plan.refuse_what_cannot_be(cli, by_rate)?;
        Ok(plan)
    }

    fn refuse_what_cannot_be(&self, cli: &Cli, by_rate: bool) -> Result<(), BoxError> {
        let traffic = &cli.traffic;
        if !self.is_open && by_rate {
            return Err("a closed loop has no rate: its requests are due when others are answered. Leave --loop closed out, or the rate".into());
        }
        if self.is_open && traffic.duration.is_some() && !by_rate {
            return Err("--duration needs to know when requests are due: add --request-rate, or --max-concurrency for a closed loop".into());
        }
        if traffic.duration.is_some() && traffic.ramp_up_strategy.is_some() {
            return Err("a ramp grows over --num-prompts requests: leave --duration out".into());
        }
        if self.dataset.is_empty() {
            return Err("there is nothing to ask".into());
        }
        Ok(())
    }

    /// One round of it: at another seed of arrivals, with requests that no other round asks, where the data has as many.
    pub(super) fn load(&self, cli: &Cli, round: usize, stop: &Stop) -> Load {
        let traffic = &cli.traffic;
        let seed = cli.dataset.seed.wrapping_add(round as u64);
        let pacing = match self.is_open {
            false => Pacing::Closed {
                count: self.count,
                think: std::time::Duration::ZERO,
            },
            true => {
                let arrivals = self.arrivals(cli);
                Pacing::Open(match (traffic.duration, self.count) {
                    (Some(duration), count) => {
                        let mut times = arrivals.until(duration, seed);
                        times.truncate(count.unwrap_or(usize::MAX));
                        times
                    }
                    (None, count) => arrivals.of_count(count.unwrap_or(0), seed),
                })
            }
        };
        Load::new(self.targets.clone(), self.dataset.clone(), pacing)
            .cap(traffic.max_concurrency.map(|cap| cap as usize))
            .duration(traffic.duration)
            .timeout(cli.target.request_timeout)
            .offset(self.dataset.offset(round, self.count))
            .stop(stop.clone())
    }

    /// The requests before the measured ones, as many at a time as in the test.
    pub(super) fn warm_up(&self, cli: &Cli, stop: &Stop) -> Load {
        let closed = Pacing::Closed {
            count: Some(cli.traffic.num_warmups as usize),
            think: std::time::Duration::ZERO,
        };
        let cap = cli.traffic.max_concurrency.map_or(16, |cap| cap as usize);
        Load::new(self.targets.clone(), self.dataset.clone(), closed)
            .cap(cap)
            .timeout(cli.target.request_timeout)
            // Far from all that is measured.
            .offset(1 << 60)
            .stop(stop.clone())
    }

    fn arrivals(&self, cli: &Cli) -> Arrivals {
        let traffic = &cli.traffic;
        let burstiness = match traffic.burstiness.is_infinite() {
            true => Burstiness::Constant,
            false => Burstiness::Gamma(traffic.burstiness),
        };
        if let Some(times) = &self.times {
            return times.clone();
        }
        if let (Some(name), Some(from), Some(to)) = (
            traffic.ramp_up_strategy,
            traffic.ramp_up_start_rps,
            traffic.ramp_up_end_rps,
        ) {
            let strategy = match name {
                RampName::Linear => Strategy::Linear,
                RampName::Exponential => Strategy::Exponential,
            };
            return Arrivals::Ramp {
                ramp: Ramp { strategy, from, to },
                burstiness,
            };
        }
        match traffic.request_rate.is_infinite() {
            true => Arrivals::Together,
            false => Arrivals::Rate {
                rate: traffic.request_rate,
                burstiness,
            },
        }
    }
}

fn endpoint(cli: &Cli) -> Result<(Endpoint, String), BoxError> {
    let by_backend = cli.target.backend.map(|backend| match backend {
        Backend::Openai => Endpoint::Completions,
        Backend::OpenaiChat => Endpoint::Chat,
        Backend::OpenaiEmbeddings => Endpoint::Embeddings,
    });
    let Some(path) = cli.target.endpoint.clone() else {
        let endpoint = by_backend.unwrap_or(Endpoint::Completions);
        return Ok((endpoint, endpoint.path().to_owned()));
    };
    let by_path = Endpoint::of(&path);
    match (by_backend, by_path) {
        (Some(a), Some(b)) if a != b => Err(format!("--backend and --endpoint {path} are two calls: leave one of them out").into()),
        (a, b) => match a.or(b) {
            Some(endpoint) => Ok((endpoint, path)),
            None => Err(format!("--endpoint {path} does not end in /chat/completions, /completions or /embeddings: say with --backend which of them it is").into()),
        },
    }
}

fn dataset_name(cli: &Cli) -> DatasetName {
    let default = if cli.dataset.trace.is_some() {
        DatasetName::Trace
    } else {
        DatasetName::Random
    };
    cli.dataset.dataset_name.unwrap_or(default)
}

/// Whether prompts and lengths are made up: then answers are to have the lengths that were asked for.
fn is_synthetic(cli: &Cli) -> bool {
    dataset_name(cli) != DatasetName::Custom
}

fn dataset(cli: &Cli) -> Result<Arc<dyn Dataset>, BoxError> {
    let args = &cli.dataset;
    let random = || Random {
        lengths: Lengths {
            input: args.input_len.unwrap_or(1024),
            output: args.output_len.unwrap_or(128),
            range_ratio: args.random_range_ratio,
            prefix: args.random_prefix_len,
        },
        batch: args.random_batch_size,
        seed: args.seed,
    };
    let file = || args.dataset_path.as_deref().or(args.trace.as_deref());
    Ok(match dataset_name(cli) {
        DatasetName::Random | DatasetName::Zipf if file().is_some() => {
            return Err("random and zipf prompts are made up: leave the file out, or choose --dataset-name custom or trace".into());
        }
        DatasetName::Random => Arc::new(random()),
        DatasetName::Zipf => Arc::new(Zipf::new(random(), args.zipf_prompts, args.zipf_exponent)?),
        DatasetName::Custom => {
            let file = args.dataset_path.as_deref().ok_or("--dataset-name custom needs --dataset-path FILE: JSON lines such as {\"prompt\": \"Hello\"}")?;
            let order = match args.disable_shuffle {
                true => Order::Kept,
                false => Order::Shuffled(args.seed),
            };
            Arc::new(Custom::read(file, args.output_len.unwrap_or(256), order)?)
        }
        DatasetName::Trace => {
            let file = file().ok_or("--dataset-name trace needs --trace FILE")?;
            Arc::new(Trace::read(file, args.seed)?.speed(args.trace_speed))
        }
    })
}

fn count(cli: &Cli, dataset: &dyn Dataset) -> Option<usize> {
    let asked = cli
        .dataset
        .num_prompts
        .map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let is_trace = dataset_name(cli) == DatasetName::Trace;
    let default = match cli.traffic.duration {
        Some(_) => None,
        None if is_trace => dataset.len(),
        None => Some(1000),
    };
    let count = asked.or(default);
    // A trace has times for its own requests only.
    match dataset.len() {
        Some(len) if cli.dataset.no_oversample || is_trace => Some(count.unwrap_or(len).min(len)),
        _ => count,
    }
}

fn fields(headers: &[String]) -> Result<Vec<(String, String)>, BoxError> {
    let mut fields = Vec::new();
    if let Ok(key) = std::env::var("OPENAI_API_KEY") {
        fields.push(("authorization".to_owned(), format!("Bearer {key}")));
    }
    for header in headers {
        let (name, value) = header
            .split_once('=')
            .ok_or_else(|| format!("--header {header}: write KEY=VALUE"))?;
        let (name, value) = (name.trim(), value.trim());
        if http::HeaderName::try_from(name).is_err() || http::HeaderValue::try_from(value).is_err()
        {
            return Err(
                format!("--header {header}: no header field has such a name or value").into(),
            );
        }
        fields.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        fields.push((name.to_owned(), value.to_owned()));
    }
    Ok(fields)
}

fn extra(cli: &Cli, endpoint: Endpoint, is_synthetic: bool) -> Map<String, Value> {
    let args = &cli.target;
    let mut extra = Map::new();
    if endpoint != Endpoint::Embeddings {
        let members = [
            ("temperature", args.temperature.map(Value::from)),
            ("top_p", args.top_p.map(Value::from)),
            ("top_k", args.top_k.map(Value::from)),
            ("min_p", args.min_p.map(Value::from)),
            ("frequency_penalty", args.frequency_penalty.map(Value::from)),
            ("presence_penalty", args.presence_penalty.map(Value::from)),
            (
                "repetition_penalty",
                args.repetition_penalty.map(Value::from),
            ),
            (
                "ignore_eos",
                (args.ignore_eos || is_synthetic).then_some(Value::Bool(true)),
            ),
        ];
        extra.extend(
            members
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?))),
        );
        match (args.logprobs, endpoint) {
            (Some(count), Endpoint::Chat) => {
                extra.insert("logprobs".to_owned(), Value::Bool(true));
                extra.insert("top_logprobs".to_owned(), count.into());
            }
            (Some(count), _) => {
                extra.insert("logprobs".to_owned(), count.into());
            }
            (None, _) => {}
        }
    }
    extra.extend(args.extra_body.clone().unwrap_or_default());
    extra
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::time::Duration;

    fn plan(line: &str) -> Result<(Cli, Plan), String> {
        let cli = Cli::parse_from(
            std::iter::once("llm-bench").chain(line.split(' ').filter(|word| !word.is_empty())),
        );
        let target = Target::parse("http://127.0.0.1:8000").unwrap();
        let plan =
            Plan::of(&cli, "m".to_owned(), vec![target]).map_err(|error| error.to_string())?;
        Ok((cli, plan))
    }

    #[test]
    fn workers_without_a_rate_are_a_closed_loop_and_all_else_is_open() {
        for (line, is_open) in [
            ("", true),
            ("--max-concurrency 4", false),
            ("--max-concurrency 4 --request-rate 5", true),
            ("--max-concurrency 4 --loop open", true),
            (
                "--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 5 --max-concurrency 4",
                true,
            ),
        ] {
            assert_eq!(plan(line).unwrap().1.is_open, is_open, "{line}");
        }
    }

    #[test]
    fn a_duration_ends_what_has_no_number() {
        let (cli, plan_of) = plan("--request-rate 10 --burstiness inf --duration 2s").unwrap();
        let load = format!("{:?}", plan_of.load(&cli, 0, &Stop::default()));
        assert_eq!(plan_of.count, None);
        assert!(load.contains("1.9s") && !load.contains("2.0s"), "{load}");
        assert_eq!(
            plan("--request-rate 10 --duration 2s --num-prompts 5")
                .unwrap()
                .1
                .count,
            Some(5)
        );
        assert_eq!(plan("--request-rate 10").unwrap().1.count, Some(1000));
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_fix() {
        for (line, fix) in [
            ("--loop closed --request-rate 5", "Leave --loop closed out"),
            ("--duration 5s", "add --request-rate"),
            ("--dataset-name custom", "needs --dataset-path"),
            ("--dataset-name zipf --dataset-path x", "leave the file out"),
            (
                "--backend openai-chat --endpoint /v1/completions",
                "leave one of them out",
            ),
            ("--endpoint /generate", "say with --backend"),
            ("--header x", "write KEY=VALUE"),
        ] {
            let error = plan(line).map(|_| ()).unwrap_err();
            assert!(error.contains(fix), "{line}: {error}");
        }
    }

    #[test]
    fn rounds_ask_other_things_at_other_times() {
        let (cli, plan) = plan("--request-rate 10 --num-prompts 20").unwrap();
        let load = |round| format!("{:?}", plan.load(&cli, round, &Stop::default()));
        assert_eq!(load(0), load(0));
        assert_ne!(load(0), load(1));
    }

    #[test]
    fn a_trace_keeps_its_times_unless_a_rate_is_given() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("trace.csv");
        std::fs::write(
            &file,
            "timestamp,prompt_tokens,output_tokens\n10,5,5\n13,5,5\n",
        )
        .unwrap();
        let (cli, plan_of) = plan(&format!("--trace {} --trace-speed 2", file.display())).unwrap();
        assert_eq!(plan_of.count, Some(2));
        assert_eq!(
            plan_of.arrivals(&cli),
            Arrivals::Times(vec![Duration::ZERO, Duration::from_millis(1500)])
        );
        let (cli, plan_of) = plan(&format!("--trace {} --request-rate 5", file.display())).unwrap();
        assert!(matches!(plan_of.arrivals(&cli), Arrivals::Rate { .. }));
    }
}
