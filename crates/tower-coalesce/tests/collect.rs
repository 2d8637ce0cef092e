//! Collecting request bodies.
#![cfg(all(feature = "http", not(tower_coalesce_loom)))]

use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio_test::{assert_pending, assert_ready, task};
use tower::{BoxError, Service, ServiceExt, service_fn};
use tower_coalesce::http::{Collect, CollectLayer, Collected, MaybeCollected, PayloadTooLarge};
use tower_layer::Layer;

/// Gives its frames one by one, with or without the end-of-stream hint, and panics if it is asked for more than it
/// should be.
struct Frames {
    frames: Vec<Result<Frame<Bytes>, BoxError>>,
    hint: bool,
    length: Option<u64>,
}

impl Frames {
    fn new(data: &[&'static str], hint: bool) -> Self {
        let frames = data
            .iter()
            .rev()
            .map(|data| Ok(Frame::data(Bytes::from_static(data.as_bytes()))));
        Self {
            frames: frames.collect(),
            hint,
            length: None,
        }
    }
}

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        assert!(!self.is_end_stream());
        Poll::Ready(self.frames.pop())
    }

    fn is_end_stream(&self) -> bool {
        self.hint && self.frames.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        self.length
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

fn echo(
    limit: usize,
) -> Collect<
    impl Service<Request<Collected>, Response = Collected, Error = Infallible, Future: Send> + Clone,
> {
    CollectLayer::new(limit).layer(service_fn(|request: Request<Collected>| {
        ready(Ok::<_, Infallible>(request.into_body()))
    }))
}

#[tokio::test]
async fn the_whole_body_arrives_however_it_was_cut() {
    for hint in [true, false] {
        for data in [&[][..], &["abc"], &["a", "bc"], &["", "a", "b", "", "c"]] {
            let body = echo(3)
                .oneshot(Request::new(Frames::new(data, hint)))
                .await
                .unwrap();
            assert_eq!(body.data(), &data.concat());
            assert_eq!(body.size_hint().exact(), Some(body.data().len() as u64));
            let again = body.clone().collect().await.unwrap().to_bytes();
            assert_eq!(again, body.into_data());
        }
    }
}

#[tokio::test]
async fn trailers_survive() {
    for hint in [true, false] {
        let mut trailers = HeaderMap::new();
        trailers.insert("x-sum", "1".parse().unwrap());
        let mut frames = Frames::new(&["abc"], hint);
        frames
            .frames
            .insert(0, Ok(Frame::trailers(trailers.clone())));
        let body = echo(3).oneshot(Request::new(frames)).await.unwrap();
        assert_eq!(body.trailers(), Some(&trailers));
        assert_eq!(body.collect().await.unwrap().trailers(), Some(&trailers));
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_a_typed_error_with_and_without_a_length() {
    for length in [None, Some(4)] {
        for data in [&["abcd"][..], &["abc", "d"]] {
            let mut frames = Frames::new(data, true);
            frames.length = length;
            let error = echo(3).oneshot(Request::new(frames)).await.unwrap_err();
            assert_eq!(error.downcast_ref::<PayloadTooLarge>().unwrap().limit(), 3);
        }
    }
    // A length that is over the limit is refused before anything is read.
    let mut frames = Frames::new(&[], false);
    frames.length = Some(u64::MAX);
    let error = echo(3).oneshot(Request::new(frames)).await.unwrap_err();
    assert!(error.is::<PayloadTooLarge>());
}

#[tokio::test]
async fn an_error_of_the_body_is_passed_on() {
    let mut frames = Frames::new(&["a"], true);
    frames.frames.insert(0, Err("cut".into()));
    let error = echo(3).oneshot(Request::new(frames)).await.unwrap_err();
    assert_eq!(error.to_string(), "cut");
}

#[tokio::test]
async fn an_upload_holds_no_place_in_the_inner_service() {
    let (inner, mut handle) = tower_test::mock::pair::<Request<Collected>, ()>();
    handle.allow(0);
    let mut service = CollectLayer::new(3).layer(inner);
    assert!(
        ServiceExt::<Request<Frames>>::ready(&mut service)
            .await
            .is_ok(),
        "whatever the inner service says"
    );
    let mut call = task::spawn(service.call(Request::new(Frames::new(&["a"], true))));
    assert_pending!(call.poll());
    handle.allow(1);
    assert!(call.is_woken());
    assert_pending!(call.poll());
    let (request, respond) = handle.next_request().await.unwrap();
    assert_eq!(request.body().data(), "a");
    respond.send_response(());
    assert!(assert_ready!(call.poll()).is_ok());
}

/// The data, and whether there were trailers; polled no further than the body says there is something.
async fn read(mut body: MaybeCollected<Frames>) -> (String, bool) {
    let (mut text, mut trailers) = (String::new(), false);
    while !body.is_end_stream() {
        let Some(frame) = body.frame().await else {
            break;
        };
        match frame.expect("no error").into_data() {
            Ok(data) => text.push_str(&String::from_utf8_lossy(&data)),
            Err(frame) => trailers = frame.is_trailers(),
        }
    }
    (text, trailers)
}

#[tokio::test]
async fn only_what_the_predicate_picks_is_collected() {
    type Sent = Request<MaybeCollected<Frames>>;
    for hint in [true, false] {
        let (inner, mut handle) = tower_test::mock::pair::<Sent, ()>();
        let mut service = CollectLayer::new(3)
            .only_if(|head| head.uri == "/collected")
            .layer(inner);
        let request = |path: &str, data: &[&'static str]| {
            let mut frames = Frames::new(data, hint);
            let mut trailers = HeaderMap::new();
            trailers.insert("x-sum", "1".parse().unwrap());
            frames.frames.insert(0, Ok(Frame::trailers(trailers)));
            Request::post(path).body(frames).unwrap()
        };

        // Over the limit, and not even looked at.
        let mut call = task::spawn(service.call(request("/streamed", &["abc", "d"])));
        assert_pending!(call.poll());
        let (sent, respond) = handle.next_request().await.unwrap();
        assert!(sent.body().collected().is_none());
        assert!(!sent.body().is_end_stream());
        assert_eq!(read(sent.into_body()).await, ("abcd".to_owned(), true));
        respond.send_response(());
        assert!(assert_ready!(call.poll()).is_ok());

        let mut call = task::spawn(service.call(request("/collected", &["ab", "c"])));
        assert_pending!(call.poll());
        let (sent, respond) = handle.next_request().await.unwrap();
        assert_eq!(sent.body().collected().unwrap().data(), "abc");
        assert_eq!(sent.body().size_hint().exact(), Some(3));
        assert_eq!(read(sent.into_body()).await, ("abc".to_owned(), true));
        respond.send_response(());
        assert!(assert_ready!(call.poll()).is_ok());

        let error = service.call(request("/collected", &["abc", "d"])).await;
        assert!(error.unwrap_err().is::<PayloadTooLarge>());
    }
}
