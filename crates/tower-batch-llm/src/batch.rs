//! What the inner service is called with.

use std::{fmt, slice, vec};

use crate::Responder;

/// Items that go to the inner service in one call; never empty.
///
/// Items stand in the order in which they arrived. None was cancelled at the moment the batch was
/// made; look at [`Responder::is_closed`] where work starts later.
#[derive(Debug)]
pub struct Batch<Req, Res> {
    items: Vec<Item<Req, Res>>,
    cost: u64,
}

/// One caller's request and the way to answer it.
pub struct Item<Req, Res> {
    /// What the caller asked.
    pub request: Req,
    /// Where the answer goes.
    pub responder: Responder<Res>,
}

// === impl Batch ===

impl<Req, Res> Batch<Req, Res> {
    pub(crate) fn new(items: Vec<Item<Req, Res>>, cost: u64) -> Self {
        Self { items, cost }
    }

    /// How many items: from 1 to the layer's `max_items`.
    #[expect(clippy::len_without_is_empty, reason = "a batch is never empty")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// What the cost function made of it, in its unit; the number of items where none is set.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// The items, in the order of their arrival.
    pub fn iter(&self) -> slice::Iter<'_, Item<Req, Res>> {
        self.items.iter()
    }

    /// Takes the requests and the responders apart, both in the order of arrival.
    #[must_use]
    pub fn unzip(self) -> (Vec<Req>, Vec<Responder<Res>>) {
        self.into_iter()
            .map(|Item { request, responder }| (request, responder))
            .unzip()
    }
}

impl<Req, Res> IntoIterator for Batch<Req, Res> {
    type Item = Item<Req, Res>;
    type IntoIter = vec::IntoIter<Item<Req, Res>>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, Req, Res> IntoIterator for &'a Batch<Req, Res> {
    type Item = &'a Item<Req, Res>;
    type IntoIter = slice::Iter<'a, Item<Req, Res>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

// === impl Item ===

impl<Req: fmt::Debug, Res> fmt::Debug for Item<Req, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { request, responder } = self;
        f.debug_struct("Item")
            .field("request", request)
            .field("responder", responder)
            .finish()
    }
}
