//! Traces in files.

use super::{Entry, Trace, instant};
use crate::BoxError;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

/// Names of the columns, in lower case, that the published traces use: Azure's, BurstGPT's, Vidur's, and plain ones.
const AT: [&str; 4] = ["timestamp", "arrived_at", "start", "at"];
const PROMPT: [&str; 5] = [
    "contexttokens",
    "request tokens",
    "num_prefill_tokens",
    "prompt_tokens",
    "input_length",
];
const OUTPUT: [&str; 5] = [
    "generatedtokens",
    "response tokens",
    "num_decode_tokens",
    "output_tokens",
    "output_length",
];

/// One line of Mooncake's traces.
#[derive(Deserialize)]
struct Line {
    /// In milliseconds.
    timestamp: f64,
    input_length: u32,
    output_length: u32,
    #[serde(default)]
    hash_ids: Vec<u64>,
}

impl Trace {
    /// Reads a file: CSV with a line of names (`TIMESTAMP,ContextTokens,GeneratedTokens` as of Azure; seconds or dates), or JSON
    /// lines (`timestamp` in ms, `input_length`, `output_length`, perhaps `hash_ids`, as of Mooncake).
    ///
    /// # Errors
    /// The file cannot be read, or is neither.
    pub fn read(file: &Path, seed: u64) -> Result<Self, BoxError> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("{}: {error} (packed? unpack it first)", file.display()))?;
        let entries = parse(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Self::new(entries, seed))
    }
}

fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let entries = match text.trim_start().starts_with('{') {
        true => json_lines(text)?,
        false => csv(text)?,
    };
    match entries.is_empty() {
        true => Err("there is no request in it".to_owned()),
        false => Ok(entries),
    }
}

fn json_lines(text: &str) -> Result<Vec<Entry>, String> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let entries = lines.map(|(number, line)| {
        let line: Line =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
        Ok(Entry {
            at: time(line.timestamp / 1e3, number)?,
            prompt_tokens: line.input_length,
            output_tokens: line.output_length,
            blocks: line.hash_ids,
        })
    });
    entries.collect()
}

fn csv(text: &str) -> Result<Vec<Entry>, String> {
    let mut lines = text.lines().enumerate();
    let (_, heads) = lines.next().ok_or("it is empty")?;
    let heads: Vec<String> = heads
        .split(',')
        .map(|head| head.trim().trim_start_matches('\u{feff}').to_lowercase())
        .collect();
    let column = |names: &[&str]| {
        let found = heads.iter().position(|head| names.contains(&head.as_str()));
        found.ok_or_else(|| {
            format!(
                "its first line names none of the columns {}",
                names.join(", ")
            )
        })
    };
    let (at, prompt, output) = (column(&AT)?, column(&PROMPT)?, column(&OUTPUT)?);
    let mut start = None;
    let rows = lines.filter(|(_, line)| !line.trim().is_empty());
    let entries = rows.map(|(number, line)| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let cell = |column: usize| cells.get(column).copied().unwrap_or_default();
        let wrong = |what: &str, text: &str| format!("line {}: `{text}` is no {what}", number + 1);
        let seconds = instant::seconds(cell(at)).ok_or_else(|| wrong("time", cell(at)))?;
        // A date is far from any zero: what matters is the time since the first.
        let start = *start.get_or_insert(seconds.min(seconds.floor()));
        let tokens = |column| {
            cell(column)
                .parse()
                .map_err(|_| wrong("number of tokens", cell(column)))
        };
        Ok(Entry {
            at: time(seconds - start, number)?,
            prompt_tokens: tokens(prompt)?,
            output_tokens: tokens(output)?,
            blocks: Vec::new(),
        })
    });
    entries.collect()
}

fn time(seconds: f64, number: usize) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| format!("line {}: a time before the first", number + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn azures_traces_are_read() {
        let text = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951690,396,109\r\n";
        let trace = Trace::new(parse(text).unwrap(), 0);
        let [first, second] = trace.entries() else {
            panic!("{trace:?}")
        };
        assert_eq!(
            (first.at, first.prompt_tokens, first.output_tokens),
            (Duration::ZERO, 374, 44)
        );
        assert!(
            (second.at.as_secs_f64() - 4.314_579).abs() < 1e-5,
            "{:?}",
            second.at
        );
    }

    #[test]
    fn mooncakes_traces_are_read_with_their_blocks() {
        let text = "{\"timestamp\": 500, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}\n";
        let entries = parse(text).unwrap();
        assert_eq!(entries[0].at, Duration::from_millis(500));
        assert_eq!(entries[0].blocks, [0, 1]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("a,b\n1,2\n", "names none of the columns timestamp"),
            (
                "timestamp,prompt_tokens,output_tokens\nx,1,1\n",
                "line 2: `x` is no time",
            ),
            (
                "timestamp,prompt_tokens,output_tokens\n1,-1,1\n",
                "line 2: `-1` is no number of tokens",
            ),
            ("timestamp,prompt_tokens,output_tokens\n", "no request"),
            ("{\"timestamp\": 1}\n", "line 1: missing field"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
