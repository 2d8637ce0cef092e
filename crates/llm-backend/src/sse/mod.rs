//! Server-sent events, byte by byte: however a stream is cut into chunks, the same events come out.
//!
//! The [`Decoder`] follows the [WHATWG algorithm](https://html.spec.whatwg.org/multipage/server-sent-events.html): lines end in
//! LF, CRLF or a lone CR, a leading byte order mark is dropped, comments are skipped, several `data:` lines are joined by
//! line feeds, an event without data is not an event. It holds at most one unfinished event, of at most
//! [`Decoder::limit`] bytes; where one chunk holds a whole event, nothing is copied. Bytes are not decoded: a character may be
//! split anywhere, and `data` is handed on as it came.
//!
//! Who forwards a stream needs the bytes between events too (comments keep a connection alive): [`Decoder::block`] yields
//! [`Block`]s, which put together are the stream.
//!
//! # Examples
//!
//! ```
//! use bytes::Bytes;
//! use llm_backend::sse::Decoder;
//!
//! let mut decoder = Decoder::new();
//! let mut chunk = Bytes::from_static(b": hello\n\ndata: {\"a\"");
//! assert!(decoder.decode(&mut chunk)?.is_none());
//! let mut chunk = Bytes::from_static(b":1}\r\n\r\n");
//! let event = decoder.decode(&mut chunk)?.expect("the event is whole");
//! assert_eq!(event.data, r#"{"a":1}"#);
//! assert!(decoder.is_boundary());
//! # Ok::<(), llm_backend::sse::Error>(())
//! ```
//!
//! Writing:
//!
//! ```
//! use bytes::Bytes;
//! use llm_backend::sse::{Encoder, Event};
//!
//! let mut out = Vec::new();
//! Encoder.event(&Event::new("one\ntwo").with_name("greeting"), &mut out);
//! Encoder.comment("keep-alive", &mut out);
//! assert_eq!(out, b"event: greeting\ndata: one\ndata: two\n\n: keep-alive\n\n");
//! ```

mod block;
mod boundary;
mod decoder;
mod encoder;
mod error;
mod event;

pub use self::{block::Block, decoder::Decoder, encoder::Encoder, error::Error, event::Event};

/// The data of the event that ends a stream. Not every server sends it.
pub const DONE: &[u8] = b"[DONE]";

#[cfg(test)]
mod tests;
