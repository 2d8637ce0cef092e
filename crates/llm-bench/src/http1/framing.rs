//! Where a body ends.

use super::head::find;
use super::{Chunks, Malformed};
use httparse::Header;

/// How a body ends, and how far it has been read.
#[derive(Clone, Debug)]
pub enum Framing {
    /// After so many more bytes.
    Length(u64),
    /// With the last chunk.
    Chunked(Chunks),
    /// When the peer closes.
    UntilClose,
}

/// How far reading got.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    /// Bytes that belong to the body, its framing included.
    pub used: usize,
    /// Whether the body has ended.
    pub ended: bool,
}

impl Framing {
    /// A body of so many bytes.
    #[must_use]
    pub const fn of_length(length: u64) -> Self {
        Self::Length(length)
    }

    pub(super) fn of(fields: &[Header<'_>]) -> Result<Option<Self>, Malformed> {
        if let Some(coding) = find(fields, "transfer-encoding") {
            return match coding.eq_ignore_ascii_case(b"chunked") {
                true => Ok(Some(Self::Chunked(Chunks::default()))),
                false => Err(Malformed::new("a transfer coding other than chunked")),
            };
        }
        let Some(length) = find(fields, "content-length") else {
            return Ok(None);
        };
        let length = std::str::from_utf8(length)
            .ok()
            .and_then(|text| text.parse().ok());
        length
            .map(|length| Some(Self::Length(length)))
            .ok_or(Malformed::new("content-length is not a number"))
    }

    /// Whether there is no (more) body.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Length(0))
    }

    /// Whether the peer's close is the end, not a cut.
    #[must_use]
    pub const fn ends_at_close(&self) -> bool {
        matches!(self, Self::UntilClose)
    }

    /// Reads on through `bytes`, handing the content in them, piece by piece, to `content`.
    ///
    /// # Errors
    /// The bytes are not a chunked body.
    pub fn read(
        &mut self,
        bytes: &[u8],
        mut content: impl FnMut(&[u8]),
    ) -> Result<Progress, Malformed> {
        match self {
            Self::Length(left) => {
                let used = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                *left -= used as u64;
                content(bytes.get(..used).unwrap_or_default());
                Ok(Progress {
                    used,
                    ended: *left == 0,
                })
            }
            Self::Chunked(chunks) => chunks.read(bytes, content),
            Self::UntilClose => {
                content(bytes);
                Ok(Progress {
                    used: bytes.len(),
                    ended: false,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_known_length_ends_there_and_leaves_the_rest() {
        let mut framing = Framing::of_length(5);
        let mut body: Vec<u8> = Vec::new();
        assert_eq!(
            framing.read(b"ab", |piece| body.extend(piece)).unwrap(),
            Progress {
                used: 2,
                ended: false
            }
        );
        assert_eq!(
            framing
                .read(b"cdeHTTP", |piece| body.extend(piece))
                .unwrap(),
            Progress {
                used: 3,
                ended: true
            }
        );
        assert_eq!(body, b"abcde");
    }

    #[test]
    fn a_body_until_close_takes_everything() {
        let mut framing = Framing::UntilClose;
        assert_eq!(
            framing.read(b"abc", |_| {}).unwrap(),
            Progress {
                used: 3,
                ended: false
            }
        );
        assert!(framing.ends_at_close());
    }
}
