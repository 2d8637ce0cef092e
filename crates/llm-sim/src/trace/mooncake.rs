//! Mooncake's traces: a JSON object a line, with hashes of the prompt's blocks of 512 tokens.

use serde::Deserialize;

use crate::{
    error::Error,
    workload::{Prefix, Request, mix},
};

/// Tokens a hashed block.
const UNIT: u32 = 512;

#[derive(Debug, Deserialize)]
struct Row {
    /// Milliseconds.
    timestamp: f64,
    input_length: u32,
    output_length: u32,
    #[serde(default)]
    hash_ids: Vec<u64>,
}

pub(super) fn parse(lines: &str) -> Result<Vec<Request>, Error> {
    lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .enumerate()
        .map(|(at, line)| {
            let row: Row = serde_json::from_str(line).map_err(|source| {
                Error::with(format!("not a row of a trace: line {}", at + 1), source)
            })?;
            let length = u64::from(row.input_length);
            let key = row.hash_ids.iter().fold(length, |key, id| mix(key ^ *id));
            Ok(Request {
                id: at as u64,
                arrival_ms: row.timestamp,
                prompt_tokens: row.input_length,
                output_tokens: row.output_length.max(1),
                tenant: 0,
                priority: 0,
                key,
                prefix: Prefix::Blocks {
                    ids: row.hash_ids.into(),
                    unit: UNIT,
                },
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_prompts_have_equal_keys_and_shared_blocks() {
        let line =
            r#"{"timestamp": 5, "input_length": 600, "output_length": 0, "hash_ids": [3, 9]}"#;
        let other =
            r#"{"timestamp": 7, "input_length": 700, "output_length": 4, "hash_ids": [3, 8]}"#;
        let requests = parse(&format!("{line}\n{line}\n{other}\n")).unwrap();
        assert_eq!(requests[0].key, requests[1].key);
        assert_ne!(requests[0].key, requests[2].key);
        let block = |at: usize, index| requests[at].prefix.block(at as u64, index, 16);
        assert_eq!(block(0, 31), block(2, 31));
        assert_ne!(block(0, 32), block(2, 32));
        assert!(parse("{}").is_err());
    }
}
