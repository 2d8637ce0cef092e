//! How the binary ends: on SIGTERM nothing new is accepted, open answers finish, up to a deadline.

use std::net::TcpStream;
use std::time::Duration;
use tests::binary::Process;
use tests::{Connection, End, Request, chat, model, stream};
use tokio::time::Instant;

async fn open(process: &Process, name: &str) -> Connection {
    let mut connection = Connection::open(process.address).await;
    connection
        .ask(&Request::chat(&stream(model(name, "Hello"))))
        .await;
    assert!(connection.head().await);
    connection.frame().await.expect("a first token");
    connection
}

#[tokio::test]
async fn an_open_stream_finishes_while_new_connections_are_refused() {
    let mut process = Process::listen([]).await;
    let mut idle = Connection::open(process.address).await;
    idle.ask(&Request::chat(&chat("Hello"))).await;
    assert_eq!(idle.answer().await.status, 200);

    let mut streaming = open(&process, "stub?tokens=50&pace=20ms").await;
    let told = Instant::now();
    process.terminate();
    let mut refused = false;
    while told.elapsed() < Duration::from_millis(700) && !refused {
        refused = TcpStream::connect(process.address).is_err();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(refused, "new connections are accepted");

    let rest = streaming.rest().await;
    assert_eq!(rest.end, End::Clean);
    assert_eq!(rest.events().last().map(String::as_str), Some("[DONE]"));
    assert_eq!(process.ended().await.code(), Some(0));
    // It did not wait for the idle connection, nor for the deadline.
    assert!(
        told.elapsed() < Duration::from_secs(15),
        "{:?}",
        told.elapsed()
    );
    assert!(!idle.head().await);
}

#[tokio::test]
async fn at_the_deadline_what_is_still_open_breaks() {
    let mut process = Process::listen(["--drain", "500ms"]).await;
    let mut streaming = open(&process, "stub?tokens=100000&pace=20ms").await;
    let told = Instant::now();
    process.terminate();
    let rest = streaming.rest().await;
    assert_eq!(rest.end, End::Cut, "what is not whole does not look whole");
    assert_eq!(process.ended().await.code(), Some(0));
    let after = told.elapsed();
    assert!(after >= Duration::from_millis(490), "{after:?}");
    assert!(after < Duration::from_secs(5), "{after:?}");
    assert!(
        process.stderr().contains("--drain"),
        "the log says which setting it was"
    );
}

#[tokio::test]
async fn told_a_second_time_it_ends_at_once() {
    let mut process = Process::listen([]).await;
    let mut streaming = open(&process, "stub?tokens=100000&pace=20ms").await;
    process.terminate();
    process.logs("stopping").await;
    streaming
        .frame()
        .await
        .expect("it goes on after the first time");
    let told = Instant::now();
    process.terminate();
    let rest = streaming.rest().await;
    assert_eq!(rest.end, End::Cut, "what is not whole does not look whole");
    assert_eq!(process.ended().await.code(), Some(0));
    assert!(
        told.elapsed() < Duration::from_secs(5),
        "{:?}",
        told.elapsed()
    );
    assert!(process.stderr().contains("a second time"));
}

#[tokio::test]
async fn a_port_of_the_systems_choice_is_told() {
    let mut process = Process::listen_anywhere([]).await;
    assert_ne!(process.address.port(), 0);
    let answer = Request::chat(&chat("Hello")).send(process.address).await;
    assert_eq!(answer.status, 200);
    let address = format!("http://{}/v1/", process.address);
    let line_to_copy = process.stdout();
    assert!(line_to_copy.contains(&address), "{line_to_copy}");
}

#[tokio::test]
async fn without_anything_open_it_ends_at_once() {
    let mut process = Process::listen([]).await;
    let told = Instant::now();
    process.terminate();
    assert_eq!(process.ended().await.code(), Some(0));
    assert!(told.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn the_stub_runs_as_a_server_of_its_own() {
    let address = tests::binary::free_address();
    let port = address.port().to_string();
    let command = tests::binary::command([
        "stub",
        "--port",
        &port,
        "--per-call",
        "0ms",
        "--per-item",
        "0ms",
        "--tokens",
        "3",
    ]);
    let stub = Process::start(command, address).await;
    let backend = format!("http://{address}");
    let gateway = Process::listen(["--backend", &backend]).await;
    let ask = Request::chat(&chat("Hello"));
    for source in ["fwd=miss", "hit; detail=exact"] {
        let answer = ask.send(gateway.address).await;
        assert_eq!((answer.status, answer.source()), (200, source));
        assert_eq!(answer.json()["usage"]["completion_tokens"], 3);
    }
    drop(stub);
}
