//! Training the verifier on the project's own set.

use std::path::Path;

use serde::Serialize;
use tower::BoxError;

use super::Args;
use super::output::Output;
use super::table::Table;
use crate::train::{Point, Tally, Trained, rows};

#[derive(Debug, Serialize)]
struct Results {
    command: String,
    #[serde(flatten)]
    trained: Trained,
}

pub(super) fn run(args: &Args, weights: &Path, output: &mut Output) -> Result<(), BoxError> {
    let trained = Trained::new(&rows()?, args.max_wrong_of_traps());
    let mut table = Table::new(["judged", "least", "served of same", "wrong of traps"]);
    for (half, tally) in &trained.rules {
        table.row(row(&format!("{half}, rules alone"), "-".to_owned(), *tally));
    }
    for (name, points) in [
        ("dev, topics left out", &trained.cross_validated),
        ("test", &trained.test),
    ] {
        let shown = points.iter().enumerate();
        for (_, Point { least, tally }) in
            shown.filter(|(at, point)| at % 5 == 0 || trained.least == Some(point.least))
        {
            let mark = if trained.least == Some(*least) {
                " *"
            } else {
                ""
            };
            table.row(row(name, format!("{least:.2}{mark}"), *tally));
        }
    }
    output.line(table.to_string())?;
    output.line(format!(
        "* the lowest that accepts less than {} % of the traps, with a confidence of 97.5 %",
        100.0 * trained.limit
    ))?;
    let file = trained.file();
    let results = Results {
        command: args.command(),
        trained,
    };
    output.value(&results)?;
    if !args.json {
        std::fs::write(weights, file).map_err(|error| format!("{}: {error}", weights.display()))?;
        output.line(format!("{} written", weights.display()))?;
    }
    output.save("verifier_training.json", &results)
}

fn row(name: &str, least: String, tally: Tally) -> [String; 4] {
    let share = |part: usize, of: usize| {
        format!(
            "{:.1} % ({part}/{of})",
            100.0 * part as f64 / of.max(1) as f64
        )
    };
    [
        name.to_owned(),
        least,
        share(tally.served, tally.same),
        share(tally.wrong, tally.traps),
    ]
}
