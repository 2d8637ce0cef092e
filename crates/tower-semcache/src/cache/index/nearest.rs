/// The rows whose signs differ least from the asked ones, as many as are wanted.
#[derive(Debug)]
pub(super) struct Nearest {
    wanted: usize,
    /// Whoever differs in more signs is not among them.
    limit: u16,
    /// Up to twice as many as wanted, so that cutting back costs O(1) a row.
    met: Vec<Near>,
}

/// A row by its place: that holds while no writer passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Near {
    /// In how many signs it differs.
    pub(super) distance: u16,
    pub(super) place: u32,
}

/// Rows looked at together: in most blocks that are not left early, one is near.
const GROUP: usize = 32;

// === impl Nearest ===

impl Nearest {
    pub(super) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            limit: u16::MAX,
            met: Vec::with_capacity(2 * wanted),
        }
    }

    pub(super) const fn limit(&self) -> u16 {
        self.limit
    }

    pub(super) const fn met(&mut self) -> &mut Vec<Near> {
        &mut self.met
    }

    /// Offers rows one after another, the first of which has this place. Those that differ in more
    /// signs than `limit` are not meant.
    pub(super) fn offer(&mut self, first: u32, distances: &[u16], limit: u16) {
        let mut limit = limit.min(self.limit);
        for (first, group) in (first..).step_by(GROUP).zip(distances.chunks(GROUP)) {
            if group.iter().fold(u16::MAX, |least, d| least.min(*d)) > limit {
                continue;
            }
            for (place, distance) in (first..).zip(group.iter().copied()) {
                if distance <= limit {
                    self.met.push(Near { distance, place });
                    if self.met.len() >= 2 * self.wanted {
                        self.cut();
                        limit = limit.min(self.limit);
                    }
                }
            }
        }
    }

    /// No more than are wanted, the nearest last. One may be among them twice when it was moved meanwhile.
    pub(super) fn into_rows(mut self) -> Vec<Near> {
        self.cut();
        self.met.sort_unstable_by(|one, two| two.cmp(one));
        self.met
    }

    /// Keeps the nearest ones: no row as far as the furthest of them is wanted any more.
    fn cut(&mut self) {
        let Some(last) = self.wanted.checked_sub(1) else {
            self.met.clear();
            return;
        };
        if self.met.len() > last {
            let (_, furthest, _) = self.met.select_nth_unstable(last);
            self.limit = self.limit.min(furthest.distance.saturating_sub(1));
            self.met.truncate(self.wanted);
        }
    }
}
