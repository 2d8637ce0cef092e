//! What a request asks for, worked out once and carried along in its extensions.

use crate::layers::merge::Mergeable;
use crate::receipts::Receipts;
use http::{Request, Response};
use llm_backend::prompt::{Endpoint, Prompt};
use std::sync::Arc;
use tower_semcache::Lookup;

/// In which form an answer goes out.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Form {
    /// One JSON body.
    Body,
    /// Server-sent events, with or without the chunk that tells the usage.
    Stream {
        /// Whether the caller asked for the usage.
        usage: bool,
    },
}

/// Why a request shares with nobody.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Bypass {
    /// Each answer is a sample of its own.
    Sampled,
    /// More than one answer was asked for.
    Choices,
    /// Both cache and coalescing are off.
    Off,
}

/// What a request asks for.
#[derive(Debug)]
pub struct Asked {
    /// Where it was sent.
    pub endpoint: Endpoint,
    /// What the body says.
    pub prompt: Prompt,
    /// The form the caller wants.
    pub form: Form,
    /// The form the backend is asked for.
    pub wire: Form,
    /// Under which key its answer may be shared, or why it may not.
    pub key: Result<Lookup, Bypass>,
    /// How its answer is named, so that the caller can speak of it later; not where nothing similar is matched.
    pub receipts: Option<Receipts>,
    /// What it can be batched as, where it can.
    pub merge: Option<Mergeable>,
}

/// Carries an [`Asked`] in a message's extensions.
pub trait Carry {
    /// What was asked, where the gateway read the request.
    fn asked(&self) -> Option<&Arc<Asked>>;
}

impl<B> Carry for Request<B> {
    fn asked(&self) -> Option<&Arc<Asked>> {
        self.extensions().get()
    }
}

impl<B> Carry for Response<B> {
    fn asked(&self) -> Option<&Arc<Asked>> {
        self.extensions().get()
    }
}
