//! Audits whose callers leave.
#![cfg(all(feature = "hashed", feature = "http"))]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tower::util::BoxCloneService;
use tower::{Layer, ServiceExt, service_fn};
use tower_semcache::bounded::{Controller, Settings};
use tower_semcache::hashed::{HashedEmbedder, Ngrams};
use tower_semcache::http::{Answer, FinishLayer, FromExtensions, HttpRecord};
use tower_semcache::judge::Equal;
use tower_semcache::{AcceptAll, Bounded, Cache, CacheLayer, Lookup, Matching, Mode, Secret};

type Service_ = BoxCloneService<Request<Bytes>, Response<Boxed>, tower::BoxError>;
type Boxed = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

/// A shadow, so that every would-be hit is an audit, with a backend that takes its time before the head and after it.
struct Rig {
    service: Service_,
    bounded: Bounded<Answer>,
    finished: Arc<AtomicUsize>,
}

const WAIT: Duration = Duration::from_millis(10);

/// Within a class all have the same answer.
fn question(n: usize) -> (usize, String) {
    let class = (n * 7_919) % 20;
    let word = [
        "please", "tell", "me", "now", "kindly", "about", "the", "what",
    ];
    let n = n / 20;
    let [one, two, three] =
        [n % 8, n / 8 % 8, n / 64 % 8].map(|at| word.get(at).copied().unwrap_or_default());
    let text = format!("{one} {two} topic{class} subject{class} matter{class} {three}");
    (class, text)
}

impl Rig {
    async fn new(finishes: bool) -> Self {
        let finished = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&finished);
        let backend = service_fn(move |request: Request<Bytes>| {
            let counted = Arc::clone(&counted);
            async move {
                tokio::time::sleep(WAIT).await;
                let text = String::from_utf8_lossy(request.body()).into_owned();
                let class = text.split(' ').find(|word| word.starts_with("topic"));
                let answer = Bytes::from(class.unwrap_or("none").to_owned());
                let body = Full::new(answer).map_frame(|frame| frame);
                let slow = Slow {
                    body,
                    sleep: Box::pin(tokio::time::sleep(WAIT)),
                    counted,
                };
                Ok::<_, Infallible>(Response::new(slow.boxed_unsync()))
            }
        });
        let cache: Cache<Answer> = Cache::builder().build().expect("valid");
        let controller = Controller::new(Settings::new(0.05, 0.95, 110.0)).expect("valid");
        let text = |answer: &Answer| String::from_utf8(answer.body().to_vec()).ok();
        let judge = Equal::new(text);
        let (bounded, worker) = Bounded::pair(controller, Mode::Shadow, cache.clone(), judge);
        tokio::spawn(worker.run());
        let layer = CacheLayer::new(cache, FromExtensions, HttpRecord::new("test"))
            .semantic(HashedEmbedder::new(Ngrams::Words), AcceptAll)
            .bounded(bounded.clone());
        let finish = FinishLayer::new(move |_: &Request<Bytes>| finishes);
        let service = finish.layer(layer.layer(backend));
        let service = service.map_response(|response| response.map(BodyExt::boxed_unsync));
        let rig = Self {
            service: BoxCloneService::new(service),
            bounded,
            finished,
        };
        for n in 0..700 {
            let (class, _) = question(n);
            let response = rig.ask(n).await;
            let body = response.into_body().collect().await.expect("whole");
            assert_eq!(body.to_bytes(), format!("topic{class}"));
        }
        assert!(rig.audited() > 50, "{:?}", rig.bounded.snapshot());
        rig
    }

    async fn ask(&self, n: usize) -> Response<Boxed> {
        self.call(n).await.expect("an answer")
    }

    fn call(&self, n: usize) -> impl Future<Output = Result<Response<Boxed>, tower::BoxError>> {
        let secret = Secret::from_bytes([7; 32]);
        let (_, text) = question(n);
        let mut request = Request::new(Bytes::from(text.clone()));
        let lookup = Lookup::new(&secret, secret.scope(&[]), request.body().clone());
        let lookup = lookup.text(text).matching(Matching::Bounded);
        request.extensions_mut().insert(lookup);
        self.service.clone().oneshot(request)
    }

    fn audited(&self) -> u64 {
        self.bounded.snapshot().certificate.audited
    }

    /// Leaves twenty calls after `patience`; gives how many of them were audits, how many failed, and how many of all came to
    /// their end at the backend.
    async fn leave(&self, from: usize, patience: Duration) -> (u64, u64, usize) {
        let before = self.bounded.snapshot().certificate;
        let finished = self.finished.load(Ordering::SeqCst);
        for n in from..from + 20 {
            let call = async {
                let response = self.ask(n).await;
                let _ = response.into_body().collect().await;
            };
            let left = tokio::time::timeout(patience, call).await;
            assert!(left.is_err(), "it was not left");
        }
        tokio::time::sleep(WAIT * 10).await;
        let after = self.bounded.snapshot().certificate;
        assert_eq!(after.pending, 0);
        (
            after.audited - before.audited,
            after.failed - before.failed,
            self.finished.load(Ordering::SeqCst) - finished,
        )
    }
}

#[tokio::test(start_paused = true)]
async fn an_audit_comes_to_its_end_without_its_caller_and_nothing_else_does() {
    let rig = Rig::new(true).await;
    // Before the head, and between the head and the end.
    for (from, patience) in [(700, WAIT / 2), (720, WAIT + WAIT / 2)] {
        let (audits, failed, finished) = rig.leave(from, patience).await;
        assert!(audits > 5, "{audits}");
        assert_eq!(failed, 0);
        assert_eq!(finished as u64, audits, "others end with their callers");
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_layer_an_audit_that_is_left_has_failed() {
    let rig = Rig::new(false).await;
    let (audits, failed, finished) = rig.leave(700, WAIT / 2).await;
    // A few of these use up the credit.
    assert!((1..10).contains(&audits), "{audits}");
    assert_eq!((failed, finished), (audits, 0));
}

pin_project_lite::pin_project! {
    /// A body that waits before its only frame.
    struct Slow<B> {
        #[pin]
        body: B,
        sleep: std::pin::Pin<Box<tokio::time::Sleep>>,
        counted: Arc<AtomicUsize>,
    }
}

impl<B> http_body::Body for Slow<B>
where
    B: http_body::Body,
{
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<B::Data>, B::Error>>> {
        let this = self.project();
        std::task::ready!(this.sleep.as_mut().poll(cx));
        let frame = std::task::ready!(this.body.poll_frame(cx));
        if frame.is_some() {
            this.counted.fetch_add(1, Ordering::SeqCst);
        }
        std::task::Poll::Ready(frame)
    }
}
