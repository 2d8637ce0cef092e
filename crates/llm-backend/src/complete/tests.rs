use proptest::prelude::*;

use super::*;

fn body(text: &str) -> bool {
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    is_complete(
        StatusCode::OK,
        Some(&json),
        &Bytes::copy_from_slice(text.as_bytes()),
    )
}

fn stream(text: &str) -> bool {
    let sse = HeaderValue::from_static("Text/Event-Stream;charset=utf-8");
    is_complete(
        StatusCode::OK,
        Some(&sse),
        &Bytes::copy_from_slice(text.as_bytes()),
    )
}

const STOP: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

#[test]
fn only_status_200_with_a_known_content_type_is_whole() {
    let text = &Bytes::from(r#"{"choices":[{"finish_reason":"stop"}]}"#);
    let json = HeaderValue::from_static("application/json");
    let html = HeaderValue::from_static("text/html");
    assert!(is_complete(StatusCode::OK, Some(&json), text));
    assert!(!is_complete(StatusCode::OK, Some(&html), text));
    assert!(!is_complete(StatusCode::OK, None, text));
    for status in [
        StatusCode::CREATED,
        StatusCode::BAD_REQUEST,
        StatusCode::PARTIAL_CONTENT,
    ] {
        assert!(!is_complete(status, Some(&json), text));
    }
}

#[test]
fn every_choice_must_have_ended_of_its_own_accord() {
    for (reason, whole) in [
        ("\"stop\"", true),
        ("\"tool_calls\"", true),
        ("\"function_call\"", true),
        ("\"length\"", false),
        ("\"content_filter\"", false),
        ("\"abort\"", false),
        ("\"\"", false),
        ("null", false),
        ("true", false),
    ] {
        let one = format!(r#"{{"choices":[{{"index":0,"finish_reason":{reason}}}]}}"#);
        assert_eq!(body(&one), whole, "{reason}");
        assert_eq!(stream(&format!("data: {one}\n\n")), whole, "{reason}");
        let two = format!(
            r#"{{"choices":[{{"index":0,"finish_reason":"stop"}},{{"index":1,"finish_reason":{reason}}}]}}"#
        );
        assert_eq!(body(&two), whole, "{reason}");
        assert_eq!(stream(&format!("data: {two}\n\n")), whole, "{reason}");
    }
    assert!(!body(r#"{"choices":[{"index":0}]}"#));
    assert!(!body(r#"{"choices":[]}"#));
    assert!(!body("{}"));
}

#[test]
fn an_error_in_a_200_is_no_answer() {
    assert!(!body(
        r#"{"object":"error","choices":[{"finish_reason":"stop"}]}"#
    ));
    assert!(!body(
        r#"{"error":{},"choices":[{"finish_reason":"stop"}]}"#
    ));
    assert!(body(
        r#"{"error":null,"choices":[{"finish_reason":"stop"}]}"#
    ));
    assert!(!stream(&format!(
        "{STOP}data: {{\"error\":{{\"message\":\"x\"}}}}\n\n"
    )));
    assert!(!stream(&format!("{STOP}event: error\ndata: {{}}\n\n")));
    assert!(!stream(&format!("{STOP}event: error\ndata: null\n\n")));
    assert!(!stream(&format!("{STOP}data: Internal Server Error\n\n")));
}

#[test]
fn embeddings_are_whole_with_all_their_vectors() {
    assert!(body(r#"{"data":[{"embedding":[1]},{"embedding":"FBF9"}]}"#));
    assert!(!body(r#"{"data":[{"embedding":[1]},{"embedding":null}]}"#));
    assert!(!body(r#"{"data":[]}"#));
    assert!(!body(r#"{"data":[{"id":"a model"}]}"#));
    assert!(!body(r#"{"data":[{"embedding":[1]}],"choices":[]}"#));
}

#[test]
fn generate_answers_are_whole_in_either_form() {
    assert!(body(r#"{"text":"a","finish_reason":"stop","model":"m"}"#));
    assert!(!body(
        r#"{"text":"a","finish_reason":"length","model":"m"}"#
    ));
    assert!(!body(r#"{"finish_reason":"stop"}"#));
    assert!(body(r#"{"choices":[{"text":"a","finish_reason":"stop"}]}"#));
    assert!(!body(r#"{"text":"a"}"#));
}

#[test]
fn a_body_that_was_cut_is_not_whole() {
    let text = r#"{"choices":[{"finish_reason":"stop"}]}"#;
    for end in 0..text.len() {
        assert!(!body(&text[..end]));
    }
    assert!(!body(&format!("{text}{text}")));
}

#[test]
fn a_stream_is_whole_once_every_choice_has_ended_at_the_end_of_an_event() {
    let delta = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\n";
    let whole = format!(": ping\n\ndata: null\n\n{delta}{STOP}");
    for end in 0..whole.len() {
        assert!(!stream(&whole[..end]), "{end}");
    }
    assert!(stream(&whole));
    let usage = "data: {\"choices\":[],\"usage\":{}}\n\n";
    for more in [
        usage,
        "data: [DONE]\n\n",
        ": ping\n\n",
        "data: {\"choices\":null}\n\n",
    ] {
        assert!(stream(&format!("{whole}{more}")), "{more}");
        assert!(
            !stream(&format!("{whole}{}", &more[..more.len() - 1])),
            "{more}"
        );
    }
    assert!(stream(&whole.replace('\n', "\r")));
    assert!(!stream(""));
    assert!(!stream("data: [DONE]\n\n"));
}

#[test]
fn a_choice_that_never_began_or_never_ended_is_seen() {
    let other = "data: {\"choices\":[{\"index\":1,\"delta\":{}}]}\n\n";
    assert!(!stream(&format!("{other}{STOP}")));
    assert!(stream(&format!(
        "{other}{STOP}{}",
        STOP.replace("\"index\":0", "\"index\":1")
    )));
    assert!(!stream(&STOP.replace("\"index\":0", "\"index\":1")));
    assert!(!stream(&STOP.replace("\"index\":0", "\"index\":4096")));
    assert!(stream(&STOP.replace("\"index\":0,", "")));
}

#[test]
fn the_usual_answer_is_told_without_reading_it() {
    for text in [
        r#"{"choices":[{"finish_reason":"stop"}]}"#,
        r#" { "id" : "a\n\u00e9" , "choices" : [ { "index" : 0 , "message" : { "content" : "\"é\"" , "tool_calls" : [ ] } ,
            "logprobs" : null , "finish_reason" : "tool_calls" } , { "index" : 1 , "finish_reason" : "stop" } ] ,
            "error" : null , "object" : "chat.completion" , "n" : [ -0.5e+7 , true , false , { } ] } "#,
    ] {
        assert!(usual::is_plainly_whole(text.as_bytes()), "{text}");
        assert!(read_is_complete(text.as_bytes()), "{text}");
    }
}

#[test]
fn what_reading_refuses_is_not_plainly_whole() {
    let choices = r#""choices":[{"index":0,"finish_reason":"stop"}]"#;
    for text in [
        format!("{{{choices},{choices}}}"),
        format!(r#"{{{choices},"object":"a","object":"b"}}"#),
        format!(r#"{{{choices},"error":null,"error":null}}"#),
        format!(r#"{{{choices},"object":"error"}}"#),
        format!(r#"{{{choices},"object":"err\u006fr"}}"#),
        format!(r#"{{{choices},"err\u006fr":{{}}}}"#),
        format!(r#"{{{choices},"error":0}}"#),
        format!(r#"{{{choices},"data":0}}"#),
        format!(r#"{{{choices},"finish_reason":0}}"#),
        format!(r#"{{{choices},"n":01}}"#),
        format!(r#"{{{choices},"n":1.}}"#),
        format!(r#"{{{choices},"n":-}}"#),
        format!(r#"{{{choices},"n":1e}}"#),
        format!(r#"{{{choices},"n":+1}}"#),
        format!(r#"{{{choices},"n":nul}}"#),
        format!(r#"{{{choices},"n":"\x"}}"#),
        format!(r#"{{{choices},"n":"\u00g0"}}"#),
        format!("{{{choices},\"n\":\"\n\"}}"),
        format!(r#"{{{choices},"n":[1,]}}"#),
        format!(r#"{{{choices},"n":{{"a"}}}}"#),
        format!("{{{choices},}}"),
        format!("{{{choices}}}}}"),
        format!("{{{choices}}} {{}}"),
        choices.replace(":0", ":-0"),
        choices.replace(":0", ":0.0"),
        choices.replace(":0", ":1e1"),
        choices.replace(":0", ":99999999999999999999"),
        choices.replace("\"index\":0", "\"index\":0,\"index\":0"),
    ] {
        let text = match text.starts_with('{') {
            true => text,
            false => format!("{{{text}}}"),
        };
        assert!(!read_is_complete(text.as_bytes()), "{text}");
        assert!(!usual::is_plainly_whole(text.as_bytes()), "{text}");
    }
    let not_utf8 = [b"{\"choices\":[{\"finish_reason\":\"stop\"}],\"\xff\":0}".as_slice()];
    assert!(!not_utf8.into_iter().any(usual::is_plainly_whole));
}

/// Any JSON text, and often one with a flaw.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "null",
            "true",
            "0",
            "-0",
            "1.5e3",
            "01",
            "1.",
            "nul",
            "",
            "99999999999999999999",
            "\"error\"",
        ])
        .prop_map(str::to_owned),
        r#"[a-zé\\"/u0-9]{0,8}"#.prop_map(|text| format!("\"{text}\"")),
        "[a-zé]{0,8}".prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec(("[a-z]{0,2}", inner), 0..3).prop_map(|all| {
                let all: Vec<_> = all
                    .into_iter()
                    .map(|(k, v)| format!("\"{k}\":{v}"))
                    .collect();
                format!("{{{}}}", all.join(" , "))
            }),
        ]
    })
}

/// An object with these fields, most of them right, in any number and order.
fn object(fields: Vec<(&'static str, BoxedStrategy<String>)>) -> impl Strategy<Value = String> {
    let field = fields
        .into_iter()
        .map(|(key, usual)| {
            prop_oneof![4 => usual, 1 => value()]
                .prop_map(move |v| format!("\"{key}\":{v}"))
                .boxed()
        })
        .collect::<Vec<_>>();
    prop::collection::vec(prop::strategy::Union::new(field), 0..5)
        .prop_map(|fields| format!("{{{}}}", fields.join(",")))
}

fn choice() -> impl Strategy<Value = String> {
    let reasons = vec![
        "\"stop\"",
        "\"tool_calls\"",
        "\"length\"",
        "null",
        "\"st\\u006fp\"",
    ];
    let index = prop::sample::select(vec!["0", "1", "null"]).prop_map(str::to_owned);
    let reason = prop::sample::select(reasons).prop_map(str::to_owned);
    object(vec![
        ("index", index.boxed()),
        ("finish_reason", reason.clone().boxed()),
        ("finish_reason", reason.boxed()),
        ("message", value().boxed()),
    ])
}

fn answer() -> impl Strategy<Value = String> {
    let choices = prop::collection::vec(choice(), 0..3)
        .prop_map(|all| format!("[{}]", all.join(",")))
        .boxed();
    let embedding = "\\[\\{\"embedding\":(\\[1\\]|null)\\}\\]".boxed();
    object(vec![
        ("choices", choices.clone()),
        ("choices", choices),
        ("object", "\"(error|list)\"".boxed()),
        ("error", "(null|\\{\\})".boxed()),
        ("data", embedding),
        ("text", "\"a\"".boxed()),
        ("finish_reason", "\"stop\"".boxed()),
        ("x", value().boxed()),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn what_is_plainly_whole_is_whole_when_it_is_read(text in answer()) {
        if usual::is_plainly_whole(text.as_bytes()) {
            prop_assert!(read_is_complete(text.as_bytes()), "{}", text);
        }
        prop_assert_eq!(body(&text), read_is_complete(text.as_bytes()), "{}", text);
    }

    #[test]
    fn a_byte_that_was_changed_fools_nobody(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = br#"{"id":"a\u00e9","choices":[{"index":10,"message":{"content":"hi"},"finish_reason":"stop"}],"n":-1.5e3}"#.to_vec();
        let at = at.index(text.len());
        text[at] = byte;
        if usual::is_plainly_whole(&text) {
            prop_assert!(read_is_complete(&text), "{}", text.escape_ascii());
        }
    }
}
