//! One connection: requests in, prepared answers out.

use super::answer::Prepared;
use super::server::{Scripted, State};
use super::{Last, Script};
use crate::BoxError;
use crate::clock::Stamp;
use crate::http1::{Malformed, RequestHead};
use bytes::{Buf, BytesMut};
use memchr::memmem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Serves until the peer closes, leaves in the middle, or does not speak HTTP/1.1.
pub(super) async fn serve(stream: TcpStream, state: Arc<State>) {
    // Whatever ends a connection, its peer sees: there is nobody else to tell.
    let _ = talk(stream, &state).await;
}

async fn talk(mut stream: TcpStream, state: &State) -> Result<(), BoxError> {
    stream.set_nodelay(true)?;
    let mut buffer = BytesMut::with_capacity(8 << 10);
    loop {
        while let Some(request) = take(&mut buffer)? {
            state.calls.fetch_add(1, Ordering::Relaxed);
            let prepared = state.prepared.lock().clone();
            match &prepared.script {
                Some(script) => play(&mut stream, state, script).await?,
                None => answer(&mut stream, state, &prepared, request).await?,
            }
        }
        buffer.reserve(8 << 10);
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Whole,
    Stream,
}

async fn answer(
    stream: &mut TcpStream,
    state: &State,
    prepared: &Prepared,
    form: Form,
) -> Result<(), BoxError> {
    let pace = prepared.pace;
    let parts = match form {
        Form::Whole => std::slice::from_ref(&prepared.whole),
        Form::Stream => &prepared.stream,
    };
    if pace.first.is_zero() && pace.between.is_zero() {
        for part in parts {
            stream.write_all(part).await?;
        }
        return Ok(());
    }
    // By the schedule, not by the last write: a late part must not make all that follow late.
    let begun = tokio::time::Instant::now() + pace.first;
    let mut last = Last::default();
    for (part, number) in parts.iter().zip(0_u32..) {
        wait_until(begun + pace.between * number).await;
        last.sent.push(Stamp::now());
        if last.sent.len() == parts.len() {
            // Before the last write: whoever has the whole answer can ask for this.
            *state.last.lock() = std::mem::take(&mut last);
        }
        stream.write_all(part).await?;
    }
    Ok(())
}

async fn play(stream: &mut TcpStream, state: &State, script: &Script) -> Result<(), BoxError> {
    let asked = Stamp::now();
    let number = {
        let mut history = state.history.lock();
        history.push(Scripted {
            asked,
            sent: Vec::new(),
        });
        history.len() - 1
    };
    let mut due = tokio::time::Instant::now();
    for (after, frame, cut) in script.frames() {
        due += after;
        wait_until(due).await;
        if let Some(scripted) = state.history.lock().get_mut(number) {
            scripted.sent.push(Stamp::now());
        }
        stream.write_all(&frame).await?;
        if cut {
            return Err("cut, as the script says".into());
        }
    }
    Ok(())
}

async fn wait_until(moment: tokio::time::Instant) {
    if moment.duration_since(tokio::time::Instant::now()) > Duration::ZERO {
        tokio::time::sleep_until(moment).await;
    }
}

/// Takes a whole request off the front of `buffer`, and tells in which form it wants its answer.
fn take(buffer: &mut BytesMut) -> Result<Option<Form>, Malformed> {
    if buffer.is_empty() {
        return Ok(None);
    }
    let Some(mut head) = RequestHead::parse(buffer)? else {
        return Ok(None);
    };
    let rest = buffer.get(head.length..).unwrap_or_default();
    let mut form = Form::Whole;
    let mut used = 0;
    if !head.framing.is_empty() {
        let mut seen = |piece: &[u8]| {
            if memmem::find(piece, br#""stream":true"#).is_some() {
                form = Form::Stream;
            }
        };
        let progress = head.framing.read(rest, &mut seen)?;
        if !progress.ended {
            return Ok(None);
        }
        used = progress.used;
    }
    buffer.advance(head.length + used);
    Ok(Some(form))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Connection, Recording, post};
    use crate::upstream::{Pace, Text, Upstream};

    #[test]
    fn requests_are_taken_one_by_one_once_they_are_whole() {
        let mut buffer = BytesMut::from(&post("/", br#"{"stream":true}"#)[..]);
        let second = post("/", b"{}");
        buffer.extend_from_slice(&second[..second.len() - 1]);
        assert_eq!(take(&mut buffer).unwrap(), Some(Form::Stream));
        assert_eq!(take(&mut buffer).unwrap(), None);
        buffer.extend_from_slice(b"}");
        assert_eq!(take(&mut buffer).unwrap(), Some(Form::Whole));
        assert!(buffer.is_empty());
    }

    #[tokio::test]
    async fn our_client_reads_both_forms_from_our_server() {
        let upstream = Upstream::start(Pace::AT_ONCE).unwrap();
        let mut connection = Connection::open(upstream.address(), None).await.unwrap();
        let mut recording = Recording::default();
        connection
            .exchange(&post("/", b"{}"), &mut recording)
            .await
            .unwrap();
        let text = Text::of(16);
        assert_eq!(
            (recording.status(), recording.body()),
            (200, text.whole.clone())
        );
        connection
            .exchange(&post("/", br#"{"stream":true}"#), &mut recording)
            .await
            .unwrap();
        assert_eq!(recording.body(), text.stream());
        assert_eq!(recording.events().len(), 18);
        assert_eq!(upstream.calls(), 2);
    }
}
