use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{Response, StatusCode};
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;

use super::answer::Answer;
use super::complete::Complete;
use super::draft::Draft;
use crate::cache::{Commit, Refusal};

pin_project! {
    /// The body of a response that passed a cache: the inner one, recorded or not, or a stored one.
    ///
    /// Frames, trailers, size hint and end of the inner body are passed on as they are.
    pub struct Body<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProj]
    enum Kind<B> {
        Live { #[pin] body: B, recorder: Option<Box<Recorder>> },
        Stored { data: Option<Bytes> },
    }
}

/// Keeps the bytes of a body that streams by, and stores them at its end.
///
/// Bytes of a number that was promised are copied as they pass. The frames of any other body are shared with whoever else holds
/// them (a body with many readers, say), and only copied into one piece when they are stored: a recording adds little to the
/// memory of a body that is held anyway. While it streams, each counts with the handle it takes ([`FRAME_OVERHEAD`]), so that a
/// body of many tiny frames stays within the bound of an entry too.
pub(super) struct Recorder {
    commit: Commit<Answer>,
    complete: Arc<dyn Complete>,
    status: StatusCode,
    draft: Draft,
    /// Of a body without a promise, what is not in the draft yet.
    frames: Vec<Bytes>,
    /// Bytes still to come, where the response promised a number.
    promised: Option<u64>,
}

/// What a frame takes beside its bytes.
const FRAME_OVERHEAD: usize = size_of::<Bytes>();

/// How the recording goes on after a frame.
enum Next {
    More,
    /// The body has all the bytes it promised.
    End,
    Stop(Refusal),
}

// === impl Body ===

impl<B> Body<B> {
    /// A body that streams by.
    ///
    /// One that is at its end before it began is stored at once: whoever gets it need not poll it.
    pub(super) fn live(body: B, recorder: Option<Recorder>) -> Self
    where
        B: http_body::Body<Data = Bytes>,
    {
        let recorder = match recorder {
            Some(recorder) if body.is_end_stream() || recorder.promised == Some(0) => {
                recorder.finish();
                None
            }
            recorder => recorder.map(Box::new),
        };
        Self {
            kind: Kind::Live { body, recorder },
        }
    }

    pub(super) fn stored(body: Bytes) -> Self {
        Self {
            kind: Kind::Stored {
                data: Some(body).filter(|body| !body.is_empty()),
            },
        }
    }
}

impl<B> http_body::Body for Body<B>
where
    B: http_body::Body<Data = Bytes>,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let (mut body, recorder) = match self.project().kind.project() {
            KindProj::Live { body, recorder } => (body, recorder),
            KindProj::Stored { data } => {
                return Poll::Ready(data.take().map(|data| Ok(Frame::data(data))));
            }
        };
        let frame = ready!(body.as_mut().poll_frame(cx));
        // Correctness: the answer is stored before the last frame is handed out. A server drops a
        // body that says it has ended without polling it again (tower-http#625), and whoever learns
        // of the end must find the entry. There is no await between the two.
        match &frame {
            None => {
                if let Some(recorder) = recorder.take() {
                    recorder.finish();
                }
            }
            // Dropping the recorder counts the answer as unfinished.
            Some(Err(_)) => drop(recorder.take()),
            Some(Ok(frame)) => {
                if let Some(current) = recorder.as_mut() {
                    let next = match current.frame(frame) {
                        Next::More if body.is_end_stream() => Next::End,
                        next => next,
                    };
                    match next {
                        Next::More => {}
                        Next::End => recorder.take().into_iter().for_each(|r| r.finish()),
                        Next::Stop(reason) => {
                            recorder
                                .take()
                                .into_iter()
                                .for_each(|r| r.commit.refuse(reason));
                        }
                    }
                }
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Live { body, .. } => body.is_end_stream(),
            Kind::Stored { data } => data.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Live { body, .. } => body.size_hint(),
            Kind::Stored { data } => {
                SizeHint::with_exact(data.as_ref().map_or(0, |data| data.len() as u64))
            }
        }
    }
}

impl<B> Default for Body<B> {
    /// An empty body.
    fn default() -> Self {
        Self::stored(Bytes::new())
    }
}

impl<B> fmt::Debug for Body<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Live {
                recorder: Some(_), ..
            } => "Recording",
            Kind::Live { recorder: None, .. } => "Passing",
            Kind::Stored { .. } => "Stored",
        };
        f.debug_tuple("Body").field(&kind).finish()
    }
}

// === impl Recorder ===

impl Recorder {
    /// Starts a recording; `None` when it is clear from the start that it would be too large.
    pub(super) fn new<B>(
        response: &Response<B>,
        mut commit: Commit<Answer>,
        complete: Arc<dyn Complete>,
    ) -> Option<Self>
    where
        B: http_body::Body,
    {
        let promised = promised(response);
        let expected = promised.unwrap_or(0);
        let room = usize::try_from(expected).map_err(|_| Refusal::TooLarge);
        let room = match room.and_then(|room| commit.reserve(room).map(|()| room)) {
            Ok(room) => room,
            Err(reason) => {
                commit.refuse(reason);
                return None;
            }
        };
        Some(Self {
            commit,
            complete,
            status: response.status(),
            draft: Draft::new(response.headers(), room),
            frames: Vec::new(),
            promised,
        })
    }

    fn frame(&mut self, frame: &Frame<Bytes>) -> Next {
        let Some(data) = frame.data_ref() else {
            return Next::Stop(Refusal::Forbidden);
        };
        match &mut self.promised {
            // What was promised has been reserved.
            Some(left) => match left.checked_sub(data.len() as u64) {
                Some(rest) => {
                    *left = rest;
                    self.draft.push(data);
                    if rest == 0 { Next::End } else { Next::More }
                }
                None => Next::Stop(Refusal::Incomplete),
            },
            None => match self.commit.reserve(data.len() + FRAME_OVERHEAD) {
                Ok(()) => {
                    self.frames.push(data.clone());
                    Next::More
                }
                Err(reason) => Next::Stop(reason),
            },
        }
    }

    /// Stores what was recorded, if it is all that was promised and complete.
    fn finish(self) {
        let Self {
            commit,
            complete,
            status,
            mut draft,
            frames,
            promised,
        } = self;
        if promised.is_some_and(|left| left > 0) {
            return commit.refuse(Refusal::Incomplete);
        }
        if !frames.is_empty() {
            draft.reserve(frames.iter().map(Bytes::len).sum());
            frames.iter().for_each(|frame| draft.push(frame));
        }
        let answer = Answer::from_draft(status, draft);
        if complete.complete(&answer) {
            // A refusal has been counted; the response is good all the same.
            let _ = commit.store(answer);
        } else {
            commit.refuse(Refusal::Incomplete);
        }
    }
}

/// How many bytes the body will have: by its header, or else by its own word.
fn promised<B>(response: &Response<B>) -> Option<u64>
where
    B: http_body::Body,
{
    let header = response
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    header
        .and_then(|length| length.parse().ok())
        .or_else(|| response.body().size_hint().exact())
}
