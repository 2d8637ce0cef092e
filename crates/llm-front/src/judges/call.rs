//! A call of the gateway's own to the backend.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Uri, header};
use llm_backend::RequestBody;

/// A request with this JSON body.
pub(super) fn post(path: &'static str, body: Bytes) -> Request<RequestBody> {
    let mut request = Request::new(RequestBody::full(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = Uri::from_static(path);
    let json = HeaderValue::from_static("application/json");
    request.headers_mut().insert(header::CONTENT_TYPE, json);
    request
}
