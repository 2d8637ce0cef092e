//! Requests to ask.

use serde_json::{Value, json};

/// A chat with one question, at temperature 0, for the model `stub`.
#[must_use]
pub fn chat(question: &str) -> Value {
    model("stub", question)
}

/// The same for another model: the stub is told by its name what to do wrong.
#[must_use]
pub fn model(name: &str, question: &str) -> Value {
    json!({ "model": name, "messages": [{ "role": "user", "content": question }], "temperature": 0 })
}

/// `request` with the fields of `more` added or replaced.
///
/// # Panics
/// When either is no object.
#[must_use]
pub fn with(mut request: Value, more: Value) -> Value {
    let fields = request.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    request
}

/// `request`, asked as a stream.
#[must_use]
pub fn stream(request: Value) -> Value {
    with(request, json!({ "stream": true }))
}
