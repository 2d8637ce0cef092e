//! The command line.

use crate::config;
use crate::config::types::Span;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Parser, Subcommand};
use llm_backend::stub::{Engine, Settings, Stub};
use llm_sim::cost::{Preset, presets};
use std::net::SocketAddr;
use std::path::PathBuf;

/// A serving front end for LLMs: a response cache, single flight and batching, in front of any OpenAI-compatible server.
///
/// Without a flag it listens on 127.0.0.1:8080 in front of a built-in stub that needs no GPU. To put it in front of a real
/// server: llm-front --backend http://localhost:8000
///
/// TIME is written 6ms, 30s, 1h or "1m 30s"; BYTES 512, 64KiB, 256MiB or 2GiB (kB, MB, GB: powers of 1000). Settings whose default is
/// `none` take `none` again: no limit, or no value.
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
    /// Take the time of a simulated server instead: requests wait for a seat, share steps and get a token a step, in real time, on
    /// the accelerator and the model of this preset (`cargo xtask sim presets` says what they are). A word of a prompt counts as a
    /// token; --tokens bounds the answers
    #[arg(
        long,
        value_name = "PRESET",
        value_parser = names().try_map(|name| find(&name)),
        conflicts_with_all = ["per_call", "per_item", "pace"],
        hide_possible_values = true,
    )]
    pub cost_model: Option<&'static Preset>,
    /// Seats of the simulated server: sequences a step [default: the preset's]
    #[arg(long, requires = "cost_model")]
    pub seats: Option<u32>,
    /// How many times faster than real time the simulated server runs [default: 1]
    #[arg(long, requires = "cost_model")]
    pub speed: Option<f64>,
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
        match self.cost_model {
            None => Stub::new(settings),
            Some(preset) => {
                let server = preset.server(self.seats);
                let engine = Engine::with_speed(server, self.speed.unwrap_or(1.0));
                Stub::replay(settings, engine)
            }
        }
    }
}

/// Only names of presets.
fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(presets::ALL.iter().map(|preset| preset.name))
}

fn find(name: &str) -> Result<&'static Preset, String> {
    presets::find(name).ok_or_else(|| format!("there is no preset {name}"))
}
