use std::hash::Hash;

/// Which requests are the same.
///
/// Implemented for closures `Fn(&Req) -> Option<Key>`. A policy should take the request apart field by field, so that a
/// new field is a compile error here and not an answer that goes to the wrong caller.
///
/// The key of an HTTP request holds the method (the answer to a `HEAD` must not serve a `GET`), the path and query, the body, every
/// value of every header that carries a credential, and the content encodings, of the body and accepted for the answer. See the
/// second example of the [crate docs](crate).
///
/// # Panics
/// A policy that panics does so in the caller's own `call`: no lock is held and no other caller notices.
pub trait Policy<Req> {
    /// What is compared, whole: two requests share a call only if their keys are equal, never because their hashes are.
    type Key: Hash + Eq + Clone + Send + Sync + 'static;

    /// The key of `request`, or `None` if it must never share a call.
    fn key(&self, request: &Req) -> Option<Self::Key>;
}

impl<F, Req, K> Policy<Req> for F
where
    F: Fn(&Req) -> Option<K>,
    K: Hash + Eq + Clone + Send + Sync + 'static,
{
    type Key = K;

    fn key(&self, request: &Req) -> Option<K> {
        self(request)
    }
}
