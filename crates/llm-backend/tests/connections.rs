//! Who drives a connection, and what becomes of it.
#![cfg(feature = "client")]
#![expect(clippy::unwrap_used, reason = "test code, helpers included")]

mod harness;

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use harness::{OK, Peer, Upstream, post, within};
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use llm_backend::client::{Http, Incoming, OpenAi};
use llm_backend::error::Kind;
use llm_backend::{Error, RequestBody};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::mpsc;
use tower::ServiceExt;

/// A request body that is sent piece by piece.
struct Pieces(mpsc::UnboundedReceiver<Bytes>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.0.poll_recv(cx);
        piece.map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

fn upload() -> (mpsc::UnboundedSender<Bytes>, RequestBody) {
    let (sender, pieces) = mpsc::unbounded_channel();
    (sender, RequestBody::streaming(Pieces(pieces)))
}

/// Reads until `text` has come.
async fn hear(peer: &mut Peer, text: &str) {
    let mut heard = String::new();
    while !heard.contains(text) {
        let mut piece = [0; 1024];
        let count = within(peer.socket.read(&mut piece)).await.unwrap();
        assert!(count > 0, "the client left: {heard}");
        heard.push_str(&String::from_utf8_lossy(piece.get(..count).unwrap()));
    }
}

type Answered = Result<Response<llm_backend::client::Body>, Error>;

/// A call whose answer has begun while its request is still being sent.
async fn answered_early(upstream: &mut Upstream) -> (mpsc::UnboundedSender<Bytes>, Peer, Answered) {
    let (pieces, body) = upload();
    let call = tokio::spawn(upstream.client().oneshot(post(body)));
    pieces.send(Bytes::from_static(b"one")).unwrap();
    let mut peer = upstream.accept().await;
    hear(&mut peer, "one").await;
    peer.say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n")
        .await;
    let answer = within(call).await.unwrap();
    (pieces, peer, answer)
}

#[tokio::test]
async fn a_request_is_sent_on_though_nobody_reads_its_answer() {
    let mut upstream = Upstream::start().await;
    let (pieces, mut peer, answer) = answered_early(&mut upstream).await;
    pieces.send(Bytes::from_static(b"two")).unwrap();
    hear(&mut peer, "two").await;
    drop(pieces);
    hear(&mut peer, "0\r\n\r\n").await;
    peer.say("ok").await;
    let body = within(answer.unwrap().into_body().collect()).await.unwrap();
    assert_eq!(body.to_bytes(), "ok");
}

#[tokio::test]
async fn leaving_an_answer_stops_the_request_that_is_still_being_sent() {
    let mut upstream = Upstream::start().await;
    let (pieces, mut peer, answer) = answered_early(&mut upstream).await;
    drop(answer);
    peer.gone().await;
    within(pieces.closed()).await;
}

#[tokio::test]
async fn the_connection_of_an_upload_is_used_again() {
    let mut upstream = Upstream::start().await;
    let client = upstream.client();
    let server = async {
        let mut peer = upstream.accept().await;
        hear(&mut peer, "0\r\n\r\n").await;
        peer.say(OK).await;
        peer.request().await;
        peer.say(OK).await;
        upstream
    };
    let calls = async {
        let (pieces, body) = upload();
        pieces.send(Bytes::from_static(b"one")).unwrap();
        drop(pieces);
        for body in [body, RequestBody::from("{}")] {
            let response = client.clone().oneshot(post(body)).await.unwrap();
            response.into_body().collect().await.unwrap();
            // The task of the upload puts it back.
            tokio::task::yield_now().await;
        }
    };
    let (upstream, ()) = within(async { tokio::join!(server, calls) }).await;
    assert_eq!(upstream.connections(), 1);
}

#[tokio::test]
async fn a_request_that_cannot_connect_takes_a_connection_that_comes_free() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let client = OpenAi::new(harness::base(address));
    let first = tokio::spawn(client.clone().oneshot(post("one")));
    let (socket, _) = within(listener.accept()).await.unwrap();
    let mut peer = Peer { socket };
    assert!(peer.request().await.ends_with("one"));
    // A listener whose backlog is full does not answer.
    let mut filling = Vec::new();
    for _ in 0..4 {
        let connect = TcpStream::connect(address);
        filling.push(tokio::time::timeout(Duration::from_millis(20), connect).await);
    }
    let second = tokio::spawn(client.oneshot(post("two")));
    tokio::time::sleep(Duration::from_millis(30)).await;
    peer.say(OK).await;
    let response = within(first).await.unwrap().unwrap();
    within(response.into_body().collect()).await.unwrap();
    assert!(peer.request().await.ends_with("two"));
    peer.say(OK).await;
    assert_eq!(within(second).await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn a_connection_that_nobody_uses_is_closed_before_its_server_would() {
    let mut upstream = Upstream::start().await;
    let client = upstream.client();
    let call = tokio::spawn(client.clone().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say(OK).await;
    let response = within(call).await.unwrap().unwrap();
    response.into_body().collect().await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_millis(4_100)).await;
    tokio::time::resume();
    peer.gone().await;
    drop(client);
}

#[tokio::test]
async fn a_server_that_says_more_than_was_asked_for_is_not_asked_again_on_that_connection() {
    let mut upstream = Upstream::start().await;
    let client = upstream.client();
    let first = tokio::spawn(client.clone().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say(&format!("{OK}HTTP/1.1 408 Request Timeout\r\n\r\n"))
        .await;
    let response = within(first).await.unwrap().unwrap();
    response.into_body().collect().await.unwrap();
    let second = tokio::spawn(client.oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say(OK).await;
    assert_eq!(within(second).await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn a_client_by_itself_wants_to_know_the_server() {
    let nameless = Request::post("/v1/x").body(RequestBody::empty()).unwrap();
    let error = Http::new(None).oneshot(nameless).await.unwrap_err();
    assert!(matches!(error.kind(), Kind::Connect | Kind::Tls), "{error}");

    let mut upstream = Upstream::start().await;
    let uri = format!("http://{}/v1/x", upstream.address);
    let request = Request::get(uri).body(RequestBody::empty()).unwrap();
    let call = tokio::spawn(Http::new(None).oneshot(request));
    let mut peer = upstream.accept().await;
    let seen = peer.request().await;
    assert!(seen.starts_with("GET /v1/x HTTP/1.1\r\n"), "{seen}");
    let host = format!("host: {}\r\n", upstream.address);
    assert!(seen.contains(&host), "{seen}");
    peer.say(OK).await;
    let body: Incoming = within(call).await.unwrap().unwrap().into_body();
    assert_eq!(body.size_hint().exact(), Some(2));
}
