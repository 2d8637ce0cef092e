//! An answer in one body.

use super::chunk::Chunk;
use super::{Answer, chunk::Choice};
use crate::workload::Endpoint;

pub(super) fn read(body: &[u8], endpoint: Endpoint) -> Answer {
    let Some(chunk) = Chunk::read(body) else {
        return Answer::default();
    };
    let whole = match endpoint {
        Endpoint::Embeddings => chunk.data.as_ref().is_some_and(|data| !data.is_empty()),
        Endpoint::Chat | Endpoint::Completions => {
            !chunk.choices().is_empty() && chunk.choices().iter().all(Choice::is_finished)
        }
    };
    let usage = chunk.usage();
    let error = chunk.error();
    Answer {
        arrivals: Vec::new(),
        whole: whole && error.is_none(),
        error,
        usage,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Counted, Usage};
    use super::*;

    #[test]
    fn a_body_is_whole_with_its_finish_reason() {
        let body = br#"{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":2}}}"#;
        let answer = read(body, Endpoint::Chat);
        assert!(answer.whole);
        assert_eq!(
            answer.usage,
            Some(Usage {
                prompt: Some(3),
                cached: Some(2),
                output: Some(7)
            })
        );
        assert_eq!(answer.output_tokens(), (7, Counted::Server));
        let cut = br#"{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":null}]}"#;
        assert!(!read(cut, Endpoint::Chat).whole);
        assert!(!read(b"<html>", Endpoint::Chat).whole);
    }

    #[test]
    fn embeddings_are_whole_with_their_data() {
        assert!(
            read(
                br#"{"data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":1}}"#,
                Endpoint::Embeddings
            )
            .whole
        );
        assert!(!read(br#"{"data":[]}"#, Endpoint::Embeddings).whole);
    }

    #[test]
    fn an_error_in_a_body_is_told_in_the_servers_words() {
        let answer = read(
            br#"{"error":{"message":"too long","code":400}}"#,
            Endpoint::Chat,
        );
        assert_eq!(
            (answer.whole, answer.error.as_deref()),
            (false, Some("too long"))
        );
    }
}
