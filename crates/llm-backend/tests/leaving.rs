//! A caller that leaves frees the upstream at once, whatever the stage.
#![cfg(all(feature = "client", feature = "stub"))]

mod harness;

use std::time::Duration;

use harness::{Upstream, post, stub_server, until};
use http_body_util::BodyExt;
use llm_backend::stub::Settings;
use tower::ServiceExt;

const LIMIT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn before_the_connection_is_made() {
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
    let client = llm_backend::client::OpenAi::new(harness::base(address));
    let call = tokio::spawn(client.oneshot(post("{}")));
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert_eq!(connecting_to(address.port()), 1);
    call.abort();
    assert!(until(|| connecting_to(address.port()) == 0).await < LIMIT);
}

/// Sockets in SYN_SENT towards a port. Those that filled the backlog are dropped by then.
fn connecting_to(port: u16) -> usize {
    let remote = format!("0100007F:{port:04X} 02");
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    table.lines().filter(|line| line.contains(&remote)).count()
}

#[tokio::test]
async fn before_the_headers() {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    call.abort();
    assert!(peer.gone().await < LIMIT);
}

#[tokio::test]
async fn before_the_first_token() {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    let response = call.await.unwrap().unwrap();
    drop(response);
    assert!(peer.gone().await < LIMIT);
}

#[tokio::test]
async fn while_waiting_for_the_first_token() {
    let mut upstream = Upstream::start().await;
    let client = upstream.client();
    let call = tokio::spawn(async move {
        client
            .oneshot(post("{}"))
            .await
            .unwrap()
            .into_body()
            .collect()
            .await
    });
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    call.abort();
    assert!(peer.gone().await < LIMIT);
}

#[tokio::test]
async fn in_the_middle_of_a_stream() {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n")
        .await;
    let mut body = call.await.unwrap().unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    drop(body);
    assert!(peer.gone().await < LIMIT);
}

#[tokio::test]
async fn in_the_middle_of_a_body_of_known_length() {
    let mut upstream = Upstream::start().await;
    let call = tokio::spawn(upstream.client().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc")
        .await;
    let mut body = call.await.unwrap().unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    drop(body);
    assert!(peer.gone().await < LIMIT);
}

#[tokio::test]
async fn on_a_reused_connection() {
    let mut upstream = Upstream::start().await;
    let client = upstream.client();
    let call = tokio::spawn(client.clone().oneshot(post("{}")));
    let mut peer = upstream.accept().await;
    peer.request().await;
    peer.say(harness::OK).await;
    call.await
        .unwrap()
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap();
    let call = tokio::spawn(client.oneshot(post("{}")));
    peer.request().await;
    call.abort();
    assert!(peer.gone().await < LIMIT);
    assert_eq!(upstream.connections(), 1);
}

#[tokio::test]
async fn the_stub_counts_the_work_that_was_left() {
    let (client, stub) = stub_server(Settings::default()).await;
    // Not streamed, before its answer.
    let body = r#"{"model":"stub?delay=5s","messages":[]}"#;
    let call = tokio::spawn(client.clone().oneshot(post(body)));
    until(|| stub.stats().in_flight == 1).await;
    call.abort();
    assert!(until(|| stub.stats().cancelled == 1).await < LIMIT);
    // Streamed, after its second event.
    let body = r#"{"model":"stub?pace=1s&delay=1ms","messages":[],"stream":true}"#;
    let mut body = client.oneshot(post(body)).await.unwrap().into_body();
    body.frame().await.unwrap().unwrap();
    assert_eq!(stub.stats().in_flight, 1);
    drop(body);
    assert!(until(|| stub.stats().cancelled == 2).await < LIMIT);
    assert_eq!(stub.stats().in_flight, 0);
}
