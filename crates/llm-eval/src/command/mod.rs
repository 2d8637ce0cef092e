//! The command line: `cargo xtask cache-eval`.

mod args;
mod check;
mod labelled;
mod output;
mod progress;
mod reference;
mod stream;
mod table;
mod train;

pub use self::{args::Args, progress::Progress};

use tower::BoxError;

use self::args::Source;
use self::output::Output;

/// Runs it: results go to standard output and into files, progress to standard error.
///
/// # Errors
///
/// Files that cannot be read or written, a model that is not there, and a check that fails.
pub fn run(args: &Args) -> Result<(), BoxError> {
    let mut output = Output::new(args);
    match args.source() {
        Source::Train(weights) => train::run(args, weights, &mut output),
        Source::Reference => reference::run(args, &mut output),
        Source::Own => labelled::run(args, &crate::set::own()?, &mut output),
        Source::Pairs(file) => labelled::run(args, &crate::set::pairs(file)?, &mut output),
        Source::Stream(files) => stream::run(args, files, &mut output),
        Source::Classes(file) => labelled::run(args, &crate::set::classes(file)?, &mut output),
    }
}
