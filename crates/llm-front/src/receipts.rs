//! Names for answers, so that a caller can say later which of them was bad.
//!
//! A name tells nothing, cannot be made up, and is of use to nobody but the caller it was given to: see
//! [`tower_semcache::Receipt`].

use http::{HeaderName, HeaderValue};
use tower_semcache::{Lookup, Outcome, Receipt, Scope, Secret};

/// The header that names an answer.
pub const ANSWER: HeaderName = HeaderName::from_static("x-llm-front-answer");

/// Names answers for one caller.
#[derive(Clone, Debug)]
pub struct Receipts {
    secret: Secret,
    holder: Scope,
}

impl Receipts {
    pub(crate) const fn new(secret: Secret, holder: Scope) -> Self {
        Self { secret, holder }
    }

    /// The name of the answer that came of this look-up.
    pub(crate) fn name(&self, lookup: &Lookup, outcome: &Outcome) -> Option<HeaderValue> {
        let receipt = Receipt::new(lookup, outcome);
        HeaderValue::try_from(receipt.seal(&self.secret, &self.holder)).ok()
    }

    /// The answer of that name, if this caller was given it.
    pub(crate) fn open(&self, name: &str) -> Option<Receipt> {
        Receipt::open(name, &self.secret, &self.holder)
    }
}
