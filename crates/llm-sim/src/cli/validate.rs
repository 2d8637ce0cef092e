//! `validate`: real runs beside their simulation.

use std::path::Path;

use serde::Serialize;

use super::output::{Output, Table};
use crate::{
    error::Error,
    validate::{self, Comparison, Errors, PEERS},
};

#[derive(Debug, Serialize)]
struct Results {
    command: &'static str,
    about: &'static str,
    peers: Vec<(&'static str, &'static str)>,
    runs: Vec<Comparison>,
}

const ABOUT: &str = "signed relative errors in per cent; the simulator knows the server's settings, \
arrivals, lengths and the operator tables of the model on the accelerator; nothing is fitted to a run";

type Metric = (&'static str, fn(&Errors) -> f64);

const METRICS: [Metric; 8] = [
    ("latency, mean", |errors| errors.e2e_mean),
    ("latency, p50", |errors| errors.e2e_p50),
    ("latency, p99", |errors| errors.e2e_p99),
    ("time to first token, mean", |errors| errors.ttft_mean),
    ("time to first token, p99", |errors| errors.ttft_p99),
    ("time a token, mean", |errors| errors.tpot_mean),
    ("time a token, p99", |errors| errors.tpot_p99),
    ("latency a request, mean absolute", |errors| errors.e2e_mape),
];

pub(super) fn run(data: &Path, output: &mut Output) -> Result<(), Error> {
    let mut runs = Vec::new();
    for (name, run) in validate::find(data)? {
        match run {
            Ok(run) => runs.push(run),
            Err(reason) => output.line(&format!("{name} is left out: {reason}"))?,
        }
    }
    if runs.is_empty() {
        return Err(Error::new(format!(
            "no runs (*__requests.jsonl) in {}",
            data.display()
        )));
    }
    let runs: Vec<Comparison> = runs.iter().map(validate::compare).collect();
    for run in &runs {
        output.line(&format!(
            "{}: {} requests, mean latency {:.1} s measured, {:.1} s simulated, {} preemptions",
            run.name,
            run.requests,
            run.measured_e2e_mean_s,
            run.simulated_e2e_mean_s,
            run.preemptions
        ))?;
        let mut table = Table::new(["error, %", "ours", "without a KV limit"]);
        for (name, of) in METRICS {
            table.row([
                name.to_owned(),
                format!("{:+.1}", of(&run.errors)),
                format!("{:+.1}", of(&run.without_kv_limit)),
            ]);
        }
        output.line(&table.to_string())?;
    }
    let mut table = Table::new(["what others say of themselves", "error"]);
    for (peer, claim) in PEERS {
        table.row([(*peer).to_owned(), (*claim).to_owned()]);
    }
    output.line(&table.to_string())?;
    let results = Results {
        command: "cargo xtask sim validate --data DIR",
        about: ABOUT,
        peers: PEERS.to_vec(),
        runs,
    };
    output.save("sim_validation.json", &results)?;
    output.value(&results)
}
