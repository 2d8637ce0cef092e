use crate::lookup::Lookup;

/// Which requests the cache may answer, and what makes two of them the same.
///
/// Every closure `Fn(&Req) -> Option<Lookup>` is a policy. A policy that needs more than one look
/// at the request computes the [`Lookup`] once, keeps it in the request's extensions and returns a
/// clone of it.
pub trait Policy<Req> {
    /// The look-up for this request. `None` passes the request through, untouched and unrecorded.
    fn lookup(&self, request: &Req) -> Option<Lookup>;
}

impl<Req, F> Policy<Req> for F
where
    F: Fn(&Req) -> Option<Lookup>,
{
    fn lookup(&self, request: &Req) -> Option<Lookup> {
        self(request)
    }
}
