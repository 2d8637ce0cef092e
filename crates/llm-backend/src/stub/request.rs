//! What a request asks for.

use serde::Deserialize;
use serde_json::Value;

use super::script::Script;
use super::settings::Settings;
use super::text;

/// The endpoints that are work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Chat,
    Completions,
    Embeddings,
}

/// One call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) endpoint: Endpoint,
    /// The model's name as a JSON string.
    pub(super) model: String,
    pub(super) script: Script,
    pub(super) prompts: Vec<Prompt>,
    /// Choices a prompt.
    pub(super) n: u32,
    pub(super) max_tokens: Option<u32>,
    pub(super) stream: Option<Stream>,
    pub(super) base64: bool,
    pub(super) dimensions: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Prompt {
    pub(super) seed: u64,
    pub(super) tokens: u64,
}

/// An answer in pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) include_usage: bool,
}

/// One answer to one prompt.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) index: usize,
    pub(super) seed: u64,
    pub(super) tokens: u32,
    pub(super) finish: String,
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    model: String,
    #[serde(default)]
    messages: Value,
    #[serde(default)]
    prompt: Value,
    #[serde(default)]
    input: Value,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    max_tokens: Option<u32>,
    max_completion_tokens: Option<u32>,
    n: Option<u32>,
    encoding_format: Option<String>,
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

// === impl Call ===

impl Call {
    /// Reads a request's body; the error says what is wrong with it.
    pub(super) fn parse(
        endpoint: Endpoint,
        body: &[u8],
        settings: &Settings,
    ) -> Result<Self, String> {
        let body: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let script = Script::parse(&body.model).map_err(|error| format!("model: {error}"))?;
        let prompts = match endpoint {
            Endpoint::Chat if body.messages.is_array() => vec![Prompt::of(&body.messages)],
            Endpoint::Chat => return Err("messages: an array is needed".to_owned()),
            Endpoint::Completions => {
                prompts(&body.prompt).map_err(|error| format!("prompt: {error}"))?
            }
            Endpoint::Embeddings => {
                prompts(&body.input).map_err(|error| format!("input: {error}"))?
            }
        };
        let n = body.n.unwrap_or(1);
        if !(1..=128).contains(&n) {
            return Err("n: a number from 1 to 128 is needed".to_owned());
        }
        let dimensions = body.dimensions.unwrap_or(settings.dimensions);
        if !(1..=8192).contains(&dimensions) {
            return Err("dimensions: a number from 1 to 8192 is needed".to_owned());
        }
        let include_usage = body
            .stream_options
            .and_then(|options| options.include_usage);
        let stream = body.stream == Some(true) && endpoint != Endpoint::Embeddings;
        Ok(Self {
            endpoint,
            model: serde_json::to_string(&body.model).map_err(|error| error.to_string())?,
            script,
            prompts,
            n,
            max_tokens: body.max_completion_tokens.or(body.max_tokens),
            stream: stream.then_some(Stream {
                include_usage: include_usage == Some(true),
            }),
            base64: body.encoding_format.as_deref() == Some("base64"),
            dimensions,
        })
    }

    /// The answers, in the order of their index.
    pub(super) fn choices(&self, settings: &Settings) -> Vec<Choice> {
        let answers = self
            .prompts
            .iter()
            .flat_map(|prompt| (0..self.n).map(move |n| (prompt.seed, n)));
        let natural = self.script.tokens.or(settings.tokens);
        let limit = self.max_tokens.unwrap_or(u32::MAX);
        let choice = |(index, (prompt, n)): (usize, (u64, u32))| {
            let seed = if n == 0 {
                prompt
            } else {
                text::mix(prompt ^ u64::from(n))
            };
            let natural = natural.unwrap_or_else(|| text::length(seed));
            let reason = if natural > limit { "length" } else { "stop" };
            let finish = self
                .script
                .finish
                .clone()
                .unwrap_or_else(|| reason.to_owned());
            Choice {
                index,
                seed,
                tokens: natural.min(limit),
                finish,
            }
        };
        answers.enumerate().map(choice).collect()
    }

    /// A number that belongs to the call's prompts.
    pub(super) fn seed(&self) -> u64 {
        self.prompts
            .iter()
            .fold(text::mix(self.endpoint as u64), |sum, prompt| {
                text::mix(sum ^ prompt.seed)
            })
    }

    pub(super) fn prompt_tokens(&self) -> u64 {
        self.prompts.iter().map(|prompt| prompt.tokens).sum()
    }
}

// === impl Prompt ===

impl Prompt {
    fn of(value: &Value) -> Self {
        Self {
            seed: text::seed(value),
            tokens: text::count(value),
        }
    }
}

/// A text, texts, token ids, or arrays of token ids.
fn prompts(value: &Value) -> Result<Vec<Prompt>, &'static str> {
    match value {
        Value::String(_) => Ok(vec![Prompt::of(value)]),
        Value::Array(items) if items.is_empty() => Err("it is empty"),
        Value::Array(items) if items.iter().all(Value::is_number) => Ok(vec![Prompt::of(value)]),
        Value::Array(items) if items.iter().all(|item| item.is_string() || item.is_array()) => {
            Ok(items.iter().map(Prompt::of).collect())
        }
        _ => Err("a text or an array of texts is needed"),
    }
}
