//! A raw upstream: a socket that reads requests and says what it is told to.
#![expect(
    dead_code,
    unreachable_pub,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code, of which every test file uses a part"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Method, Request};
use llm_backend::RequestBody;
use llm_backend::client::{BaseUrl, OpenAi};
use llm_backend::stub::{self, Settings, Stub};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Instant;

pub const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// One accepted connection.
pub struct Peer {
    pub socket: TcpStream,
}

pub struct Upstream {
    pub address: SocketAddr,
    /// Connections that were accepted.
    pub connections: Arc<AtomicUsize>,
    /// Requests that were read.
    pub requests: Arc<AtomicUsize>,
    peers: mpsc::UnboundedReceiver<Peer>,
}

impl Upstream {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, peers) = mpsc::unbounded_channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let accepted = connections.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                socket.set_nodelay(true).unwrap();
                accepted.fetch_add(1, Ordering::SeqCst);
                if sender.send(Peer { socket }).is_err() {
                    break;
                }
            }
        });
        Self {
            address,
            connections,
            requests: Arc::default(),
            peers,
        }
    }

    /// The next connection.
    pub async fn accept(&mut self) -> Peer {
        within(self.peers.recv()).await.expect("the listener lives")
    }

    pub fn base(&self) -> BaseUrl {
        base(self.address)
    }

    pub fn client(&self) -> OpenAi {
        OpenAi::new(self.base())
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Peer {
    /// Reads one request, head and body, as text; empty if the client left.
    pub async fn request(&mut self) -> String {
        let mut read = Vec::new();
        loop {
            if let Some(end) = find(&read, b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&read[..end]).to_lowercase();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.map_or(0, |length| length.parse().unwrap());
                if read.len() >= end + 4 + length {
                    return String::from_utf8(read).unwrap();
                }
            }
            let mut piece = vec![0; 4096];
            match within(self.socket.read(&mut piece)).await {
                Ok(0) | Err(_) => return String::new(),
                Ok(count) => read.extend_from_slice(&piece[..count]),
            }
        }
    }

    pub async fn say(&mut self, text: &str) {
        self.socket.write_all(text.as_bytes()).await.unwrap();
    }

    /// How long it takes until the client is gone.
    pub async fn gone(&mut self) -> Duration {
        let start = Instant::now();
        let mut piece = vec![0; 4096];
        within(async {
            loop {
                match self.socket.read(&mut piece).await {
                    Ok(0) | Err(_) => return start.elapsed(),
                    Ok(_) => {}
                }
            }
        })
        .await
    }
}

pub fn base(address: SocketAddr) -> BaseUrl {
    format!("http://{address}").parse().unwrap()
}

pub fn post(body: impl Into<RequestBody>) -> Request<RequestBody> {
    Request::post("/v1/chat/completions")
        .body(body.into())
        .unwrap()
}

pub fn get(path: &str) -> Request<RequestBody> {
    Request::builder()
        .method(Method::GET)
        .uri(path)
        .body(RequestBody::empty())
        .unwrap()
}

/// A stub as a server, and the client of it.
pub async fn stub_server(settings: Settings) -> (OpenAi, Stub) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = OpenAi::new(base(listener.local_addr().unwrap()));
    let stub = Stub::new(settings);
    tokio::spawn(stub::serve(
        listener,
        stub.clone(),
        std::future::pending::<()>(),
    ));
    (client, stub)
}

/// Fails instead of hanging.
pub async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(10), future)
        .await
        .expect("it hangs")
}

/// Waits until a condition holds, and says how long that took.
pub async fn until(condition: impl Fn() -> bool) -> Duration {
    let start = Instant::now();
    within(async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    start.elapsed()
}

fn find(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len())
        .position(|window| window == pattern)
}
