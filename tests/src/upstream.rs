//! Upstreams that do what a test tells them, byte by byte.

use crate::wait::within;
use serde_json::Value;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// A listener that hands its connections to the test.
#[derive(Debug)]
pub struct Upstream {
    /// Where it listens.
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    peers: mpsc::UnboundedReceiver<Peer>,
    task: JoinHandle<()>,
}

/// One connection that was accepted.
#[derive(Debug)]
pub struct Peer {
    socket: TcpStream,
    read: Vec<u8>,
}

/// A request as it came over the wire.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// Request line and headers, as they were written, without the empty line.
    pub head: String,
    /// The body, whatever its framing.
    pub body: Vec<u8>,
}

// === impl Upstream ===

impl Upstream {
    /// Listens on a free port.
    ///
    /// # Panics
    /// When there is none.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, peers) = mpsc::unbounded_channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let accepted = connections.clone();
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let _ = socket.set_nodelay(true);
                accepted.fetch_add(1, Ordering::SeqCst);
                let peer = Peer {
                    socket,
                    read: Vec::new(),
                };
                if sender.send(peer).is_err() {
                    break;
                }
            }
        });
        Self {
            address,
            connections,
            peers,
            task,
        }
    }

    /// The address as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next connection.
    ///
    /// # Panics
    /// When none comes.
    pub async fn accept(&mut self) -> Peer {
        within(self.peers.recv()).await.expect("the listener lives")
    }

    /// Connections so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers every request of every connection with the bytes that `answer` makes of it. `None` closes the connection.
///
/// A connection on which an answer was made with `close` set is closed after it.
pub fn answer_all<A, F>(mut upstream: Upstream, answer: A) -> JoinHandle<()>
where
    A: Fn(Message) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Option<(Vec<u8>, Close)>> + Send + 'static,
{
    tokio::spawn(async move {
        while let Some(mut peer) = upstream.peers.recv().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                while let Some(message) = peer.request().await {
                    let Some((bytes, close)) = answer(message).await else {
                        return;
                    };
                    if !peer.try_say(&bytes).await || close == Close::After {
                        return;
                    }
                }
            });
        }
    })
}

/// What happens to a connection after an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Close {
    /// It is closed.
    After,
    /// It is kept for the next request.
    Keep,
}

// === impl Peer ===

impl Peer {
    /// Reads one request; none if the client left.
    pub async fn request(&mut self) -> Option<Message> {
        let end = loop {
            if let Some(end) = find(&self.read, b"\r\n\r\n") {
                break end;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
        self.read.drain(..end + 4);
        let header = |name: &str| {
            head.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.trim())
        };
        let body = if let Some(length) = header("content-length") {
            let length = length.parse().expect("a length");
            while self.read.len() < length {
                self.more().await?;
            }
            self.read.drain(..length).collect()
        } else if header("transfer-encoding").is_some() {
            self.chunks().await?
        } else {
            Vec::new()
        };
        Some(Message { head, body })
    }

    async fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = loop {
                if let Some(end) = find(&self.read, b"\r\n") {
                    break end;
                }
                self.more().await?;
            };
            let size = String::from_utf8_lossy(&self.read[..line]).into_owned();
            let size = usize::from_str_radix(size.trim(), 16).expect("a size");
            while self.read.len() < line + 2 + size + 2 {
                self.more().await?;
            }
            body.extend_from_slice(&self.read[line + 2..line + 2 + size]);
            self.read.drain(..line + 2 + size + 2);
            if size == 0 {
                return Some(body);
            }
        }
    }

    async fn more(&mut self) -> Option<()> {
        let mut piece = [0; 16 * 1024];
        match self.socket.read(&mut piece).await {
            Ok(0) | Err(_) => None,
            Ok(count) => {
                self.read.extend_from_slice(&piece[..count]);
                Some(())
            }
        }
    }

    /// Writes `text`.
    ///
    /// # Panics
    /// When the other side is gone.
    pub async fn say(&mut self, text: &str) {
        assert!(self.try_say(text.as_bytes()).await, "the client is gone");
    }

    /// Writes `bytes`; false if the other side is gone.
    pub async fn try_say(&mut self, bytes: &[u8]) -> bool {
        self.socket.write_all(bytes).await.is_ok()
    }

    /// Writes the head of a stream of events, in chunks.
    pub async fn begin_stream(&mut self) {
        self.say("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            .await;
    }

    /// Writes one chunk.
    pub async fn chunk(&mut self, text: &str) {
        self.say(&format!("{:x}\r\n{text}\r\n", text.len())).await;
    }

    /// Waits until the other side has left, and says how long that took.
    pub async fn gone(&mut self) -> Duration {
        let began = Instant::now();
        within(async { while self.more().await.is_some() {} }).await;
        began.elapsed()
    }

    /// Whether the other side is still there after `wait`.
    pub async fn stays(&mut self, wait: Duration) -> bool {
        tokio::time::timeout(wait, async { while self.more().await.is_some() {} })
            .await
            .is_err()
    }
}

// === impl Message ===

impl Message {
    /// The value of a header; empty if there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers(name).first().copied().unwrap_or_default()
    }

    /// The values of a header.
    #[must_use]
    pub fn headers(&self, name: &str) -> Vec<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .filter(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
            .collect()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

fn find(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len())
        .position(|window| window == pattern)
}
