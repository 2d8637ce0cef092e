//! Whether JSON says something.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// True for a text that is not empty, and for an array or object with one in it, but for a `role`. Whatever new channel a
/// server puts into its deltas, its words are found.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Said(pub(super) bool);

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
    where
        D: Deserializer<'de>,
    {
        deserializer.deserialize_any(Look).map(Self)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        Ok(!text.is_empty())
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A>(self, mut items: A) -> Result<bool, A::Error>
    where
        A: SeqAccess<'de>,
    {
        let mut said = false;
        while let Some(item) = items.next_element::<Said>()? {
            said |= item.0;
        }
        Ok(said)
    }

    fn visit_map<A>(self, mut members: A) -> Result<bool, A::Error>
    where
        A: MapAccess<'de>,
    {
        let mut said = false;
        while let Some(Name(name)) = members.next_key()? {
            if name == "role" {
                members.next_value::<IgnoredAny>()?;
            } else {
                said |= members.next_value::<Said>()?.0;
            }
        }
        Ok(said)
    }
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_on_any_channel_are_found_and_nothing_else_is() {
        for (delta, said) in [
            (r#"{"role":"assistant","content":""}"#, false),
            (r#"{"role":"assistant","content":null}"#, false),
            (r#"{"role":"assistant"}"#, false),
            (r#"{}"#, false),
            (r#"{"content":"a"}"#, true),
            (r#"{"content":" "}"#, true),
            (r#"{"reasoning_content":"hm"}"#, true),
            (r#"{"content":null,"reasoning":"hm"}"#, true),
            (r#"{"refusal":"no"}"#, true),
            (r#"{"tool_calls":[]}"#, false),
            (
                r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}"#,
                true,
            ),
            (
                r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#,
                true,
            ),
            (
                r#"{"tool_calls":[{"index":0,"function":{"arguments":""}}]}"#,
                false,
            ),
            (r#"{"cont\u0065nt":"a"}"#, true),
        ] {
            let read: Said = serde_json::from_str(delta).unwrap();
            assert_eq!(read.0, said, "{delta}");
        }
    }
}
