//! One round: a warm-up, the load, its figures.

use super::plan::Plan;
use super::progress;
use crate::BoxError;
use crate::cli::Cli;
use crate::figures::Summary;
use crate::load::{Load, Ran, Stop, run};
use crate::report;

/// A round that is over.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) ran: Ran,
    pub(super) summary: Summary,
}

impl Round {
    pub(super) async fn run(
        cli: &Cli,
        plan: &Plan,
        number: usize,
        stop: &Stop,
    ) -> Result<Self, BoxError> {
        Self::of(cli, plan, plan.load(cli, number, stop)).await
    }

    pub(super) async fn of(cli: &Cli, plan: &Plan, load: Load) -> Result<Self, BoxError> {
        let ran = run(load, progress::watch(cli, plan.count)).await?;
        progress::clear(cli);
        let summary = Summary::of(&ran, &cli.results.goodput, plan.is_open);
        Ok(Self { ran, summary })
    }

    /// Asks what nobody measures, so that connections are open and the server is warm.
    pub(super) async fn warm_up(cli: &Cli, plan: &Plan, stop: &Stop) -> Result<(), BoxError> {
        if cli.traffic.num_warmups == 0 {
            return Ok(());
        }
        report::progress(&format!("{} requests to warm up", cli.traffic.num_warmups));
        let warm = run(plan.warm_up(cli, stop), |_| ()).await?;
        let failed = warm.outcomes.iter().find(|outcome| !outcome.is_whole());
        match failed {
            Some(outcome) => Err(format!(
                "a request of the warm-up failed ({}): {}",
                outcome.end.word(),
                outcome.why.as_deref().unwrap_or_default()
            )
            .into()),
            None => Ok(()),
        }
    }
}
