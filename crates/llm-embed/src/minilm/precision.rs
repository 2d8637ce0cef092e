//! How exactly a model computes.

use std::fmt;

/// In which numbers the dense layers of a model are computed.
///
/// The rest (attention, normalisation, activations) is 32-bit in either. The two give vectors that
/// are close (cosine 0.98 and more) and not the same: each has an [id](crate::EmbedderId) of its own,
/// and thresholds found with one say nothing of the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32-bit floating point, as published.
    #[default]
    Fp32,
    /// 8-bit integers, made of the same file when it is loaded: a quarter of the memory, and two to
    /// three times as fast where the processor multiplies them (VNNI, dot products of ARM).
    Int8,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fp32 => "fp32",
            Self::Int8 => "int8",
        })
    }
}
