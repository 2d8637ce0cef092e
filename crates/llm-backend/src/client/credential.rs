//! The upstream's own credential.

use std::fmt;

use http::header::{HeaderValue, InvalidHeaderValue};

/// A credential of ours for the upstream: it replaces whatever credential the caller sent.
///
/// Never shown: not by `Debug`, not in an error, not by a header's `Debug`.
#[derive(Clone)]
pub struct Credential {
    header: HeaderValue,
}

// === impl Credential ===

impl Credential {
    /// `Authorization: Bearer <token>`.
    ///
    /// # Errors
    ///
    /// If the token holds what a header may not.
    pub fn bearer(token: &str) -> Result<Self, InvalidHeaderValue> {
        Ok(Self::authorization(HeaderValue::try_from(format!(
            "Bearer {token}"
        ))?))
    }

    /// The whole value of `Authorization`.
    #[must_use]
    pub fn authorization(mut header: HeaderValue) -> Self {
        header.set_sensitive(true);
        Self { header }
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(..)")
    }
}
