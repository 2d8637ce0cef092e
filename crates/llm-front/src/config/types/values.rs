//! Settings that are a value: a size, a time, an address, a text.

use super::{Invalid, Named};
use std::net::SocketAddr;
use std::{fmt, str::FromStr, time::Duration};

named! {
    Size = "BYTES", Span = "TIME", Switch = "on|off", Text = "TEXT",
    Backend = "URL", Semantic = "off|minilm|minilm-int8|hashed|URL", Threshold = "0..1", Share = "0..1", Amount = "NUMBER", HeaderNames = "NAME,…",
}

impl Named for SocketAddr {
    const NAME: &str = "IP:PORT";
    const HINT: &str =
        ": write it like 127.0.0.1:8080, or 0.0.0.0:8080 to be reached from elsewhere";
}

impl Named for usize {
    const NAME: &str = "NUMBER";
    const HINT: &str = ": write a number like 8";
}

impl<T: Named> Named for Maybe<T> {
    const NAME: &str = T::NAME;
    const HINT: &str = T::HINT;
}

/// On or off.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

impl Switch {
    /// Whether it is on.
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self, Self::On)
    }
}

impl FromStr for Switch {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "on" | "true" => Ok(Self::On),
            "off" | "false" => Ok(Self::Off),
            _ => Err(Invalid(format!("expected `on` or `off`; got `{text}`"))),
        }
    }
}

/// A length of time: `6ms`, `30s`, `1h`, `1m 30s`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        humantime::parse_duration(text).map(Self).map_err(|error| {
            Invalid(format!(
                "`{text}` is not a length of time ({error}): write 6ms, 30s or 1h"
            ))
        })
    }
}

/// A number of bytes: `512`, `64KiB`, `256MiB`, `2GiB`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Size(pub usize);

impl FromStr for Size {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
        let unit = match text.get(digits.len()..).unwrap_or_default().trim() {
            "" | "B" => Some(1_usize),
            "KiB" | "K" | "k" => Some(1 << 10),
            "MiB" | "M" => Some(1 << 20),
            "GiB" | "G" => Some(1 << 30),
            "kB" | "KB" => Some(1_000),
            "MB" => Some(1_000_000),
            "GB" => Some(1_000_000_000),
            _ => None,
        };
        unit.zip(digits.parse::<usize>().ok())
            .and_then(|(unit, count)| count.checked_mul(unit))
            .map(Self)
            .ok_or_else(|| {
                Invalid(format!(
                    "`{text}` is not a number of bytes: write 512, 64KiB, 256MiB or 2GiB"
                ))
            })
    }
}

/// Where requests go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Backend {
    /// The built-in stub.
    Stub,
    /// An OpenAI-compatible server.
    Url(http::Uri),
    /// A URL with credentials in it: refused by [`Config::check`](crate::config::Config::check), in words that do not show it.
    WithCredentials,
}

impl FromStr for Backend {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "stub" {
            return Ok(Self::Stub);
        }
        let invalid = |why: &str| {
            Invalid(format!(
                "`{text}` {why}: write it like http://localhost:8000, or `stub` for the built-in one"
            ))
        };
        let uri: http::Uri = text.parse().map_err(|_| invalid("is not a URL"))?;
        match uri.scheme_str() {
            Some("http" | "https") if uri.host().is_some_and(|host| !host.is_empty()) => {}
            _ => {
                return Err(invalid(
                    "does not begin with http:// or https:// and a host",
                ));
            }
        }
        if uri
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'))
        {
            return Ok(Self::WithCredentials);
        }
        if uri.query().is_some() {
            return Err(invalid("has a query, which no path can follow"));
        }
        if uri.port_u16() == Some(0) {
            return Err(invalid("has port 0, where nobody listens"));
        }
        Ok(Self::Url(uri))
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stub => f.write_str("the built-in stub"),
            Self::Url(uri) => uri.fmt(f),
            Self::WithCredentials => f.write_str("(a URL with credentials)"),
        }
    }
}

/// A text; a type of its own, so that [`Maybe`] can tell it from `none`.
#[derive(Clone, Eq, PartialEq)]
pub struct Text(pub String);

impl FromStr for Text {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(Self(text.to_owned()))
    }
}

/// Never shows the text: it may be a credential.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Text(…)")
    }
}

/// A setting that can be absent, written `none`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Maybe<T>(pub Option<T>);

impl<T: FromStr> FromStr for Maybe<T> {
    type Err = T::Err;
    fn from_str(text: &str) -> Result<Self, T::Err> {
        match text {
            "none" => Ok(Self(None)),
            _ => text.parse().map(Some).map(Self),
        }
    }
}

/// Who turns a text into a vector, so that rephrased requests can be found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Semantic {
    /// Nobody: only equal requests match.
    Off,
    /// all-MiniLM-L6-v2, in this process.
    MiniLm,
    /// The same in 8-bit integers, with thresholds of its own.
    MiniLmInt8,
    /// Hashed n-grams.
    Hashed,
    /// An OpenAI-compatible server's `/v1/embeddings`.
    Server(http::Uri),
}

impl fmt::Display for Semantic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::MiniLm => f.write_str("minilm"),
            Self::MiniLmInt8 => f.write_str("minilm-int8"),
            Self::Hashed => f.write_str("hashed"),
            Self::Server(url) => url.fmt(f),
        }
    }
}

impl FromStr for Semantic {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || {
            Invalid(format!(
                "`{text}` is no embedder: write off, minilm, minilm-int8, hashed, or the URL of an embedding server like http://localhost:8001"
            ))
        };
        match text {
            "off" => Ok(Self::Off),
            "minilm" => Ok(Self::MiniLm),
            "minilm-int8" => Ok(Self::MiniLmInt8),
            "hashed" => Ok(Self::Hashed),
            _ => match text.parse() {
                Ok(Backend::Url(url)) => Ok(Self::Server(url)),
                _ => Err(invalid()),
            },
        }
    }
}

/// A cosine similarity above 0 and at most 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold(pub f32);

impl FromStr for Threshold {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse::<f32>() {
            Ok(value) if value > 0.0 && value <= 1.0 => Ok(Self(value)),
            _ => Err(Invalid(format!(
                "`{text}` is not a similarity above 0 and at most 1: write 0.96, or turn matching off with --semantic off"
            ))),
        }
    }
}

/// A share of a whole: at least 0, below 1. Which of them a setting takes, it says itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse::<f64>() {
            Ok(value) if (0.0..1.0).contains(&value) => Ok(Self(value)),
            _ => Err(Invalid(format!(
                "`{text}` is not a share of at least 0 and below 1: write 0.02 for 2 %"
            ))),
        }
    }
}

/// A number above 0 that need not be whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount(pub f64);

impl FromStr for Amount {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse::<f64>() {
            Ok(value) if value > 0.0 && value.is_finite() => Ok(Self(value)),
            _ => Err(Invalid(format!(
                "`{text}` is not a number above 0: write 110"
            ))),
        }
    }
}

/// Names of headers, separated by commas.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HeaderNames(pub Vec<http::HeaderName>);

impl FromStr for HeaderNames {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(|name| {
                name.parse()
                    .map_err(|_| Invalid(format!("`{name}` is not a header name")))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!("64MiB".parse::<Size>().unwrap(), Size(64 << 20));
        assert_eq!("512".parse::<Size>().unwrap(), Size(512));
        assert_eq!("2 GiB".parse::<Size>().unwrap(), Size(2 << 30));
        for wrong in [
            "",
            "MiB",
            "-1",
            "1.5MiB",
            "7 bananas",
            "99999999999999999999",
        ] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_threshold_that_cannot_mean_anything_is_refused() {
        for wrong in ["0", "NaN", "-0.1", "1.01", "inf", "high"] {
            assert!(wrong.parse::<Threshold>().is_err(), "{wrong}");
        }
        assert_eq!("1".parse::<Threshold>().unwrap(), Threshold(1.0));
    }

    #[test]
    fn a_share_is_below_the_whole() {
        for wrong in ["1", "2 %", "NaN", "-0.1", "inf", "few"] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
        assert_eq!("0.02".parse::<Share>().unwrap(), Share(0.02));
        for wrong in ["0", "-1", "NaN", "inf"] {
            assert!(wrong.parse::<Amount>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_backend_is_a_url_without_credentials() {
        assert_eq!("stub".parse::<Backend>().unwrap(), Backend::Stub);
        assert!("http://localhost:8000/v1".parse::<Backend>().is_ok());
        for wrong in ["localhost:8000", "ftp://x", "http://", "/v1"] {
            assert!(wrong.parse::<Backend>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_text_never_shows_in_debug_output() {
        assert!(!format!("{:?}", Text("sk-secret".to_owned())).contains("secret"));
    }
}
