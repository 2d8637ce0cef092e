//! The search for the smallest fleet.

use std::collections::BTreeMap;

use super::{Answer, Fleet, Metric, Question, Stage};
use crate::{
    engine::{Report, Simulation},
    front::{Direct, Lookup},
    metrics::Sketch,
    server::Completion,
};

/// Answers a question; `progress` is told the size of each fleet before it is simulated.
pub fn answer(question: &Question<'_>, mut progress: impl FnMut(usize)) -> Answer {
    let capacity_rps = capacity(question);
    let missed_rps = question.rate_rps * (1.0 - question.hit_rate);
    let mut tried: BTreeMap<usize, (Fleet, Vec<Stage>)> = BTreeMap::new();
    let mut meets = |replicas: usize| {
        let (fleet, _) = tried.entry(replicas).or_insert_with(|| {
            progress(replicas);
            simulate(
                question,
                replicas,
                question.rate_rps,
                question.hit_rate,
                capacity_rps,
            )
        });
        fleet.meets
    };
    // One more replica never hurts: double until the target is met, then bisect.
    let most = question.most_replicas.max(1);
    let mut high = ((missed_rps / capacity_rps).ceil() as usize).clamp(1, most);
    let mut low = high - 1;
    while !meets(high) && high < most {
        low = high;
        high = (high * 2).min(most);
    }
    while high - low > 1 && meets(high) {
        let middle = usize::midpoint(low, high);
        if meets(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let replicas = meets(high).then_some(high);
    let budget = tried
        .get(&high)
        .map(|(_, budget)| budget.clone())
        .unwrap_or_default();
    Answer {
        capacity_rps,
        replicas,
        budget,
        what_if: what_if(question, high, capacity_rps),
        fleets: tried.into_values().map(|(fleet, _)| fleet).collect(),
    }
}

/// Requests a second of one replica that always has work.
fn capacity(question: &Question<'_>) -> f64 {
    let mut sim = Simulation::new(vec![(question.server)()], Direct::default());
    let requests = question.requests.min(20_000);
    sim.run((question.workload)(1e9).take(requests))
        .requests_per_s()
}

fn what_if(question: &Question<'_>, replicas: usize, capacity_rps: f64) -> Vec<(String, Fleet)> {
    let (rate, hit) = (question.rate_rps, question.hit_rate);
    let mut cases = vec![
        ("one replica more".to_owned(), replicas + 1, rate, hit),
        ("a quarter more load".to_owned(), replicas, rate * 1.25, hit),
    ];
    if replicas > 1 {
        cases.push(("one replica lost".to_owned(), replicas - 1, rate, hit));
    }
    for other in [0.0, 0.3, 0.52, 0.7] {
        if (other - hit).abs() > 1e-9 {
            cases.push((
                format!("a hit rate of {:.0} %", other * 100.0),
                replicas,
                rate,
                other,
            ));
        }
    }
    cases
        .into_iter()
        .map(|(name, replicas, rate, hit)| {
            (
                name,
                simulate(question, replicas, rate, hit, capacity_rps).0,
            )
        })
        .collect()
}

/// One fleet at one load.
fn simulate(
    question: &Question<'_>,
    replicas: usize,
    rate_rps: f64,
    hit_rate: f64,
    capacity_rps: f64,
) -> (Fleet, Vec<Stage>) {
    let utilisation = rate_rps * (1.0 - hit_rate) / (replicas as f64 * capacity_rps);
    let servers = (0..replicas).map(|_| (question.server)()).collect();
    let direct = Direct::new(question.balance, "plan");
    let lookup_ms = if hit_rate > 0.0 {
        question.lookup_ms
    } else {
        0.0
    };
    let mut stages = Stages::new(lookup_ms);
    let mut sim = Simulation::new(servers, Lookup::new(direct, hit_rate, lookup_ms, "plan"))
        .limits(question.limits)
        .warm_up(question.requests as u64 / 10);
    let requests = (question.workload)(rate_rps).take(question.requests);
    let report = sim.run_into(requests, &mut |done: &Completion| stages.add(done));
    let latency = &report.latency;
    let target = &question.target;
    let measured = match target.metric {
        Metric::EndToEnd => &latency.e2e,
        Metric::FirstToken => &latency.ttft,
        Metric::PerToken => &latency.tpot,
    };
    let within = target
        .limit_ms
        .is_none_or(|limit| measured.quantile(target.quantile) <= limit);
    let good = target
        .goodput
        .is_none_or(|share| latency.goodput() >= share);
    let fleet = Fleet {
        replicas,
        hit_rate,
        rate_rps,
        utilisation,
        meets: utilisation < 1.0 && within && good && report.counts.rejected == 0,
        e2e_p50_ms: latency.e2e.quantile(0.5),
        e2e_p99_ms: latency.e2e.quantile(0.99),
        ttft_p99_ms: latency.ttft.quantile(0.99),
        tpot_p99_ms: latency.tpot.quantile(0.99),
        goodput: latency.goodput(),
        output_tokens_per_s: report.tokens_per_s(),
        price_per_million_tokens: question
            .price_per_hour
            .map(|price| price * replicas as f64 / (tokens_per_hour(&report, rate_rps) / 1e6)),
    };
    (fleet, stages.rows())
}

/// Output tokens an hour at the offered load: of the long run, not of the run's beginning and end.
fn tokens_per_hour(report: &Report, rate_rps: f64) -> f64 {
    let per_request = report.counts.output_tokens as f64 / report.counts.done.max(1) as f64;
    per_request * report.requests_per_s().min(rate_rps) * 3600.0
}

/// Time by stage.
#[derive(Debug)]
struct Stages {
    lookup_ms: f64,
    lookup: Sketch,
    queue: Sketch,
    prefill: Sketch,
    decode: Sketch,
    total: Sketch,
}

impl Stages {
    fn new(lookup_ms: f64) -> Self {
        let [lookup, queue, prefill, decode, total] = std::array::from_fn(|_| Sketch::default());
        Self {
            lookup_ms,
            lookup,
            queue,
            prefill,
            decode,
            total,
        }
    }

    fn add(&mut self, done: &Completion) {
        let queued = done.scheduled_ms - done.request.arrival_ms - self.lookup_ms;
        self.lookup.add(self.lookup_ms, 1);
        self.queue.add(queued.max(0.0), 1);
        self.prefill.add(done.first_token_ms - done.scheduled_ms, 1);
        self.decode.add(done.finished_ms - done.first_token_ms, 1);
        self.total.add(done.e2e_ms(), 1);
    }

    fn rows(&self) -> Vec<Stage> {
        let total = self.total.mean().max(f64::MIN_POSITIVE);
        [
            ("cache look-up", &self.lookup),
            ("queue", &self.queue),
            ("prefill, to the first token", &self.prefill),
            ("decode, to the last token", &self.decode),
            ("total", &self.total),
        ]
        .map(|(stage, sketch)| Stage {
            stage,
            mean_ms: sketch.mean(),
            p50_ms: sketch.quantile(0.5),
            p99_ms: sketch.quantile(0.99),
            share: sketch.mean() / total,
        })
        .to_vec()
    }
}
