//! The chunked transfer coding (RFC 9112, section 7.1).

use super::{Malformed, Progress};
use memchr::memchr;

/// How far a chunked body has been read.
#[derive(Clone, Debug)]
pub struct Chunks {
    state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// In a chunk's size, with what has been read of it.
    Size {
        so_far: u64,
        digits: u8,
    },
    /// After a chunk's size, before the end of the line.
    Extension {
        size: u64,
    },
    /// In a chunk's content.
    Content {
        left: u64,
    },
    /// After a chunk's content, before the end of the line.
    ContentEnd,
    /// In a line of trailers; an empty one is the end.
    Trailer {
        empty: bool,
    },
    Ended,
}

impl Default for Chunks {
    fn default() -> Self {
        Self { state: SIZE }
    }
}

const SIZE: State = State::Size {
    so_far: 0,
    digits: 0,
};

impl Chunks {
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        mut content: impl FnMut(&[u8]),
    ) -> Result<Progress, Malformed> {
        let mut at = 0;
        while self.state != State::Ended {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(&byte) = rest.first() else { break };
            at += match &mut self.state {
                State::Content { left } => {
                    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    content(rest.get(..length).unwrap_or_default());
                    *left -= length as u64;
                    if *left == 0 {
                        self.state = State::ContentEnd;
                    }
                    length
                }
                State::Extension { size } => match memchr(b'\n', rest) {
                    Some(end) => {
                        self.state = match *size {
                            0 => State::Trailer { empty: true },
                            left => State::Content { left },
                        };
                        end + 1
                    }
                    None => rest.len(),
                },
                _ => {
                    self.step(byte)?;
                    1
                }
            };
        }
        Ok(Progress {
            used: at,
            ended: self.state == State::Ended,
        })
    }

    fn step(&mut self, byte: u8) -> Result<(), Malformed> {
        self.state = match (self.state, byte) {
            (State::Size { so_far, digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
                if digits < 16 =>
            {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                State::Size {
                    so_far: so_far << 4 | digit,
                    digits: digits + 1,
                }
            }
            // The line feed is left for the next state to find.
            (
                State::Size {
                    so_far,
                    digits: 1..,
                },
                b'\r' | b';' | b' ' | b'\t',
            ) => State::Extension { size: so_far },
            (State::ContentEnd, b'\r') => State::ContentEnd,
            (State::ContentEnd, b'\n') => SIZE,
            (State::Trailer { empty: true }, b'\n') => State::Ended,
            (State::Trailer { .. }, b'\n') => State::Trailer { empty: true },
            (State::Trailer { empty }, b'\r') => State::Trailer { empty },
            (State::Trailer { .. }, _) => State::Trailer { empty: false },
            _ => return Err(Malformed::new("not a chunk")),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_cut(bytes: &[u8], cuts: &[usize]) -> Result<(Vec<u8>, usize, bool), Malformed> {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let (mut chunks, mut body, mut used, mut ended) = (Chunks::default(), Vec::new(), 0, false);
        for pair in cuts.windows(2) {
            let progress = chunks.read(&bytes[pair[0]..pair[1]], |piece| {
                body.extend_from_slice(piece);
            })?;
            used += progress.used;
            ended = progress.ended;
        }
        Ok((body, used, ended))
    }

    #[test]
    fn sizes_extensions_and_trailers_are_no_content() {
        let bytes = b"4;name=value\r\nabcd\r\nA\r\n0123456789\r\n0\r\nx: y\r\n\r\n";
        assert_eq!(
            read_cut(bytes, &[]).unwrap(),
            (b"abcd0123456789".to_vec(), bytes.len(), true)
        );
    }

    #[test]
    fn what_follows_the_end_is_left() {
        assert_eq!(
            read_cut(b"0\r\n\r\nHTTP/1.1", &[]).unwrap(),
            (Vec::new(), 5, true)
        );
    }

    #[test]
    fn a_body_without_its_last_chunk_has_not_ended() {
        assert_eq!(
            read_cut(b"1\r\na\r\n", &[]).unwrap(),
            (b"a".to_vec(), 6, false)
        );
    }

    #[test]
    fn what_is_not_a_chunk_is_refused() {
        for bytes in [
            &b"x\r\n"[..],
            b"\r\n",
            b"1\r\nab",
            b"11111111111111111\r\n",
            b"-1\r\n",
        ] {
            assert!(read_cut(bytes, &[]).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_cut_of_the_bytes_gives_the_same_content(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..6),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
        ) {
            let mut bytes = Vec::new();
            for piece in &pieces {
                bytes.extend(format!("{:x}\r\n", piece.len()).into_bytes());
                bytes.extend(piece);
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\n\r\n");
            let (body, used, ended) = read_cut(&bytes, &cuts).unwrap();
            prop_assert_eq!(body, pieces.concat());
            prop_assert_eq!((used, ended), (bytes.len(), true));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = read_cut(&bytes, &[7]);
        }
    }
}
