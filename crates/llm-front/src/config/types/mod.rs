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
}

/// Names types.
macro_rules! named {
    ($($ty:ty = $name:expr),* $(,)?) => { $( impl Named for $ty { const NAME: &str = $name; } )* };
}

/// Lets a setting be read from a file: a text, or a bare number taken as text.
macro_rules! deserialize_as_text {
    ($($ty:ty),*) => { $(
        impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                from_text(deserializer)
            }
        }
    )* };
}

fn from_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: fmt::Display,
{
    struct AsText;
    impl de::Visitor<'_> for AsText {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a number")
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
    deserializer
        .deserialize_any(AsText)?
        .parse()
        .map_err(de::Error::custom)
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
