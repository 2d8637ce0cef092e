//! Time limits, in paused time, over a client that is a script.
#![cfg(feature = "client")]

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use llm_backend::RequestBody;
use llm_backend::client::{Limits, OpenAi};
use llm_backend::error::{Error, Kind};
use tokio::time::{Instant, Sleep, sleep};
use tower::{Service, ServiceExt, service_fn};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A body whose frames come after these pauses.
struct Paced {
    pauses: std::vec::IntoIter<Duration>,
    sleep: Option<Pin<Box<Sleep>>>,
    /// Whether it says that it is at its end, or has to be asked.
    hint: bool,
}

impl Body for Paced {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.sleep.is_none() {
            let Some(pause) = self.pauses.next() else {
                return Poll::Ready(None);
            };
            self.sleep = Some(Box::pin(sleep(pause)));
        }
        if let Some(sleep) = &mut self.sleep {
            ready!(sleep.as_mut().poll(cx));
        }
        self.sleep = None;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
    }

    fn is_end_stream(&self) -> bool {
        self.hint && self.sleep.is_none() && self.pauses.as_slice().is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.pauses.as_slice().len() as u64)
    }
}

type Answer = Response<llm_backend::client::Body<Paced>>;

/// Calls an upstream whose head comes after `head`, its frames after `pauses`.
async fn call(limits: Limits, head: Duration, pauses: &[Duration]) -> Result<Answer, Error> {
    call_hinting(limits, head, pauses, false).await
}

async fn call_hinting(
    limits: Limits,
    head: Duration,
    pauses: &[Duration],
    hint: bool,
) -> Result<Answer, Error> {
    let pauses = pauses.to_vec();
    let client = service_fn(move |_: Request<RequestBody>| {
        let pauses = pauses.clone().into_iter();
        async move {
            sleep(head).await;
            Ok::<_, Infallible>(Response::new(Paced {
                pauses,
                sleep: None,
                hint,
            }))
        }
    });
    let base = "http://gpu-1:8000".parse().expect("a URL");
    let mut server = OpenAi::builder(base).limits(limits).build_with(client);
    server
        .ready()
        .await?
        .call(Request::new(RequestBody::empty()))
        .await
}

/// The error in the body, and when it came.
async fn failure(answer: Answer) -> (Kind, usize) {
    let mut body = answer.into_body();
    let mut frames = 0;
    loop {
        match body.frame().await.expect("an error before the end") {
            Ok(_) => frames += 1,
            Err(error) => {
                assert_eq!(error.status(), StatusCode::GATEWAY_TIMEOUT);
                assert!(body.is_end_stream(), "it is over after an error");
                assert!(body.frame().await.is_none());
                return (error.kind(), frames);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_upstream_exceeds_the_headers_limit() {
    let start = Instant::now();
    let error = call(Limits::default(), seconds(10_000), &[])
        .await
        .err()
        .expect("too late");
    assert_eq!(error.kind(), Kind::HeadersTimeout);
    assert_eq!(
        error.to_string(),
        "upstream gpu-1:8000: no response head within 600s"
    );
    assert_eq!(start.elapsed().as_secs(), 600);
}

#[tokio::test(start_paused = true)]
async fn the_first_token_counts_from_the_call() {
    let start = Instant::now();
    let limits = Limits::none().first_token(seconds(10));
    let answer = call(limits, seconds(4), &[seconds(100)]).await.unwrap();
    assert_eq!(failure(answer).await, (Kind::FirstTokenTimeout, 0));
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_first_token_limit_shorter_than_the_headers_limit_fires_before_the_head() {
    let start = Instant::now();
    let limits = Limits::none().first_token(seconds(10)).headers(seconds(20));
    let error = call(limits, seconds(100), &[])
        .await
        .err()
        .expect("too late");
    assert_eq!(error.kind(), Kind::FirstTokenTimeout);
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn silence_between_frames_exceeds_the_idle_limit() {
    let limits = Limits::none().idle(seconds(10));
    let answer = call(limits, seconds(1), &[seconds(60), seconds(9), seconds(11)])
        .await
        .unwrap();
    let start = Instant::now();
    assert_eq!(failure(answer).await, (Kind::IdleTimeout, 2));
    assert_eq!(start.elapsed().as_secs(), 60 + 9 + 10);
}

#[tokio::test(start_paused = true)]
async fn a_long_stream_of_prompt_frames_exceeds_nothing() {
    for hint in [true, false] {
        let limits = Limits::default().idle(seconds(10));
        let answer = call_hinting(limits, seconds(1), &[seconds(9); 1000], hint)
            .await
            .unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body.len(), 1000);
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_stream_exceeds_the_total_limit_all_the_same() {
    let start = Instant::now();
    let limits = Limits::default().total(seconds(105));
    let answer = call(limits, seconds(1), &[seconds(9); 1000]).await.unwrap();
    assert_eq!(failure(answer).await, (Kind::TotalTimeout, 11));
    assert_eq!(start.elapsed().as_secs(), 105);
}

#[tokio::test(start_paused = true)]
async fn the_total_limit_is_seen_though_a_frame_is_ready() {
    let limits = Limits::none().total(seconds(10));
    let answer = call(limits, seconds(1), &[Duration::ZERO; 3])
        .await
        .unwrap();
    sleep(seconds(20)).await;
    assert_eq!(failure(answer).await, (Kind::TotalTimeout, 0));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_rests_does_not_make_the_upstream_late() {
    let limits = Limits::none().first_token(seconds(10)).idle(seconds(10));
    let pauses = [seconds(5), seconds(5)];
    let mut body = call(limits, seconds(1), &pauses).await.unwrap().into_body();
    for _ in pauses {
        sleep(seconds(100)).await;
        body.frame().await.unwrap().unwrap();
    }
    sleep(seconds(100)).await;
    assert!(body.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn without_limits_everything_is_waited_for() {
    let day = seconds(86_400);
    let answer = call(Limits::none(), day, &[day, day]).await.unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "xx");
}

#[tokio::test(start_paused = true)]
async fn a_limit_beyond_the_clock_is_none() {
    let limits = Limits::none()
        .headers(Duration::MAX)
        .idle(Duration::MAX)
        .total(Duration::MAX);
    let answer = call(limits, seconds(1), &[seconds(1); 2]).await.unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "xx");
}

#[tokio::test(start_paused = true)]
async fn the_size_hint_and_the_end_are_the_upstreams() {
    for hint in [true, false] {
        let answer = call_hinting(Limits::default(), seconds(1), &[seconds(1)], hint).await;
        let mut body = answer.unwrap().into_body();
        assert_eq!(body.size_hint().exact(), Some(1));
        assert!(!body.is_end_stream());
        body.frame().await.unwrap().unwrap();
        assert_eq!(body.is_end_stream(), hint);
    }
}
