//! `/v1/generate` as the completion it stands for.

use bytes::Bytes;

use crate::json::{Edits, Object, push_string};

/// What `/v1/generate` generates at most, unless told otherwise, in tokens.
pub const DEFAULT_GENERATE_TOKENS: u32 = 64;

/// The completion request that a `/v1/generate` request stands for: the model is filled in if it names none, `max_tokens` is
/// [`DEFAULT_GENERATE_TOKENS`] and `temperature` 0 unless given. All other bytes stay as they are.
///
/// The body should have passed [`Prompt::parse`](crate::prompt::Prompt::parse). None if it is not a JSON object, or has a key
/// twice.
#[must_use]
pub fn completion_request(body: &Bytes, default_model: Option<&str>) -> Option<Bytes> {
    let object = Object::parse(body).ok()?;
    let mut edits = Edits::new(&object);
    if let Some(model) = default_model {
        let mut quoted = Vec::with_capacity(model.len() + 2);
        push_string(&mut quoted, model);
        edits.set_default("model", &String::from_utf8(quoted).ok()?);
    }
    edits.set_default("max_tokens", &DEFAULT_GENERATE_TOKENS.to_string());
    edits.set_default("temperature", "0");
    Some(edits.apply().unwrap_or_else(|| body.clone()))
}
