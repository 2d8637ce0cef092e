//! An open-loop client: a thread a request, each on its own connection and its own schedule.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
    time::Duration,
};

use crate::{error::Error, workload::Request};

/// How one request went, in milliseconds from its scheduled arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// How late it was sent.
    pub(super) late_ms: f64,
    /// When the first bytes came: a stream begins with its first token.
    pub(super) ttft_ms: f64,
    /// When the last ones came.
    pub(super) e2e_ms: f64,
}

/// How long before its time a request's connection is opened.
const EARLY: Duration = Duration::from_millis(50);

#[expect(clippy::disallowed_types, reason = "real time of a real server")]
type Instant = std::time::Instant;

/// Sends every request at its time, whatever became of the others; the answers in the same order.
pub(super) fn play(stub: SocketAddr, requests: &[Request]) -> Result<Vec<Answer>, Error> {
    let start = Instant::now() + 4 * EARLY;
    let mut calls = Vec::with_capacity(requests.len());
    for request in requests {
        let at = start + Duration::from_secs_f64(request.arrival_ms / 1000.0);
        wait_until(at - EARLY);
        let (prompt, output) = (request.prompt_tokens, request.output_tokens);
        calls.push(thread::spawn(move || call(stub, at, prompt, output)));
    }
    calls
        .into_iter()
        .map(|call| {
            call.join()
                .unwrap_or_else(|_| Err(Error::new("a client thread panicked")))
        })
        .collect()
}

fn wait_until(at: Instant) {
    thread::sleep(at.saturating_duration_since(Instant::now()));
}

/// One request: `prompt` words, and a stream of `output` tokens.
fn call(stub: SocketAddr, at: Instant, prompt: u32, output: u32) -> Result<Answer, Error> {
    let body = serde_json::json!({
        "model": "stub",
        "messages": [{ "role": "user", "content": vec!["word"; prompt as usize].join(" ") }],
        "max_tokens": output,
        "stream": true,
    })
    .to_string();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: stub\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut socket = TcpStream::connect(stub)?;
    socket.set_nodelay(true)?;
    wait_until(at);
    let since = || at.elapsed().as_secs_f64() * 1000.0;
    let late_ms = since();
    socket.write_all(request.as_bytes())?;
    let (mut answer, mut ttft_ms, mut e2e_ms) = (Vec::new(), None, 0.0);
    let mut buffer = [0; 16 * 1024];
    loop {
        match socket.read(&mut buffer)? {
            0 => break,
            read => {
                e2e_ms = since();
                ttft_ms.get_or_insert(e2e_ms);
                answer.extend(buffer.iter().take(read));
            }
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    let tokens = answer.matches(r#""delta":{"content":"#).count();
    if !answer.starts_with("HTTP/1.1 200") || tokens != output as usize {
        let head = answer.lines().next().unwrap_or_default();
        return Err(Error::new(format!(
            "{tokens} tokens instead of {output}: {head}"
        )));
    }
    Ok(Answer {
        late_ms,
        ttft_ms: ttft_ms.unwrap_or(e2e_ms),
        e2e_ms,
    })
}
