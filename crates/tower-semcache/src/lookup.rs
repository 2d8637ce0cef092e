use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::control::Control;
use crate::identity::Identity;
use crate::matching::Matching;
use crate::scope::{Digest, Scope, Secret};

/// What a request means to the cache: computed once a request, cheap to clone.
///
/// A clone copies digests and counts two references; it allocates nothing.
#[derive(Clone)]
pub struct Lookup {
    pub(crate) key: Digest,
    pub(crate) scope: Scope,
    pub(crate) canonical: Bytes,
    pub(crate) text: Option<Arc<str>>,
    pub(crate) matching: Matching,
    pub(crate) control: Control,
    pub(crate) ttl: Option<Duration>,
}

// === impl Lookup ===

impl Lookup {
    /// A look-up for the request with these canonical bytes in this scope.
    ///
    /// Two requests are the same when scope and canonical bytes are; both are compared whole.
    #[must_use]
    pub fn new(secret: &Secret, scope: Scope, canonical: Bytes) -> Self {
        Self {
            key: secret.entry(&scope, &canonical),
            scope,
            canonical,
            text: None,
            matching: Matching::Exact,
            control: Control::default(),
            ttl: None,
        }
    }

    /// The one text in which a similar request of the same scope may differ.
    ///
    /// Without it the request is neither matched by similarity nor found by it later.
    #[must_use]
    pub fn text(mut self, text: impl Into<Arc<str>>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// How close a stored request must be. Default: [`Matching::Exact`].
    #[must_use]
    pub fn matching(mut self, matching: Matching) -> Self {
        self.matching = matching;
        self
    }

    /// What the caller allows. Default: everything.
    #[must_use]
    pub fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// How long the answer to this request stays fresh, in place of the cache's own life time.
    ///
    /// An answer with a life of zero is not stored.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// What makes this request the same as another, for use as a key elsewhere.
    #[must_use]
    pub fn identity(&self) -> Identity {
        Identity::new(self.key, self.scope, self.canonical.clone())
    }

    /// The scope of the request.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The canonical bytes of the request.
    #[must_use]
    pub const fn canonical(&self) -> &Bytes {
        &self.canonical
    }

    /// What the caller allows.
    #[must_use]
    pub const fn allowed(&self) -> &Control {
        &self.control
    }
}

impl fmt::Debug for Lookup {
    /// Shows neither the canonical request nor its text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup")
            .field("key", &self.key)
            .field("scope", &self.scope)
            .field("matching", &self.matching)
            .field("control", &self.control)
            .field("ttl", &self.ttl)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_prompt_is_shown_by_debug() {
        let secret = Secret::from_bytes([1; 32]);
        let lookup = Lookup::new(
            &secret,
            secret.scope(&[]),
            Bytes::from_static(b"my diagnosis"),
        )
        .text("my diagnosis");
        assert!(!format!("{lookup:?}").contains("diagnosis"));
    }

    #[test]
    fn the_key_depends_on_scope_and_request() {
        let secret = Secret::from_bytes([1; 32]);
        let (one, two) = (secret.scope(&[("a", b"")]), secret.scope(&[("b", b"")]));
        let request = Bytes::from_static(b"q");
        let key = |scope, canonical: &Bytes| Lookup::new(&secret, scope, canonical.clone()).key;
        assert_eq!(key(one, &request), key(one, &request));
        assert_ne!(key(one, &request), key(two, &request));
        assert_ne!(key(one, &request), key(one, &Bytes::from_static(b"r")));
    }
}
