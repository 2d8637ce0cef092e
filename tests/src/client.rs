//! A client of HTTP/1.1 at the level of the socket: it sees each frame when it comes, and tells a clean end from a cut.

use crate::wait::within;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;

/// A request, ready for the wire.
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// As its framing says: the last chunk, or the whole length.
    Clean,
    /// The connection closed before.
    Cut,
}

/// A piece of an answer: a chunk, or what one read of a body with a length gave.
#[derive(Clone, Debug)]
pub struct Frame {
    /// When it came.
    pub at: Instant,
    /// What came.
    pub bytes: Vec<u8>,
}

/// An answer that has ended.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status; 0 where the connection closed before a head came.
    pub status: u16,
    /// Names in small letters, and values, in their order.
    pub headers: Vec<(String, String)>,
    /// The body in its pieces.
    pub frames: Vec<Frame>,
    /// What came after the last chunk: names in small letters, and values.
    pub trailers: Vec<(String, String)>,
    /// How it ended.
    pub end: End,
    /// From the sending of the request to the head.
    pub head_after: Duration,
    /// From the sending of the request to the end.
    pub ended_after: Duration,
}

/// A connection, with the answer that is being read.
#[derive(Debug)]
pub struct Connection {
    socket: TcpStream,
    read: Vec<u8>,
    asked: Instant,
    head_after: Duration,
    status: u16,
    headers: Vec<(String, String)>,
    trailers: Vec<(String, String)>,
    left: Left,
}

/// What is left of a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Left {
    Length(usize),
    Chunks,
    ToClose,
    Nothing(End),
}

// === impl Request ===

impl Request {
    /// A request without a body.
    #[must_use]
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// A POST of JSON.
    #[must_use]
    pub fn post(path: &str, body: &Value) -> Self {
        Self::post_bytes(path, body.to_string())
    }

    /// A POST of any bytes, called JSON.
    #[must_use]
    pub fn post_bytes(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let request = Self {
            body: body.into(),
            ..Self::new("POST", path)
        };
        request.header("content-type", "application/json")
    }

    /// A chat.
    #[must_use]
    pub fn chat(body: &Value) -> Self {
        Self::post("/v1/chat/completions", body)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends it on a connection of its own, and reads the answer to its end.
    pub async fn send(&self, address: SocketAddr) -> Answer {
        let mut connection = Connection::open(address).await;
        connection.ask(self).await;
        connection.answer().await
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nhost: gateway\r\n",
            self.method, self.path
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.method == "POST" {
            head.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        [head.as_bytes(), &self.body].concat()
    }
}

// === impl Connection ===

impl Connection {
    /// Connects.
    ///
    /// # Panics
    /// When nobody listens.
    pub async fn open(address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        Self::over(socket, address).await
    }

    /// Connects, with room for about so many bytes: whoever sends it more waits until they are read.
    ///
    /// # Panics
    /// When nobody listens.
    pub async fn open_narrow(address: SocketAddr, room: u32) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(room).expect("a size");
        Self::over(socket, address).await
    }

    async fn over(socket: TcpSocket, address: SocketAddr) -> Self {
        let socket = within(socket.connect(address))
            .await
            .expect("somebody listens");
        socket.set_nodelay(true).expect("a socket");
        Self {
            socket,
            read: Vec::new(),
            asked: Instant::now(),
            head_after: Duration::ZERO,
            status: 0,
            headers: Vec::new(),
            trailers: Vec::new(),
            left: Left::Nothing(End::Cut),
        }
    }

    /// Sends a request.
    pub async fn ask(&mut self, request: &Request) {
        self.say(&request.bytes()).await;
    }

    /// Sends bytes. The time counts from here.
    pub async fn say(&mut self, bytes: &[u8]) {
        self.asked = Instant::now();
        // The other side may have answered and closed before it has read everything.
        let _ = self.socket.write_all(bytes).await;
    }

    /// Reads the head of the next answer; false when the connection closed before it came.
    ///
    /// # Panics
    /// When it is not HTTP.
    pub async fn head(&mut self) -> bool {
        let end = loop {
            if let Some(end) = find(&self.read, b"\r\n\r\n") {
                break end;
            }
            if !self.more().await {
                self.status = 0;
                self.headers.clear();
                self.left = Left::Nothing(End::Cut);
                return false;
            }
        };
        self.head_after = self.asked.elapsed();
        let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
        self.read.drain(..end + 4);
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        self.status = status.and_then(|status| status.parse().ok()).expect("HTTP");
        self.headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let length = self.header("content-length").parse();
        self.left = match (self.status, length) {
            (100..=199 | 204 | 304, _) => Left::Nothing(End::Clean),
            _ if self.header("transfer-encoding") == "chunked" => Left::Chunks,
            (_, Ok(0)) => Left::Nothing(End::Clean),
            (_, Ok(length)) => Left::Length(length),
            (_, Err(_)) => Left::ToClose,
        };
        true
    }

    /// The status of the answer being read.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// A header of the answer being read; empty if there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        value(&self.headers, name)
    }

    /// When the request was sent.
    #[must_use]
    pub const fn asked(&self) -> Instant {
        self.asked
    }

    /// The next piece of the body, or how it ended.
    ///
    /// # Errors
    /// Never really: the end.
    pub async fn frame(&mut self) -> Result<Frame, End> {
        let bytes = match self.left {
            Left::Nothing(end) => return Err(end),
            Left::Length(left) => {
                if self.read.is_empty() && !self.more().await {
                    return self.cut();
                }
                let count = left.min(self.read.len());
                self.left = match left - count {
                    0 => Left::Nothing(End::Clean),
                    left => Left::Length(left),
                };
                self.read.drain(..count).collect()
            }
            Left::ToClose => {
                if self.read.is_empty() && !self.more().await {
                    self.left = Left::Nothing(End::Clean);
                    return Err(End::Clean);
                }
                std::mem::take(&mut self.read)
            }
            Left::Chunks => match self.chunk().await {
                None => return self.cut(),
                Some(bytes) if bytes.is_empty() => {
                    self.left = Left::Nothing(End::Clean);
                    return Err(End::Clean);
                }
                Some(bytes) => bytes,
            },
        };
        let at = Instant::now();
        Ok(Frame { at, bytes })
    }

    fn cut(&mut self) -> Result<Frame, End> {
        self.left = Left::Nothing(End::Cut);
        Err(End::Cut)
    }

    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = self.line().await?;
        let size = usize::from_str_radix(size.trim(), 16).expect("a size");
        if size == 0 {
            self.read_trailers().await?;
            return Some(Vec::new());
        }
        while self.read.len() < size + 2 {
            if !self.more().await {
                return None;
            }
        }
        let bytes = self.read[..size].to_vec();
        self.read.drain(..size + 2);
        Some(bytes)
    }

    async fn read_trailers(&mut self) -> Option<()> {
        self.trailers.clear();
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                return Some(());
            }
            let (name, value) = line.split_once(':').expect("a trailer");
            let trailer = (name.to_ascii_lowercase(), value.trim().to_owned());
            self.trailers.push(trailer);
        }
    }

    async fn line(&mut self) -> Option<String> {
        let end = loop {
            if let Some(end) = find(&self.read, b"\r\n") {
                break end;
            }
            if !self.more().await {
                return None;
            }
        };
        let line = String::from_utf8_lossy(&self.read[..end]).into_owned();
        self.read.drain(..end + 2);
        Some(line)
    }

    async fn more(&mut self) -> bool {
        let mut piece = [0; 16 * 1024];
        match within(self.socket.read(&mut piece)).await {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.read.extend_from_slice(&piece[..count]);
                true
            }
        }
    }

    /// Reads an answer to its end, its head first where it was not read yet.
    pub async fn answer(&mut self) -> Answer {
        if matches!(self.left, Left::Nothing(_)) {
            self.head().await;
        }
        self.rest().await
    }

    /// Reads what is left of the answer.
    pub async fn rest(&mut self) -> Answer {
        let mut frames = Vec::new();
        let end = loop {
            match self.frame().await {
                Ok(frame) => frames.push(frame),
                Err(end) => break end,
            }
        };
        Answer {
            status: self.status,
            headers: self.headers.clone(),
            frames,
            trailers: self.trailers.clone(),
            end,
            head_after: self.head_after,
            ended_after: self.asked.elapsed(),
        }
    }
}

// === impl Answer ===

impl Answer {
    /// A header; empty if there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        value(&self.headers, name)
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        self.frames
            .iter()
            .flat_map(|frame| &frame.bytes)
            .copied()
            .collect()
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body()).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body())
            .unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// The events of a stream: what stands after `data:`.
    #[must_use]
    pub fn events(&self) -> Vec<String> {
        self.text()
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(|data| data.trim().to_owned())
            .collect()
    }

    /// Where it came from, as `Cache-Status` says.
    #[must_use]
    pub fn source(&self) -> &str {
        self.header("cache-status")
            .strip_prefix("llm-front; ")
            .unwrap_or_default()
    }
}

fn value<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    headers
        .iter()
        .find(|(key, _)| key == name)
        .map_or("", |(_, value)| value)
}

fn find(text: &[u8], pattern: &[u8]) -> Option<usize> {
    text.windows(pattern.len())
        .position(|window| window == pattern)
}
