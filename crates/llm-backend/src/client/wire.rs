//! What a connection has heard: may a request that it lost be sent again?

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Whether a byte came over a connection since it was last asked to listen, shared between the connection and who uses it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ear {
    heard: Arc<AtomicBool>,
}

pin_project! {
    /// A connection with an [`Ear`].
    #[derive(Debug)]
    pub(super) struct Wired<T> {
        #[pin]
        io: T,
        ear: Ear,
    }
}

// === impl Ear ===

impl Ear {
    /// Forgets what it heard.
    pub(super) fn listen(&self) {
        self.heard.store(false, Ordering::Relaxed);
    }

    /// Whether a byte came since, an interim answer's included.
    pub(super) fn has_heard(&self) -> bool {
        // Correctness: whoever asks has learnt of the connection's end, by the same thread or by a channel, after its last read.
        self.heard.load(Ordering::Relaxed)
    }
}

// === impl Wired ===

impl<T> Wired<T> {
    pub(super) fn new(io: T) -> Self {
        Self {
            io,
            ear: Ear::default(),
        }
    }

    pub(super) fn ear(&self) -> Ear {
        self.ear.clone()
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
            this.ear.heard.store(true, Ordering::Relaxed);
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
        self.project().io.poll_write(cx, buf)
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
        self.project().io.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_byte_is_heard_until_the_next_request() {
        let (ours, mut theirs) = duplex(64);
        let mut wired = Wired::new(ours);
        let ear = wired.ear();
        assert!(!ear.has_heard());
        wired.write_all(b"request").await.unwrap();
        theirs.write_all(b"H").await.unwrap();
        wired.read_exact(&mut [0; 1]).await.unwrap();
        assert!(ear.has_heard());
        ear.listen();
        wired.write_all(b"request").await.unwrap();
        assert!(!ear.has_heard());
    }

    #[tokio::test]
    async fn an_end_of_file_is_not_a_byte() {
        let (ours, theirs) = duplex(64);
        let mut wired = Wired::new(ours);
        drop(theirs);
        assert_eq!(wired.read(&mut [0; 1]).await.unwrap(), 0);
        assert!(!wired.ear().has_heard());
    }
}
