//! Prompts of one's own.

use super::{Ask, Dataset, Prompt};
use crate::BoxError;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;
use std::sync::Arc;

/// Prompts from a file of JSON lines. Each line is an object with `prompt` (a text), `messages` (a chat) or `turns` (texts, of
/// which the first is asked, as in MT-bench), and perhaps `output_tokens`.
#[derive(Clone, Debug)]
pub struct Custom(Vec<Ask>);

/// The order of the prompts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Order {
    /// As in the file.
    Kept,
    /// Shuffled by a seed.
    Shuffled(u64),
}

#[derive(Deserialize)]
struct Line {
    prompt: Option<String>,
    messages: Option<Box<RawValue>>,
    turns: Option<Vec<String>>,
    output_tokens: Option<u32>,
}

impl Custom {
    /// Reads `file`. Where a line does not say how much may be answered, it is `output_tokens`.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is something else.
    pub fn read(file: &Path, output_tokens: u32, order: Order) -> Result<Self, BoxError> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        Self::parse(&text, output_tokens, order)
            .map_err(|error| format!("{}: {error}", file.display()).into())
    }

    fn parse(text: &str, output_tokens: u32, order: Order) -> Result<Self, String> {
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        let mut asks = lines
            .map(|(number, line)| {
                ask(line, output_tokens).map_err(|error| format!("line {}: {error}", number + 1))
            })
            .collect::<Result<Vec<Ask>, String>>()?;
        if asks.is_empty() {
            return Err("there is no prompt in it".to_owned());
        }
        if let Order::Shuffled(seed) = order {
            asks.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        }
        Ok(Self(asks))
    }
}

fn ask(line: &str, output_tokens: u32) -> Result<Ask, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let first = line.turns.and_then(|turns| turns.into_iter().next());
    let prompt = match (line.messages, line.prompt.or(first)) {
        (Some(messages), _) => Prompt::Messages(Arc::from(messages)),
        (None, Some(text)) => Prompt::Text(text),
        (None, None) => return Err("neither `prompt` nor `messages` nor `turns`".to_owned()),
    };
    Ok(Ask {
        prompt,
        prompt_tokens: 0,
        output_tokens: line.output_tokens.unwrap_or(output_tokens),
    })
}

impl Dataset for Custom {
    fn len(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn ask(&self, number: usize) -> Ask {
        // There is at least one: `parse` sees to it.
        self.0
            .get(number % self.0.len().max(1))
            .cloned()
            .unwrap_or(Ask {
                prompt: Prompt::Text(String::new()),
                prompt_tokens: 0,
                output_tokens: 1,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_messages_and_turns_are_understood() {
        let text = "{\"prompt\":\"a\"}\n\n{\"messages\":[{\"role\":\"user\",\"content\":\"b\"}],\"output_tokens\":7}\n{\"turns\":[\"c\",\"d\"],\"id\":1}\n";
        let custom = Custom::parse(text, 9, Order::Kept).unwrap();
        assert_eq!(custom.len(), Some(3));
        assert!(matches!(&custom.ask(0).prompt, Prompt::Text(text) if text == "a"));
        assert!(
            matches!(&custom.ask(1).prompt, Prompt::Messages(json) if json.get().contains("\"b\""))
        );
        assert!(matches!(&custom.ask(2).prompt, Prompt::Text(text) if text == "c"));
        assert_eq!(
            (custom.ask(0).output_tokens, custom.ask(1).output_tokens),
            (9, 7)
        );
        assert!(
            matches!(&custom.ask(3).prompt, Prompt::Text(text) if text == "a"),
            "it begins again"
        );
    }

    #[test]
    fn a_wrong_line_is_named() {
        let error =
            Custom::parse("{\"prompt\":\"a\"}\n{\"text\":\"b\"}", 1, Order::Kept).unwrap_err();
        assert!(error.starts_with("line 2: neither"), "{error}");
        assert!(Custom::parse("\n", 1, Order::Kept).is_err());
    }

    #[test]
    fn a_shuffle_keeps_every_prompt_once() {
        let text: String = (0..50)
            .map(|n| format!("{{\"prompt\":\"{n}\"}}\n"))
            .collect();
        let order = |order| {
            let custom = Custom::parse(&text, 1, order).unwrap();
            (0..50)
                .map(|n| format!("{:?}", custom.ask(n).prompt))
                .collect::<Vec<_>>()
        };
        let (kept, mut shuffled) = (order(Order::Kept), order(Order::Shuffled(1)));
        assert_ne!(kept, shuffled);
        let mut sorted = kept;
        sorted.sort();
        shuffled.sort();
        assert_eq!(sorted, shuffled);
    }
}
