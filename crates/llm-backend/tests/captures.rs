//! What real servers sent: llama.cpp, vLLM and transformers, recorded byte for byte.
//!
//! The recordings lie outside of the repository, in `$LLM_FRONT_DATA/wire`. Without them these tests say so and pass.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "support code of tests"
)]

use std::{fs, path::PathBuf};

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};
use llm_backend::{
    complete::{Form, is_complete},
    json,
    merge::{Part, join, split},
    prompt::Endpoint::{self, ChatCompletions as Chat, Completions, Embeddings},
    sse::Decoder,
    transcode::{self, Aggregator},
};
use serde_json::Value;

/// One recorded answer.
struct Capture {
    name: &'static str,
    status: StatusCode,
    content_type: Option<HeaderValue>,
    /// The request body, where the recording has it.
    request: Option<Bytes>,
    body: Bytes,
}

fn wire() -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let data = std::env::var_os("LLM_FRONT_DATA").map_or_else(|| default.into(), PathBuf::from);
    let wire = data.join("wire");
    if !wire.is_dir() {
        println!(
            "SKIPPED: no recordings at {} (set LLM_FRONT_DATA)",
            wire.display()
        );
        return None;
    }
    Some(wire)
}

fn capture(name: &'static str) -> Option<Capture> {
    let bytes = fs::read(wire()?.join(name)).expect(name);
    let text = String::from_utf8(bytes).expect(name);
    let (note, text) = match text.strip_prefix("### curl ") {
        Some(rest) => rest.split_once('\n').expect(name),
        None => ("", &*text),
    };
    let (head, body) = text.split_once("\r\n\r\n").expect(name);
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .expect(name);
    let header = |wanted: &str| {
        lines.clone().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(wanted).then(|| value.to_owned())
        })
    };
    // The recorder ended each file with a line feed. Names were shortened in some, so the announced length may be too long.
    let length: Option<usize> = header("content-length").map(|length| length.parse().expect(name));
    let body = length.map_or(body, |length| body.get(..length).unwrap_or(body.trim_end()));
    Some(Capture {
        name,
        status: status.parse().expect(name),
        content_type: header(CONTENT_TYPE.as_str()).map(|value| value.parse().expect(name)),
        request: note
            .split_once(" -d ")
            .map(|(_, json)| json.to_owned().into()),
        body: body.to_owned().into(),
    })
}

/// Every recorded answer, and whether it is whole. `length` is not.
const ALL: [(&str, bool); 43] = [
    ("llamacpp/bad_json.txt", false),
    ("llamacpp/bad_temp.txt", false),
    ("llamacpp/chat.txt", true),
    ("llamacpp/chat_on_embedding_server.txt", false),
    ("llamacpp/chat_stream.txt", true),
    ("llamacpp/chat_stream_nousage.txt", false),
    ("llamacpp/completions.txt", false),
    ("llamacpp/completions_array.txt", false),
    ("llamacpp/completions_array_stream.txt", false),
    ("llamacpp/ctx_overflow.txt", false),
    ("llamacpp/ctx_overflow_stream.txt", false),
    ("llamacpp/embeddings.txt", true),
    ("llamacpp/embeddings_b64.txt", true),
    ("llamacpp/embeddings_disabled.txt", false),
    ("llamacpp/logprobs.txt", false),
    ("llamacpp/models.txt", false),
    ("llamacpp/n2.txt", false),
    ("llamacpp/no_messages.txt", false),
    ("llamacpp/not_found.txt", false),
    ("llamacpp/wrong_method.txt", false),
    ("llamacpp/wrong_model.txt", false),
    ("transformers_serve/chat.txt", true),
    ("transformers_serve/chat_stream.txt", false),
    ("vllm/bad_json.txt", false),
    ("vllm/bad_temp.txt", false),
    ("vllm/chat.txt", true),
    ("vllm/chat_on_embedding_server.txt", false),
    ("vllm/chat_stream.txt", false),
    ("vllm/completions_array.txt", false),
    ("vllm/completions_array_stream.txt", false),
    ("vllm/ctx_overflow.txt", false),
    ("vllm/ctx_overflow_stream.txt", false),
    ("vllm/embeddings.txt", true),
    ("vllm/embeddings_b64.txt", true),
    ("vllm/embeddings_disabled.txt", false),
    ("vllm/logprobs.txt", false),
    ("vllm/models.txt", false),
    ("vllm/n2.txt", false),
    ("vllm/neg_temp.txt", false),
    ("vllm/no_content_type.txt", false),
    ("vllm/no_messages.txt", false),
    ("vllm/score.txt", false),
    ("vllm/wrong_model.txt", false),
];

const STREAMS: [(&str, Endpoint); 6] = [
    ("llamacpp/chat_stream.txt", Chat),
    ("llamacpp/chat_stream_nousage.txt", Chat),
    ("llamacpp/completions_array_stream.txt", Completions),
    ("transformers_serve/chat_stream.txt", Chat),
    ("vllm/chat_stream.txt", Chat),
    ("vllm/completions_array_stream.txt", Completions),
];

const BODIES: [(&str, Endpoint); 10] = [
    ("llamacpp/chat.txt", Chat),
    ("llamacpp/completions.txt", Completions),
    ("llamacpp/completions_array.txt", Completions),
    ("llamacpp/logprobs.txt", Chat),
    ("llamacpp/n2.txt", Chat),
    ("transformers_serve/chat.txt", Chat),
    ("vllm/chat.txt", Chat),
    ("vllm/completions_array.txt", Completions),
    ("vllm/logprobs.txt", Chat),
    ("vllm/n2.txt", Chat),
];

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn complete(capture: &Capture, body: &Bytes) -> bool {
    is_complete(capture.status, capture.content_type.as_ref(), body)
}

#[test]
fn whole_answers_are_told_from_all_others() {
    for (name, whole) in ALL {
        let Some(capture) = capture(name) else { return };
        assert_eq!(complete(&capture, &capture.body), whole, "{name}");
    }
}

#[test]
fn no_part_of_an_answer_is_whole() {
    for (name, _) in ALL.into_iter().filter(|(_, whole)| *whole) {
        let Some(capture) = capture(name) else { return };
        let text = std::str::from_utf8(&capture.body).unwrap();
        // From here on a stream has said all but its usage.
        let finish = text
            .find("\"finish_reason\":\"stop\"")
            .unwrap_or(text.len());
        let stream = Form::of(capture.content_type.as_ref()) == Some(Form::Stream);
        let first = if stream { finish } else { text.len() };
        for end in (0..text.len()).filter(|end| text.len() < 5_000 || end % 97 == 0) {
            let part = &text[..end];
            let boundary = end > first && part.ends_with("\n\n");
            assert_eq!(
                complete(&capture, &capture.body.slice(..end)),
                boundary,
                "{name} at {end}"
            );
        }
    }
}

#[test]
fn any_rechunking_gives_the_same_events() {
    for (name, _) in STREAMS {
        let Some(capture) = capture(name) else { return };
        let decode = |size: usize| {
            let mut decoder = Decoder::new();
            let mut events = Vec::new();
            for chunk in capture.body.chunks(size) {
                let mut chunk = Bytes::copy_from_slice(chunk);
                while let Some(event) = decoder.decode(&mut chunk).unwrap() {
                    events.push(event);
                }
            }
            assert!(decoder.is_boundary(), "{name}");
            events
        };
        let whole = decode(usize::MAX);
        assert_eq!(
            whole.len(),
            capture.body.windows(6).filter(|w| w == b"data: ").count()
        );
        for size in [1, 2, 3, 7, 64, 1000] {
            assert_eq!(decode(size), whole, "{name} by {size}");
        }
    }
}

#[test]
fn streams_become_bodies_with_every_streamed_field() {
    for (name, endpoint) in STREAMS {
        let Some(capture) = capture(name) else { return };
        let Some(body) = transcode::aggregate(endpoint, &capture.body) else {
            assert!(name.ends_with("_nousage.txt"), "{name}");
            continue;
        };
        let body = value(&body);
        let mut texts = vec![String::new(); 2];
        let text = std::str::from_utf8(&capture.body).unwrap();
        for chunk in text
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        {
            let chunk: Value = chunk;
            for (key, told) in chunk.as_object().into_iter().flatten() {
                assert!(body.get(key).is_some(), "{name}: {key}");
                if !["object", "created", "choices", "usage", "timings"].contains(&key.as_str())
                    && !told.is_null()
                {
                    assert_eq!(&body[key], told, "{name}: {key}");
                }
            }
            for choice in chunk["choices"].as_array().into_iter().flatten() {
                let index = choice["index"].as_u64().unwrap() as usize;
                let piece = choice["text"]
                    .as_str()
                    .or(choice["delta"]["content"].as_str());
                texts[index].push_str(piece.unwrap_or_default());
                if let Some(reason) = choice
                    .get("finish_reason")
                    .filter(|reason| !reason.is_null())
                {
                    assert_eq!(&body["choices"][index]["finish_reason"], reason, "{name}");
                }
            }
            if !chunk["usage"].is_null() {
                assert_eq!(body["usage"], chunk["usage"], "{name}");
            }
        }
        let object = if endpoint == Chat {
            "chat.completion"
        } else {
            "text_completion"
        };
        assert_eq!(body["object"], object);
        for (choice, text) in body["choices"].as_array().unwrap().iter().zip(&texts) {
            let got = choice["text"]
                .as_str()
                .or(choice["message"]["content"].as_str());
            assert_eq!(got, Some(text.as_str()), "{name}");
        }
    }
}

#[test]
fn streams_aggregate_alike_however_they_arrive() {
    for (name, endpoint) in STREAMS {
        let Some(capture) = capture(name) else { return };
        let Some(body) = transcode::aggregate(endpoint, &capture.body) else {
            continue;
        };
        let mut aggregator = Aggregator::new(endpoint);
        for byte in capture.body.chunks(1) {
            aggregator.push(Bytes::copy_from_slice(byte)).expect(name);
        }
        assert_eq!(aggregator.finish().expect(name), body);
    }
}

#[test]
fn bodies_survive_the_way_through_a_stream() {
    for (name, endpoint) in BODIES {
        let Some(capture) = capture(name) else { return };
        let stream = transcode::to_stream(endpoint, &capture.body, true).expect(name);
        let back = transcode::aggregate(endpoint, &stream).expect(name);
        assert_eq!(value(&back), value(&capture.body), "{name}");
        let bare = transcode::to_stream(endpoint, &capture.body, false).expect(name);
        assert_eq!(transcode::strip_usage(&stream).unwrap(), bare, "{name}");
        let whole = complete(&capture, &capture.body);
        let sse = Some(HeaderValue::from_static("text/event-stream"));
        assert_eq!(
            is_complete(StatusCode::OK, sse.as_ref(), &stream),
            whole,
            "{name}"
        );
    }
}

#[test]
fn a_streamed_body_has_the_shape_of_the_unstreamed_one() {
    for (streamed, body) in [
        ("llamacpp/chat_stream.txt", "llamacpp/chat.txt"),
        (
            "transformers_serve/chat_stream.txt",
            "transformers_serve/chat.txt",
        ),
    ] {
        let (Some(streamed), Some(body)) = (capture(streamed), capture(body)) else {
            return;
        };
        let streamed = value(&transcode::aggregate(Chat, &streamed.body).unwrap());
        let body = value(&body.body);
        let keys = |value: &Value| {
            let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
            keys.retain(|key| key != "system_fingerprint");
            keys.sort();
            keys
        };
        assert_eq!(keys(&streamed), keys(&body));
        assert_eq!(keys(&streamed["choices"][0]), keys(&body["choices"][0]));
        assert_eq!(
            keys(&streamed["choices"][0]["message"]),
            keys(&body["choices"][0]["message"])
        );
    }
}

#[test]
fn usage_leaves_streams_without_a_trace() {
    for (name, _) in STREAMS {
        let Some(capture) = capture(name) else { return };
        let bare = transcode::strip_usage(&capture.body).unwrap();
        assert!(!bare.windows(7).any(|w| w == b"\"usage\""), "{name}");
        let kept = |body: &Bytes| -> Vec<String> {
            let text = std::str::from_utf8(body).unwrap();
            text.split("\n\n")
                .filter(|event| !event.contains("\"usage\""))
                .map(Into::into)
                .collect()
        };
        if name.ends_with("_nousage.txt") {
            assert_eq!(bare, capture.body);
        } else if name.contains("chat_stream") && !name.starts_with("transformers") {
            assert_eq!(kept(&bare), kept(&capture.body), "{name}");
        }
    }
}

#[test]
fn arrays_of_prompts_are_split_to_their_callers() {
    for name in [
        "llamacpp/completions_array.txt",
        "vllm/completions_array.txt",
    ] {
        let Some(capture) = capture(name) else { return };
        let part = |prompt: &str| {
            let body = format!(
                r#"{{"model":"smollm2-135m","prompt":{prompt},"max_tokens":5,"temperature":0}}"#
            );
            Part::new(Completions, &body.into()).unwrap()
        };
        let parts = [
            part(r#"["The capital of France is","The capital of Italy is"]"#),
            part(r#""Two plus two equals""#),
        ];
        assert_eq!(Some(join(&parts).unwrap()), capture.request, "{name}");
        let answers = split(&parts, &capture.body).unwrap();
        let texts = |answer: &Bytes| -> Vec<(Value, Value)> {
            let answer = value(answer);
            assert!(answer.get("usage").is_none() && answer["model"] == "smollm2-135m");
            let choices = answer["choices"].as_array().unwrap();
            choices
                .iter()
                .map(|choice| (choice["index"].clone(), choice["text"].clone()))
                .collect()
        };
        let expected = [
            (0.into(), " Paris.\n\nThe".into()),
            (1.into(), " Rome.\n\nThe".into()),
        ];
        assert_eq!(texts(&answers[0]), expected);
        assert_eq!(texts(&answers[1]), [(0.into(), " five.".into())]);
    }
    let Some(capture) = capture("llamacpp/embeddings.txt") else {
        return;
    };
    let part =
        |input: &str| Part::new(Embeddings, &format!(r#"{{"input":{input}}}"#).into()).unwrap();
    let answers = split(&[part("\"a\""), part("\"b\"")], &capture.body).unwrap();
    let data = value(&capture.body)["data"].clone();
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(value(answer)["data"][0]["embedding"], data[i]["embedding"]);
        assert_eq!(value(answer)["data"][0]["index"], 0);
    }
}

#[test]
fn every_recorded_json_body_has_a_canonical_form() {
    for (name, ..) in ALL {
        let Some(capture) = capture(name) else { return };
        if Form::of(capture.content_type.as_ref()) == Some(Form::Body) {
            let canonical = json::canonical(&capture.body).expect(capture.name);
            assert_eq!(json::canonical(&canonical).unwrap(), canonical);
            assert_eq!(value(&canonical), value(&capture.body));
        }
    }
}
