//! One caller's request, and several as one.

use std::{fmt, ops::Range};

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{Error, Kind};
use crate::{
    json::{self, Edits, Object},
    prompt::{self, Endpoint, Prompt},
};

/// One caller's request, ready to be merged with others. See the [module docs](super).
#[derive(Clone)]
pub struct Part {
    endpoint: Endpoint,
    body: Bytes,
    compat: Bytes,
    /// Where in the body the input stands.
    input: Range<usize>,
    /// The inputs, each a JSON string.
    inputs: Vec<Bytes>,
}

// === impl Part ===

impl Part {
    /// Reads a request. For [`Endpoint::Generate`] the body is what
    /// [`completion_request`](super::completion_request) made of it.
    ///
    /// None if it must not be merged: a chat, a stream, several choices, an input that is not a string or a non-empty array of
    /// strings. It goes upstream as it is.
    #[must_use]
    pub fn new(endpoint: Endpoint, body: &Bytes) -> Option<Self> {
        Self::of(endpoint, &Object::parse(body).ok()?, body)
    }

    /// `object` is what `body` says.
    fn of(endpoint: Endpoint, object: &Object<'_>, body: &Bytes) -> Option<Self> {
        if endpoint == Endpoint::ChatCompletions {
            return None;
        }
        let is = |name: &str, check: fn(&[u8]) -> bool| {
            object
                .get(name)
                .is_none_or(|member| member.value() == b"null" || check(member.value()))
        };
        let one = |value: &[u8]| json::number(value).is_some_and(|n| n <= 1.0);
        let whole = is("stream", |value| value == b"false");
        if !whole || !is("n", one) || !is("best_of", one) {
            return None;
        }
        let input = object.get(endpoint.input())?;
        let inputs: Vec<&RawValue> = if input.value().starts_with(b"\"") {
            vec![serde_json::from_slice(input.raw()).ok()?]
        } else {
            serde_json::from_slice(input.raw()).ok()?
        };
        if inputs.is_empty() || !inputs.iter().all(|input| input.get().starts_with('"')) {
            return None;
        }
        // No two endpoints merge, whatever their requests.
        let rest = object.canonical(&[endpoint.input(), "stream"]);
        let compat = [endpoint.path().as_bytes(), &rest].concat().into();
        let inputs = inputs
            .into_iter()
            .map(|raw| body.slice_ref(raw.get().as_bytes()))
            .collect();
        Some(Self {
            endpoint,
            body: body.clone(),
            compat,
            input: input.raw_range(),
            inputs,
        })
    }

    /// What parts must have in common to be joined: the endpoint and the canonical request without its input.
    #[must_use]
    pub const fn compat(&self) -> &Bytes {
        &self.compat
    }

    /// How many inputs it has; at least one.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The request as it came.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// The call it is for.
    #[must_use]
    pub const fn endpoint(&self) -> Endpoint {
        self.endpoint
    }
}

impl fmt::Debug for Part {
    /// Without the inputs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            endpoint,
            body,
            compat: _,
            input: _,
            inputs,
        } = self;
        f.debug_struct("Part")
            .field("endpoint", endpoint)
            .field("bytes", &body.len())
            .field("inputs", &inputs.len())
            .finish()
    }
}

/// What a request asks for, and the same as a part where it may be merged: [`Prompt::parse`] and [`Part::new`] in one reading.
///
/// No part for [`Endpoint::Generate`]: that is made of its [`completion_request`](super::completion_request).
///
/// # Errors
///
/// Those of [`Prompt::parse`].
///
/// ```
/// use bytes::Bytes;
/// use llm_backend::{merge, prompt::Endpoint::Completions};
///
/// let body = Bytes::from(r#"{"model":"m","prompt":"Hi","temperature":0}"#);
/// let (prompt, part) = merge::parse(Completions, &body)?;
/// assert!(!prompt.sampled);
/// assert_eq!(part.map(|part| part.inputs()), Some(1));
/// # Ok::<(), llm_backend::prompt::Error>(())
/// ```
pub fn parse(endpoint: Endpoint, body: &Bytes) -> Result<(Prompt, Option<Part>), prompt::Error> {
    let object = Object::parse(body).map_err(prompt::Error::json)?;
    let prompt = Prompt::of(endpoint, &object)?;
    let part = match endpoint {
        Endpoint::Generate => None,
        _ => Part::of(endpoint, &object, body),
    };
    Ok((prompt, part))
}

/// One request with the inputs of all parts, in their order. One part alone is sent as it is; of several, the first one's body
/// with the input replaced.
///
/// # Errors
///
/// If there are no parts, or if they differ in more than their input.
pub fn join(parts: &[Part]) -> Result<Bytes, Error> {
    let (first, others) = parts.split_first().ok_or(Error::new(Kind::Empty))?;
    if others.is_empty() {
        return Ok(first.body.clone());
    }
    if others.iter().any(|part| part.compat != first.compat) {
        return Err(Error::new(Kind::Incompatible));
    }
    let inputs: Vec<&[u8]> = parts
        .iter()
        .flat_map(|part| &part.inputs)
        .map(|i| &**i)
        .collect();
    let mut array =
        Vec::with_capacity(inputs.iter().map(|input| input.len() + 1).sum::<usize>() + 1);
    array.push(b'[');
    array.extend_from_slice(&inputs.join(&b','));
    array.push(b']');
    let joined = || {
        let object = Object::parse(&first.body).ok()?;
        let mut edits = Edits::new(&object);
        edits.replace(first.input.clone(), String::from_utf8(array).ok()?);
        edits.apply()
    };
    joined().ok_or(Error::new(Kind::Incompatible))
}

impl Part {
    pub(super) fn is_generate(&self) -> bool {
        self.endpoint == Endpoint::Generate
    }
}
