//! Chat requests.

use crate::client::post;

/// In which form the answer is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    Whole,
    Stream,
}

/// How the answer is to be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Temperature {
    /// 0: the same each time, so it may be shared.
    Zero,
    /// 1: a sample of its own for each caller.
    One,
}

/// `POST /v1/chat/completions` with one message. `prompt` is put into JSON as it is.
pub(super) fn request(prompt: &str, form: Form, temperature: Temperature) -> Vec<u8> {
    let stream = match form {
        Form::Whole => "",
        Form::Stream => ",\"stream\":true",
    };
    let temperature = match temperature {
        Temperature::Zero => 0,
        Temperature::One => 1,
    };
    let json = format!(
        r#"{{"model":"bench","messages":[{{"role":"user","content":"{prompt}"}}],"temperature":{temperature}{stream}}}"#
    );
    post("/v1/chat/completions", json.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_json_in_every_form() {
        for form in [Form::Whole, Form::Stream] {
            for temperature in [Temperature::Zero, Temperature::One] {
                let request = String::from_utf8(request("hello", form, temperature)).unwrap();
                let (_, body) = request.split_once("\r\n\r\n").unwrap();
                let json: serde_json::Value = serde_json::from_str(body).unwrap();
                assert_eq!(
                    json["stream"].as_bool().unwrap_or_default(),
                    form == Form::Stream
                );
            }
        }
    }
}
