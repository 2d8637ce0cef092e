//! The command line.

use crate::config;
use crate::config::types::Span;
use clap::{Parser, Subcommand};
use llm_backend::stub::{Settings, Stub};
use std::net::SocketAddr;
use std::path::PathBuf;

/// A serving front end for LLMs: a response cache, single flight and batching, in front of any OpenAI-compatible server.
///
/// Without a flag it listens on 127.0.0.1:8080 in front of a built-in stub that needs no GPU. To put it in front of a real
/// server: llm-front --backend http://localhost:8000
///
/// TIME is written 6ms, 30s, 1h or "1m 30s"; BYTES 512, 64KiB, 256MiB or 2GiB (kB, MB, GB: powers of 1000); `none` means no limit, or
/// no value.
///
/// Each flag is also an environment variable (LLM_FRONT_…) and a line of the --config file (the same name with underscores).
/// A flag wins over the environment, the environment over the file.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 110,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Cli {
    /// TOML file with settings; an unknown name is refused
    #[arg(long, env = "LLM_FRONT_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The settings.
    #[command(flatten)]
    pub settings: config::Settings,

    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do instead of serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the deterministic stub backend as a server of its own, for tests and load tests
    Stub(StubArgs),
}

/// How the stub behaves unless a request's model name says otherwise.
#[derive(Debug, clap::Args)]
pub struct StubArgs {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:8000")]
    pub listen: SocketAddr,
    /// Port on 127.0.0.1; short for --listen
    #[arg(long, conflicts_with = "listen")]
    pub port: Option<u16>,
    /// Cost of a call, before its first token
    #[arg(long, default_value = "12ms")]
    pub per_call: Span,
    /// Cost of each item (prompt) in a call, before its first token
    #[arg(long, default_value = "3ms")]
    pub per_item: Span,
    /// Pause between the tokens of a stream
    #[arg(long, default_value = "5ms")]
    pub pace: Span,
    /// Tokens of every answer, unless max_tokens is less
    #[arg(long, default_value_t = 16)]
    pub tokens: u32,
    /// Worker threads; 0: one a CPU
    #[arg(long, default_value_t = 0)]
    pub workers: usize,
}

impl StubArgs {
    /// The stub that they describe.
    #[must_use]
    pub fn stub(&self) -> Stub {
        let settings = Settings::default()
            .per_call(self.per_call.0)
            .per_item(self.per_item.0)
            .pace(self.pace.0)
            .tokens(self.tokens);
        Stub::new(settings)
    }
}
