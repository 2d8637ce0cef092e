//! Settings that are one of a few words.

use super::{Invalid, Named};
use std::str::FromStr;

/// A choice among words.
macro_rules! choice {
    ($(#[doc = $doc:literal])+ $name:ident { $( $(#[doc = $vdoc:literal])+ $variant:ident = $word:literal, )+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum $name { $( $(#[doc = $vdoc])+ $variant, )+ }

        impl FromStr for $name {
            type Err = Invalid;
            fn from_str(text: &str) -> Result<Self, Invalid> {
                match text {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err(Invalid(format!(concat!("expected one of:" $(, " ", $word)+, "; got `{}`"), text))),
                }
            }
        }
        named! { $name = concat_words!($($word),+) }
    };
}

macro_rules! concat_words {
    ($first:literal $(, $rest:literal)*) => { concat!($first $(, "|", $rest)*) };
}

choice! {
    /// Whether sampled requests may be answered with an earlier sample.
    Sampled {
        /// Each gets a sample of its own.
        Bypass = "bypass",
        /// An earlier sample will do.
        Reuse = "reuse",
    }
}

choice! {
    /// Who has the last word on a rephrased request.
    GuardRules {
        /// Rules for English; texts in other languages match when their words are equal.
        English = "english",
        /// The rules for English, and where only the wording differs, a small model that weighs it.
        Verified = "verified",
        /// Numbers, quoted texts and negation must agree: the reference's rules.
        Literal = "literal",
        /// Nobody: similarity alone decides.
        Off = "off",
    }
}

choice! {
    /// What of a chat may differ between two requests that match.
    History {
        /// The last message alone.
        Equal = "equal",
        /// Earlier turns too, where rules find that the answer does not hang on them.
        Guarded = "guarded",
    }
}

choice! {
    /// Whether similar answers are served.
    SemanticMode {
        /// They are.
        Serve = "serve",
        /// They are found, counted and told of, and not served.
        Shadow = "shadow",
    }
}

choice! {
    /// Who says whether two answers mean the same.
    Judge {
        /// Equal words in the same order.
        Equal = "equal",
        /// The embedder: their similarity.
        Similarity = "similarity",
        /// The backend, asked.
        Backend = "backend",
    }
}

choice! {
    /// When the batching window counts.
    BatchWindow {
        /// Only while the backend is busy with an earlier batch.
        WhileBusy = "while-busy",
        /// Always, from the first request of the batch.
        Fixed = "fixed",
    }
}

choice! {
    /// In which form the backend is asked.
    UpstreamForm {
        /// As the caller asked.
        AsAsked = "as-asked",
        /// Always as a stream.
        Stream = "stream",
    }
}

choice! {
    /// What makes a tenant.
    Tenants {
        /// The caller's credentials (and an `x-tenant` of the caller's, which can only narrow).
        Credentials = "credentials",
        /// The header `x-tenant`, set by a trusted proxy.
        Header = "header",
    }
}

choice! {
    /// How log lines look.
    LogFormat {
        /// For people.
        Text = "text",
        /// One JSON object a line.
        Json = "json",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_names_its_words() {
        let error = "maybe".parse::<Sampled>().unwrap_err().to_string();
        assert_eq!(error, "expected one of: bypass reuse; got `maybe`");
    }
}
