//! Which server, and in which words.

use clap::{ArgAction, ValueEnum};
use serde_json::{Map, Value};
use std::time::Duration;

/// Which server, and in which words.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "target")]
#[command(next_help_heading = "Server")]
pub struct TargetArgs {
    /// The server [default: http://HOST:PORT]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// Its host, where there is no --base-url
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,

    /// Its port, where there is no --base-url
    #[arg(long, default_value_t = 8000)]
    pub port: u16,

    /// The call, by its path [default: that of --backend, else /v1/completions]
    #[arg(long, value_name = "PATH")]
    pub endpoint: Option<String>,

    /// The call, by the name that `vllm bench serve` has for it [default: that of --endpoint]
    #[arg(long)]
    pub backend: Option<Backend>,

    /// The model's name [default: the first that /v1/models lists]
    #[arg(long)]
    pub model: Option<String>,

    /// The model's name in requests, where --model names something else
    #[arg(long, value_name = "MODEL")]
    pub served_model_name: Option<String>,

    /// A header field of every request. `OPENAI_API_KEY` in the environment is sent as a bearer token
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub header: Vec<String>,

    /// The form of the answers: as a stream (all that is about tokens needs one), or as one body
    #[arg(long, default_value = "stream")]
    pub form: FormName,

    /// Load a server that is not on this machine. It must be yours: this sends as fast as it is told to
    #[arg(long)]
    pub allow_remote: bool,

    /// Give a request up after so long
    #[arg(long, value_name = "TIME", default_value = "600s", value_parser = super::duration::duration)]
    pub request_timeout: Duration,

    /// Wait so many seconds for the server to accept connections
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub ready_check_timeout_sec: u64,

    /// Sampling. Unset ones are the server's own. Without --temperature 0 a front end that caches passes requests by
    #[arg(long, help_heading = "Sampling")]
    pub temperature: Option<f64>,

    /// Only of the likeliest tokens that together have this probability
    #[arg(long, value_name = "NUMBER", help_heading = "Sampling")]
    pub top_p: Option<f64>,

    /// Only of so many of the likeliest tokens
    #[arg(long, value_name = "NUMBER", help_heading = "Sampling")]
    pub top_k: Option<i64>,

    /// Only of tokens at least this likely beside the likeliest
    #[arg(long, value_name = "NUMBER", help_heading = "Sampling")]
    pub min_p: Option<f64>,

    /// Against words that were said often
    #[arg(long, value_name = "NUMBER", help_heading = "Sampling")]
    pub frequency_penalty: Option<f64>,

    /// Against words that were said
    #[arg(long, value_name = "NUMBER", help_heading = "Sampling")]
    pub presence_penalty: Option<f64>,

    /// Against repetition, as a factor
    #[arg(long, value_name = "NUMBER", help_heading = "Sampling")]
    pub repetition_penalty: Option<f64>,

    /// Log probabilities of so many tokens. With them the server tells how many tokens a chunk has
    #[arg(long, help_heading = "Sampling")]
    pub logprobs: Option<u32>,

    /// Generate to the full length. Always so for --dataset-name random, zipf and trace
    #[arg(long, help_heading = "Sampling", action = ArgAction::SetTrue)]
    pub ignore_eos: bool,

    /// More members of every request's body, as a JSON object
    #[arg(long, value_name = "JSON", help_heading = "Sampling", value_parser = object)]
    pub extra_body: Option<Map<String, Value>>,

    /// Has no effect: prompts are made of words that are one token each in the vocabularies in use, and the server counts
    #[arg(long, hide = true)]
    pub tokenizer: Option<String>,

    /// Has no effect
    #[arg(long, hide = true)]
    pub tokenizer_mode: Option<String>,

    /// Has no effect
    #[arg(long, hide = true)]
    pub skip_tokenizer_init: bool,

    /// Has no effect
    #[arg(long, hide = true)]
    pub trust_remote_code: bool,
}

/// The names that `vllm bench serve` has for calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Backend {
    /// /v1/completions
    #[value(alias = "vllm")]
    Openai,
    /// /v1/chat/completions
    OpenaiChat,
    /// /v1/embeddings
    OpenaiEmbeddings,
}

/// The forms of answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum FormName {
    /// Server-sent events
    Stream,
    /// One JSON body
    Body,
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("no JSON object: {error}"))
}
