//! Room for what is between two steps, used again from layer to layer.

use super::int8;

/// What the computation of one batch has for itself.
pub(super) struct Work {
    /// Threads that this batch has.
    pub(super) threads: usize,
    pub(super) int8: int8::Work,
    pub(super) wide: Space,
    pub(super) narrow: Space,
    pub(super) heads: Space,
}

/// Numbers of no meaning, as many as one asks for.
#[derive(Default)]
pub(super) struct Space(Vec<f32>);

// === impl Work ===

impl Work {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            threads,
            int8: int8::Work::new(),
            wide: Space::default(),
            narrow: Space::default(),
            heads: Space::default(),
        }
    }
}

// === impl Space ===

impl Space {
    /// Room for `count` numbers, with whatever was left in it.
    pub(super) fn of(&mut self, count: usize) -> &mut [f32] {
        if self.0.len() < count {
            self.0.resize(count, 0.0);
        }
        self.0.get_mut(..count).unwrap_or_default()
    }
}
