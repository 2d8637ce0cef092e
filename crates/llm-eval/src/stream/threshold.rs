//! A fixed threshold: what every other cache does.

use super::rule::{Rule, Step};
use super::space::Near;

/// Serves the most similar entry from a similarity up, and learns nothing.
#[derive(Debug)]
pub(super) struct Threshold(pub(super) f32);

// === impl Threshold ===

impl Rule for Threshold {
    const NEIGHBOURS: usize = 1;

    fn request(&mut self, near: &[Near], _: &mut dyn FnMut(usize) -> bool) -> Step {
        match near.first() {
            Some(near) if near.similarity >= self.0 => Step::Hit(0),
            _ => Step::Stored,
        }
    }
}
