//! Deterministic answers: a text, or a vector, is a function of the prompt.

use serde_json::Value;

const WORDS: [&str; 64] = [
    "amber", "anchor", "apple", "arrow", "ash", "autumn", "basin", "beacon", "birch", "bloom",
    "brook", "candle", "canyon", "cedar", "cloud", "clover", "copper", "coral", "crane", "dawn",
    "delta", "dune", "echo", "ember", "fern", "field", "flint", "fog", "forest", "garden", "glade",
    "granite", "harbor", "hazel", "heron", "hill", "iris", "island", "ivory", "juniper", "lake",
    "lantern", "linen", "maple", "meadow", "mist", "moss", "oak", "ocean", "orchid", "pebble",
    "pine", "quartz", "rain", "reed", "river", "sage", "shore", "sparrow", "stone", "thistle",
    "valley", "willow", "winter",
];

/// One round of splitmix64: a well-mixed function of its input.
pub(super) const fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The seed of a JSON value. Objects whose members differ only in their order have the same.
pub(super) fn seed(value: &Value) -> u64 {
    match value {
        Value::Null => mix(1),
        Value::Bool(flag) => mix(2 + u64::from(*flag)),
        Value::Number(number) => hash(4, number.to_string().as_bytes()),
        Value::String(text) => hash(5, text.as_bytes()),
        Value::Array(items) => items.iter().fold(mix(6), |sum, item| mix(sum ^ seed(item))),
        Value::Object(members) => members.iter().fold(mix(7), |sum, (name, value)| {
            sum.wrapping_add(mix(hash(8, name.as_bytes()) ^ seed(value).rotate_left(1)))
        }),
    }
}

/// FNV-1a, mixed.
fn hash(kind: u64, bytes: &[u8]) -> u64 {
    let sum = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325 ^ kind, |sum, byte| {
            (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    mix(sum)
}

/// The natural length of the answer to a prompt, in tokens: 12 to 20.
pub(super) fn length(seed: u64) -> u32 {
    12 + (mix(seed) % 9) as u32
}

/// Token number `index` of an answer: a word, with the space before it but for the first.
pub(super) fn token(seed: u64, index: u32) -> (&'static str, &'static str) {
    let word = mix(seed ^ mix(u64::from(index))) % WORDS.len() as u64;
    let word = WORDS.get(word as usize).copied().unwrap_or_default();
    (if index == 0 { "" } else { " " }, word)
}

/// The number of words in all the strings of a value, or of its numbers (token ids).
pub(super) fn count(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.split_whitespace().count() as u64,
        Value::Number(_) => 1,
        Value::Array(items) => items.iter().map(count).sum(),
        // A message: its role is no text.
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| *name != "role")
            .map(|(_, value)| count(value))
            .sum(),
        Value::Null | Value::Bool(_) => 0,
    }
}

/// A unit vector.
pub(super) fn vector(seed: u64, dimensions: usize) -> Vec<f32> {
    let raw = |index| (mix(seed ^ mix(index)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let raw: Vec<f64> = (0..dimensions as u64).map(raw).collect();
    let norm = raw
        .iter()
        .map(|x| x * x)
        .sum::<f64>()
        .sqrt()
        .max(f64::MIN_POSITIVE);
    raw.iter().map(|x| (x / norm) as f32).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_members_does_not_matter_and_everything_else_does() {
        let parse = |text: &str| seed(&serde_json::from_str(text).unwrap());
        assert_eq!(parse(r#"{"a":1,"b":"x"}"#), parse(r#"{"b":"x", "a":1}"#));
        assert_ne!(parse(r#"{"a":1,"b":"x"}"#), parse(r#"{"a":"x","b":1}"#));
        assert_ne!(parse("[1,2]"), parse("[2,1]"));
        assert_ne!(parse("\"1\""), parse("1"));
    }

    #[test]
    fn an_embedding_has_length_one_and_belongs_to_its_text() {
        let a = vector(seed(&json!("a")), 384);
        let norm: f32 = a.iter().map(|x| x * x).sum();
        assert!((norm - 1.0).abs() < 1e-5, "{norm}");
        assert_eq!(a, vector(seed(&json!("a")), 384));
        assert_ne!(a, vector(seed(&json!("b")), 384));
    }

    #[test]
    fn an_answer_has_about_sixteen_tokens() {
        let lengths: Vec<u32> = (0..1000).map(|i| length(mix(i))).collect();
        assert!(lengths.iter().all(|length| (12..=20).contains(length)));
        let mean = lengths.iter().sum::<u32>() as f64 / 1000.0;
        assert!((15.5..16.5).contains(&mean), "{mean}");
    }
}
