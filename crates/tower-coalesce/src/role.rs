/// How a caller came by its response.
///
/// With the `http` feature, `http::SharedBody` puts it into the extensions of every response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It started the call.
    Leader,
    /// It joined a call that another one had started.
    Follower,
    /// The policy gave no key: the call was its own.
    Bypass,
}

/// What happens to a call when the last of its callers has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnAbandon {
    /// It is dropped at once, and its key is free.
    #[default]
    Cancel,
    /// It goes on to its end, and can still be joined; it fills a cache below, for example. Only the age limit stops it.
    Finish,
}
