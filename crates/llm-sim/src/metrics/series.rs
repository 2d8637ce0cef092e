//! A series over time of bounded length.

/// Samples of `N` values over time: at most 2,048 of them, thinned evenly when full.
#[derive(Clone, Debug)]
pub struct Series<const N: usize> {
    samples: Vec<(f64, [f64; N])>,
    every_ms: f64,
    next_ms: f64,
}

const LIMIT: usize = 2048;

impl<const N: usize> Series<N> {
    /// A series with a sample every `every_ms` to begin with.
    #[must_use]
    pub const fn new(every_ms: f64) -> Self {
        Self {
            samples: Vec::new(),
            every_ms,
            next_ms: 0.0,
        }
    }

    /// Offers the values at a time; they are kept where a sample is due.
    pub fn offer(&mut self, now_ms: f64, values: [f64; N]) {
        if now_ms < self.next_ms {
            return;
        }
        if self.samples.len() >= LIMIT {
            let mut keep = false;
            self.samples.retain(|_| {
                keep = !keep;
                keep
            });
            self.every_ms *= 2.0;
        }
        self.samples.push((now_ms, values));
        self.next_ms = now_ms + self.every_ms;
    }

    /// The samples: milliseconds and values.
    #[must_use]
    pub fn samples(&self) -> &[(f64, [f64; N])] {
        &self.samples
    }
}
