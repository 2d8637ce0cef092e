//! The canonical form of a JSON request: two texts that mean the same have the same bytes.
//!
//! * keys are sorted by their decoded bytes, at every depth; whitespace is gone;
//! * strings are decoded and written again with as few escapes as JSON allows (`"`, `\` and the controls below U+0020);
//! * number tokens stay as they are: `1`, `1.0` and `1e0` are three numbers, since a server may tell them apart;
//! * a key that appears twice in one object is refused ([`Kind::DuplicateKey`]): which of the two counts is up to the
//!   reader, so a cache and a server could disagree about what was asked;
//! * what `serde_json` takes for a `Value` is accepted, and nothing else, with one exception: numbers that do not fit an
//!   `f64` (`1e999`) pass, because nothing here computes with them. A lone surrogate (`"\ud800"`) is refused: it has no
//!   UTF-8 form, so it could not be written again. So is nesting of [`DEPTH_LIMIT`] levels.
//!
//! One pass over the bytes does all of it, and [`Object`] keeps where each top-level value lies, in the canonical text and in
//! the source. The request is never scanned again to read its fields.
//!
//! # Examples
//!
//! ```
//! let canonical = llm_backend::json::canonical(br#" {"b": "\u0061/", "a": [1.0, null]} "#)?;
//! assert_eq!(canonical, r#"{"a":[1.0,null],"b":"a/"}"#);
//! # Ok::<(), llm_backend::json::Error>(())
//! ```
//!
//! Without some of the fields, and reading others:
//!
//! ```
//! use llm_backend::json::Object;
//!
//! let object = Object::parse(br#"{"user": "ada", "model": "m", "n": 1}"#)?;
//! assert_eq!(object.canonical(&["user"]), r#"{"model":"m","n":1}"#);
//! assert_eq!(object.get("n").map(|n| n.value()), Some(&b"1"[..]));
//! # Ok::<(), llm_backend::json::Error>(())
//! ```

mod edit;
mod error;
mod fields;
mod object;
mod read;
mod scan;
mod string;
mod walk;

pub(crate) use self::{
    edit::Edits,
    fields::{Fields, push_string},
    read::{decode, elements, members, number},
    walk::Walk,
};
pub use self::{
    error::{Error, Kind},
    object::{Member, Object, canonical},
    scan::DEPTH_LIMIT,
};

#[cfg(test)]
mod tests;
