use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AGE, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use tower::BoxError;

use super::answer::Answer;
use super::body::{Body, Recorder};
use super::complete::{Complete, Success};
use super::finish::Wanted;
use super::headers::{Storable, storable};
use super::status::Status;
use super::transcode::{Asked, SameForm, Transcode};
use crate::cache::{Commit, Hit, Refusal};
use crate::outcome::Outcome;
use crate::record::Record;

/// Records HTTP responses and replays them. See the [module docs](super). A clone is cheap.
#[derive(Clone)]
pub struct HttpRecord {
    inner: Arc<Inner>,
}

struct Inner {
    status: Status,
    complete: Arc<dyn Complete>,
    transcode: Arc<dyn Transcode>,
}

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

// === impl HttpRecord ===

impl HttpRecord {
    /// A record that names itself `name` in `Cache-Status`, stores answers with status 200 and
    /// serves them in the form they came in.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let status = Status::new(name);
        let (complete, transcode) = (Arc::new(Success), Arc::new(SameForm));
        Self {
            inner: Arc::new(Inner {
                status,
                complete,
                transcode,
            }),
        }
    }

    /// Which answers are whole. Default: [`Success`].
    #[must_use]
    pub fn complete(self, complete: impl Complete) -> Self {
        let status = self.inner.status.clone();
        let transcode = Arc::clone(&self.inner.transcode);
        Self {
            inner: Arc::new(Inner {
                status,
                complete: Arc::new(complete),
                transcode,
            }),
        }
    }

    /// How a stored answer takes another form. Default: [`SameForm`], which is right only where
    /// requests for different forms are different requests.
    #[must_use]
    pub fn transcode(self, transcode: impl Transcode) -> Self {
        let status = self.inner.status.clone();
        let complete = Arc::clone(&self.inner.complete);
        Self {
            inner: Arc::new(Inner {
                status,
                complete,
                transcode: Arc::new(transcode),
            }),
        }
    }

    fn announce<B>(&self, response: &mut Response<B>, outcome: Outcome) {
        // Appended: the caches further in have said theirs (RFC 9211, section 2).
        response
            .headers_mut()
            .append(CACHE_STATUS, self.inner.status.value(&outcome));
        response.extensions_mut().insert(outcome);
    }
}

impl<Req, B> Record<Request<Req>, Response<B>> for HttpRecord
where
    B: http_body::Body<Data = Bytes>,
{
    type Value = Answer;
    type Response = Response<Body<B>>;

    /// All but the answer to a HEAD: its body is empty, and must not serve a GET.
    fn records(&self, asked: &Request<Req>) -> bool {
        asked.method() != Method::HEAD
    }

    fn wanted(&self, asked: &Request<Req>) {
        if let Some(wanted) = asked.extensions().get::<Wanted>() {
            wanted.set();
        }
    }

    fn replay(&self, hit: &Hit<Answer>, asked: &Request<Req>) -> Option<Self::Response> {
        let answer = self
            .inner
            .transcode
            .serve(hit.value(), &Asked::from(asked))?;
        // To a HEAD all is told but the body, its length included (RFC 9110, section 9.3.2).
        let body = match *asked.method() {
            Method::HEAD => Bytes::new(),
            _ => answer.body().clone(),
        };
        let mut response = Response::new(Body::stored(body));
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers_to_replay();
        response
            .headers_mut()
            .insert(AGE, HeaderValue::from(hit.age().as_secs()));
        self.announce(&mut response, hit.outcome());
        Some(response)
    }

    fn record(&self, response: Response<B>, commit: Commit<Answer>) -> Self::Response {
        let outcome = commit.outcome();
        let recorder = match storable(response.headers()) {
            Storable::No => {
                commit.refuse(Refusal::Forbidden);
                None
            }
            Storable::Yes => Some(commit),
            Storable::For(life) => Some(commit.max_ttl(life)),
        };
        let recorder = recorder
            .and_then(|commit| Recorder::new(&response, commit, Arc::clone(&self.inner.complete)));
        let mut response = response.map(|body| Body::live(body, recorder));
        self.announce(&mut response, outcome);
        response
    }

    fn pass(&self, response: Response<B>, outcome: Outcome) -> Self::Response {
        let mut response = response.map(|body| Body::live(body, None));
        self.announce(&mut response, outcome);
        response
    }

    fn forward(&self, response: Response<B>) -> Self::Response {
        response.map(|body| Body::live(body, None))
    }

    /// 504 without a body (RFC 9111, section 5.2.1.7).
    fn not_cached(&self, _: &Request<Req>) -> Result<Self::Response, BoxError> {
        let mut response = Response::new(Body::stored(Bytes::new()));
        *response.status_mut() = StatusCode::GATEWAY_TIMEOUT;
        self.announce(&mut response, Outcome::NotCached);
        Ok(response)
    }
}

impl fmt::Debug for HttpRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRecord")
            .field("status", &self.inner.status)
            .finish_non_exhaustive()
    }
}
