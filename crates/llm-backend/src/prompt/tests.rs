use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn parse(endpoint: Endpoint, body: &str) -> Result<Prompt, Error> {
    Prompt::parse(endpoint, &Bytes::copy_from_slice(body.as_bytes()))
}

fn chat(fields: &str) -> Prompt {
    let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"Hi"}}]{fields}}}"#);
    parse(Endpoint::ChatCompletions, &body).expect(fields)
}

fn of(endpoint: Endpoint, fields: &str) -> Prompt {
    parse(
        endpoint,
        &format!(r#"{{"model":"m","prompt":"Hi","input":"Hi","messages":[1]{fields}}}"#),
    )
    .expect(fields)
}

fn refused(endpoint: Endpoint, body: &str) -> (Kind, Option<String>) {
    let error = parse(endpoint, body).expect_err(body);
    assert!(!error.message().is_empty() && !error.message().ends_with('.'));
    (error.kind(), error.param().map(Into::into))
}

#[test]
fn paths_name_endpoints() {
    for endpoint in Endpoint::ALL {
        assert_eq!(Endpoint::from_path(endpoint.path()), Some(endpoint));
    }
    assert_eq!(Endpoint::from_path("/v1/models"), None);
    assert_eq!(Endpoint::Generate.upstream_path(), "/v1/completions");
}

#[test]
fn what_is_not_an_object_is_refused() {
    for body in ["", "[]", "1", "{\"model\":", "null", "{\"a\":1}}"] {
        assert_eq!(refused(Endpoint::Embeddings, body), (Kind::Json, None));
    }
}

#[test]
fn a_field_that_is_there_twice_is_refused_by_name() {
    let (kind, param) = refused(
        Endpoint::Embeddings,
        r#"{"model":"a","input":1,"model":"b"}"#,
    );
    assert_eq!((kind, param.as_deref()), (Kind::Duplicate, Some("model")));
    let nested = r#"{"model":"a","messages":[{"role":"user","role":"system"}]}"#;
    let (kind, param) = refused(Endpoint::ChatCompletions, nested);
    assert_eq!((kind, param.as_deref()), (Kind::Duplicate, Some("role")));
}

#[test]
fn bad_fields_are_refused_by_name() {
    use Endpoint::{ChatCompletions as Chat, Completions, Embeddings, Generate};
    let long = format!(r#"{{"prompt":"{}"}}"#, "é".repeat(20_001));
    for (endpoint, body, kind, param) in [
        (Chat, r#"{"messages":[1]}"#, Kind::Missing, "model"),
        (Completions, r#"{"prompt":"a"}"#, Kind::Missing, "model"),
        (Embeddings, r#"{"input":"a"}"#, Kind::Missing, "model"),
        (
            Chat,
            r#"{"model":null,"messages":[1]}"#,
            Kind::Invalid,
            "model",
        ),
        (
            Chat,
            r#"{"model":7,"messages":[1]}"#,
            Kind::Invalid,
            "model",
        ),
        (
            Generate,
            r#"{"model":7,"prompt":"a"}"#,
            Kind::Invalid,
            "model",
        ),
        (Chat, r#"{"model":"m"}"#, Kind::Missing, "messages"),
        (
            Chat,
            r#"{"model":"m","messages":[]}"#,
            Kind::Invalid,
            "messages",
        ),
        (
            Chat,
            r#"{"model":"m","messages":[ ]}"#,
            Kind::Invalid,
            "messages",
        ),
        (
            Chat,
            r#"{"model":"m","messages":null}"#,
            Kind::Invalid,
            "messages",
        ),
        (
            Chat,
            r#"{"model":"m","messages":"a"}"#,
            Kind::Invalid,
            "messages",
        ),
        (
            Chat,
            r#"{"model":"m","messages":[1],"stream":"true"}"#,
            Kind::Invalid,
            "stream",
        ),
        (
            Completions,
            r#"{"model":"m","stream":1}"#,
            Kind::Invalid,
            "stream",
        ),
        (Generate, r#"{}"#, Kind::Missing, "prompt"),
        (Generate, r#"{"prompt":""}"#, Kind::Invalid, "prompt"),
        (Generate, r#"{"prompt":["a"]}"#, Kind::Invalid, "prompt"),
        (Generate, &long, Kind::Invalid, "prompt"),
        (
            Generate,
            r#"{"prompt":"a","max_tokens":0}"#,
            Kind::Invalid,
            "max_tokens",
        ),
        (
            Generate,
            r#"{"prompt":"a","max_tokens":4097}"#,
            Kind::Invalid,
            "max_tokens",
        ),
        (
            Generate,
            r#"{"prompt":"a","max_tokens":1.5}"#,
            Kind::Invalid,
            "max_tokens",
        ),
        (
            Generate,
            r#"{"prompt":"a","max_tokens":"9"}"#,
            Kind::Invalid,
            "max_tokens",
        ),
        (
            Generate,
            r#"{"prompt":"a","stream":true}"#,
            Kind::Invalid,
            "stream",
        ),
        (Generate, r#"{"prompt":"a","n":2}"#, Kind::Invalid, "n"),
    ] {
        assert_eq!(
            refused(endpoint, body),
            (kind, Some(param.to_owned())),
            "{body}"
        );
    }
}

#[test]
fn generate_takes_prompts_up_to_its_bounds() {
    let longest = format!(r#"{{"prompt":"{}","max_tokens":4096}}"#, "é".repeat(20_000));
    assert!(parse(Endpoint::Generate, &longest).is_ok());
    let prompt = parse(Endpoint::Generate, r#"{"prompt":"\u0041","x_unknown":[1]}"#).unwrap();
    assert_eq!(prompt.canonical, r#"{"prompt":"A","x_unknown":[1]}"#);
    assert!(prompt.model.is_none() && !prompt.sampled && !prompt.stream);
}

#[test]
fn everything_unknown_passes() {
    let prompt = of(
        Endpoint::Completions,
        r#","max_tokens":"lots","x":{"y":[]}"#,
    );
    assert!(
        std::str::from_utf8(&prompt.canonical)
            .unwrap()
            .contains(r#""x":{"y":[]}"#)
    );
    assert_eq!(prompt.model.as_deref(), Some("m"));
}

#[test]
fn stream_and_usage_are_read() {
    for (fields, stream, usage) in [
        ("", false, false),
        (r#","stream":null"#, false, false),
        (
            r#","stream":false,"stream_options":{"include_usage":true}"#,
            false,
            false,
        ),
        (r#","stream":true"#, true, false),
        (r#","stream":true,"stream_options":null"#, true, false),
        (
            r#","stream":true,"stream_options":{"x":"include_usage","include_usage":true}"#,
            true,
            true,
        ),
        (
            r#","stream":true,"stream_options":{"include_usage":false}"#,
            true,
            false,
        ),
        (
            r#","stream":true,"stream_options":{"x":{"include_usage":true}}"#,
            true,
            false,
        ),
    ] {
        let prompt = chat(fields);
        assert_eq!(
            (prompt.stream, prompt.include_usage),
            (stream, usage),
            "{fields}"
        );
        assert_eq!(prompt.canonical, chat("").canonical);
    }
}

#[test]
fn sampling_is_told_by_the_temperature_alone() {
    use Endpoint::{ChatCompletions as Chat, Completions, Embeddings, Generate};
    for (endpoint, fields, sampled) in [
        (Chat, "", true),
        (Completions, "", true),
        (Embeddings, "", false),
        (Generate, "", false),
        (Chat, r#","temperature":null"#, true),
        (Chat, r#","temperature":0"#, false),
        (Chat, r#","temperature":0.0"#, false),
        (Chat, r#","temperature":-0"#, false),
        (Chat, r#","temperature":0e3"#, false),
        (Chat, r#","temperature":0,"top_p":0.9,"seed":1"#, false),
        (Chat, r#","temperature":0.01"#, true),
        (Chat, r#","temperature":1,"seed":1"#, true),
        (Chat, r#","temperature":"0""#, true),
        (Completions, r#","temperature":1e-3"#, true),
        (Embeddings, r#","temperature":1"#, false),
        (Generate, r#","temperature":0.7"#, true),
        (Generate, r#","temperature":0"#, false),
    ] {
        assert_eq!(of(endpoint, fields).sampled, sampled, "{endpoint} {fields}");
    }
}

#[test]
fn several_choices_are_told_by_n_and_best_of() {
    for (fields, choices) in [
        ("", false),
        (r#","n":1"#, false),
        (r#","n":null,"best_of":null"#, false),
        (r#","n":2"#, true),
        (r#","best_of":3"#, true),
        (r#","n":"2""#, true),
    ] {
        assert_eq!(
            of(Endpoint::Completions, fields).choices,
            choices,
            "{fields}"
        );
    }
    assert!(!of(Endpoint::Embeddings, r#","n":2"#).choices);
}

#[test]
fn the_last_user_message_is_the_text() {
    let body = r#"{"model":"m","temperature":0,"messages":[
        {"role":"system","content":"Be brief."},
        {"role":"user","content":"One?"},{"role":"assistant","content":"1"},
        {"role":"user","content":"Two\n\u0032?","name":"ada"}]}"#;
    let semantic = parse(Endpoint::ChatCompletions, body)
        .unwrap()
        .semantic()
        .unwrap();
    assert_eq!(&*semantic.text, "Two\n2?");
    let rest = std::str::from_utf8(&semantic.without_text).unwrap();
    assert!(rest.contains("One?") && rest.contains("Be brief.") && !rest.contains("Two"));
    assert!(rest.contains("{\"content\":\0,\"name\":\"ada\",\"role\":\"user\"}"));
}

#[test]
fn text_parts_are_one_text() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":[
        {"type":"text","text":"a"},{"text":"b","type":"text","cache_control":{}}]}]}"#;
    let semantic = parse(Endpoint::ChatCompletions, body)
        .unwrap()
        .semantic()
        .unwrap();
    assert_eq!(&*semantic.text, "a\nb");
    assert_eq!(semantic.without_text.iter().filter(|b| **b == 0).count(), 2);
    assert!(
        std::str::from_utf8(&semantic.without_text)
            .unwrap()
            .contains("cache_control")
    );
}

#[test]
fn semantic_matching_is_off_where_a_similar_answer_would_be_wrong() {
    for fields in [
        r#","tools":[{}]"#,
        r#","functions":[{}]"#,
        r#","logprobs":true"#,
        r#","top_logprobs":2"#,
        r#","prompt_logprobs":0"#,
        r#","modalities":["text","audio"]"#,
        r#","audio":{}"#,
        r#","web_search_options":{}"#,
    ] {
        assert!(chat(fields).semantic().is_none(), "{fields}");
    }
    for messages in [
        r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}"#,
        r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"input_audio"}]}"#,
        r#"{"role":"user","content":[{"type":"file","text":"a"}]}"#,
        r#"{"role":"user","content":[{"type":"image_url"}]},{"role":"user","content":"a"}"#,
        r#"{"role":"user","content":"a"},{"role":"assistant","content":"b"}"#,
        r#"{"role":"system","content":"a"}"#,
        r#"{"role":"tool","content":"a"},{"role":"user","content":"b"}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{}]},{"role":"user","content":"b"}"#,
        r#"{"role":"user","content":null}"#,
        r#"{"role":"user","content":7}"#,
        r#"{"role":"user","content":[]}"#,
        r#"{"role":"user","content":" "}"#,
        r#"{"role":"user"}"#,
        "1",
    ] {
        let body = format!(r#"{{"model":"m","messages":[{messages}]}}"#);
        let prompt = parse(Endpoint::ChatCompletions, &body).unwrap();
        assert!(prompt.semantic().is_none(), "{messages}");
    }
    for body in [
        r#"{"model":"m","prompt":["a"]}"#,
        r#"{"model":"m","prompt":[1,2]}"#,
        r#"{"model":"m","prompt":"a","echo":true}"#,
        r#"{"model":"m","prompt":"a","logprobs":0}"#,
        r#"{"model":"m"}"#,
    ] {
        assert!(
            parse(Endpoint::Completions, body)
                .unwrap()
                .semantic()
                .is_none(),
            "{body}"
        );
    }
    assert!(of(Endpoint::Embeddings, "").semantic().is_none());
    assert_eq!(
        &*of(Endpoint::Completions, "").semantic().unwrap().text,
        "Hi"
    );
    assert_eq!(&*of(Endpoint::Generate, "").semantic().unwrap().text, "Hi");
    assert!(
        chat(r#","tools":[],"logprobs":false,"modalities":["text"]"#)
            .semantic()
            .is_some()
    );
}

#[test]
fn nothing_of_the_prompt_shows_in_debug() {
    let prompt = of(Endpoint::Completions, r#","prompt2":"secret""#);
    assert!(!format!("{prompt:?}").contains("secret"));
    assert!(!format!("{:?}", prompt.semantic()).contains("Hi"));
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (0..5).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
        Just(json!({"a": [1]})),
    ]
}

const KNOWN: [&str; 14] = [
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "stop",
    "tools",
    "response_format",
    "n",
    "logprobs",
    "reasoning_effort",
    "prompt",
    "input",
    "user",
    "stream_options",
];

proptest! {
    #[test]
    fn flipping_any_field_changes_the_key_unless_it_is_ignored(
        fields in prop::collection::btree_map(
            prop_oneof![prop::sample::select(&KNOWN[..]).prop_map(String::from), "[a-z_]{1,8}"],
            value(),
            0..8,
        ),
        name in prop_oneof![
            prop::sample::select(&KNOWN[..]).prop_map(String::from),
            prop::sample::select(&IGNORED[..]).prop_map(String::from),
            "[a-z_]{1,8}",
        ],
        to in value(),
    ) {
        let mut body: Map<String, Value> = fields.into_iter().collect();
        body.insert("model".into(), json!("m"));
        body.insert("messages".into(), json!([{"role": "user", "content": "Hi"}]));
        body.insert("stream".into(), json!(false));
        let mut other = body.clone();
        let to = match name.as_str() {
            "model" | "messages" => return Ok(()),
            "stream" => json!(true),
            _ => to,
        };
        let before = other.insert(name.clone(), to.clone());
        let one = parse(Endpoint::ChatCompletions, &Value::Object(body).to_string()).unwrap();
        let two = parse(Endpoint::ChatCompletions, &Value::Object(other).to_string()).unwrap();
        let same = IGNORED.contains(&name.as_str()) || before == Some(to);
        prop_assert_eq!(one.canonical == two.canonical, same);
        if let (Some(one), Some(two)) = (one.semantic(), two.semantic()) {
            prop_assert_eq!(one.without_text == two.without_text, same);
        }
    }

    #[test]
    fn text_and_rest_make_up_the_whole_request(text in "(?s).{1,20}", other in "(?s).{1,20}") {
        let body = |text: &str| json!({"model": "m", "messages": [
            {"role": "system", "content": other.clone()}, {"role": "user", "content": text}]}).to_string();
        let prompt = parse(Endpoint::ChatCompletions, &body(&text)).unwrap();
        if let Some(semantic) = prompt.semantic() {
            prop_assert_eq!(&*semantic.text, text.as_str());
            let at = semantic.without_text.iter().position(|b| *b == 0).unwrap();
            let quoted = Value::from(text.as_str()).to_string();
            let whole = [&semantic.without_text[..at], quoted.as_bytes(), &semantic.without_text[at + 1..]];
            prop_assert_eq!(&whole.concat(), &prompt.canonical);
            let changed = parse(Endpoint::ChatCompletions, &body("something else")).unwrap();
            prop_assert_eq!(changed.semantic().unwrap().without_text, semantic.without_text);
        } else {
            prop_assert!(text.trim().is_empty());
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        for endpoint in Endpoint::ALL {
            if let Ok(prompt) = Prompt::parse(endpoint, &Bytes::from(bytes.clone())) {
                let _ = prompt.semantic();
            }
        }
    }
}
