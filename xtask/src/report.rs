//! `cargo xtask report`.

use crate::run::{Failed, Profile, Program};

const REPORT: Program = Program {
    package: "llm-report",
    features: "",
    starts: &[],
    profile: Profile::Release,
};

/// The part that runs the gateway's own binary.
const LOAD_TEST: &str = "loadtest";

/// Builds what the asked parts need, and runs it.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failed> {
    let mut values = arguments
        .iter()
        .skip_while(|argument| !argument.starts_with("--only"));
    let starts: &[&str] = match (values.next(), values.next()) {
        (Some(only), value)
            if !only.contains(LOAD_TEST)
                && !value.is_some_and(|value| value.contains(LOAD_TEST)) =>
        {
            &[]
        }
        _ => &["llm-front"],
    };
    // What is checked is exact, or has a wide limit.
    let profile = if arguments.iter().any(|argument| argument == "--check") {
        Profile::Quick
    } else {
        Profile::Release
    };
    let report = Program {
        starts,
        profile,
        ..REPORT
    };
    report.run(arguments)
}
