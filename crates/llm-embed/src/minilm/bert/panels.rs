//! Weights in the order in which a product reads them.

use rten_simd::ops::BitOps;
use rten_simd::{Isa, SimdOp};

/// Vectors side by side in a panel. With eight rows of results they fill the registers of AVX-512:
/// 24 hold results, three the weights.
pub(super) const VECTORS: usize = 3;

/// A cache line, so that no vector of weights lies in two.
const LINE: usize = 64;

/// A matrix of weights, cut into panels of a few outputs; of each panel the weights of one input lie
/// together, zeros where the last panel has no output.
pub(super) struct Panels {
    numbers: Vec<f32>,
    /// Where the first cache line begins.
    from: usize,
    inputs: usize,
    width: usize,
}

struct Lanes;

// === impl Panels ===

impl Panels {
    /// `weight` has one row of `inputs` numbers for each output.
    pub(super) fn new(weight: &[f32], inputs: usize) -> Self {
        let width = VECTORS * Lanes.dispatch();
        let panel = width * inputs;
        let panels = weight.len().div_ceil(panel);
        let mut numbers = vec![0.0; panels * panel + LINE / size_of::<f32>()];
        let from = match numbers.as_ptr().align_offset(LINE) {
            // Where that cannot be known, it does not matter either.
            usize::MAX => 0,
            from => from,
        };
        let places = numbers.iter_mut().skip(from);
        let rows = |at: usize| weight.get(at * panel..).unwrap_or_default();
        let order = (0..panels).flat_map(|panel| {
            (0..inputs * width).map(move |at| (panel, at % width * inputs + at / width))
        });
        for (place, (panel, at)) in places.zip(order) {
            *place = rows(panel).get(at).copied().unwrap_or_default();
        }
        Self {
            numbers,
            from,
            inputs,
            width,
        }
    }

    /// Numbers that an output is made of.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Outputs of one panel.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The weights from this panel on.
    pub(super) fn from(&self, panel: usize) -> &[f32] {
        let at = self.from + panel * self.width * self.inputs;
        self.numbers.get(at..).unwrap_or_default()
    }
}

// === impl Lanes ===

impl SimdOp for Lanes {
    type Output = usize;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> usize {
        isa.f32().len()
    }
}
