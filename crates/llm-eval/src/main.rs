//! `cargo xtask cache-eval`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use llm_eval::command::{self, Args};

fn main() -> ExitCode {
    match command::run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask cache-eval: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprintln!("  because: {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}
