//! The members of an answer's object, in the order they came, values untouched.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::string::push_char;

/// The members of one object: decoded keys and raw values, in order.
///
/// For answers, where the order of the server is kept and only few values are looked into. A key that appears twice stays
/// twice; [`get`](Self::get) finds the last one, as most readers do.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

// === impl Fields ===

impl<'a> Fields<'a> {
    /// None: not an object.
    pub(crate) fn parse(text: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        Self::parse(raw.get().as_bytes())
    }

    /// The value of that name, unless it is null.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let (_, value) = self.0.iter().rev().find(|(key, _)| key == name)?;
        (value.get() != "null").then_some(*value)
    }

    /// The elements of the array of that name.
    pub(crate) fn array(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// The string of that name.
    pub(crate) fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        super::decode(self.get(name)?.get().as_bytes())
    }

    /// The whole number of that name.
    pub(crate) fn integer(&self, name: &str) -> Option<u64> {
        self.get(name)?.get().parse().ok()
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(map.size_hint().unwrap_or(12));
                while let Some(Key(key)) = map.next_key()? {
                    fields.push((key, map.next_value()?));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A key that borrows where it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Writes a string with its quotes.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for char in text.chars() {
        push_char(out, char);
    }
    out.push(b'"');
}
