use Endpoint::{ChatCompletions, Completions, Embeddings, Generate};
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::prompt::{Endpoint, Prompt};

fn part(endpoint: Endpoint, body: &str) -> Part {
    Part::new(endpoint, &Bytes::copy_from_slice(body.as_bytes())).expect(body)
}

fn generate(body: &str) -> Part {
    let body = Bytes::copy_from_slice(body.as_bytes());
    Part::new(Generate, &completion_request(&body, Some("m")).unwrap()).unwrap()
}

fn error(parts: &[Part], response: &str) -> Kind {
    split(parts, &response.to_owned().into())
        .expect_err(response)
        .kind()
        .clone()
}

#[test]
fn only_single_texts_and_arrays_of_texts_are_merged() {
    for (endpoint, body) in [
        (ChatCompletions, r#"{"model":"m","prompt":"a"}"#),
        (Completions, r#"{"model":"m"}"#),
        (Completions, r#"{"prompt":[]}"#),
        (Completions, r#"{"prompt":[1,2]}"#),
        (Completions, r#"{"prompt":[[1],[2]]}"#),
        (Completions, r#"{"prompt":["a",1]}"#),
        (Completions, r#"{"prompt":null}"#),
        (Completions, r#"{"prompt":"a","stream":true}"#),
        (Completions, r#"{"prompt":"a","stream":1}"#),
        (Completions, r#"{"prompt":"a","n":2}"#),
        (Completions, r#"{"prompt":"a","n":"1"}"#),
        (Completions, r#"{"prompt":"a","best_of":2}"#),
        (Completions, r#"{"prompt":"a","prompt":"b"}"#),
        (Embeddings, r#"{"prompt":"a"}"#),
        (Embeddings, r#"["input"]"#),
    ] {
        assert!(Part::new(endpoint, &body.into()).is_none(), "{body}");
    }
    let ones = r#"{"prompt":"a","n":1,"best_of":null,"stream":false}"#;
    assert_eq!(part(Completions, ones).inputs(), 1);
    assert_eq!(part(Embeddings, r#"{"input":["a","b"]}"#).inputs(), 2);
}

#[test]
fn parts_agree_in_everything_but_the_input() {
    let base = part(Completions, r#"{"model":"m","prompt":"a","max_tokens":5}"#);
    for same in [
        r#"{ "max_tokens": 5, "prompt": ["b", "c"], "model": "\u006d" }"#,
        r#"{"model":"m","prompt":"a","max_tokens":5,"stream":false}"#,
    ] {
        assert_eq!(part(Completions, same).compat(), base.compat(), "{same}");
    }
    for other in [
        r#"{"model":"n","prompt":"a","max_tokens":5}"#,
        r#"{"model":"m","prompt":"a","max_tokens":6}"#,
        r#"{"model":"m","prompt":"a","max_tokens":5.0}"#,
        r#"{"model":"m","prompt":"a","max_tokens":5,"user":"ada"}"#,
        r#"{"model":"m","prompt":"a","max_tokens":5,"x":null}"#,
        r#"{"model":"m","prompt":"a"}"#,
    ] {
        let other = part(Completions, other);
        assert_ne!(other.compat(), base.compat());
        assert_eq!(
            join(&[base.clone(), other]).unwrap_err().kind(),
            &Kind::Incompatible
        );
    }
    assert_ne!(
        part(Generate, r#"{"prompt":"a"}"#).compat(),
        part(Completions, r#"{"prompt":"a"}"#).compat()
    );
    assert_eq!(join(&[]).unwrap_err().kind(), &Kind::Empty);
}

#[test]
fn inputs_are_joined_byte_for_byte_into_the_first_request() {
    let one = part(Embeddings, r#"{ "input": "\u0041" , "model": "m"}"#);
    let two = part(Embeddings, r#"{"model":"m","input":[ "b" ,"c,]"]}"#);
    assert_eq!(
        join(&[one, two]).unwrap(),
        r#"{ "input": ["\u0041","b","c,]"] , "model": "m"}"#
    );
}

#[test]
fn a_part_alone_goes_and_returns_as_it_is() {
    let body = r#"{"prompt": ["a", "b"] , "model":"m"}"#;
    let alone = [part(Completions, body)];
    assert_eq!(join(&alone).unwrap(), body);
    let response = Bytes::from(r#"{"usage":{"total_tokens":1},"choices":"anything"}"#);
    assert_eq!(split(&alone, &response).unwrap(), [response]);
}

#[test]
fn embeddings_are_split_by_index_and_lose_the_usage_of_all() {
    let parts = [
        part(Embeddings, r#"{"input":["a","b"]}"#),
        part(Embeddings, r#"{"input":"c"}"#),
    ];
    let response = r#"{"object": "list", "data": [
        {"index": 2, "object": "embedding", "embedding": [3.0, 1e-3]},
        {"index": 0, "object": "embedding", "embedding": [1.0]},
        {"embedding": [2.0], "index": 1}], "model": "m", "usage": {"total_tokens": 3}, "x": null}"#;
    let answers = split(&parts, &response.into()).unwrap();
    assert_eq!(
        answers[0],
        concat!(
            r#"{"object":"list","data":[{"index":0,"object":"embedding","embedding":[1.0]},"#,
            r#"{"embedding":[2.0],"index":1}],"model":"m","x":null}"#
        )
    );
    assert_eq!(
        answers[1],
        r#"{"object":"list","data":[{"index":0,"object":"embedding","embedding":[3.0, 1e-3]}],"model":"m","x":null}"#
    );
}

#[test]
fn indices_that_do_not_add_up_are_an_error_for_all() {
    let parts = [
        part(Completions, r#"{"prompt":"a"}"#),
        part(Completions, r#"{"prompt":"b"}"#),
    ];
    let with = |choices: &str| format!(r#"{{"choices":[{choices}]}}"#);
    for (response, expected) in [
        ("oops".to_owned(), Kind::Malformed("JSON object")),
        ("{}".to_owned(), Kind::Malformed("choices")),
        (r#"{"choices":{}}"#.to_owned(), Kind::Malformed("choices")),
        (
            r#"{"choices":[],"choices":[]}"#.to_owned(),
            Kind::Malformed("choices"),
        ),
        (
            with(r#"{"index":0}"#),
            Kind::Count {
                expected: 2,
                found: 1,
            },
        ),
        (
            with(r#"{"index":0},{"index":1},{"index":2}"#),
            Kind::Count {
                expected: 2,
                found: 3,
            },
        ),
        (with(r#"{"index":0},{"index":0}"#), Kind::Index),
        (with(r#"{"index":0},{"index":2}"#), Kind::Index),
        (with(r#"{"index":0},{"index":-1}"#), Kind::Index),
        (with(r#"{"index":0},{"index":1.0}"#), Kind::Index),
        (with(r#"{"index":0},{"index":"1"}"#), Kind::Index),
        (with(r#"{"index":0},{"index":null}"#), Kind::Index),
        (with(r#"{"index":0},{}"#), Kind::Index),
        (with(r#"{"index":0},{"index":0,"index":1}"#), Kind::Index),
        (with(r#"{"index":0},1"#), Kind::Index),
    ] {
        assert_eq!(error(&parts, &response), expected, "{response}");
    }
    assert_eq!(error(&[], "{}"), Kind::Empty);
}

#[test]
fn generate_is_a_greedy_completion_of_64_tokens_unless_told_otherwise() {
    for (asked, model, sent) in [
        (
            r#"{"prompt":"a"}"#,
            Some("m\""),
            r#"{"model":"m\"","max_tokens":64,"temperature":0,"prompt":"a"}"#,
        ),
        (
            r#"{"prompt":"a"}"#,
            None,
            r#"{"max_tokens":64,"temperature":0,"prompt":"a"}"#,
        ),
        (
            r#"{"prompt":"a", "max_tokens":null,"model":"n","temperature":0.5}"#,
            Some("m"),
            r#"{"prompt":"a", "max_tokens":64,"model":"n","temperature":0.5}"#,
        ),
        (
            r#"{"prompt":"a","max_tokens":9,"model":null,"temperature":0,"x":[1]}"#,
            Some("m"),
            r#"{"prompt":"a","max_tokens":9,"model":"m","temperature":0,"x":[1]}"#,
        ),
    ] {
        assert_eq!(completion_request(&asked.into(), model).unwrap(), sent);
    }
    assert!(completion_request(&"[]".into(), None).is_none());
}

#[test]
fn generate_answers_are_rendered_alone_and_merged() {
    let parts = [
        generate(r#"{"prompt":"a"}"#),
        generate(r#"{"prompt":"b","max_tokens":64}"#),
    ];
    assert_eq!(parts[0].compat(), parts[1].compat());
    assert_eq!(
        join(&parts).unwrap(),
        r#"{"model":"m","max_tokens":64,"temperature":0,"prompt":["a","b"]}"#
    );
    let response = r#"{"model":"m-1","choices":[{"index":1,"text":"B\n","finish_reason":"length"},{"index":0,"text":"A"}]}"#;
    let answers = split(&parts, &response.into()).unwrap();
    assert_eq!(
        answers[0],
        r#"{"text":"A","finish_reason":null,"model":"m-1"}"#
    );
    assert_eq!(
        answers[1],
        r#"{"text":"B\n","finish_reason":"length","model":"m-1"}"#
    );
    let alone = r#"{"choices":[{"index":0,"text":"A","finish_reason":"stop"}],"usage":{}}"#;
    let answers = split(&parts[..1], &alone.into()).unwrap();
    assert_eq!(
        answers[0],
        r#"{"text":"A","finish_reason":"stop","model":null}"#
    );
    assert_eq!(
        error(&parts[..1], r#"{"choices":[{"index":0}]}"#),
        Kind::Malformed("text")
    );
}

#[test]
fn nothing_of_the_inputs_shows_in_debug() {
    assert!(!format!("{:?}", part(Completions, r#"{"prompt":"secret"}"#)).contains("secret"));
}

proptest! {
    #[test]
    fn everybody_gets_their_own_answers(
        prompts in prop::collection::vec(prop::collection::vec("(?s).{0,6}", 1..4), 1..6),
        shuffle in any::<u64>(),
    ) {
        let parts: Vec<Part> = prompts
            .iter()
            .map(|own| {
                let prompt = if own.len() == 1 { json!(own[0]) } else { json!(own) };
                part(Completions, &json!({"model": "m", "prompt": prompt}).to_string())
            })
            .collect();
        // A server that answers with the prompt itself, in some other order.
        let request: Value = serde_json::from_slice(&join(&parts).unwrap()).unwrap();
        let inputs: Vec<Value> = match &request["prompt"] {
            Value::Array(all) => all.clone(),
            one => vec![one.clone()],
        };
        let mut choices: Vec<Value> =
            inputs.iter().enumerate().map(|(i, text)| json!({"index": i, "text": text})).collect();
        let by = usize::try_from(shuffle % choices.len() as u64).unwrap();
        choices.rotate_left(by);
        let response = json!({"id": "r", "choices": choices, "usage": {}}).to_string();
        let answers = split(&parts, &response.into()).unwrap();
        for (own, answer) in prompts.iter().zip(answers) {
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            let mut got = answer["choices"].as_array().unwrap().clone();
            got.sort_by_key(|choice| choice["index"].as_u64());
            for (i, text) in own.iter().enumerate() {
                prop_assert_eq!(&got[i], &json!({"index": i, "text": text}));
            }
            prop_assert_eq!(got.len(), own.len());
        }
    }
}

#[test]
fn one_reading_gives_the_prompt_and_the_part() {
    let body = Bytes::from(r#"{"prompt":["a","b"],"model":"m","user":"ada","temperature":0}"#);
    let (prompt, part) = parse(Completions, &body).unwrap();
    let (alone, of_part) = (Prompt::parse(Completions, &body).unwrap(), part.unwrap());
    assert_eq!(prompt.canonical, alone.canonical);
    let part = Part::new(Completions, &body).unwrap();
    assert_eq!(part.compat(), of_part.compat());
    assert_eq!(join(&[part]), join(&[of_part]));

    let streamed = Bytes::from(r#"{"prompt":"a","model":"m","stream":true}"#);
    assert!(parse(Completions, &streamed).unwrap().1.is_none());
    let generate = Bytes::from(r#"{"prompt":"a"}"#);
    assert!(parse(Generate, &generate).unwrap().1.is_none());
    assert!(parse(Completions, &Bytes::from_static(b"[]")).is_err());
}
