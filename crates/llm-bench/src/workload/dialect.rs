//! Requests as an OpenAI-compatible server takes them.

use super::{Ask, Prompt};
use bytes::Bytes;
use serde_json::{Map, Value};
use std::io::Write;

/// Which call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Endpoint {
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/completions`.
    Completions,
    /// `/v1/embeddings`.
    Embeddings,
}

/// In which form the answer is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// A stream of server-sent events, with the usage at its end.
    Stream,
    /// One body. An embedding always is.
    Body,
}

/// How an [`Ask`] becomes an HTTP request.
#[derive(Clone, Debug)]
pub struct Dialect {
    endpoint: Endpoint,
    /// The request line and the fields, up to the length.
    head: Vec<u8>,
    /// The body's first member.
    model: Vec<u8>,
    /// Its last members.
    extra: Vec<u8>,
    form: Form,
}

impl Endpoint {
    /// The call at `path`, by how it ends.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        [
            ("/chat/completions", Self::Chat),
            ("/completions", Self::Completions),
            ("/embeddings", Self::Embeddings),
        ]
        .into_iter()
        .find_map(|(end, endpoint)| path.ends_with(end).then_some(endpoint))
    }

    /// Its usual path.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
            Self::Embeddings => "/v1/embeddings",
        }
    }
}

impl Dialect {
    /// Requests for `model` to `endpoint` at `path` of the server at `authority` (its `host:port`), with more header fields
    /// and more members of the body.
    #[must_use]
    pub fn new(
        endpoint: Endpoint,
        path: &str,
        authority: &str,
        model: &str,
        form: Form,
        fields: &[(String, String)],
        extra: &Map<String, Value>,
    ) -> Self {
        let mut head = format!(
            "POST {path} HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\n"
        )
        .into_bytes();
        for (name, value) in fields {
            head.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        let mut end = Vec::new();
        if form == Form::Stream && endpoint != Endpoint::Embeddings {
            end.extend_from_slice(br#","stream":true"#);
            if !extra.contains_key("stream_options") {
                end.extend_from_slice(br#","stream_options":{"include_usage":true}"#);
            }
        }
        for (name, value) in extra {
            end.extend_from_slice(format!(",{}:{value}", Value::from(name.as_str())).as_bytes());
        }
        end.push(b'}');
        Self {
            endpoint,
            head,
            model: format!("{{\"model\":{}", Value::from(model)).into_bytes(),
            extra: end,
            form: if endpoint == Endpoint::Embeddings {
                Form::Body
            } else {
                form
            },
        }
    }

    /// The call.
    #[must_use]
    pub const fn endpoint(&self) -> Endpoint {
        self.endpoint
    }

    /// The form of the answers.
    #[must_use]
    pub const fn form(&self) -> Form {
        self.form
    }

    /// The request.
    #[must_use]
    pub fn request(&self, ask: &Ask) -> Bytes {
        let body = self.body(ask);
        let mut request = Vec::with_capacity(self.head.len() + body.len() + 32);
        request.extend_from_slice(&self.head);
        request.extend_from_slice(b"content-length: ");
        request.extend_from_slice(body.len().to_string().as_bytes());
        request.extend_from_slice(b"\r\n\r\n");
        request.extend_from_slice(&body);
        request.into()
    }

    fn body(&self, ask: &Ask) -> Vec<u8> {
        let mut body = self.model.clone();
        let limit = match self.endpoint {
            Endpoint::Chat => {
                match &ask.prompt {
                    Prompt::Messages(messages) => {
                        body.extend_from_slice(b",\"messages\":");
                        body.extend_from_slice(messages.get().as_bytes());
                    }
                    prompt => {
                        body.extend_from_slice(br#","messages":[{"role":"user","content":"#);
                        text(&mut body, prompt);
                        body.extend_from_slice(b"}]");
                    }
                }
                "max_completion_tokens"
            }
            Endpoint::Completions => {
                body.extend_from_slice(b",\"prompt\":");
                text(&mut body, &ask.prompt);
                "max_tokens"
            }
            Endpoint::Embeddings => {
                body.extend_from_slice(b",\"input\":");
                text(&mut body, &ask.prompt);
                ""
            }
        };
        if !limit.is_empty() && ask.output_tokens > 0 {
            body.extend_from_slice(format!(",\"{limit}\":{}", ask.output_tokens).as_bytes());
        }
        body.extend_from_slice(&self.extra);
        body
    }
}

fn text(body: &mut Vec<u8>, prompt: &Prompt) {
    let written = match prompt {
        Prompt::Text(text) => serde_json::to_writer(&mut *body, text),
        Prompt::Texts(texts) => serde_json::to_writer(&mut *body, texts),
        // A chat sent to a call that knows none: its JSON is the text.
        Prompt::Messages(messages) => serde_json::to_writer(&mut *body, messages.get()),
    };
    // Writing into memory does not fail.
    if written.is_err() {
        let _ = body.write_all(b"\"\"");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::RequestHead;
    use serde_json::json;

    fn body(endpoint: Endpoint, form: Form, prompt: Prompt, extra: Value) -> Value {
        let Value::Object(extra) = extra else {
            panic!()
        };
        let fields = [("authorization".to_owned(), "Bearer x".to_owned())];
        let dialect = Dialect::new(
            endpoint,
            endpoint.path(),
            "h:1",
            "a \"model\"",
            form,
            &fields,
            &extra,
        );
        let request = dialect.request(&Ask {
            prompt,
            prompt_tokens: 1,
            output_tokens: 5,
        });
        let head = RequestHead::parse(&request).unwrap().unwrap();
        let text = std::str::from_utf8(&request[..head.length]).unwrap();
        assert!(
            text.contains("\r\nhost: h:1\r\n") && text.contains("\r\nauthorization: Bearer x\r\n")
        );
        serde_json::from_slice(&request[head.length..]).unwrap()
    }

    #[test]
    fn a_chat_is_streamed_with_its_usage() {
        let body = body(
            Endpoint::Chat,
            Form::Stream,
            Prompt::Text("a\n\"b\"".into()),
            json!({"temperature": 0.0}),
        );
        assert_eq!(
            body,
            json!({"model": "a \"model\"", "messages": [{"role": "user", "content": "a\n\"b\""}], "max_completion_tokens": 5,
                   "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.0})
        );
    }

    #[test]
    fn a_completion_may_be_one_body() {
        let body = body(
            Endpoint::Completions,
            Form::Body,
            Prompt::Text("a".into()),
            json!({}),
        );
        assert_eq!(
            body,
            json!({"model": "a \"model\"", "prompt": "a", "max_tokens": 5})
        );
    }

    #[test]
    fn embeddings_are_never_streamed_and_have_no_length() {
        let body = body(
            Endpoint::Embeddings,
            Form::Stream,
            Prompt::Texts(vec!["a".into(), "b".into()]),
            json!({}),
        );
        assert_eq!(body, json!({"model": "a \"model\"", "input": ["a", "b"]}));
    }

    #[test]
    fn stream_options_of_ones_own_replace_ours() {
        let own = json!({"stream_options": {"continuous_usage_stats": true}});
        let body = body(
            Endpoint::Chat,
            Form::Stream,
            Prompt::Text("a".into()),
            own.clone(),
        );
        assert_eq!(body["stream_options"], own["stream_options"]);
    }

    #[test]
    fn a_path_tells_its_call() {
        assert_eq!(
            Endpoint::of("/openai/v1/chat/completions?x=1"),
            Some(Endpoint::Chat)
        );
        assert_eq!(Endpoint::of("/v1/completions"), Some(Endpoint::Completions));
        assert_eq!(Endpoint::of("/v1/embeddings"), Some(Endpoint::Embeddings));
        assert_eq!(Endpoint::of("/v1/models"), None);
    }
}
