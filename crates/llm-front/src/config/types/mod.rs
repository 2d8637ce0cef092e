//! The types of the settings: each reads the same text from a flag, a variable or a file.

use serde::{Deserializer, de};
use std::{fmt, str::FromStr};

/// Why a text is not a value of a setting.
#[derive(Debug)]
pub struct Invalid(pub(crate) String);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Invalid {}

/// What a value of a type is called in `--help`.
pub trait Named {
    /// The name, which tells the format.
    const NAME: &str;
    /// How to write one, where the error of reading it does not say.
    const HINT: &str = "";
}

/// Names types.
macro_rules! named {
    ($($ty:ty = $name:expr),* $(,)?) => { $( impl Named for $ty { const NAME: &str = $name; } )* };
}

/// Reads a value, the same from a flag, a variable or a file. Where it cannot, it says how to write one.
pub(super) fn parse<T>(text: &str) -> Result<T, Invalid>
where
    T: FromStr<Err: fmt::Display> + Named,
{
    text.parse()
        .map_err(|error| Invalid(format!("{error}{}", T::HINT)))
}

/// Lets a setting be read from a file: a text, a bare number or switch taken as text, a list as its parts with commas between.
pub(super) fn some<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display> + Named,
{
    struct AsText;
    impl<'de> de::Visitor<'de> for AsText {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a number")
        }
        fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<String, A::Error> {
            let mut parts = Vec::<String>::new();
            while let Some(part) = list.next_element()? {
                parts.push(part);
            }
            Ok(parts.join(","))
        }
        fn visit_str<E: de::Error>(self, v: &str) -> Result<String, E> {
            Ok(v.to_owned())
        }
        fn visit_i64<E: de::Error>(self, v: i64) -> Result<String, E> {
            Ok(v.to_string())
        }
        fn visit_u64<E: de::Error>(self, v: u64) -> Result<String, E> {
            Ok(v.to_string())
        }
        fn visit_f64<E: de::Error>(self, v: f64) -> Result<String, E> {
            Ok(v.to_string())
        }
        fn visit_bool<E: de::Error>(self, v: bool) -> Result<String, E> {
            Ok(if v { "on" } else { "off" }.to_owned())
        }
    }
    let text = deserializer.deserialize_any(AsText)?;
    parse(&text).map(Some).map_err(de::Error::custom)
}

mod choices;
mod values;

pub use choices::{
    BatchWindow, GuardRules, History, Judge, LogFormat, Sampled, SemanticMode, Tenants,
    UpstreamForm,
};
pub use values::{
    Amount, Backend, HeaderNames, Maybe, Semantic, Share, Size, Span, Switch, Text, Threshold,
};
