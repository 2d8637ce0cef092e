//! How an answer that breaks off ends for its caller: never cleanly, and with the reason where there is a place for it.
//!
//! An event stream gets a last event, `data: {"error": …}`, so that a caller learns why, one that speaks HTTP/1.0 included, to
//! whom the end of the connection is the end of the answer. Then, as for every other answer, the body fails, and the server
//! breaks the connection off.

use crate::errors;
use bytes::Bytes;
use http::{Response, header};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower::BoxError;

use crate::policies::is_event_stream;

pin_project! {
    /// A body that breaks off in words.
    #[derive(Debug)]
    pub struct Ending<B> {
        #[pin]
        body: B,
        // The last bytes that went out, where they are events.
        events: Option<Tail>,
        failure: Failure,
    }
}

/// What an answer broke off with.
#[derive(Debug, Default)]
enum Failure {
    #[default]
    None,
    /// What went before is still to be written.
    Held(BoxError),
    /// It has been.
    Due(BoxError),
}

/// The last four bytes of a stream.
#[derive(Debug, Default)]
struct Tail([u8; 4]);

impl Tail {
    fn push(&mut self, data: &[u8]) {
        for byte in data.iter().skip(data.len().saturating_sub(4)) {
            self.0.rotate_left(1);
            if let Some(last) = self.0.last_mut() {
                *last = *byte;
            }
        }
    }

    /// Whether no event is under way.
    fn is_boundary(&self) -> bool {
        self.0 == [0; 4]
            || self.0.ends_with(b"\n\n")
            || self.0.ends_with(b"\r\r")
            || self.0 == *b"\r\n\r\n"
    }
}

impl<B: Body> Ending<B> {
    /// The body of `response`.
    pub fn of(response: Response<B>) -> Response<Self> {
        let streams = is_event_stream(response.headers().get(header::CONTENT_TYPE));
        // A length that was promised leaves no room for another event.
        let events = (streams && response.body().size_hint().exact().is_none()).then(Tail::default);
        response.map(|body| Self {
            body,
            events,
            failure: Failure::None,
        })
    }
}

impl<B> Body for Ending<B>
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
        match std::mem::take(this.failure) {
            Failure::None => {}
            // Correctness: at an error the server drops what it has not written yet, frames that came before it and even the
            // head included. Pending once, it writes; woken at once, it asks again.
            Failure::Held(error) => {
                *this.failure = Failure::Due(error);
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Failure::Due(error) => return Poll::Ready(Some(Err(error))),
        }
        let error: BoxError = match ready!(this.body.poll_frame(cx)) {
            Some(Err(error)) => error.into(),
            frame => {
                if let (Some(tail), Some(Ok(frame))) = (this.events, &frame) {
                    tail.push(frame.data_ref().map_or(&[], |data| data));
                }
                return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
            }
        };
        let refusal = errors::word(&error);
        let Some(tail) = this.events.take() else {
            *this.failure = Failure::Due(error);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        };
        *this.failure = Failure::Held(error);
        let before = if tail.is_boundary() { "" } else { "\n\n" };
        let event = format!("{before}data: {}\n\n", refusal.to_json());
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(event)))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.failure, Failure::None) && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.events {
            // There may be one event more.
            Some(_) => SizeHint::default(),
            None => self.body.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream::iter;
    use futures_util::task::noop_waker;
    use http_body_util::StreamBody;

    fn frames(
        content_type: &'static str,
        frames: Vec<Result<&'static str, &'static str>>,
    ) -> Vec<String> {
        let frames = frames.into_iter().map(|frame| match frame {
            Ok(text) => Ok(Frame::data(Bytes::from_static(text.as_bytes()))),
            Err(why) => Err(BoxError::from(why)),
        });
        let response = Response::builder().header(header::CONTENT_TYPE, content_type);
        let response = Ending::of(response.body(StreamBody::new(iter(frames))).unwrap());
        let mut body = Box::pin(response.into_body());
        let waker = noop_waker();
        let mut cx = Context::from_waker(&waker);
        let mut seen = Vec::new();
        loop {
            match body.as_mut().poll_frame(&mut cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    seen.push(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap());
                }
                Poll::Ready(Some(Err(error))) => {
                    seen.push(format!("error: {error}"));
                    return seen;
                }
                Poll::Ready(None) => return seen,
                Poll::Pending => seen.push("pending".to_owned()),
            }
        }
    }

    #[test]
    fn an_error_waits_one_turn_so_that_the_frames_before_it_are_written() {
        assert_eq!(
            frames("application/json", vec![Ok("{"), Err("cut")]),
            ["{", "pending", "error: cut"]
        );
    }

    #[test]
    fn a_broken_stream_says_why_before_it_fails() {
        let seen = frames(
            "text/event-stream; charset=utf-8",
            vec![Ok("data: 1\n"), Ok("\n"), Err("cut")],
        );
        assert_eq!(seen.len(), 5);
        assert!(
            seen[2].starts_with("data: {\"error\":{") && seen[2].ends_with("}\n\n"),
            "{}",
            seen[2]
        );
        assert_eq!(seen[3..], ["pending", "error: cut"]);
    }

    #[test]
    fn an_event_that_was_cut_is_ended_first() {
        let seen = frames("text/event-stream", vec![Ok("data: {\"a\":"), Err("cut")]);
        assert!(seen[1].starts_with("\n\ndata: {\"error\""), "{}", seen[1]);
    }

    #[test]
    fn a_whole_stream_ends_as_it_came() {
        assert_eq!(
            frames("text/event-stream", vec![Ok("data: 1\n\n")]),
            ["data: 1\n\n"]
        );
    }
}
