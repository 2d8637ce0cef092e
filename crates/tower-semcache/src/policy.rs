use crate::lookup::Lookup;

/// Which requests the cache may answer, and what makes two of them the same.
///
/// Every closure `Fn(&Req) -> Option<Lookup>` is a policy. Where several layers need the
/// [`Lookup`], it is best computed once and carried along in the request; for HTTP requests
/// `http::FromExtensions` is the policy that finds it there.
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
