//! What a connection has seen: may a request that it lost be sent again?

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};

use hyper_util::client::legacy::connect::{Connected, Connection};
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The history of one connection, shared between the connection and those who use it.
#[derive(Clone, Debug, Default)]
pub(super) struct Wire {
    history: Arc<History>,
}

#[derive(Debug)]
struct History {
    /// The response heads that were given out.
    answers: AtomicU32,
    /// The writes that followed a read: the requests, if none was answered before it was wholly sent.
    turns: AtomicU32,
    /// Whether a byte came since the last of them.
    heard: AtomicBool,
}

pin_project! {
    /// A connection that keeps its [`Wire`].
    #[derive(Debug)]
    pub(super) struct Wired<T> {
        #[pin]
        io: T,
        wire: Wire,
    }
}

// === impl Wire ===

impl Wire {
    /// A response's head came over this connection.
    pub(super) fn answered(&self) {
        self.history.answers.fetch_add(1, Ordering::Release);
    }

    /// Whether a request that this connection lost found it stale: the connection had served before, and not one byte of an
    /// answer came.
    ///
    /// Correctness: the lost request is the one after the last answer. If it is also the last turn, and nothing was heard since
    /// that began, then nothing was heard of its answer. An interim answer to a request that is still being sent (a
    /// `100 Continue`, an early refusal) makes one turn too many, and this false from then on: it errs on the safe side.
    ///
    /// How long the connection was silent is not known here: who asks has to have lost it soon after the request.
    pub(super) fn was_stale(&self) -> bool {
        let History {
            answers,
            turns,
            heard,
        } = &*self.history;
        let answers = answers.load(Ordering::Acquire);
        let is_last = turns.load(Ordering::Acquire) == answers.wrapping_add(1);
        answers > 0 && is_last && !heard.load(Ordering::Acquire)
    }

    fn wrote(&self) {
        let History { turns, heard, .. } = &*self.history;
        // Only the connection's own task comes here, so nothing is lost between the two.
        if heard.load(Ordering::Relaxed) {
            heard.store(false, Ordering::Release);
            turns.fetch_add(1, Ordering::Release);
        }
    }

    fn heard(&self) {
        self.history.heard.store(true, Ordering::Release);
    }
}

impl Default for History {
    fn default() -> Self {
        // The first write begins the first turn.
        Self {
            answers: AtomicU32::new(0),
            turns: AtomicU32::new(0),
            heard: AtomicBool::new(true),
        }
    }
}

// === impl Wired ===

impl<T> Wired<T> {
    pub(super) fn new(io: T) -> Self {
        Self {
            io,
            wire: Wire::default(),
        }
    }
}

impl<T: AsyncRead> AsyncRead for Wired<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.project();
        let before = buf.filled().len();
        ready!(this.io.poll_read(cx, buf))?;
        if buf.filled().len() > before {
            this.wire.heard();
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite> AsyncWrite for Wired<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        this.wire.wrote();
        this.io.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().io.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().io.poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        this.wire.wrote();
        this.io.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

impl<T> Connection for Wired<T> {
    fn connected(&self) -> Connected {
        Connected::new().extra(self.wire.clone())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    fn connection() -> (Wired<DuplexStream>, DuplexStream, Wire) {
        let (ours, theirs) = duplex(1024);
        let wired = Wired::new(ours);
        let wire = wired.wire.clone();
        (wired, theirs, wire)
    }

    async fn exchange(wired: &mut Wired<DuplexStream>, theirs: &mut DuplexStream) {
        wired.write_all(b"request").await.unwrap();
        theirs.write_all(b"answer").await.unwrap();
        wired.read_exact(&mut [0; 6]).await.unwrap();
    }

    #[tokio::test]
    async fn a_fresh_connection_is_never_stale() {
        let (mut wired, _theirs, wire) = connection();
        assert!(!wire.was_stale());
        wired.write_all(b"request").await.unwrap();
        assert!(!wire.was_stale());
    }

    #[tokio::test]
    async fn a_reused_connection_is_stale_until_a_byte_comes() {
        let (mut wired, mut theirs, wire) = connection();
        exchange(&mut wired, &mut theirs).await;
        wire.answered();
        wired.write_all(b"request").await.unwrap();
        assert!(wire.was_stale());
        theirs.write_all(b"H").await.unwrap();
        wired.read_exact(&mut [0; 1]).await.unwrap();
        assert!(!wire.was_stale());
    }

    #[tokio::test]
    async fn an_end_of_file_is_not_a_byte() {
        let (mut wired, mut theirs, wire) = connection();
        exchange(&mut wired, &mut theirs).await;
        wire.answered();
        wired.write_all(b"request").await.unwrap();
        drop(theirs);
        assert_eq!(wired.read(&mut [0; 1]).await.unwrap(), 0);
        assert!(wire.was_stale());
    }

    #[tokio::test]
    async fn an_interim_answer_counts_though_more_of_the_request_is_written_after_it() {
        let (mut wired, mut theirs, wire) = connection();
        exchange(&mut wired, &mut theirs).await;
        wire.answered();
        exchange(&mut wired, &mut theirs).await;
        wired.write_all(b"more of the request").await.unwrap();
        assert!(!wire.was_stale());
    }

    #[tokio::test]
    async fn a_request_may_be_begun_before_the_answer_to_the_last_one_is_counted() {
        let (mut wired, mut theirs, wire) = connection();
        exchange(&mut wired, &mut theirs).await;
        wired.write_all(b"request").await.unwrap();
        wire.answered();
        assert!(wire.was_stale());
    }

    #[tokio::test]
    async fn a_long_history_changes_nothing() {
        let (mut wired, mut theirs, wire) = connection();
        for _ in 0..100 {
            exchange(&mut wired, &mut theirs).await;
            assert!(!wire.was_stale());
            wire.answered();
            wired.write_all(b"two").await.unwrap();
            assert!(wire.was_stale());
            theirs.write_all(b"answer").await.unwrap();
            wired.read_exact(&mut [0; 6]).await.unwrap();
            wire.answered();
        }
    }
}
