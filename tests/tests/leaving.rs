//! A caller who leaves frees the upstream at once, if nobody else needs it; and nothing of the caller is left behind.

use llm_backend::stub::Settings;
use llm_front::config::Config;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tests::binary::Process;
use tests::{Connection, Dice, End, Gateway, Metrics, Peer, Request, Upstream, chat, stream, with};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// How soon the upstream must be free. On a busy machine a single try may be late, so the best of some counts.
const AT_ONCE: Duration = Duration::from_millis(50);
const TRIES: u32 = 5;

#[derive(Clone, Copy, Debug)]
enum Phase {
    Headers,
    FirstToken,
    MidStream,
    HalfOfABody,
}

impl Phase {
    async fn reach(self, peer: &mut Peer) {
        match self {
            Self::Headers => {}
            Self::FirstToken => peer.begin_stream().await,
            Self::MidStream => {
                peer.begin_stream().await;
                peer.chunk("data: {}\n\n").await;
            }
            Self::HalfOfABody => {
                peer.say("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{").await;
            }
        }
    }
}

/// What the caller has seen when it leaves.
async fn caller_sees(phase: Phase, connection: &mut Connection, when_whole: bool) {
    match phase {
        Phase::Headers => {}
        _ if when_whole => {}
        Phase::FirstToken => assert!(connection.head().await),
        Phase::MidStream | Phase::HalfOfABody => {
            assert!(connection.head().await);
            connection.frame().await.expect("a frame");
        }
    }
}

async fn leaves(path: &str, ask: &Value, phase: Phase) {
    // A batch is answered when it is whole.
    leaves_of(|_| {}, path, ask, phase, path == "/v1/generate").await;
}

async fn leaves_of(
    change: fn(&mut Config),
    path: &str,
    ask: &Value,
    phase: Phase,
    when_whole: bool,
) {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), change).await;
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        let mut connection = gateway.connect().await;
        connection.ask(&Request::post(path, ask)).await;
        let mut peer = upstream.accept().await;
        peer.request().await.expect("the request");
        phase.reach(&mut peer).await;
        caller_sees(phase, &mut connection, when_whole).await;
        assert!(
            peer.stays(Duration::from_millis(10)).await,
            "{path} {phase:?}: it is waited for"
        );
        drop(connection);
        best = best.min(peer.gone().await);
    }
    assert!(best <= AT_ONCE, "{path} {ask} {phase:?}: {best:?}");
    gateway.quiet().await;
    let metrics = gateway.metrics().await;
    assert_eq!(
        metrics.sum("llm_front_callers_left_total", &[]),
        f64::from(TRIES),
        "{path} {phase:?}"
    );
}

#[tokio::test]
async fn in_every_phase_the_upstream_is_closed_at_once() {
    let sampled = |ask| with(ask, json!({ "temperature": 1 }));
    let mut tasks = JoinSet::new();
    for phase in [Phase::Headers, Phase::FirstToken, Phase::MidStream] {
        tasks.spawn(async move { leaves("/v1/chat/completions", &stream(chat("x")), phase).await });
        tasks.spawn(async move {
            leaves("/v1/chat/completions", &sampled(stream(chat("x"))), phase).await;
        });
    }
    for phase in [Phase::Headers, Phase::HalfOfABody] {
        tasks.spawn(async move { leaves("/v1/chat/completions", &chat("x"), phase).await });
        tasks
            .spawn(async move { leaves("/v1/chat/completions", &sampled(chat("x")), phase).await });
        tasks.spawn(async move {
            leaves(
                "/v1/embeddings",
                &json!({ "model": "m", "input": "x" }),
                phase,
            )
            .await;
        });
        tasks.spawn(async move { leaves("/v1/generate", &json!({ "prompt": "x" }), phase).await });
        tasks.spawn(async move { leaves("/v1/other", &json!({}), phase).await });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("the upstream is freed");
    }
}

#[tokio::test]
async fn where_the_upstream_is_always_asked_for_a_stream_too() {
    let change = |config: &mut Config| {
        config.upstream_form = "stream".parse().expect("a form");
    };
    let mut tasks = JoinSet::new();
    for phase in [Phase::Headers, Phase::FirstToken, Phase::MidStream] {
        for temperature in [0, 1] {
            for streamed in [false, true] {
                // One who wants a body gets it when it is whole.
                let ask = with(
                    chat("x"),
                    json!({ "temperature": temperature, "stream": streamed }),
                );
                tasks.spawn(async move {
                    leaves_of(change, "/v1/chat/completions", &ask, phase, !streamed).await;
                });
            }
        }
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("the upstream is freed");
    }
}

#[tokio::test]
async fn the_log_says_499_and_how_far_the_request_had_come() {
    let mut upstream = Upstream::start().await;
    let url = upstream.url();
    let process = Process::listen(["--backend", &url]).await;
    let ask = Request::chat(&stream(chat("x")));

    let mut reading = Connection::open(process.address).await;
    let head = "POST /v1/embeddings HTTP/1.1\r\nhost: gateway\r\ncontent-length: 100\r\n\r\n{\"mod";
    reading.say(head.as_bytes()).await;
    let mut uploading = Connection::open(process.address).await;
    let head = "POST /v1/files HTTP/1.1\r\nhost: gateway\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
    uploading.say(head.as_bytes()).await;
    let mut peer = upstream.accept().await;
    drop(uploading);
    peer.gone().await;
    let mut waiting = Connection::open(process.address).await;
    waiting.ask(&ask).await;
    let mut peer = upstream.accept().await;
    peer.request().await.expect("the request");
    drop(waiting);
    peer.gone().await;
    let mut answering = Connection::open(process.address).await;
    answering.ask(&ask).await;
    let mut peer = upstream.accept().await;
    peer.request().await.expect("the request");
    peer.begin_stream().await;
    peer.chunk("data: {}\n\n").await;
    assert!(answering.head().await);
    answering.frame().await.expect("an event");
    drop(answering);
    peer.gone().await;
    drop(reading);

    for (route, stage) in [
        ("embeddings", "reading"),
        ("other", "backend"),
        ("chat", "backend"),
        ("chat", "answering"),
    ] {
        let words = format!("status=499 route=\"{route}\" stage=\"{stage}\"");
        let log = process.logs(&words).await;
        assert_eq!(log.matches(&words).count(), 1, "{log}");
    }
    let log = process.log();
    assert_eq!(log.matches("status=499").count(), 4, "{log}");
    assert!(!log.contains("backend failed"), "it did not: {log}");
    let metrics = Request::new("GET", "/metrics").send(process.address).await;
    let metrics = Metrics::new(metrics.text());
    assert_eq!(metrics.sum("llm_front_callers_left_total", &[]), 4.0);
    assert_eq!(metrics.sum("llm_front_requests_total", &[]), 0.0);
}

/// A listener whose queue is full: whoever connects waits.
async fn full() -> (tokio::net::TcpListener, SocketAddr, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket
        .bind(SocketAddr::from(([127, 0, 0, 1], 0)))
        .expect("a port");
    let listener = socket.listen(1).expect("a listener");
    let address = listener.local_addr().expect("an address");
    let mut fillers = Vec::new();
    while let Ok(Ok(filler)) =
        tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await
    {
        fillers.push(filler);
        assert!(fillers.len() < 16, "a queue of one is never full");
    }
    (listener, address, fillers)
}

#[tokio::test]
async fn while_it_connects_too() {
    let (_listener, address, _fillers) = full().await;
    let gateway = Gateway::before(&format!("http://{address}"), |config| {
        config.connect_timeout = "20s".parse().expect("a span");
    })
    .await;
    let mut connection = gateway.connect().await;
    connection.ask(&Request::chat(&chat("x"))).await;
    while gateway
        .metrics()
        .await
        .value("llm_front_upstream_in_flight")
        < 1.0
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(connection);
    let left = tokio::time::Instant::now();
    gateway.quiet().await;
    assert!(
        left.elapsed() < Duration::from_secs(2),
        "{:?}",
        left.elapsed()
    );
}

#[tokio::test]
async fn followers_keep_the_upstream_and_the_last_to_leave_frees_it() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    for ask in [chat("x"), stream(chat("x"))] {
        let request = Request::chat(&ask);
        let mut first = gateway.connect().await;
        first.ask(&request).await;
        let mut peer = upstream.accept().await;
        peer.request().await.expect("the request");
        let mut second = gateway.connect().await;
        second.ask(&request).await;
        let mut third = gateway.connect().await;
        third.ask(&request).await;
        while gateway
            .metrics()
            .await
            .value("llm_front_requests_in_flight")
            < 3.0
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(first);
        assert!(peer.stays(Duration::from_millis(60)).await);
        drop(second);
        assert!(peer.stays(Duration::from_millis(60)).await);
        drop(third);
        let after = peer.gone().await;
        assert!(after < Duration::from_secs(1), "{after:?}");
        gateway.quiet().await;
    }
    assert_eq!(upstream.connections(), 2);
}

#[tokio::test]
async fn who_closes_at_done_leaves_a_whole_answer_behind() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::before(&upstream.url(), |_| {}).await;
    let request = Request::chat(&stream(chat("x")));
    let mut caller = gateway.connect().await;
    caller.ask(&request).await;
    let mut peer = upstream.accept().await;
    peer.request().await.expect("the request");
    peer.begin_stream().await;
    peer.chunk("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n").await;
    peer.chunk("data: [DONE]\n\n").await;
    caller.head().await;
    for _ in 0..2 {
        caller.frame().await.expect("an event");
    }
    drop(caller);
    // As SDKs do. The end of the body comes a little later.
    assert!(peer.stays(Duration::from_millis(100)).await);
    peer.say("0\r\n\r\n").await;
    gateway.quiet().await;
    let again = gateway.send(&request).await;
    assert_eq!(
        (again.source(), again.end),
        ("hit; detail=exact", End::Clean)
    );
}

/// A request of chance, of one of the kinds that take different ways through the gateway.
fn any(dice: &mut Dice) -> Request {
    let question = format!("question {}", dice.below(40));
    let temperature = dice.below(2);
    match dice.below(6) {
        0 => Request::chat(&with(
            chat(&question),
            json!({ "temperature": temperature }),
        )),
        1 | 2 => Request::chat(&with(
            stream(chat(&question)),
            json!({ "temperature": temperature }),
        )),
        3 => Request::post("/v1/generate", &json!({ "prompt": question })),
        4 => Request::post(
            "/v1/embeddings",
            &json!({ "model": "stub", "input": question }),
        ),
        _ => Request::post(
            "/v1/completions",
            &json!({ "model": "stub", "prompt": [question, "b"], "temperature": 0 }),
        ),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_two_thousand_callers_left_at_moments_of_chance_everything_is_back_at_zero() {
    let settings = Settings::default()
        .per_call(Duration::from_millis(5))
        .per_item(Duration::from_millis(1))
        .pace(Duration::from_millis(1));
    let gateway = Arc::new(
        Gateway::before_stub_of(settings, |config| {
            config.max_upstream = 20;
            config.cache_ttl = "20ms".parse().expect("a span");
        })
        .await,
    );
    let mut lanes = JoinSet::new();
    for lane in 0..50 {
        let gateway = gateway.clone();
        lanes.spawn(async move {
            let mut dice = Dice::new(lane);
            for _ in 0..40 {
                let mut connection = gateway.connect().await;
                connection.ask(&any(&mut dice)).await;
                let patience = Duration::from_micros(dice.below(30_000));
                let _ = tokio::time::timeout(patience, connection.answer()).await;
            }
        });
    }
    while let Some(done) = lanes.join_next().await {
        done.expect("no panic");
    }
    gateway.quiet().await;
    tests::until(|| gateway.stub().stats().in_flight == 0).await;
    let metrics = gateway.metrics().await;
    let left = metrics.sum("llm_front_callers_left_total", &[]);
    let answered = metrics.sum("llm_front_requests_total", &[]);
    assert!(left > 200.0, "{left} left, {answered} answered");
    // Every place is there again: as many requests as there are places go through at once.
    let mut all = JoinSet::new();
    for n in 0..20 {
        let address = gateway.address;
        all.spawn(async move {
            Request::chat(&with(
                chat(&format!("after {n}")),
                json!({ "temperature": 1 }),
            ))
            .send(address)
            .await
            .status
        });
    }
    assert!(all.join_all().await.iter().all(|status| *status == 200));
    gateway.quiet().await;
}
