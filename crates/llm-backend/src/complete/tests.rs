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
