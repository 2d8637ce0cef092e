use std::fmt;
use std::hash::{Hash, Hasher};

use bytes::Bytes;

use crate::scope::{Digest, Scope};

/// What makes two requests the same: their scope and their canonical bytes, compared whole.
///
/// Made by [`Lookup::identity`](crate::Lookup::identity), as a key for what else tells equal requests
/// from others: a layer that coalesces them, a counter, a map. It hashes by a digest that is there
/// already, and cloning it allocates nothing.
///
/// Whatever two callers must agree on beyond the cache's key goes beside it into the other one: what
/// they [allow](crate::Lookup::allowed) (somebody who wants a stored answer or nothing must not make
/// others wait for nothing), or the form of the answer.
///
/// ```
/// use std::collections::HashSet;
/// use tower_semcache::{Lookup, Secret};
///
/// let secret = Secret::random();
/// let lookup = |text: &'static str| Lookup::new(&secret, secret.scope(&[]), text.into());
/// let mut running = HashSet::from([lookup("why").identity()]);
/// assert!(!running.insert(lookup("why").text("why").identity()));
/// assert!(running.insert(lookup("how").identity()));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    key: Digest,
    scope: Scope,
    canonical: Bytes,
}

// === impl Identity ===

impl Identity {
    pub(crate) const fn new(key: Digest, scope: Scope, canonical: Bytes) -> Self {
        Self {
            key,
            scope,
            canonical,
        }
    }
}

impl Hash for Identity {
    /// The digest is made of all the rest.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Debug for Identity {
    /// Does not show the canonical request.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&self.key).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::lookup::Lookup;
    use crate::scope::Secret;

    const SECRET: Secret = Secret::from_bytes([1; 32]);

    fn lookup(tenant: &str, text: &'static str) -> Lookup {
        let scope = SECRET.scope(&[("tenant", tenant.as_bytes())]);
        Lookup::new(&SECRET, scope, text.into())
    }

    #[test]
    fn equal_digests_of_unequal_requests_are_never_equal() {
        let (one, mut two, mut three) = (lookup("t", "a"), lookup("t", "b"), lookup("u", "a"));
        two.key = one.key;
        three.key = one.key;
        let all = [one.identity(), two.identity(), three.identity()];
        assert_eq!(HashSet::from(all).len(), 3);
    }

    #[test]
    fn equal_requests_are_equal_whatever_else_is_said_of_them() {
        let plain = lookup("t", "a");
        let rich = lookup("t", "a").text("a").ttl(std::time::Duration::ZERO);
        assert_eq!(plain.identity(), rich.identity());
        assert_eq!(HashSet::from([plain.identity(), rich.identity()]).len(), 1);
    }

    #[test]
    fn no_prompt_is_shown_by_debug() {
        let identity = lookup("t", "my diagnosis").identity();
        assert!(!format!("{identity:?}").contains("diagnosis"));
    }
}
