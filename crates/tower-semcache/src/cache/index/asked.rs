use std::sync::Arc;

use super::centre::Centre;
use super::code;

/// The asked vector, coded about the centres of the blocks that are met: one, or two while a scope
/// changes its own.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    coordinates: &'a [f32],
    /// Rows that do not reach this cosine are not looked for.
    floor: f64,
    coded: Vec<Coded>,
}

#[derive(Debug)]
pub(super) struct Coded {
    centre: Arc<Centre>,
    away: f64,
    pub(super) signs: Vec<u8>,
    /// After so many steps of signs: who differs in more of them does not reach the floor.
    pub(super) limits: Vec<u16>,
}

// === impl Asked ===

impl<'a> Asked<'a> {
    pub(super) const fn new(coordinates: &'a [f32], floor: f64) -> Self {
        Self {
            coordinates,
            floor,
            coded: Vec::new(),
        }
    }

    pub(super) fn about(&mut self, centre: &Arc<Centre>) -> Option<&mut Coded> {
        let known = |coded: &Coded| Arc::ptr_eq(&coded.centre, centre);
        let number = match self.coded.iter().position(known) {
            Some(number) => number,
            None => {
                self.coded.push(Coded::new(self, centre));
                self.coded.len() - 1
            }
        };
        self.coded.get_mut(number)
    }

    /// In how many signs a row may differ that reaches this cosine, whatever the centre of its block.
    pub(super) fn limit(&self, cosine: f64) -> u16 {
        let signs = self.coordinates.len();
        let limits = self.coded.iter().map(|coded| coded.limit(signs, cosine));
        limits.max().unwrap_or(u16::MAX)
    }
}

// === impl Coded ===

impl Coded {
    fn new(asked: &Asked<'_>, centre: &Arc<Centre>) -> Self {
        let words = code::words(asked.coordinates, centre.mean());
        let mut this = Self {
            centre: Arc::clone(centre),
            away: centre.away(asked.coordinates),
            signs: words.flat_map(u64::to_le_bytes).collect(),
            limits: Vec::new(),
        };
        let steps = 1..=this.signs.len().div_ceil(code::STEP);
        let signs = steps.map(|n| (n * code::STEP * 8).min(asked.coordinates.len()));
        this.limits = signs.map(|n| this.limit(n, asked.floor)).collect();
        this
    }

    fn limit(&self, signs: usize, cosine: f64) -> u16 {
        let limit = self.centre.limit(signs, self.away, cosine);
        limit.map_or(u16::MAX, |limit| limit as u16)
    }
}
