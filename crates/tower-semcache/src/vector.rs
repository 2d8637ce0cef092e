use fearless_simd::{Level, dispatch};

/// What an embedder says about a text: coordinates, of any length above zero and any norm.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(Vec<f32>);

/// A vector of norm one, checked to be finite: the only kind that is compared.
#[derive(Clone, Debug)]
pub(crate) struct Unit(Box<[f32]>);

/// Partial sums kept apart, so that the compiler may use one vector register for each few of them.
const LANES: usize = 16;

// === impl Vector ===

impl Vector {
    /// The coordinates.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }
}

impl From<Vec<f32>> for Vector {
    fn from(coordinates: Vec<f32>) -> Self {
        Self(coordinates)
    }
}

// === impl Unit ===

impl Unit {
    /// Normalises; `None` for a vector without a direction: empty, zero or not finite.
    pub(crate) fn new(Vector(mut coordinates): Vector) -> Option<Self> {
        let norm = coordinates
            .iter()
            .map(|x| f64::from(*x).powi(2))
            .sum::<f64>()
            .sqrt();
        if !norm.is_finite() || norm == 0.0 {
            return None;
        }
        for x in &mut coordinates {
            *x = (f64::from(*x) / norm) as f32;
        }
        Some(Self(coordinates.into_boxed_slice()))
    }

    pub(crate) fn as_slice(&self) -> &[f32] {
        &self.0
    }
}

/// The inner product of two slices of one length.
///
/// A plain loop, compiled for several instruction sets, of which the machine's best is taken at run
/// time. The order of the sums is fixed and nothing is fused: the result has the same bits on all.
pub(crate) fn dot(one: &[f32], two: &[f32]) -> f64 {
    dispatch!(Level::new(), _simd => sum_of_products(one, two))
}

#[inline(always)]
fn sum_of_products(one: &[f32], two: &[f32]) -> f64 {
    let (one, one_rest) = one.as_chunks::<LANES>();
    let (two, two_rest) = two.as_chunks::<LANES>();
    let mut sums = [0.0f32; LANES];
    for (a, b) in one.iter().zip(two) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    let rest: f32 = one_rest.iter().zip(two_rest).map(|(x, y)| x * y).sum();
    sums.iter().map(|x| f64::from(*x)).sum::<f64>() + f64::from(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_without_a_direction_is_no_unit() {
        for bad in [
            vec![],
            vec![0.0; 4],
            vec![1.0, f32::NAN],
            vec![f32::INFINITY, 0.0],
        ] {
            assert!(Unit::new(Vector::from(bad.clone())).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn the_inner_product_of_a_unit_with_itself_is_one_at_every_length() {
        for len in 1..100 {
            let coordinates = (0..len).map(|i| (i as f32).sin() + 0.5).collect::<Vec<_>>();
            let unit = Unit::new(Vector::from(coordinates)).expect("finite");
            assert!(
                (dot(unit.as_slice(), unit.as_slice()) - 1.0).abs() < 1e-6,
                "{len}"
            );
        }
    }
}
