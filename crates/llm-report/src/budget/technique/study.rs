//! Figures of the simulator's own experiments.

use crate::BoxError;
use llm_sim::study::front_end::{ALL, Experiment, Plan};

/// Runs the experiment of that name, over so many seeds.
pub(super) fn run(name: &str, seeds: u64) -> Result<Experiment, BoxError> {
    let known = ALL.iter().find(|(known, _)| *known == name);
    let (_, run) = known.ok_or_else(|| format!("the simulator has no experiment `{name}`"))?;
    Ok(run(&Plan {
        seeds,
        requests: 10_000,
    }))
}

/// The mean of a figure over the seeds.
pub(super) fn mean(experiment: &Experiment, variant: &str, figure: &str) -> Result<f64, BoxError> {
    let row = experiment.rows.iter().find(|row| row.variant == variant);
    let measure = row.and_then(|row| row.measures.iter().find(|measure| measure.name == figure));
    let measure = measure.ok_or_else(|| {
        format!(
            "`{}` has no figure `{figure}` of `{variant}`",
            experiment.name
        )
    })?;
    Ok(measure.ours.mean)
}
