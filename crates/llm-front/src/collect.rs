//! Reads a request body whole, within bounds of size and silence.

use crate::errors::{Refusal, broken_request};
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use pin_project_lite::pin_project;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep};
use tower::BoxError;

/// How long a body over the limit is read on, so that a caller who is still sending gets to see the answer.
const LINGER: Duration = Duration::from_secs(2);

/// The bounds of a request body.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes.
    pub limit: usize,
    /// Longest wait for the next piece.
    pub silence: Duration,
}

/// Reads `body` whole.
///
/// # Errors
/// 413 over the limit, 408 after too long a silence, 400 when the body breaks off.
pub(crate) async fn collect<B>(
    headers: &HeaderMap,
    body: B,
    bounds: Bounds,
) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut body = pin!(Impatient::new(body, bounds.silence));
    let declared = body.size_hint().lower();
    if declared > bounds.limit as u64 {
        // A caller who waits for `100 Continue` has not sent anything yet, and must not be told to.
        if !headers.contains_key(header::EXPECT) {
            linger(body.as_mut()).await;
        }
        return Err(too_large(bounds.limit));
    }
    let mut first = Bytes::new();
    let mut all: Option<BytesMut> = None;
    while !body.is_end_stream() {
        let frame = match body.frame().await {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => {
                return Err(match error.downcast() {
                    Ok(silent) => *silent,
                    Err(error) => broken_request(error.as_ref()),
                });
            }
            None => break,
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let length = all.as_ref().map_or(first.len(), BytesMut::len);
        if data.len() > bounds.limit.saturating_sub(length) {
            linger(body.as_mut()).await;
            return Err(too_large(bounds.limit));
        }
        match &mut all {
            // Most bodies come in one piece, which is taken as it is.
            None if first.is_empty() => first = data,
            None => {
                let mut joined = BytesMut::with_capacity(room(declared, first.len() + data.len()));
                joined.extend_from_slice(&std::mem::take(&mut first));
                joined.extend_from_slice(&data);
                all = Some(joined);
            }
            Some(joined) => joined.extend_from_slice(&data),
        }
    }
    Ok(all.map_or(first, BytesMut::freeze))
}

pin_project! {
    /// A body that is passed on while it comes, and fails when it falls silent for too long.
    pub(crate) struct Impatient<B> {
        #[pin]
        body: B,
        silence: Duration,
        // Armed while nothing comes.
        alarm: Option<Pin<Box<Sleep>>>,
    }
}

impl<B> Impatient<B> {
    pub(crate) const fn new(body: B, silence: Duration) -> Self {
        Self {
            body,
            silence,
            alarm: None,
        }
    }
}

impl<B> Body for Impatient<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.project();
        if let Poll::Ready(frame) = this.body.poll_frame(cx) {
            *this.alarm = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let alarm = this
            .alarm
            .get_or_insert_with(|| Box::pin(sleep(*this.silence)));
        ready!(alarm.as_mut().poll(cx));
        Poll::Ready(Some(Err(fell_silent(*this.silence).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn fell_silent(silence: Duration) -> Refusal {
    let message = format!("the request body fell silent for {silence:?} (--body-timeout)");
    Refusal::new(StatusCode::REQUEST_TIMEOUT, message).code("body_timeout")
}

/// What to set aside for a body of `declared` bytes: a caller's word is only taken up to a point.
fn room(declared: u64, seen: usize) -> usize {
    const TRUSTED: u64 = 1 << 20;
    usize::try_from(declared.min(TRUSTED))
        .unwrap_or(seen)
        .max(seen)
}

async fn linger<B: Body<Data = Bytes>>(mut body: Pin<&mut B>) {
    let _ = tokio::time::timeout(LINGER, async {
        while let Some(Ok(_)) = body.frame().await {}
    })
    .await;
}

fn too_large(limit: usize) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the request body is over the limit of {limit} bytes (--body-limit)"),
    )
    .code("body_too_large")
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{Full, StreamBody};
    use std::convert::Infallible;

    const BOUNDS: Bounds = Bounds {
        limit: 8,
        silence: Duration::from_secs(60),
    };

    fn pieces(pieces: &'static [&'static str]) -> impl Body<Data = Bytes, Error = Infallible> {
        StreamBody::new(futures_util::stream::iter(pieces.iter().map(|piece| {
            Ok(http_body::Frame::data(Bytes::from_static(piece.as_bytes())))
        })))
    }

    #[tokio::test(start_paused = true)]
    async fn pieces_become_one_body() {
        let body = collect(&HeaderMap::new(), pieces(&["ab", "cd", "", "efgh"]), BOUNDS)
            .await
            .unwrap();
        assert_eq!(body, "abcdefgh");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_over_the_limit_is_refused_with_and_without_a_declared_length() {
        let declared = collect(
            &HeaderMap::new(),
            Full::new(Bytes::from_static(b"123456789")),
            BOUNDS,
        )
        .await;
        assert_eq!(
            declared.unwrap_err().status(),
            StatusCode::PAYLOAD_TOO_LARGE
        );
        let undeclared = collect(&HeaderMap::new(), pieces(&["12345", "6789"]), BOUNDS).await;
        assert_eq!(
            undeclared.unwrap_err().status(),
            StatusCode::PAYLOAD_TOO_LARGE
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_body_is_given_up() {
        let silent = StreamBody::new(futures_util::stream::pending::<
            Result<http_body::Frame<Bytes>, Infallible>,
        >());
        let refusal = collect(&HeaderMap::new(), silent, BOUNDS)
            .await
            .unwrap_err();
        assert_eq!(refusal.status(), StatusCode::REQUEST_TIMEOUT);
    }
}
