//! The client against raw sockets: what it sends, what it passes on, what it retries.
#![cfg(feature = "client")]

mod harness;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use harness::{OK, Upstream, get, post, within};
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use llm_backend::RequestBody;
use llm_backend::client::{Credential, Http, Limits, OpenAi};
use llm_backend::error::Kind;
use tower::{Service, ServiceExt, service_fn};

#[tokio::test]
async fn a_request_arrives_byte_for_byte_with_the_upstreams_host() {
    let mut upstream = Upstream::start().await;
    let body = "{ \"model\":\"m\",\t\"unknown\" : 1.0e5}";
    let request = Request::post("/v1/chat/completions?x=1")
        .header("host", "front.example")
        .header("x-custom", "a  b")
        .header("authorization", "Bearer caller")
        .header("connection", "x-hop")
        .header("x-hop", "1")
        .header("accept-encoding", "gzip")
        .body(RequestBody::from(body))
        .unwrap();
    let call = tokio::spawn(upstream.client().oneshot(request));
    let mut peer = upstream.accept().await;
    let seen = peer.request().await;
    peer.say(OK).await;
    assert!(
        seen.starts_with("POST /v1/chat/completions?x=1 HTTP/1.1\r\n"),
        "{seen}"
    );
    assert!(
        seen.contains(&format!("host: {}\r\n", upstream.address)),
        "{seen}"
    );
    assert!(
        seen.contains("x-custom: a  b\r\n") && seen.contains("Bearer caller"),
        "{seen}"
    );
    assert!(seen.contains("accept-encoding: identity\r\n"), "{seen}");
    assert!(
        seen.contains(&format!("content-length: {}\r\n", body.len())),
        "{seen}"
    );
    assert!(
        !seen.contains("x-hop") && !seen.contains("gzip") && !seen.contains("front"),
        "{seen}"
    );
    assert!(seen.ends_with(&format!("\r\n\r\n{body}")), "{seen}");
    assert_eq!(call.await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn a_response_survives_but_for_what_belongs_to_its_connection() {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(get("/v1/models")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say(
        "HTTP/1.1 429 Slow Down\r\nretry-after: 7\r\nx-unknown: \u{e9}\r\nset-cookie: a\r\nset-cookie: b\r\n\
         keep-alive: timeout=5\r\nconnection: keep-alive, x-hop\r\nx-hop: 1\r\ncontent-length: 3\r\n\r\nno!",
    )
    .await;
    let response = call.await.unwrap().unwrap();
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    let headers = response.headers();
    assert_eq!(headers["retry-after"], "7");
    assert_eq!(headers["x-unknown"].as_bytes(), "\u{e9}".as_bytes());
    assert_eq!(headers.get_all("set-cookie").iter().count(), 2);
    assert!(!headers.contains_key("keep-alive") && !headers.contains_key("connection"));
    assert!(!headers.contains_key("x-hop"));
    assert_eq!(headers["content-length"], "3");
    assert_eq!(
        response.into_body().collect().await.unwrap().to_bytes(),
        "no!"
    );
}

#[tokio::test]
async fn a_configured_credential_is_the_only_one_the_upstream_sees() {
    let mut upstream = Upstream::start().await;
    let client = OpenAi::builder(upstream.base())
        .credential(Credential::bearer("configured").unwrap())
        .build();
    let mut request = post("{}");
    request
        .headers_mut()
        .insert("authorization", "Bearer caller".parse().unwrap());
    request
        .headers_mut()
        .insert("x-api-key", "caller".parse().unwrap());
    let call = tokio::spawn(client.oneshot(request));
    let mut peer = upstream.accept().await;
    let seen = peer.request().await;
    peer.say(OK).await;
    assert!(
        seen.contains("authorization: Bearer configured\r\n"),
        "{seen}"
    );
    assert!(!seen.contains("caller"), "{seen}");
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn frames_pass_at_once_and_trailers_too() {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n")
        .await;
    let mut body = call.await.unwrap().unwrap().into_body();
    for word in ["a", "b"] {
        peer.say(&format!("1\r\n{word}\r\n")).await;
        let frame = within(body.frame()).await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), word);
    }
    peer.say("0\r\nx-sum: 2\r\n\r\n").await;
    let frame = within(body.frame()).await.unwrap().unwrap();
    assert_eq!(frame.into_trailers().unwrap()["x-sum"], "2");
    assert!(within(body.frame()).await.is_none());
}

#[tokio::test]
async fn connections_are_reused() {
    let mut upstream = Upstream::start().await;
    let client = upstream.client();
    let server = async {
        let mut peer = upstream.accept().await;
        for _ in 0..10 {
            peer.request().await;
            peer.say(OK).await;
        }
        upstream
    };
    let calls = async {
        for _ in 0..10 {
            let response = client.clone().oneshot(post("{}")).await.unwrap();
            response.into_body().collect().await.unwrap();
        }
    };
    let (upstream, ()) = within(async { tokio::join!(server, calls) }).await;
    assert_eq!(upstream.connections(), 1);
}

/// What a server does after each answer that announced keep-alive.
#[derive(Clone, Copy)]
enum After {
    /// It closes the connection at once.
    Close,
    /// It reads the next request, then closes.
    ReadThenClose,
}

/// Serves every connection's first request only; counts the requests it read.
fn serve_once_each(mut upstream: Upstream, after: After) -> Arc<AtomicUsize> {
    let requests = upstream.requests.clone();
    tokio::spawn(async move {
        loop {
            let mut peer = upstream.accept().await;
            let requests = upstream.requests.clone();
            tokio::spawn(async move {
                if peer.request().await.is_empty() {
                    return;
                }
                requests.fetch_add(1, Ordering::SeqCst);
                peer.say(OK).await;
                if let After::ReadThenClose = after
                    && !peer.request().await.is_empty()
                {
                    requests.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    requests
}

#[tokio::test]
async fn a_server_that_closes_after_each_answer_is_served_without_an_error() {
    let upstream = Upstream::start().await;
    let client = upstream.client();
    let requests = serve_once_each(upstream, After::Close);
    for _ in 0..200 {
        let response = within(client.clone().oneshot(post("{}"))).await.unwrap();
        assert_eq!(
            response.into_body().collect().await.unwrap().to_bytes(),
            "ok"
        );
    }
    assert_eq!(requests.load(Ordering::SeqCst), 200);
}

#[tokio::test]
async fn a_request_lost_by_a_reused_connection_is_sent_once_more_on_a_fresh_one() {
    let upstream = Upstream::start().await;
    let client = upstream.client();
    let connections = upstream.connections.clone();
    let requests = serve_once_each(upstream, After::ReadThenClose);
    for _ in 0..2 {
        let response = within(client.clone().oneshot(post("{}"))).await.unwrap();
        assert_eq!(
            response.into_body().collect().await.unwrap().to_bytes(),
            "ok"
        );
    }
    assert_eq!(
        requests.load(Ordering::SeqCst),
        3,
        "the second request was read twice"
    );
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_request_that_a_reused_connection_loses_late_is_not_sent_again() {
    for (worked, sent_again) in [(250, true), (600, false)] {
        let mut upstream = Upstream::start().await;
        let client = upstream.client();
        let first = tokio::spawn(client.clone().oneshot(post("{}")));
        let mut peer = upstream.accept().await;
        peer.request().await;
        peer.say(OK).await;
        let response = within(first).await.unwrap().unwrap();
        response.into_body().collect().await.unwrap();
        let second = tokio::spawn(client.oneshot(post("{}")));
        assert!(!peer.request().await.is_empty());
        // The upstream works on it for so long; nobody waits for real.
        tokio::time::pause();
        tokio::time::advance(Duration::from_millis(worked)).await;
        tokio::time::resume();
        drop(peer);
        if sent_again {
            let mut peer = upstream.accept().await;
            assert!(!peer.request().await.is_empty());
            peer.say(OK).await;
            assert_eq!(within(second).await.unwrap().unwrap().status(), 200);
        } else {
            let error = within(second).await.unwrap().unwrap_err();
            assert_eq!(error.kind(), Kind::Closed);
            assert!(!error.is_retryable());
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert_eq!(upstream.connections(), 1);
        }
    }
}

#[tokio::test]
async fn a_streaming_body_is_never_sent_twice() {
    let upstream = Upstream::start().await;
    let client = upstream.client();
    let requests = serve_once_each(upstream, After::ReadThenClose);
    let response = within(client.clone().oneshot(post("{}"))).await.unwrap();
    response.into_body().collect().await.unwrap();
    let body = RequestBody::streaming(Full::new(Bytes::from_static(b"{}")));
    let error = within(client.clone().oneshot(post(body)))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Closed);
    assert_eq!(requests.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_request_lost_by_a_fresh_connection_is_never_sent_again() {
    let mut upstream = Upstream::start().await;
    let client = upstream.client();
    let call = tokio::spawn(client.oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    assert!(!peer.request().await.is_empty());
    drop(peer);
    let error = within(call).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Closed);
    assert_eq!(error.status(), StatusCode::BAD_GATEWAY);
    assert!(!error.is_retryable());
    assert!(
        error.to_string().contains(&upstream.address.to_string()),
        "{error}"
    );
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(upstream.connections(), 1);
}

#[tokio::test]
async fn a_retry_that_is_lost_too_is_the_last() {
    let mut upstream = Upstream::start().await;
    let client = upstream.client();
    let first = tokio::spawn(client.clone().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say(OK).await;
    first
        .await
        .unwrap()
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap();
    let second = tokio::spawn(client.oneshot(post("{}")));
    assert!(!peer.request().await.is_empty());
    drop(peer);
    let mut peer = upstream.accept().await;
    assert!(!peer.request().await.is_empty());
    drop(peer);
    assert_eq!(
        within(second).await.unwrap().unwrap_err().kind(),
        Kind::Closed
    );
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(upstream.connections(), 2);
}

#[tokio::test]
async fn one_byte_of_an_answer_forbids_a_retry() {
    let mut upstream = Upstream::start().await;
    let client = upstream.client();
    let first = tokio::spawn(client.clone().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say(OK).await;
    first
        .await
        .unwrap()
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap();
    let second = tokio::spawn(client.oneshot(post("{}")));
    peer.request().await;
    peer.say("H").await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    drop(peer);
    assert_eq!(
        within(second).await.unwrap().unwrap_err().kind(),
        Kind::Closed
    );
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(upstream.connections(), 1);
}

#[tokio::test]
async fn a_body_short_of_its_length_is_cut() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n123",
    ] {
        let mut upstream = Upstream::start().await;
        let call = tokio::spawn(upstream.client().oneshot(post("{}")));
        let mut peer = upstream.accept().await;
        peer.request().await;
        peer.say(answer).await;
        let mut body = call.await.unwrap().unwrap().into_body();
        assert!(within(body.frame()).await.unwrap().is_ok());
        drop(peer);
        let error = within(body.frame()).await.unwrap().unwrap_err();
        assert_eq!(error.kind(), Kind::Cut, "{answer}");
        assert!(within(body.frame()).await.is_none());
    }
}

/// What comes of an answer that says nothing of its length and ends with its connection.
#[expect(clippy::unwrap_used, reason = "test code")]
async fn closed_after(head: &str, content: &str) -> Result<Bytes, Kind> {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say(&format!("{head}\r\n\r\n{content}")).await;
    let response = within(call).await.unwrap().unwrap();
    drop(peer);
    match within(response.into_body().collect()).await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(error.kind()),
    }
}

const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8";
const JSON: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
const HELLO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n";
const LENGTH: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";

#[tokio::test]
async fn a_stream_without_a_length_is_cut_unless_its_events_say_that_it_is_over() {
    let old = EVENTS.replace("1.1", "1.0");
    for (head, content) in [
        (EVENTS, ""),
        (EVENTS, ": keep-alive\n\n"),
        (EVENTS, &*format!("{HELLO}{HELLO}")),
        (&*old, &*format!("{HELLO}{HELLO}")),
        (EVENTS, &*format!("{HELLO}{}", LENGTH.trim_end())),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\ncontent-type: text/event-stream",
            HELLO,
        ),
        (
            &*format!("{EVENTS}\r\ntransfer-encoding: x\r\ncontent-length: 9"),
            HELLO,
        ),
    ] {
        let ended = closed_after(head, content).await;
        assert_eq!(ended, Err(Kind::Cut), "{head} {content}");
    }
    for content in [
        &*format!("{HELLO}{LENGTH}"),
        &*format!("{HELLO}data: [DONE]\n\n"),
        &*format!("{HELLO}data: {{\"error\":{{\"message\":\"no\"}}}}\n\n"),
    ] {
        for head in [EVENTS, &*old] {
            assert_eq!(closed_after(head, content).await.unwrap(), content);
        }
    }
}

#[tokio::test]
async fn json_without_a_length_is_cut_unless_its_value_is_closed() {
    let error = JSON.replace("200 OK", "500 Oops").replace("1.1", "1.0");
    for head in [JSON, &*error] {
        for content in ["", "{\"choices\":[{\"text\":\"Hel", "{\"a\":\"}\"", "[{}"] {
            let ended = closed_after(head, content).await;
            assert_eq!(ended, Err(Kind::Cut), "{head} {content}");
        }
        for content in ["{\"a\":[\"]\\\"\"]}\n", "[]"] {
            assert_eq!(closed_after(head, content).await.unwrap(), content);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_read_ends_with_its_connection() {
    for (head, content) in [
        ("HTTP/1.1 200 OK\r\ncontent-type: text/plain", "{"),
        ("HTTP/1.1 200 OK", "{"),
        (&*format!("{JSON}\r\ncontent-encoding: gzip"), "\u{1f}{"),
    ] {
        assert_eq!(closed_after(head, content).await.unwrap(), content);
    }
}

#[tokio::test]
async fn an_answer_that_is_framed_is_not_judged_by_its_content() {
    for (framing, content) in [
        ("content-length: 1", "{"),
        ("transfer-encoding: chunked", "1\r\n{\r\n0\r\n\r\n"),
        ("transfer-encoding: x, Chunked", "1\r\n{\r\n0\r\n\r\n"),
    ] {
        for head in [JSON, EVENTS] {
            let head = format!("{head}\r\n{framing}");
            assert_eq!(closed_after(&head, content).await.unwrap(), "{", "{head}");
        }
    }
}

/// One frame, after which it may say that it is at its end.
struct Once {
    frame: Option<Bytes>,
    hint: bool,
}

impl http_body::Body for Once {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        let frame = self.frame.take();
        std::task::Poll::Ready(frame.map(|frame| Ok(http_body::Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.hint && self.frame.is_none()
    }
}

#[tokio::test]
async fn a_hint_of_the_end_does_not_hide_a_cut() {
    for hint in [true, false] {
        let client = service_fn(move |_| async move {
            let frame = Some(Bytes::from_static(b"{"));
            let response = Response::builder().header("content-type", "application/json");
            Ok::<_, http::Error>(response.body(Once { frame, hint }).unwrap())
        });
        let server = OpenAi::builder("http://h".parse().unwrap()).build_with(client);
        let mut body = server.oneshot(post("{}")).await.unwrap().into_body();
        assert_eq!(
            body.frame().await.unwrap().unwrap().into_data().unwrap(),
            "{"
        );
        assert!(!body.is_end_stream(), "there is an error to come");
        assert_eq!(body.frame().await.unwrap().unwrap_err().kind(), Kind::Cut);
        assert!(body.is_end_stream() && body.frame().await.is_none());
    }
}

#[tokio::test]
async fn a_path_with_dot_segments_never_leaves() {
    let upstream = Upstream::start().await;
    let base = format!("http://{}/gpu-1/v1", upstream.address);
    let mut client = OpenAi::new(base.parse().unwrap());
    for path in ["/v1/../../admin?x=1", "/v1/%2E%2e/admin", "/v1/./models"] {
        let mut request = post("{}");
        *request.uri_mut() = path.parse().unwrap();
        let call = client.ready().await.unwrap().call(request);
        let error = within(call).await.unwrap_err();
        assert_eq!(error.kind(), Kind::RequestPath, "{path}");
        assert_eq!(error.status(), StatusCode::BAD_REQUEST);
        assert!(!error.is_retryable());
        let source = std::error::Error::source(&error).unwrap().to_string();
        let (path, _) = path.split_once('?').unwrap_or((path, ""));
        assert!(source.contains(path), "{source}");
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(upstream.connections(), 0);
}

#[tokio::test]
async fn what_is_not_http_is_a_protocol_error() {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say("SSH-2.0-OpenSSH\r\n\r\n").await;
    assert_eq!(
        within(call).await.unwrap().unwrap_err().kind(),
        Kind::Protocol
    );
}

#[tokio::test]
async fn a_refused_connection_names_the_upstream() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = OpenAi::new(harness::base(address))
        .oneshot(post("{}"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Refused);
    assert_eq!(error.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(error.is_retryable() && error.retry_after().is_some());
    assert_eq!(
        error.to_string(),
        format!("upstream {address}: connection refused")
    );
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_a_dns_error() {
    let client = OpenAi::new("http://no-such-host.invalid:8000".parse().unwrap());
    let error = within(client.oneshot(post("{}"))).await.unwrap_err();
    assert!(
        matches!(error.kind(), Kind::Dns | Kind::ConnectTimeout),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("no-such-host.invalid:8000"),
        "{error}"
    );
}

#[cfg(feature = "rustls")]
#[tokio::test]
async fn a_failed_handshake_is_a_tls_error() {
    let mut upstream = Upstream::start().await;
    let client = OpenAi::new(format!("https://{}", upstream.address).parse().unwrap());
    let call = tokio::spawn(client.oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.say("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    let error = within(call).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Tls, "{error:?}");
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_callers_body_that_fails_is_not_the_upstreams_fault() {
    let mut upstream = Upstream::start().await;
    let body = RequestBody::streaming(Broken);
    let call = tokio::spawn(upstream.client().oneshot(post(body)));
    let _peer = upstream.accept().await;
    let error = within(call).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::RequestBody, "{error:?}");
    assert_eq!(error.status(), StatusCode::BAD_REQUEST);
}

struct Broken;

impl http_body::Body for Broken {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, std::io::Error>>> {
        std::task::Poll::Ready(Some(Err(std::io::Error::other("the caller left"))))
    }
}

#[tokio::test]
async fn an_unread_body_holds_the_upstream_back() {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say("HTTP/1.1 200 OK\r\ncontent-length: 268435456\r\n\r\n")
        .await;
    let body = call.await.unwrap().unwrap().into_body();
    let sent = Arc::new(AtomicUsize::new(0));
    let count = sent.clone();
    tokio::spawn(async move {
        let piece = vec![b'x'; 65_536];
        while tokio::io::AsyncWriteExt::write_all(&mut peer.socket, &piece)
            .await
            .is_ok()
        {
            count.fetch_add(piece.len(), Ordering::SeqCst);
        }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let held = sent.load(Ordering::SeqCst);
    assert!(held < 32 << 20, "{held} bytes were taken from the upstream");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(sent.load(Ordering::SeqCst), held);
    drop(body);
}

#[tokio::test]
async fn time_limits_fire_over_sockets_and_name_themselves() {
    let limits = Limits::none()
        .headers(Duration::from_millis(60))
        .first_token(Duration::from_millis(120))
        .idle(Duration::from_millis(80));
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    for (answer, kind) in [
        ("", Kind::HeadersTimeout),
        (head, Kind::FirstTokenTimeout),
        (&*format!("{head}1\r\na\r\n"), Kind::IdleTimeout),
    ] {
        let mut upstream = Upstream::start().await;
        let mut client = OpenAi::builder(upstream.base()).limits(limits).build();
        let call = tokio::spawn(client.ready().await.unwrap().call(post("{}")));
        let mut peer = upstream.accept().await;
        peer.request().await;
        peer.say(answer).await;
        let error = match within(call).await.unwrap() {
            Err(error) => error,
            Ok(response) => within(response.into_body().collect()).await.unwrap_err(),
        };
        assert_eq!(error.kind(), kind);
        assert_eq!(error.status(), StatusCode::GATEWAY_TIMEOUT);
        assert!(
            peer.gone().await < Duration::from_millis(50),
            "the upstream is let go"
        );
    }
}

#[tokio::test]
async fn a_connection_that_cannot_be_made_in_time_is_given_up() {
    // A listener whose backlog is full does not answer.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut filling = Vec::new();
    for _ in 0..4 {
        let connect = tokio::net::TcpStream::connect(address);
        filling.push(tokio::time::timeout(Duration::from_millis(20), connect).await);
    }
    let limits = Limits::default().connect(Duration::from_millis(100));
    let client = OpenAi::builder(harness::base(address))
        .limits(limits)
        .build();
    let start = std::time::SystemTime::now();
    let error = within(client.oneshot(post("{}"))).await.unwrap_err();
    assert_eq!(error.kind(), Kind::ConnectTimeout);
    assert_eq!(error.limit(), Some(Duration::from_millis(100)));
    assert!(start.elapsed().unwrap() < Duration::from_millis(200));
    assert!(error.is_retryable());
}

#[tokio::test]
async fn clones_of_the_default_client_share_their_connections() {
    let mut upstream = Upstream::start().await;
    let http = Http::new(Duration::from_secs(1));
    let one = OpenAi::builder(upstream.base()).build_with(http.clone());
    let two = OpenAi::builder(upstream.base()).build_with(http);
    let server = async {
        let mut peer = upstream.accept().await;
        for _ in 0..2 {
            peer.request().await;
            peer.say(OK).await;
        }
    };
    let calls = async {
        for client in [one, two] {
            client
                .oneshot(post("{}"))
                .await
                .unwrap()
                .into_body()
                .collect()
                .await
                .unwrap();
        }
    };
    within(async { tokio::join!(server, calls) }).await;
    assert_eq!(upstream.connections(), 1);
}

#[tokio::test]
async fn an_answer_to_an_upload_that_is_not_read_arrives() {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(post(vec![b'x'; 40 << 20])));
    let mut peer = upstream.accept().await;
    peer.say("HTTP/1.1 413 Content Too Large\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno")
        .await;
    let response = within(call).await.unwrap().unwrap();
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(
        within(response.into_body().collect())
            .await
            .unwrap()
            .to_bytes(),
        "no"
    );
}

/// Answers every request that comes within `idle` of the last answer, then closes, as vLLM and llama.cpp do after 5 s.
fn serve_with_idle_limit(mut upstream: Upstream, idle: Duration) -> Arc<AtomicUsize> {
    let requests = upstream.requests.clone();
    tokio::spawn(async move {
        loop {
            let mut peer = upstream.accept().await;
            let requests = upstream.requests.clone();
            tokio::spawn(async move {
                let mut request = peer.request().await;
                while !request.is_empty() {
                    requests.fetch_add(1, Ordering::SeqCst);
                    peer.say(OK).await;
                    request = match tokio::time::timeout(idle, peer.request()).await {
                        Ok(request) => request,
                        Err(_) => return,
                    };
                }
            });
        }
    });
    requests
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_race_with_an_idle_limit_are_served_once_each() {
    let upstream = Upstream::start().await;
    let client = upstream.client();
    let requests = serve_with_idle_limit(upstream, Duration::from_millis(2));
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                for _ in 0..50 {
                    let response = within(client.clone().oneshot(post("{}"))).await.unwrap();
                    assert_eq!(
                        response.into_body().collect().await.unwrap().to_bytes(),
                        "ok"
                    );
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(requests.load(Ordering::SeqCst), 400);
}
