//! Without an engine there are no seats.

use std::task::{Context, Poll};

use super::request::Call;
use super::service::Shared;

/// Never there.
#[derive(Debug)]
pub(super) enum Seats {}

/// Never there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refused {}

// === impl Seats ===

impl Seats {
    pub(super) fn poll_step(&mut self, _: u32, _: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        match *self {}
    }
}

// === impl Shared ===

impl Shared {
    pub(super) fn seats(&self, _: &Call) -> Option<Seats> {
        None
    }
}
