use http::HeaderValue;

use crate::outcome::{Detail, Outcome};

/// The values of `Cache-Status` (RFC 9211), made once where they do not vary.
#[derive(Clone, Debug)]
pub(super) struct Status {
    name: Box<str>,
    exact: HeaderValue,
    miss: HeaderValue,
    bypass: HeaderValue,
    not_cached: HeaderValue,
}

// === impl Status ===

impl Status {
    pub(super) fn new(name: &str) -> Self {
        let name = identifier(name);
        Self {
            exact: value(&name, "hit; detail=exact"),
            miss: value(&name, "fwd=miss"),
            bypass: value(&name, "fwd=bypass"),
            // Neither a hit nor forwarded.
            not_cached: value(&name, "detail=only-if-cached"),
            name,
        }
    }

    pub(super) fn value(&self, outcome: &Outcome) -> HeaderValue {
        match outcome {
            Outcome::Hit {
                detail: Detail::Exact,
                ..
            } => self.exact.clone(),
            Outcome::Hit {
                detail: Detail::Semantic { similarity },
                ..
            } => value(
                &self.name,
                &format!("hit; detail=\"semantic; sim={similarity}\""),
            ),
            Outcome::Miss => self.miss.clone(),
            Outcome::Shadow { similarity } => value(
                &self.name,
                &format!("fwd=miss; detail=\"shadow; sim={similarity}\""),
            ),
            Outcome::Bypass => self.bypass.clone(),
            Outcome::NotCached => self.not_cached.clone(),
        }
    }
}

fn value(name: &str, rest: &str) -> HeaderValue {
    HeaderValue::try_from(format!("{name}; {rest}"))
        .expect("an identifier and its parameters are printable ASCII")
}

/// The name as a token where it is one, or else as a string (RFC 8941, sections 3.3.3 and 3.3.4);
/// what neither may hold is left out.
fn identifier(name: &str) -> Box<str> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '*');
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~:/".contains(c);
    if starts && name.chars().all(token) {
        return name.into();
    }
    let mut string = String::from("\"");
    for c in name.chars().filter(|c| *c == ' ' || c.is_ascii_graphic()) {
        if matches!(c, '"' | '\\') {
            string.push('\\');
        }
        string.push(c);
    }
    string.push('"');
    string.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_token_becomes_a_string() {
        assert_eq!(&*identifier("llm-front"), "llm-front");
        assert_eq!(&*identifier("my \"cache\"\n\u{e9}"), r#""my \"cache\"""#);
        assert_eq!(&*identifier(""), r#""""#);
    }
}
