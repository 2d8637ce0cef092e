//! Axes: from values to pixels, and where the ticks are.

/// A linear or logarithmic axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    /// Pixels of `low` and `high`.
    pixels: (f64, f64),
}

impl Axis {
    /// An axis over all finite `values`, drawn between two `pixels`; a linear one begins at 0.
    pub fn new(values: impl Iterator<Item = f64>, logarithmic: bool, pixels: (f64, f64)) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite() && (!logarithmic || *value > 0.0)) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 2.0);
        }
        if !logarithmic {
            low = low.min(0.0);
        }
        if high <= low {
            high = if logarithmic { low * 10.0 } else { low + 1.0 };
        }
        if logarithmic {
            low = steps(low)
                .into_iter()
                .filter(|step| *step <= low * 1.0001)
                .fold(0.1 * low, f64::max);
            high = steps(high)
                .into_iter()
                .filter(|step| *step >= high * 0.9999)
                .fold(10.0 * high, f64::min);
        }
        Self {
            low,
            high,
            logarithmic,
            pixels,
        }
    }

    /// The pixel of a value; of one beyond an end, that end.
    #[must_use]
    pub fn pixel(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.pixels.0 + share.clamp(0.0, 1.0) * (self.pixels.1 - self.pixels.0)
    }

    /// The pixel where it begins.
    #[must_use]
    pub const fn start(&self) -> f64 {
        self.pixels.0
    }

    /// Round values inside the axis.
    #[must_use]
    pub fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let mut ticks = Vec::new();
            let mut decade = 10.0_f64.powf(self.low.log10().floor());
            while decade <= self.high {
                ticks.extend([1.0, 2.0, 5.0].map(|step| step * decade));
                decade *= 10.0;
            }
            ticks.retain(|tick| (self.low..=self.high).contains(tick));
            if ticks.len() > 9 {
                ticks.retain(|tick| (tick.log10() - tick.log10().round()).abs() < 1e-9);
            }
            return ticks;
        }
        let raw = (self.high - self.low) / 6.0;
        let power = 10.0_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|step| step * power)
            .into_iter()
            .find(|step| *step >= raw)
            .unwrap_or(raw);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|tick| tick as f64 * step).collect()
    }
}

/// The round values of a decade and of the beginning of the next.
fn steps(value: f64) -> [f64; 4] {
    let decade = 10.0_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|step| step * decade)
}

/// A short label.
#[must_use]
pub fn label(value: f64) -> String {
    let text = if value.abs() >= 10_000.0 {
        return format!("{}k", value / 1000.0);
    } else if value.abs() >= 1.0 || value == 0.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.4}")
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
