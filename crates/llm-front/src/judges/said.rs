//! What an answer says, whatever form it is kept in.

use crate::policies::is_event_stream;
use http::header;
use llm_backend::sse::Decoder;
use serde_json::Value;
use tower_semcache::http::Answer;

/// The text of the first choice: without ids, times, usage and form. None where there is no text.
pub(super) fn said(answer: &Answer) -> Option<String> {
    let mut text: Option<String> = None;
    for piece in pieces(answer)? {
        let choice = piece.pointer("/choices/0");
        let said = choice
            .and_then(|choice| {
                ["/message/content", "/delta/content", "/text"]
                    .iter()
                    .find_map(|path| choice.pointer(path)?.as_str())
            })
            // What `/v1/generate` answers.
            .or_else(|| piece.get("text")?.as_str());
        if let Some(said) = said {
            text.get_or_insert_default().push_str(said);
        }
    }
    text
}

/// The model that it names.
pub(super) fn model(answer: &Answer) -> Option<String> {
    let pieces = pieces(answer)?;
    let model = pieces.iter().find_map(|piece| piece.get("model")?.as_str());
    model.map(str::to_owned)
}

/// A body is one piece, a stream as many as it has events with JSON in them. None for what cannot be read.
fn pieces(answer: &Answer) -> Option<Vec<Value>> {
    let mut body = answer.body().clone();
    if !is_event_stream(answer.get(&header::CONTENT_TYPE).as_ref()) {
        return serde_json::from_slice(&body).ok().map(|whole| vec![whole]);
    }
    let mut decoder = Decoder::new();
    let mut pieces = Vec::new();
    while let Some(event) = decoder.decode(&mut body).ok()? {
        if event.is_done() {
            break;
        }
        pieces.push(serde_json::from_slice(&event.data).ok()?);
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue, StatusCode};

    fn answer(content_type: &'static str, body: &'static str) -> Answer {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        Answer::new(StatusCode::OK, headers, Bytes::from_static(body.as_bytes()))
    }

    #[test]
    fn a_stream_and_a_body_that_say_the_same_have_the_same_text() {
        let json = "application/json";
        let events = "text/event-stream";
        for (kept, text) in [
            (
                answer(
                    json,
                    r#"{"id": "1", "model": "m", "choices": [{"message": {"role": "assistant", "content": "5 km."}}]}"#,
                ),
                Some("5 km."),
            ),
            (
                answer(json, r#"{"model": "m", "choices": [{"text": "5 km."}]}"#),
                Some("5 km."),
            ),
            (
                answer(json, r#"{"model": "m", "text": "5 km."}"#),
                Some("5 km."),
            ),
            (
                answer(
                    events,
                    "data: {\"id\": \"2\", \"model\": \"m\", \"choices\": [{\"delta\": {\"role\": \"assistant\"}}]}\n\ndata: {\"choices\": [{\"delta\": {\"content\": \"5 \"}}]}\n\n: a comment\n\ndata: {\"choices\": [{\"delta\": {\"content\": \"km.\"}}]}\n\ndata: {\"choices\": [], \"usage\": {}}\n\ndata: [DONE]\n\n",
                ),
                Some("5 km."),
            ),
            (
                answer(
                    events,
                    "data: {\"model\": \"m\", \"choices\": [{\"text\": \"5 \"}]}\n\ndata: {\"choices\": [{\"text\": \"km.\"}]}\n\n",
                ),
                Some("5 km."),
            ),
            (
                answer(
                    json,
                    r#"{"model": "m", "choices": [{"message": {"content": null}}]}"#,
                ),
                None,
            ),
        ] {
            assert_eq!(said(&kept).as_deref(), text);
            assert_eq!(model(&kept).as_deref(), Some("m"));
        }
        assert_eq!(said(&answer(json, "no JSON")), None);
        assert_eq!(said(&answer(events, "data: no JSON\n\n")), None);
    }
}
