use http::Request;

use crate::lookup::Lookup;
use crate::policy::Policy;

/// The policy that takes the [`Lookup`] out of the request's extensions.
///
/// A look-up costs a reading of the request and two digests. Where more than one layer needs it (a
/// probe, a cache, what coalesces between them), compute it once, above them all, and insert it:
/// they then clone it. Nothing in the extensions: the request passes through, untouched and
/// unrecorded.
///
/// ```
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use http_body_util::{BodyExt, Full};
/// use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
/// use tower_semcache::http::{Answer, FromExtensions, HttpRecord};
/// use tower_semcache::{Cache, CacheLayer, Lookup, ProbeLayer, Secret};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let secret = Secret::random();
/// let read = move |mut request: Request<Bytes>| {
///     let scope = secret.scope(&[("path", request.uri().path().as_bytes())]);
///     let lookup = Lookup::new(&secret, scope, request.body().clone());
///     request.extensions_mut().insert(lookup);
///     request
/// };
/// let cache: Cache<Answer> = Cache::builder().build()?;
/// let record = HttpRecord::new("example");
/// let service = ServiceBuilder::new()
///     .map_request(read)
///     .layer(ProbeLayer::new(cache.clone(), FromExtensions, record.clone()))
///     .layer(CacheLayer::new(cache.clone(), FromExtensions, record))
///     .service(service_fn(|request: Request<Bytes>| async move {
///         Ok::<_, BoxError>(Response::new(Full::new(request.into_body())))
///     }));
///
/// for _ in 0..2 {
///     let response = service.clone().oneshot(Request::new(Bytes::from("hello"))).await?;
///     assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
/// }
/// assert_eq!(cache.stats().hits_exact, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FromExtensions;

// === impl FromExtensions ===

impl<B> Policy<Request<B>> for FromExtensions {
    fn lookup(&self, request: &Request<B>) -> Option<Lookup> {
        request.extensions().get().cloned()
    }
}
