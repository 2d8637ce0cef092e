//! Reading one request.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use super::{Endpoint, Error};
use crate::json::{self, Object};

/// The fields that cannot change what is answered, only its form or its book-keeping: they are not part of
/// [`Prompt::canonical`]. Every other field, known or unknown, is.
pub const IGNORED: [&str; 5] = ["metadata", "store", "stream", "stream_options", "user"];

/// The longest prompt that `/v1/generate` takes, in characters.
pub const MAX_GENERATE_PROMPT: usize = 20_000;

/// The most tokens that `/v1/generate` may be asked for.
pub const MAX_GENERATE_TOKENS: u32 = 4096;

/// What one request asks for. See the [module docs](super).
#[derive(Clone)]
#[non_exhaustive]
pub struct Prompt {
    /// The call it is for.
    pub endpoint: Endpoint,
    /// The model it names. Only `/v1/generate` may leave it out.
    pub model: Option<Arc<str>>,
    /// It wants the answer as a stream of events. `"stream": null` is no.
    pub stream: bool,
    /// It wants the usage at the end of that stream (`stream_options.include_usage`). False without `stream`: a body always
    /// tells the usage.
    pub include_usage: bool,
    /// Two answers to it may differ: a temperature above 0, or none where the default is above 0 (chat, completions). A `seed`
    /// does not change that: servers promise no more than their best effort. `/v1/generate` is greedy unless told otherwise;
    /// embeddings are never sampled. A temperature that is not a number counts as sampled.
    pub sampled: bool,
    /// It asks for several choices (`n` or `best_of` above 1, or not a number).
    pub choices: bool,
    /// The whole request in canonical form, without the fields in [`IGNORED`]: equal bytes, same question.
    pub canonical: Bytes,
    /// Something in it rules semantic matching out, beyond what the prompt itself says.
    pub(super) exact_only: bool,
}

// === impl Prompt ===

impl Prompt {
    /// Reads a request body.
    ///
    /// Refused: what is not a JSON object or has a key twice; a `model` that is missing (except for [`Endpoint::Generate`]) or
    /// not a string; a `stream` that is not a boolean; `messages` that are missing, empty or not an array;
    /// for [`Endpoint::Generate`] also a `prompt` that is not a string of 1 to [`MAX_GENERATE_PROMPT`] characters, `max_tokens`
    /// outside of 1 to [`MAX_GENERATE_TOKENS`], more than one choice, and `"stream": true`, since it answers with one text. All
    /// other fields, those of `/v1/generate` included, are kept as they are and left to the server to judge.
    ///
    /// # Errors
    ///
    /// With the field it is about. All of them are the caller's fault (400).
    pub fn parse(endpoint: Endpoint, body: &Bytes) -> Result<Self, Error> {
        Self::of(endpoint, &Object::parse(body).map_err(Error::json)?)
    }

    pub(crate) fn of(endpoint: Endpoint, object: &Object<'_>) -> Result<Self, Error> {
        let mut seen = Seen::default();
        for member in object.members() {
            seen.member(endpoint, member.key(), member.value())?;
        }
        seen.required(endpoint)?;
        let Seen {
            model,
            stream,
            include_usage,
            temperature,
            choices,
            exact_only,
            input: _,
        } = seen;
        Ok(Self {
            endpoint,
            model,
            stream,
            include_usage: stream && include_usage,
            sampled: temperature.sampled(endpoint),
            choices: choices && endpoint != Endpoint::Embeddings,
            canonical: object.canonical(&IGNORED),
            exact_only,
        })
    }
}

impl fmt::Debug for Prompt {
    /// Without the text of the prompt.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            endpoint,
            model,
            stream,
            include_usage,
            sampled,
            choices,
            canonical,
            exact_only,
        } = self;
        f.debug_struct("Prompt")
            .field("endpoint", endpoint)
            .field("model", model)
            .field("stream", stream)
            .field("include_usage", include_usage)
            .field("sampled", sampled)
            .field("choices", choices)
            .field("canonical_bytes", &canonical.len())
            .field("exact_only", exact_only)
            .finish()
    }
}

/// What the members seen so far say.
#[derive(Debug, Default)]
struct Seen {
    model: Option<Arc<str>>,
    stream: bool,
    include_usage: bool,
    temperature: Temperature,
    choices: bool,
    exact_only: bool,
    input: bool,
}

#[derive(Debug, Clone, Copy, Default)]
enum Temperature {
    #[default]
    Absent,
    Zero,
    Above,
}

// === impl Seen ===

impl Seen {
    fn member(&mut self, endpoint: Endpoint, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let generate = endpoint == Endpoint::Generate;
        match key {
            b"model" if generate && value == b"null" => {}
            b"model" => match json::decode(value) {
                Some(name) => self.model = Some(name.into()),
                None => return Err(Error::invalid("model", "a string")),
            },
            b"stream" => match value {
                b"true" if generate => {
                    return Err(Error::invalid(
                        "stream",
                        "false: this call answers with one text",
                    ));
                }
                b"true" => self.stream = true,
                b"false" | b"null" => {}
                _ => return Err(Error::invalid("stream", "a boolean")),
            },
            b"stream_options" => {
                self.include_usage = json::members(value, 0).any(|(key, range)| {
                    key == b"include_usage" && value.get(range) == Some(&b"true"[..])
                });
            }
            b"temperature" => self.temperature = Temperature::of(value),
            b"n" | b"best_of" => {
                let several = value != b"null" && json::number(value).is_none_or(|n| n > 1.0);
                if several && generate {
                    let name = if key == b"n" { "n" } else { "best_of" };
                    return Err(Error::invalid(name, "1: this call answers with one text"));
                }
                self.choices |= several;
            }
            b"messages" if endpoint == Endpoint::ChatCompletions => {
                if value == b"[]" || !value.starts_with(b"[") {
                    return Err(Error::invalid("messages", "a non-empty array"));
                }
                self.input = true;
            }
            b"prompt" if generate => {
                let length = json::decode(value).map(|text| text.chars().count());
                match length {
                    Some(1..=MAX_GENERATE_PROMPT) => self.input = true,
                    _ => {
                        return Err(Error::invalid(
                            "prompt",
                            "a string of 1 to 20000 characters",
                        ));
                    }
                }
            }
            b"max_tokens" if generate && value != b"null" => {
                let tokens = std::str::from_utf8(value)
                    .ok()
                    .and_then(|n| n.parse::<u32>().ok());
                if !matches!(tokens, Some(1..=MAX_GENERATE_TOKENS)) {
                    return Err(Error::invalid(
                        "max_tokens",
                        "a whole number from 1 to 4096",
                    ));
                }
            }
            // What is there but says nothing.
            _ if matches!(value, b"null" | b"false" | b"[]") => {}
            b"modalities" => self.exact_only |= value != br#"["text"]"#,
            b"audio"
            | b"echo"
            | b"functions"
            | b"logprobs"
            | b"prompt_logprobs"
            | b"tools"
            | b"top_logprobs"
            | b"web_search_options" => self.exact_only = true,
            _ => {}
        }
        Ok(())
    }

    fn required(&self, endpoint: Endpoint) -> Result<(), Error> {
        if self.model.is_none() && endpoint != Endpoint::Generate {
            return Err(Error::missing("model"));
        }
        let must = matches!(endpoint, Endpoint::ChatCompletions | Endpoint::Generate);
        if must && !self.input {
            return Err(Error::missing(endpoint.input()));
        }
        Ok(())
    }
}

// === impl Temperature ===

impl Temperature {
    fn of(value: &[u8]) -> Self {
        match json::number(value) {
            None if value == b"null" => Self::Absent,
            Some(number) if number <= 0.0 => Self::Zero,
            _ => Self::Above,
        }
    }

    const fn sampled(self, endpoint: Endpoint) -> bool {
        match (endpoint, self) {
            (Endpoint::Embeddings, _) | (_, Self::Zero) => false,
            (_, Self::Above) => true,
            (Endpoint::ChatCompletions | Endpoint::Completions, Self::Absent) => true,
            (Endpoint::Generate, Self::Absent) => false,
        }
    }
}
