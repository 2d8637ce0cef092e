use Endpoint::{ChatCompletions as Chat, Completions, Embeddings, Generate};
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::prompt::Endpoint;

fn events(chunks: &[Value]) -> String {
    chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect()
}

fn aggregated(endpoint: Endpoint, stream: &str) -> Value {
    let body = aggregate(endpoint, &Bytes::copy_from_slice(stream.as_bytes())).expect(stream);
    serde_json::from_slice(&body).unwrap()
}

fn choice(index: u64, delta: Value, finish: Option<&str>) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}]})
}

fn usage() -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})
}

/// One message out of the deltas of one choice.
fn message(deltas: &[Value]) -> Value {
    let mut chunks: Vec<Value> = deltas
        .iter()
        .map(|delta| choice(0, delta.clone(), None))
        .collect();
    chunks.extend([choice(0, json!({}), Some("stop")), usage()]);
    aggregated(Chat, &events(&chunks))["choices"][0]["message"].clone()
}

fn kind(endpoint: Endpoint, stream: &str) -> Kind {
    let mut aggregator = Aggregator::new(endpoint);
    let pushed = aggregator.push(Bytes::copy_from_slice(stream.as_bytes()));
    let finished = aggregator.finish().expect_err(stream);
    assert!(pushed.is_ok() || pushed.unwrap_err().kind() == finished.kind());
    finished.kind()
}

// === a stream as a body ===

#[test]
fn a_chat_stream_becomes_the_body_the_server_would_have_sent() {
    let stream = format!(
        ": ping\n\ndata: null\n\n{}data: [DONE]\n\n",
        events(&[
            choice(0, json!({"role": "assistant", "content": ""}), None),
            choice(0, json!({"content": "Hel"}), None),
            choice(0, json!({"content": "lo\n\"é\""}), None),
            choice(0, json!({}), Some("stop")),
            usage(),
        ])
    );
    let expected = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello\n\"é\""}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}});
    assert_eq!(aggregated(Chat, &stream), expected);
}

#[test]
fn every_field_of_every_delta_is_kept() {
    let message = message(&[
        json!({"role": "assistant", "content": null, "reasoning": "Let", "reasoning_content": "x"}),
        json!({"role": "assistant", "reasoning": " me", "reasoning_content": "y", "custom": 1}),
        json!({"content": "A", "refusal": null, "annotations": [{"type": "url", "n": 1}]}),
        json!({"content": "B", "refusal": "No", "annotations": [{"type": "url", "n": 2}], "custom": 2, "flag": true}),
        json!({"audio": {"id": "a", "data": "AA", "expires_at": 1}, "note": null}),
        json!({"audio": {"id": "a", "data": "BB", "expires_at": 2}}),
    ]);
    assert_eq!(
        message,
        json!({"role": "assistant", "content": "AB", "reasoning": "Let me", "reasoning_content": "xy",
            "custom": 2, "refusal": "No", "annotations": [{"type": "url", "n": 1}, {"type": "url", "n": 2}],
            "flag": true, "audio": {"id": "a", "data": "AABB", "expires_at": 2}, "note": null})
    );
}

#[test]
fn tool_calls_are_put_together_by_index() {
    let call = |index: u64, rest: Value| {
        let mut call = json!({"index": index});
        call.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        json!({"tool_calls": [call]})
    };
    let message = message(&[
        json!({"role": "assistant"}),
        call(
            1,
            json!({"id": "call_b", "type": "function", "function": {"name": "g", "arguments": ""}}),
        ),
        call(
            0,
            json!({"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{\"x"}}),
        ),
        call(1, json!({"function": {"arguments": "{}"}})),
        call(
            0,
            json!({"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "\":1}"}}),
        ),
    ]);
    assert_eq!(
        message,
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
            {"id": "call_b", "type": "function", "function": {"name": "g", "arguments": "{}"}}]})
    );
}

#[test]
fn whole_tool_calls_without_an_index_are_kept_apart() {
    let call = |id: &str| json!({"tool_calls": [{"id": id, "function": {"name": "f", "arguments": "{}"}}]});
    let message = message(&[call("a"), call("b")]);
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 2);
    assert_eq!(message["tool_calls"][1]["id"], "b");
}

#[test]
fn a_function_call_is_put_together() {
    let message = message(&[
        json!({"function_call": {"name": "f", "arguments": ""}}),
        json!({"function_call": {"arguments": "{\"a\""}}),
        json!({"function_call": {"arguments": ":1}"}}),
    ]);
    assert_eq!(
        message["function_call"],
        json!({"name": "f", "arguments": "{\"a\":1}"})
    );
}

#[test]
fn logprobs_are_joined_and_filter_results_are_not() {
    let chunk = |token: &str, finish: Option<&str>| {
        let mut chunk = choice(0, json!({"content": token}), finish);
        chunk["choices"][0]["logprobs"] =
            json!({"content": [{"token": token, "logprob": -0.5, "index": 0}], "refusal": null});
        chunk["choices"][0]["content_filter_results"] = json!({"hate": {"severity": "safe"}});
        chunk
    };
    let stream = events(&[chunk("a", None), chunk("b", Some("stop")), usage()]);
    let choice = &aggregated(Chat, &stream)["choices"][0];
    assert_eq!(choice["logprobs"]["content"].as_array().unwrap().len(), 2);
    assert_eq!(choice["logprobs"]["content"][1]["token"], "b");
    assert_eq!(choice["logprobs"]["refusal"], Value::Null);
    assert_eq!(
        choice["content_filter_results"],
        json!({"hate": {"severity": "safe"}})
    );
}

#[test]
fn interleaved_choices_are_told_apart_by_index() {
    let chunk = |index: u64, text: &str, finish: Option<&str>| {
        json!({"id": "t", "object": "text_completion", "choices": [
            {"text": text, "index": index, "logprobs": null, "finish_reason": finish}]})
    };
    let mut last = chunk(0, "", Some("stop"));
    last["usage"] = json!({"total_tokens": 8});
    last["timings"] = json!({"predicted_ms": 1.50});
    let stream = format!(
        "data: null\n\n{}",
        events(&[
            chunk(1, " Rome", None),
            chunk(0, " Paris", None),
            chunk(1, ".", Some("length")),
            last
        ])
    );
    assert_eq!(
        aggregated(Completions, &stream),
        json!({"id": "t", "object": "text_completion", "choices": [
            {"text": " Paris", "index": 0, "logprobs": null, "finish_reason": "stop"},
            {"text": " Rome.", "index": 1, "logprobs": null, "finish_reason": "length"}],
            "usage": {"total_tokens": 8}, "timings": {"predicted_ms": 1.50}})
    );
}

#[test]
fn completion_logprobs_are_joined_list_by_list() {
    let chunk = |token: &str, finish: Option<&str>| {
        json!({"choices": [{"index": 0, "text": token, "finish_reason": finish, "token_ids": [1],
            "logprobs": {"tokens": [token], "token_logprobs": [-1.25], "top_logprobs": [{"index": 0}], "text_offset": [0]}}],
            "usage": {"n": 1}})
    };
    let choice = &aggregated(
        Completions,
        &events(&[chunk("a", None), chunk("b", Some("stop"))]),
    )["choices"][0];
    assert_eq!(
        choice["logprobs"],
        json!({"tokens": ["a", "b"], "token_logprobs": [-1.25, -1.25],
            "top_logprobs": [{"index": 0}, {"index": 0}], "text_offset": [0, 0]})
    );
    assert_eq!(
        (&choice["text"], &choice["token_ids"]),
        (&json!("ab"), &json!([1, 1]))
    );
}

#[test]
fn top_level_fields_are_kept_and_null_never_wins() {
    let one = json!({"id": "1", "created": 1, "model": "m", "system_fingerprint": null, "prompt_text": null, "x": {"a": 1},
        "choices": [{"index": 0, "delta": {"content": "a"}}], "usage": null});
    let two = json!({"id": "2", "created": 2, "model": "n", "system_fingerprint": "fp", "x": {"b": 2},
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"total_tokens": 1}});
    let three = json!({"system_fingerprint": null, "choices": [], "usage": {"total_tokens": 2}});
    assert_eq!(
        aggregated(Chat, &events(&[one, two, three])),
        json!({"id": "1", "created": 1, "model": "m", "system_fingerprint": "fp", "prompt_text": null, "x": {"b": 2},
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}],
            "usage": {"total_tokens": 2}})
    );
}

#[test]
fn numbers_and_escapes_stay_as_they_were_and_split_surrogates_meet() {
    let stream = concat!(
        r#"data: {"x":1.50,"choices":[{"index":0,"delta":{"content":"\u0041\ud83d"}}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":"\ude00"},"finish_reason":"stop"}],"usage":{}}"#,
        "\n\n",
    );
    let body = aggregate(Chat, &stream.into()).unwrap();
    let expected = r#"{"x":1.50,"choices":[{"index":0,"message":{"role":"assistant","content":"\u0041\ud83d\ude00"},"finish_reason":"stop"}],"usage":{}}"#;
    assert_eq!(body, expected);
}

#[test]
fn what_makes_no_body_is_named() {
    let start = choice(0, json!({"content": "a"}), None);
    let stop = choice(0, json!({}), Some("stop"));
    let whole = events(&[start.clone(), stop.clone(), usage()]);
    assert!(aggregate(Chat, &whole.clone().into()).is_some());
    for (stream, expected) in [
        (String::new(), Kind::Unfinished),
        (events(&[start.clone(), usage()]), Kind::Unfinished),
        (events(&[start.clone(), stop.clone()]), Kind::NoUsage),
        (events(&[usage()]), Kind::Unfinished),
        (whole.trim_end().to_owned(), Kind::Unfinished),
        (
            events(&[
                start.clone(),
                choice(1, json!({}), None),
                stop.clone(),
                usage(),
            ]),
            Kind::Unfinished,
        ),
        (
            format!(
                "{}data: {{\"error\":{{\"message\":\"x\"}}}}\n\n",
                events(std::slice::from_ref(&start))
            ),
            Kind::Upstream,
        ),
        (
            format!("event: error\ndata: oops\n\n{whole}"),
            Kind::Upstream,
        ),
        (
            format!("data: {{\"object\":\"error\"}}\n\n{whole}"),
            Kind::Upstream,
        ),
        (format!("data: oops\n\n{whole}"), Kind::Malformed),
        (format!("data: []\n\n{whole}"), Kind::Malformed),
        (
            whole.replace("\"index\":0", "\"index\":-1"),
            Kind::Malformed,
        ),
        (whole.replace("{\"content\":\"a\"}", "7"), Kind::Malformed),
    ] {
        assert_eq!(kind(Chat, &stream), expected, "{stream}");
    }
    assert_eq!(kind(Embeddings, &whole), Kind::Endpoint);
    assert_eq!(kind(Generate, &whole), Kind::Endpoint);
}

#[test]
fn an_error_event_is_handed_on() {
    let mut aggregator = Aggregator::new(Chat);
    let data = r#"{"error":{"message":"overloaded","code":503}}"#;
    let error = aggregator
        .push(format!("data: {data}\n\n").into())
        .unwrap_err();
    assert_eq!(
        (error.kind(), &error.event().unwrap()[..]),
        (Kind::Upstream, data.as_bytes())
    );
    assert_eq!(
        aggregator
            .push("data: [DONE]\n\n".into())
            .unwrap_err()
            .kind(),
        Kind::Upstream
    );
}

#[test]
fn an_answer_over_the_limit_is_an_error() {
    let chunk: Bytes = events(&[choice(0, json!({"content": "a"}), None)]).into();
    let mut aggregator = Aggregator::new(Chat).limit(3 * chunk.len());
    for _ in 0..3 {
        aggregator.push(chunk.clone()).unwrap();
    }
    assert_eq!(aggregator.push(chunk).unwrap_err().kind(), Kind::TooLarge);
}

#[test]
fn a_message_without_role_or_content_gets_both() {
    let stop = choice(0, json!({"refusal": "No"}), Some("stop"));
    let mut padded = usage();
    padded["obfuscation"] = json!("xxx");
    let body = aggregated(Chat, &events(&[stop, padded]));
    let message = json!({"role": "assistant", "refusal": "No", "content": null});
    assert_eq!(body["choices"][0]["message"], message);
    assert!(body.get("obfuscation").is_none());
}

#[test]
fn usage_may_be_optional() {
    let mut aggregator = Aggregator::new(Chat).usage(Usage::Optional);
    let mut stop = choice(0, json!({"content": "a"}), Some("stop"));
    stop["usage"] = Value::Null;
    aggregator.push(events(&[stop]).into()).unwrap();
    let body: Value = serde_json::from_slice(&aggregator.finish().unwrap()).unwrap();
    assert!(body.get("usage").is_none());
}

#[test]
fn deltas_nested_without_end_do_not_overflow() {
    let deep = |n: usize| format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n));
    let list = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
    for deep in [deep(20_000), list(20_000)] {
        let chunk =
            format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"x\":{deep}}}}}]}}\n\n");
        let mut aggregator = Aggregator::new(Chat);
        for _ in 0..3 {
            let _ = aggregator.push(chunk.clone().into());
        }
        let _ = aggregator.finish();
    }
}

// === a body as a stream ===

fn chunks(stream: &Bytes) -> Vec<Value> {
    let text = std::str::from_utf8(stream).unwrap();
    let text = text
        .strip_suffix("data: [DONE]\n\n")
        .expect("`[DONE]` last");
    text.split_terminator("\n\n")
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
        .collect()
}

fn full_body() -> Value {
    json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "service_tier": null,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Hi", "refusal": null, "reasoning": "Hm", "x": [1]},
                "logprobs": {"content": [{"token": "Hi"}]}, "finish_reason": "stop", "stop_reason": 7},
            {"index": 1, "message": {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{\"x\":1}"}}]},
                "logprobs": null, "finish_reason": "tool_calls"}],
        "usage": {"total_tokens": 5}, "timings": {"a": 1.5}, "kv_transfer_params": null})
}

#[test]
fn a_body_is_told_as_role_reasoning_content_tools_finish_usage_done() {
    let stream = to_stream(Chat, full_body().to_string().as_bytes(), IncludeUsage::Yes).unwrap();
    let chunks = chunks(&stream);
    let base = |chunk: &Value| {
        (
            chunk["id"].clone(),
            chunk["object"].clone(),
            chunk["model"].clone(),
        )
    };
    assert!(
        chunks
            .iter()
            .all(|c| base(c) == (json!("c"), json!("chat.completion.chunk"), json!("m")))
    );
    let deltas: Vec<_> = chunks
        .iter()
        .filter_map(|c| c["choices"][0].get("delta"))
        .collect();
    assert_eq!(
        deltas,
        [
            &json!({"role": "assistant", "content": ""}),
            &json!({"reasoning": "Hm"}),
            &json!({"content": "Hi", "refusal": null, "x": [1]}),
            &json!({}),
            &json!({"role": "assistant"}),
            &json!({"content": null}),
            &json!({"tool_calls": [
                {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{\"x\":1}"}}]}),
            &json!({}),
        ]
    );
    let finishes: Vec<_> = chunks
        .iter()
        .map(|c| &c["choices"][0]["finish_reason"])
        .filter(|f| !f.is_null())
        .collect();
    assert_eq!(finishes, ["stop", "tool_calls"]);
    assert!(
        chunks
            .iter()
            .rev()
            .skip(1)
            .all(|chunk| chunk.get("usage").is_none())
    );
    let last = chunks.last().unwrap();
    assert_eq!(
        (&last["choices"], &last["usage"]),
        (&json!([]), &json!({"total_tokens": 5}))
    );
    assert_eq!(chunks[chunks.len() - 2]["timings"], json!({"a": 1.5}));
}

#[test]
fn usage_is_told_only_if_asked_for() {
    let stream = to_stream(Chat, full_body().to_string().as_bytes(), false).unwrap();
    assert!(!std::str::from_utf8(&stream).unwrap().contains("usage"));
    let mut body = full_body();
    body.as_object_mut().unwrap().remove("usage");
    assert!(to_stream(Chat, body.to_string().as_bytes(), true).is_none());
    assert!(to_stream(Chat, body.to_string().as_bytes(), false).is_some());
}

#[test]
fn what_has_no_stream_makes_none() {
    let body = full_body().to_string();
    assert!(to_stream(Embeddings, body.as_bytes(), false).is_none());
    assert!(to_stream(Generate, body.as_bytes(), false).is_none());
    assert!(to_stream(Completions, body.as_bytes(), false).is_none());
    for bad in [
        "",
        "[]",
        r#"{"choices":[]}"#,
        r#"{"error":{},"choices":[{"message":{},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"message":{},"finish_reason":null}]}"#,
        r#"{"choices":[{"finish_reason":"stop"}]}"#,
    ] {
        assert!(to_stream(Chat, bad.as_bytes(), false).is_none(), "{bad}");
    }
}

#[test]
fn a_pretty_body_is_streamed_one_line_an_event() {
    let body = serde_json::to_string_pretty(&full_body()).unwrap();
    let stream = to_stream(Chat, body.as_bytes(), true).unwrap();
    assert_eq!(
        aggregated(Chat, std::str::from_utf8(&stream).unwrap()),
        full_body()
    );
    let _ = chunks(&stream);
}

fn text() -> impl Strategy<Value = String> {
    "(?s).{0,12}"
}

fn any_body() -> impl Strategy<Value = Value> {
    let field = prop_oneof![
        Just(Value::Null),
        text().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(json!([{"a": 1}, "b"])),
        Just(json!({"a": {"b": "c"}})),
    ];
    let call = (text(), text(), text()).prop_map(
        |(id, name, arguments)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}),
    );
    let choice = (
        proptest::option::of(text()),
        prop::collection::vec(call, 0..3),
        prop::collection::btree_map("(reasoning|refusal|[a-z]{3})", field.clone(), 0..4),
        prop::sample::select(&["stop", "length", "tool_calls"][..]),
    );
    (prop::collection::vec(choice, 1..4), prop::collection::btree_map("[a-z]{3}", field, 0..4)).prop_map(|(all, top)| {
        let choices: Vec<Value> = all
            .into_iter()
            .enumerate()
            .map(|(index, (content, calls, more, finish))| {
                let mut message = json!({"role": "assistant", "content": content});
                if !calls.is_empty() {
                    message["tool_calls"] = calls.into();
                }
                message.as_object_mut().unwrap().extend(more);
                json!({"index": index, "message": message, "finish_reason": finish})
            })
            .collect();
        let mut body = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices,
            "usage": {"total_tokens": 1}});
        body.as_object_mut().unwrap().extend(top);
        body
    })
}

proptest! {
    #[test]
    fn a_body_survives_the_way_through_a_stream(body in any_body()) {
        let stream = to_stream(Chat, body.to_string().as_bytes(), true).unwrap();
        let back = aggregate(Chat, &stream).unwrap();
        prop_assert_eq!(serde_json::from_slice::<Value>(&back).unwrap(), body);
    }

    #[test]
    fn any_rechunking_aggregates_to_the_same_body(body in any_body(), size in 1..40_usize) {
        let stream = to_stream(Chat, body.to_string().as_bytes(), true).unwrap();
        let mut aggregator = Aggregator::new(Chat);
        for chunk in stream.chunks(size) {
            aggregator.push(Bytes::copy_from_slice(chunk)).unwrap();
        }
        prop_assert_eq!(aggregator.finish().unwrap(), aggregate(Chat, &stream).unwrap());
    }

    #[test]
    fn a_text_cut_anywhere_is_joined_again(pieces in prop::collection::vec(text(), 0..8)) {
        let deltas: Vec<Value> = pieces.iter().map(|piece| json!({"content": piece})).collect();
        let expected = if pieces.is_empty() { Value::Null } else { pieces.concat().into() };
        prop_assert_eq!(&message(&deltas)["content"], &expected);
    }

    #[test]
    fn without_usage_a_stream_is_the_one_that_was_not_asked_for_it(body in any_body(), size in 1..40_usize) {
        let with = to_stream(Chat, body.to_string().as_bytes(), true).unwrap();
        let without = to_stream(Chat, body.to_string().as_bytes(), false).unwrap();
        prop_assert_eq!(&strip_usage(&with).unwrap(), &without);
        let mut filter = UsageFilter::new();
        let mut out = Vec::new();
        for chunk in with.chunks(size) {
            let mut chunk = Bytes::copy_from_slice(chunk);
            while let Some(bytes) = filter.push(&mut chunk).unwrap() {
                out.extend_from_slice(&bytes);
            }
        }
        out.extend_from_slice(&filter.finish());
        prop_assert_eq!(out, without);
    }

    #[test]
    fn no_bytes_make_them_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), body in any_body(), cut in any::<prop::sample::Index>()) {
        let mut text = body.to_string().into_bytes();
        text.truncate(cut.index(text.len()));
        text.extend_from_slice(&bytes);
        let stream = Bytes::from([b"data: ", &text[..], b"\n\n"].concat());
        for endpoint in Endpoint::ALL {
            let _ = (aggregate(endpoint, &stream), to_stream(endpoint, &text, true));
        }
        let _ = (strip_usage(&stream), stream_request(&text.into()));
    }
}

// === without usage, with a stream ===

#[test]
fn usage_is_cut_out_and_nothing_else() {
    for (stream, expected) in [
        (
            "data: {\"choices\":[],\"usage\":{\"a\":1}}\n\ndata: [DONE]\n\n",
            "data: [DONE]\n\n",
        ),
        (
            ": ping\n\ndata: {\"a\": 1, \"usage\" : null , \"b\":2}\n\n",
            ": ping\n\ndata: {\"a\": 1, \"b\":2}\n\n",
        ),
        (
            "id: 1\r\ndata: {\"usage\":{}}\r\n: x\r\n\r\n",
            "id: 1\r\ndata: {}\r\n: x\r\n\r\n",
        ),
        ("data:{\"a\":1 , \"usage\":{} }\n\n", "data:{\"a\":1  }\n\n"),
        (
            "data: {\"choices\":[],\"usage\":null}\n\n",
            "data: {\"choices\":[]}\n\n",
        ),
        ("data: {\"choices\":[],\ndata: \"usage\":{}}\n\n", ""),
        (
            "id: 1\ndata: {\"a\":1,\ndata: \"usage\":{}}\n\n",
            "id: 1\ndata: {\"a\":1}\n\n",
        ),
    ] {
        assert_eq!(strip_usage(&stream.into()).unwrap(), expected, "{stream}");
    }
    for same in [
        "",
        "data: {\"choices\":[]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":\"}}]}\n\n",
        "data: \"usage\" is not JSON\n\n",
        ": \"usage\"\n\n",
        "\u{feff}data: a\r\rdata: {\"usage\":1",
    ] {
        assert_eq!(strip_usage(&same.into()).unwrap(), same);
    }
}

#[test]
fn a_request_is_made_to_ask_for_a_stream_and_is_otherwise_untouched() {
    for (asked, sent) in [
        (
            "{}",
            r#"{"stream":true,"stream_options":{"include_usage":true}}"#,
        ),
        (
            r#" { "model": "m" }"#,
            r#" {"stream":true,"stream_options":{"include_usage":true}, "model": "m" }"#,
        ),
        (
            r#"{"stream": null, "x":1.0, "stream_options": {"include_usage" : false, "y": 1}}"#,
            r#"{"stream": true, "x":1.0, "stream_options": {"include_usage" : true, "y": 1}}"#,
        ),
        (
            r#"{"stream_options":{ "y":1},"stream":true}"#,
            r#"{"stream_options":{"include_usage":true, "y":1},"stream":true}"#,
        ),
        (
            r#"{"stream_options":{},"stream":true}"#,
            r#"{"stream_options":{"include_usage":true},"stream":true}"#,
        ),
        (
            r#"{"stream_options":null,"stream":true}"#,
            r#"{"stream_options":{"include_usage":true},"stream":true}"#,
        ),
        (
            r#"{"stream_options":{"include_usage":true},"stream":true}"#,
            r#"{"stream_options":{"include_usage":true},"stream":true}"#,
        ),
    ] {
        assert_eq!(stream_request(&asked.into()).unwrap(), sent, "{asked}");
        assert_eq!(stream_request(&sent.into()).unwrap(), sent);
    }
    for bad in ["", "[]", r#"{"a":1,"a":2}"#] {
        assert!(stream_request(&bad.into()).is_none());
    }
}

#[test]
fn usage_is_found_only_where_it_is_told() {
    for (data, told) in [
        (r#"{"choices":[],"usage":{"total_tokens":3}}"#, true),
        ("{\"choices\":[],\"usage\" :\t{\"total_tokens\":3}}", true),
        (r#"{"choices":[],"usage":null}"#, false),
        (
            r#"{"choices":[{"delta":{"content":"\"usage\":{"}}]}"#,
            false,
        ),
        (r#"{"choices":[{"delta":{"content":"usage"}}]}"#, false),
        (
            r#"{"choices":[{"delta":{"content":"usage"}}],"usage":{}}"#,
            true,
        ),
        ("", false),
    ] {
        let stream = format!("data: {data}\n\ndata: [DONE]\n\n");
        assert_eq!(tells_usage(stream.as_bytes()), told, "{data}");
    }
    assert!(!tells_usage(b"data: {\"usage\""));
}
