//! One response as the answers of several callers.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{Error, Kind, Part};
use crate::{
    json::{Fields, push_string},
    prompt::Endpoint,
};

/// The answer of each part, in their order, from the response to what [`join`](super::join) made of them.
///
/// The choices (or embeddings) of a part are numbered from 0; all other bytes of theirs and all other top-level fields but
/// `usage` are kept. Of a single part the response is the answer, as it is. For [`Endpoint::Generate`] it is
/// `{"text": …, "finish_reason": …, "model": …}`.
///
/// Only the body is looked at, and only the body is made. Split the body of a success: an error (by its status) has no answers, and
/// is everybody's. Each answer needs the status and the headers of the response, its `Content-Type` (`application/json`) among
/// them, without which a cache takes no answer for whole; but not its `Content-Length`.
///
/// # Errors
///
/// If the response has not exactly one answer for each input, each with its index.
pub fn split(parts: &[Part], response: &Bytes) -> Result<Vec<Bytes>, Error> {
    let first = parts.first().ok_or(Error::new(Kind::Empty))?;
    if parts.len() == 1 && !first.is_generate() {
        return Ok(vec![response.clone()]);
    }
    let list = if first.endpoint() == Endpoint::Embeddings {
        "data"
    } else {
        "choices"
    };
    let malformed = Error::new(Kind::Malformed(list));
    let fields = Fields::parse(response).ok_or(Error::new(Kind::Malformed("JSON object")))?;
    let once =
        |fields: &Fields<'_>, name| fields.0.iter().filter(|(key, _)| key == name).count() == 1;
    if !once(&fields, list) {
        return Err(malformed);
    }
    let items = fields.array(list).ok_or(malformed)?;
    let expected = parts.iter().map(Part::inputs).sum();
    if items.len() != expected {
        return Err(Error::new(Kind::Count {
            expected,
            found: items.len(),
        }));
    }
    let mut slots: Vec<Option<Fields<'_>>> =
        std::iter::repeat_with(|| None).take(expected).collect();
    for item in items {
        let item = Fields::of(item).filter(|item| once(item, "index"));
        let item = item.ok_or(Error::new(Kind::Index))?;
        let index = item
            .integer("index")
            .and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| slots.get_mut(index)) {
            Some(slot @ None) => *slot = Some(item),
            _ => return Err(Error::new(Kind::Index)),
        }
    }
    let mut slots = slots.into_iter().flatten();
    let answer = |part: &Part| {
        let own: Vec<Fields<'_>> = slots.by_ref().take(part.inputs()).collect();
        if part.is_generate() {
            generated(&fields, &own)
        } else {
            Ok(numbered(&fields, list, &own))
        }
    };
    parts.iter().map(answer).collect()
}

/// The response with these answers only, numbered from 0.
fn numbered(response: &Fields<'_>, list: &str, own: &[Fields<'_>]) -> Bytes {
    let mut out = Vec::with_capacity(256);
    object(&mut out, &response.0, |out, key, value| match key {
        "usage" => false,
        key if key == list => {
            out.push(b'[');
            for (i, item) in own.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                object(out, &item.0, |out, key, value| {
                    if key == "index" {
                        out.extend_from_slice(i.to_string().as_bytes());
                    } else {
                        out.extend_from_slice(value.get().as_bytes());
                    }
                    true
                });
            }
            out.push(b']');
            true
        }
        _ => {
            out.extend_from_slice(value.get().as_bytes());
            true
        }
    });
    out.into()
}

/// An object of these members, each written by `value`, or left out if that says false.
fn object<'a, K: AsRef<str>>(
    out: &mut Vec<u8>,
    members: &[(K, &'a RawValue)],
    mut value: impl FnMut(&mut Vec<u8>, &str, &'a RawValue) -> bool,
) {
    out.push(b'{');
    let mut first = true;
    for (key, raw) in members {
        let start = out.len();
        if !first {
            out.push(b',');
        }
        push_string(out, key.as_ref());
        out.push(b':');
        if value(out, key.as_ref(), raw) {
            first = false;
        } else {
            out.truncate(start);
        }
    }
    out.push(b'}');
}

/// The answer of `/v1/generate`.
fn generated(response: &Fields<'_>, own: &[Fields<'_>]) -> Result<Bytes, Error> {
    let [choice] = own else {
        return Err(Error::new(Kind::Count {
            expected: 1,
            found: own.len(),
        }));
    };
    let text = choice
        .get("text")
        .filter(|text| text.get().starts_with('"'));
    let text = text.ok_or(Error::new(Kind::Malformed("text")))?;
    let or_null = |value: Option<&RawValue>| value.map_or("null", |value| value.get()).to_owned();
    let finish = or_null(choice.get("finish_reason"));
    let model = or_null(response.get("model"));
    let text = text.get();
    Ok(format!(r#"{{"text":{text},"finish_reason":{finish},"model":{model}}}"#).into())
}
