//! The terminal: results on standard output, progress on standard error.

/// Prints a line of results.
#[expect(clippy::print_stdout, reason = "a command-line program")]
pub fn show(line: &str) {
    println!("{line}");
}

/// Tells somebody who waits what is going on.
pub fn progress(line: &str) {
    eprintln!("… {line}");
}
