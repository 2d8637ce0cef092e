//! The command.

use super::plan::Plan;
use super::round::Round;
use super::{Condition, compare, console, detail, file, notes, repeat, result, sweep};
use crate::BoxError;
use crate::cli::{Cli, Sweep};
use crate::client::{Recording, get};
use crate::figures::Summary;
use crate::load::{Stop, Target};
use crate::report::{progress, show};
use serde_json::{Map, Value};
use std::time::Duration;

/// How a test ended.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Verdict {
    /// Why it failed, in words; empty where it did not.
    pub faults: Vec<String>,
}

/// Runs what `cli` asks for, prints and writes what was found. `stop` ends it early, with what there is.
///
/// # Errors
/// It could not be run: a flag makes no sense, the server is not there.
pub async fn run(cli: &Cli, stop: &Stop) -> Result<Verdict, BoxError> {
    let conditions = cli
        .check
        .iter()
        .flatten()
        .map(|text| text.parse())
        .collect::<Result<Vec<Condition>, String>>()?;
    // Every connection is a descriptor; a run without a cap may need all there are.
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let targets = targets(cli)?;
    let first = targets.first().cloned().ok_or("there is no server")?;
    for target in &targets {
        wait_for(target, cli.target.ready_check_timeout_sec).await?;
    }
    let model = match &cli.target.model {
        Some(model) => model.clone(),
        None => first_model(&first).await?,
    };
    let plan = Plan::of(cli, model, targets)?;
    let test = Test {
        cli,
        plan,
        stop,
        conditions,
        date: file::date(),
    };
    Round::warm_up(cli, &test.plan, stop).await?;
    match (&cli.traffic.sweep, cli.traffic.repeat, &cli.traffic.compare) {
        (Some(sweep), ..) => test.sweep(sweep).await,
        (_, _, Some(_)) => test.compare().await,
        (_, 1, _) => test.once().await,
        (_, rounds, _) => test.repeat(rounds as usize).await,
    }
}

struct Test<'a> {
    cli: &'a Cli,
    plan: Plan,
    stop: &'a Stop,
    conditions: Vec<Condition>,
    date: String,
}

impl Test<'_> {
    async fn once(&self) -> Result<Verdict, BoxError> {
        let round = Round::run(self.cli, &self.plan, 0, self.stop).await?;
        self.show(&round.summary);
        self.save(&round, Map::new())?;
        Ok(self.verdict([&round.summary]))
    }

    async fn repeat(&self, count: usize) -> Result<Verdict, BoxError> {
        let mut rounds = Vec::new();
        for number in 0..count {
            progress(&format!("run {} of {count}", number + 1));
            rounds.push(Round::run(self.cli, &self.plan, number, self.stop).await?);
            if self.stop.is_stopped() {
                break;
            }
        }
        let summaries: Vec<Summary> = rounds.iter().map(|round| round.summary.clone()).collect();
        let (table, json) = repeat::table(self.cli, &self.plan, &summaries);
        if let Some(last) = rounds.last() {
            self.show(&last.summary);
            show(&table.to_string());
            let more = Map::from_iter([("repeated".to_owned(), Value::Object(json))]);
            self.save(last, more)?;
        }
        Ok(self.verdict(&summaries))
    }

    async fn sweep(&self, over: &Sweep) -> Result<Verdict, BoxError> {
        let mut points = Vec::new();
        let mut last = None;
        for (number, &load) in over.values.iter().enumerate() {
            let cli = sweep::at(self.cli, over, load);
            let targets = self
                .plan
                .targets
                .iter()
                .map(|(target, _)| target.clone())
                .collect();
            let plan = Plan::of(&cli, self.plan.model.clone(), targets)?;
            progress(&format!("load {load}"));
            let round = Round::run(&cli, &plan, number, self.stop).await?;
            points.push(sweep::Point {
                load,
                summary: round.summary.clone(),
            });
            let date = self.date.clone();
            let conditions = self.conditions.clone();
            let test = Test {
                cli: &cli,
                plan,
                stop: self.stop,
                conditions,
                date,
            };
            test.save(
                &round,
                Map::from_iter([("sweep_load".to_owned(), result::number(load))]),
            )?;
            last = Some(round);
            let is_saturated = sweep::is_saturated(&points);
            if is_saturated {
                progress(&format!(
                    "saturated at {load}: throughput grew by less than half as much as the load"
                ));
            }
            if self.stop.is_stopped() || is_saturated && self.cli.traffic.stop_on_saturation {
                break;
            }
        }
        show(&sweep::table(over, &points).to_string());
        for failure in last
            .iter()
            .flat_map(|round| notes::failures(&round.summary))
        {
            show(&format!("failed: {failure}"));
        }
        Ok(self.verdict(points.iter().map(|point| &point.summary)))
    }

    async fn compare(&self) -> Result<Verdict, BoxError> {
        let round = Round::run(self.cli, &self.plan, 0, self.stop).await?;
        let slos = &self.cli.results.goodput;
        let pairs = compare::pairs(&self.plan, &round.ran);
        let mut summaries = Vec::new();
        for (number, (target, _)) in self.plan.targets.iter().enumerate() {
            let ran = compare::of_target(&round.ran, number);
            let summary = Summary::of(&ran, slos, false);
            show(&format!("http://{}{}", target.authority(), target.path()));
            self.show(&summary);
            summaries.push(summary);
        }
        let first = self
            .plan
            .targets
            .first()
            .map_or(String::new(), |(target, _)| {
                format!("http://{}{}", target.authority(), target.path())
            });
        show(&compare::table(self.cli, &pairs, &first).to_string());
        for note in compare::notes(&pairs, &round.summary) {
            show(&format!("note: {note}"));
        }
        if pairs.is_empty() {
            return Err(
                "no pair of requests has two whole answers: there is nothing to compare".into(),
            );
        }
        let seen = Round {
            ran: compare::of_target(&round.ran, 0),
            summary: summaries.first().cloned().unwrap_or(round.summary),
        };
        self.save(
            &seen,
            Map::from_iter([("compared".to_owned(), serde_json::to_value(&pairs)?)]),
        )?;
        Ok(self.verdict([&seen.summary]))
    }

    fn show(&self, summary: &Summary) {
        show(&console::block(self.cli, &self.plan, summary));
        if let Some(table) = console::sources(summary) {
            show(&table.to_string());
        }
        for failure in notes::failures(summary) {
            show(&format!("failed: {failure}"));
        }
        for note in notes::notes(self.cli, &self.plan, summary) {
            show(&format!("note: {note}"));
        }
    }

    fn save(&self, round: &Round, more: Map<String, Value>) -> Result<(), BoxError> {
        if let Some(hdr) = &self.cli.results.hdr {
            crate::figures::write(hdr, &round.ran.outcomes, round.ran.duration)?;
            progress(&format!("histograms written to {}", hdr.display()));
        }
        let Some(file) = file::name(self.cli, &self.plan, &self.date) else {
            return Ok(());
        };
        let mut json = result::setup(self.cli, &self.plan, &self.date)?;
        json.extend(result::figures(self.cli, &self.plan, &round.summary));
        json.extend(more);
        if self.cli.results.save_detailed {
            json.extend(detail::detail(&round.ran.outcomes));
        }
        file::write(self.cli, &file, json)?;
        progress(&format!("written to {}", file.display()));
        Ok(())
    }

    fn verdict<'a>(&self, summaries: impl IntoIterator<Item = &'a Summary>) -> Verdict {
        let mut faults = Vec::new();
        for summary in summaries {
            faults.extend(summary.pace.faults());
            if summary.all.completed == 0 {
                faults.push("no request has a whole answer".to_owned());
            }
            for condition in &self.conditions {
                let check = condition.check(summary);
                show(&check.to_string());
                if !check.passed {
                    faults.push(check.to_string());
                }
            }
        }
        Verdict { faults }
    }
}

fn targets(cli: &Cli) -> Result<Vec<Target>, BoxError> {
    let args = &cli.target;
    let base = args
        .base_url
        .clone()
        .unwrap_or_else(|| match args.host.contains(':') {
            true => format!("http://[{}]:{}", args.host, args.port),
            false => format!("http://{}:{}", args.host, args.port),
        });
    let urls = std::iter::once(base).chain(cli.traffic.compare.clone());
    let targets = urls
        .map(|url| Target::parse(&url))
        .collect::<Result<Vec<_>, _>>()?;
    match targets
        .iter()
        .find(|target| !target.is_local() && !args.allow_remote)
    {
        Some(target) => Err(format!(
            "{} is not on this machine: add --allow-remote if it is yours to load",
            target.authority()
        )
        .into()),
        None => Ok(targets),
    }
}

async fn wait_for(target: &Target, seconds: u64) -> Result<(), BoxError> {
    for second in 0..=seconds {
        match tokio::net::TcpStream::connect(target.address()).await {
            Ok(_) => return Ok(()),
            Err(error) if second == seconds => {
                let authority = target.authority();
                return Err(format!("nobody accepts connections at {authority} ({error}): start the server, name another with --base-url, or wait for it with --ready-check-timeout-sec").into());
            }
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
    Ok(())
}

async fn first_model(target: &Target) -> Result<String, BoxError> {
    let wrong = |why: String| {
        format!(
            "/v1/models of {} {why}: name the model with --model",
            target.authority()
        )
    };
    let mut recording = Recording::default();
    let request = get(&format!("{}/v1/models", target.path()));
    target
        .exchange(&request, &mut recording)
        .await
        .map_err(|error| wrong(format!("does not answer ({error})")))?;
    let models: Value =
        serde_json::from_slice(&recording.body()).map_err(|_| wrong("is no JSON".to_owned()))?;
    let first = models.pointer("/data/0/id").and_then(Value::as_str);
    let first = first.ok_or_else(|| wrong("lists no model".to_owned()))?;
    progress(&format!("model {first}"));
    Ok(first.to_owned())
}
