//! An answer in events.

use super::chunk::Chunk;
use super::{Answer, Arrival};
use crate::client::Recording;
use crate::clock::Stamp;
use bytes::Bytes;
use llm_backend::sse::DONE;

pub(super) fn read(recording: &Recording) -> Answer {
    let mut reader = Reader::default();
    for event in recording.events() {
        reader.event(event.at, &event.what);
    }
    reader.end()
}

#[derive(Default)]
struct Reader {
    answer: Answer,
    /// Of each choice, whether it has finished.
    finished: Vec<bool>,
    /// `usage.completion_tokens` so far, where chunks carry it.
    counted: u64,
}

impl Reader {
    fn event(&mut self, at: Stamp, data: &Bytes) {
        if data == DONE {
            return;
        }
        let Some(chunk) = Chunk::read(data) else {
            self.answer
                .error
                .get_or_insert_with(|| "an event is no JSON".to_owned());
            return;
        };
        let mut says = false;
        let mut tokens = None;
        for choice in chunk.choices() {
            let index = choice.index as usize;
            // A choice of a number that no server means is not made room for.
            if index >= self.finished.len() && index < 1024 {
                self.finished.resize(index + 1, false);
            }
            if let Some(finished) = self.finished.get_mut(index) {
                *finished |= choice.is_finished();
            }
            if choice.says() {
                says = true;
                tokens = sum(tokens, choice.tokens());
            }
        }
        let usage = chunk.usage();
        if let Some(output) = usage.and_then(|usage| usage.output) {
            let grown = output.saturating_sub(self.counted);
            // The total at the end of a stream comes without a delta: it says nothing of a chunk.
            if says {
                tokens = Some(grown);
            }
            self.counted = output;
        }
        // Assigned, not added up: each one is a total.
        self.answer.usage = usage.or(self.answer.usage);
        if says {
            self.arrival(at, tokens);
        }
        if let Some(error) = chunk.error() {
            self.answer.error.get_or_insert(error);
        }
    }

    /// Chunks that came with one read of the socket came at one moment: nobody saw a pause between them.
    fn arrival(&mut self, at: Stamp, tokens: Option<u64>) {
        match self.answer.arrivals.last_mut() {
            Some(last) if last.at == at => {
                last.chunks += 1;
                last.tokens = last.tokens.zip(tokens).map(|(a, b)| a + b);
            }
            _ => self.answer.arrivals.push(Arrival {
                at,
                chunks: 1,
                tokens,
            }),
        }
    }

    fn end(mut self) -> Answer {
        let finished = !self.finished.is_empty() && self.finished.iter().all(|finished| *finished);
        self.answer.whole = finished && self.answer.error.is_none();
        self.answer
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Counted, Usage};
    use super::*;
    use std::time::Duration;

    /// Events, each with its millisecond.
    fn read(events: &[(u64, &str)]) -> (Answer, Vec<u64>) {
        let start = Stamp::now();
        let mut reader = Reader::default();
        for (at, data) in events {
            reader.event(
                start + Duration::from_millis(*at),
                &Bytes::copy_from_slice(data.as_bytes()),
            );
        }
        let answer = reader.end();
        let at = answer
            .arrivals
            .iter()
            .map(|arrival| arrival.at.since(start).as_millis() as u64)
            .collect();
        (answer, at)
    }

    fn delta(delta: &str) -> String {
        format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
    }

    const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

    #[test]
    fn an_empty_first_chunk_and_the_usage_chunk_are_no_tokens() {
        let (answer, at) = read(&[
            (1, &delta(r#"{"role":"assistant","content":""}"#)),
            (5, &delta(r#"{"content":"a"}"#)),
            (7, &delta(r#"{"content":"b"}"#)),
            (8, STOP),
            (
                9,
                r#"{"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":3}}"#,
            ),
            (9, "[DONE]"),
        ]);
        assert_eq!(at, [5, 7]);
        assert!(answer.whole);
        assert_eq!(answer.output_tokens(), (3, Counted::Server));
    }

    #[test]
    fn reasoning_and_tool_calls_are_tokens() {
        let (_, at) = read(&[
            (2, &delta(r#"{"reasoning_content":"hm"}"#)),
            (
                4,
                &delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#),
            ),
        ]);
        assert_eq!(at, [2, 4]);
    }

    #[test]
    fn usage_is_assigned_and_its_growth_tells_a_chunks_tokens() {
        let with = |text: &str, total: u64| {
            format!(
                r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}],"usage":{{"prompt_tokens":4,"completion_tokens":{total}}}}}"#
            )
        };
        let (answer, at) = read(&[
            (1, &with("a b c", 3)),
            (3, &with("d", 4)),
            (4, STOP),
            (
                4,
                r#"{"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":4}}"#,
            ),
        ]);
        assert_eq!(at, [1, 3]);
        assert_eq!(
            answer
                .arrivals
                .iter()
                .map(|arrival| arrival.tokens)
                .collect::<Vec<_>>(),
            [Some(3), Some(1)]
        );
        assert_eq!(
            answer.usage,
            Some(Usage {
                prompt: Some(4),
                cached: None,
                output: Some(4)
            })
        );
    }

    #[test]
    fn token_ids_and_logprobs_tell_a_chunks_tokens() {
        let (answer, _) = read(&[
            (
                1,
                r#"{"choices":[{"index":0,"text":"ab","token_ids":[1,2]}]}"#,
            ),
            (
                2,
                r#"{"choices":[{"index":0,"text":"c","logprobs":{"tokens":["c"]}}]}"#,
            ),
            (
                3,
                r#"{"choices":[{"index":0,"delta":{"content":"de"},"logprobs":{"content":[{},{}]}}]}"#,
            ),
        ]);
        assert_eq!(answer.output_tokens(), (5, Counted::Server));
        assert!(!answer.whole, "no finish reason");
    }

    #[test]
    fn chunks_of_one_read_are_one_arrival() {
        let (answer, at) = read(&[
            (1, &delta(r#"{"content":"a"}"#)),
            (1, &delta(r#"{"content":"b"}"#)),
            (2, STOP),
        ]);
        assert_eq!((at, answer.arrivals[0].chunks), (vec![1], 2));
        assert_eq!(answer.output_tokens(), (2, Counted::Chunks));
    }

    #[test]
    fn an_error_event_spoils_an_answer() {
        let (answer, _) = read(&[
            (1, &delta(r#"{"content":"a"}"#)),
            (2, r#"{"error":{"message":"out of memory"}}"#),
            (3, STOP),
        ]);
        assert!(!answer.whole);
        assert_eq!(answer.error.as_deref(), Some("out of memory"));
    }

    #[test]
    fn every_choice_must_finish() {
        let (answer, _) = read(&[(
            1,
            r#"{"choices":[{"index":1,"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
        )]);
        assert!(!answer.whole);
        let (answer, _) = read(&[(0, "null"), (1, STOP)]);
        assert!(answer.whole, "an event that says `null` is none");
    }
}
