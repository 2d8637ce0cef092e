//! The usual whole answer, told by one walk over its bytes.
//!
//! Most answers are one object with choices, no error, and nothing odd. Seeing that one is whole costs a third of reading it. Of
//! whatever is not as usual nothing is said here.

use super::is_accepted;
use crate::json::Walk;

/// Whether `body` is an answer with choices that is plainly whole. Never so for one that is not.
pub(super) fn is_plainly_whole(body: &[u8]) -> bool {
    walk(body).is_some()
}

fn walk(body: &[u8]) -> Option<()> {
    let mut walk = Walk::new(body);
    let mut seen = Seen::default();
    walk.object(|walk, key| match key {
        b"choices" => {
            once(&mut seen.choices)?;
            let mut any = false;
            walk.array(|walk| {
                any = true;
                choice(walk)
            })?;
            any.then_some(())
        }
        b"object" => {
            once(&mut seen.object)?;
            (walk.string()? != b"error").then_some(())
        }
        b"error" => {
            once(&mut seen.error)?;
            walk.null()
        }
        b"data" | b"text" | b"finish_reason" => None,
        _ => walk.value(),
    })?;
    walk.end()?;
    seen.choices.then_some(())
}

/// The fields that have come: one that comes twice is an error.
#[derive(Debug, Default)]
struct Seen {
    choices: bool,
    object: bool,
    error: bool,
}

fn choice(walk: &mut Walk<'_>) -> Option<()> {
    let (mut index, mut reason) = (false, false);
    walk.object(|walk, key| match key {
        b"index" => {
            once(&mut index)?;
            let digits = walk.digits()?;
            (digits.len() < 10 && digits.iter().all(u8::is_ascii_digit)).then_some(())
        }
        b"finish_reason" => {
            once(&mut reason)?;
            is_accepted(std::str::from_utf8(walk.string()?).ok()).then_some(())
        }
        _ => walk.value(),
    })?;
    reason.then_some(())
}

fn once(seen: &mut bool) -> Option<()> {
    (!std::mem::replace(seen, true)).then_some(())
}
