use super::error::InvalidSettings;
use super::mixture::Mixture;

/// What is promised, and the audits that pay for it.
///
/// The promise is `P(for all T: V_T <= max_wrong * N_T + grace) >= confidence`, with `N_T` answers
/// served and `V_T` wrong ones among them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Settings {
    pub(super) max_wrong: f64,
    pub(super) confidence: f64,
    pub(super) grace: f64,
    pub(super) audit_rate: f64,
    pub(super) restart_audit_rate: f64,
    pub(super) judge_misses: f64,
    pub(super) max_restarts: u32,
}

/// The smallest share of would-be hits that is audited after a restart.
///
/// At 0.3 a wrong answer that is caught tells of 2.3 that were served; at 0.1, of nine. A segment
/// that follows a failure has to learn quickly.
pub const MIN_RESTART_AUDIT_RATE: f64 = 0.3;

/// For how many wrong answers caught there must be room in a segment before it closes.
const ROOM: u32 = 3;

// === impl Settings ===

impl Settings {
    /// The promise, with audits at 0.1, at 0.3 after a restart, and a judge that misses nothing.
    ///
    /// `max_wrong` and `confidence` are shares in (0, 1); `grace` is a number of answers. See
    /// [`suggested_grace`](Self::suggested_grace).
    #[must_use]
    pub const fn new(max_wrong: f64, confidence: f64, grace: f64) -> Self {
        Self {
            max_wrong,
            confidence,
            grace,
            audit_rate: 0.1,
            restart_audit_rate: MIN_RESTART_AUDIT_RATE,
            judge_misses: 0.0,
            max_restarts: 8,
        }
    }

    /// The least share of would-be hits that is audited. Default: 0.1.
    #[must_use]
    pub const fn audit_rate(mut self, rate: f64) -> Self {
        self.audit_rate = rate;
        self
    }

    /// The same after a restart; at least [`MIN_RESTART_AUDIT_RATE`]. Default: 0.3.
    #[must_use]
    pub const fn restart_audit_rate(mut self, rate: f64) -> Self {
        self.restart_audit_rate = rate;
        self
    }

    /// An upper bound of the share of wrong answers in which the judge sees nothing wrong.
    /// Default: 0.
    #[must_use]
    pub const fn judge_misses(mut self, share: f64) -> Self {
        self.judge_misses = share;
        self
    }

    /// How often serving may begin anew after it was closed. Each time adds to the grace. Default: 8.
    #[must_use]
    pub const fn max_restarts(mut self, restarts: u32) -> Self {
        self.max_restarts = restarts;
        self
    }

    /// A grace with room for three wrong answers caught before anything was served: about 110 at an
    /// audit rate of 0.1, about 30 at 0.3, both at a confidence of 0.95.
    ///
    /// # Errors
    ///
    /// When any other setting is out of its range.
    pub fn suggested_grace(&self) -> Result<f64, InvalidSettings> {
        self.check_shares()?;
        Ok(self.room(1))
    }

    /// The error probability of the k-th segment, k from 1. The sum over all k is `1 - confidence`.
    pub(super) fn alpha(&self, segment: u32) -> f64 {
        let k = f64::from(segment);
        (1.0 - self.confidence) / (k * (k + 1.0))
    }

    /// The least audit rate of the k-th segment.
    pub(super) fn floor(&self, segment: u32) -> f64 {
        if segment <= 1 {
            self.audit_rate
        } else {
            self.restart_audit_rate
        }
    }

    /// What the k-th segment adds to the grace.
    pub(super) fn segment_grace(&self, segment: u32) -> f64 {
        if segment <= 1 {
            self.grace
        } else {
            self.room(segment)
        }
    }

    pub(super) fn mixture(&self, segment: u32) -> Mixture {
        Mixture::new(self.floor(segment), self.judge_misses, self.alpha(segment))
    }

    fn room(&self, segment: u32) -> f64 {
        let mut mixture = self.mixture(segment);
        for _ in 0..ROOM {
            mixture.caught(self.floor(segment));
        }
        mixture.bound() as f64
    }

    /// # Errors
    ///
    /// When a setting is out of its range, or the grace is so small that nothing could ever be
    /// served.
    pub(super) fn check(&self) -> Result<(), InvalidSettings> {
        self.check_shares()?;
        if !self.grace.is_finite() {
            return Err(InvalidSettings::new("grace", self.grace, "a finite number"));
        }
        let least = self.mixture(1).bound() as f64;
        if self.grace < least {
            return Err(InvalidSettings::grace(self.grace, least));
        }
        Ok(())
    }

    fn check_shares(&self) -> Result<(), InvalidSettings> {
        let share = |name, value: f64| {
            // Written so that NaN fails.
            if value > 0.0 && value < 1.0 {
                Ok(())
            } else {
                Err(InvalidSettings::new(name, value, "a number in (0, 1)"))
            }
        };
        share("max_wrong", self.max_wrong)?;
        share("confidence", self.confidence)?;
        share("audit_rate", self.audit_rate)?;
        share("restart_audit_rate", self.restart_audit_rate)?;
        if self.restart_audit_rate < MIN_RESTART_AUDIT_RATE {
            let rate = self.restart_audit_rate;
            return Err(InvalidSettings::new(
                "restart_audit_rate",
                rate,
                "at least 0.3",
            ));
        }
        if !(0.0..1.0).contains(&self.judge_misses) {
            let share = self.judge_misses;
            return Err(InvalidSettings::new(
                "judge_misses",
                share,
                "a number in [0, 1)",
            ));
        }
        Ok(())
    }
}
