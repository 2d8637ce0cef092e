//! A request that asks for a stream, whatever its caller asked for.

use bytes::Bytes;

use crate::json::{Edits, Object};

/// The same request, asking for a stream with usage at its end: `"stream": true` and `"stream_options": {"include_usage": true}`.
/// All other bytes stay as they are, further stream options included.
///
/// None if the body is not a JSON object, or has a key twice.
///
/// ```
/// # use bytes::Bytes;
/// # use llm_backend::transcode::stream_request;
/// let asked = Bytes::from_static(br#"{"model": "m", "stream": false}"#);
/// let sent = stream_request(&asked).unwrap();
/// assert_eq!(sent, r#"{"stream_options":{"include_usage":true},"model": "m", "stream": true}"#);
/// ```
#[must_use]
pub fn stream_request(body: &Bytes) -> Option<Bytes> {
    let object = Object::parse(body).ok()?;
    let mut edits = Edits::new(&object);
    edits.set("stream", "true");
    let options = object
        .get("stream_options")
        .map(|options| (options, Object::parse(options.raw())));
    match options {
        Some((options, Ok(inner))) => {
            let mut inner = Edits::new(&inner);
            inner.set("include_usage", "true");
            if let Some(changed) = inner.apply() {
                let changed = String::from_utf8(changed.into()).ok()?;
                edits.replace(options.raw_range(), changed);
            }
        }
        _ => edits.set("stream_options", "{\"include_usage\":true}"),
    }
    Some(edits.apply().unwrap_or_else(|| body.clone()))
}
