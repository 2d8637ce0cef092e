//! Runs an experiment.

use super::{followers, generator, herd, overhead, reference};
use crate::BoxError;
use crate::cli::{Experiment, Name};
use crate::process::Binary;
use crate::report::Report;
use crate::runtime::bounded;

/// Runs what `cli` asks for.
///
/// # Errors
/// It could not be run to its end.
pub fn run(cli: &Experiment) -> Result<Report, BoxError> {
    match cli.name {
        Name::Reference => {
            let in_process = reference::in_process::runs(cli.runs)?;
            let sockets =
                bounded(async { reference::sockets::runs(&front(cli)?, cli.runs).await })?;
            reference::report(cli, &in_process, &sockets)
        }
        Name::Overhead => {
            overhead::pin()?;
            bounded(async { overhead::run(cli, &front(cli)?).await })
        }
        Name::Herd => bounded(async { herd::run(cli, &front(cli)?).await }),
        Name::Generator => {
            generator::pin()?;
            bounded(generator::run(cli))
        }
        Name::Followers => bounded(async { followers::run(cli, &front(cli)?).await }),
    }
}

fn front(cli: &Experiment) -> Result<Binary, BoxError> {
    Binary::find(cli.front.as_deref())
}
