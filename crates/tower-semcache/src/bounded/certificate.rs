use super::error::InvalidSettings;
use super::mixture::Mixture;
use super::settings::Settings;

/// The certificate: bounds how many of the answers served were wrong, from audits decided by our
/// own coins alone.
///
/// It holds no clock and no source of chance, allocates nothing after [`new`](Self::new), and a
/// call takes a few microseconds at most. See the [module docs](super) for what it promises, under
/// which assumptions, and why that is so.
#[derive(Debug)]
pub struct Certificate {
    pub(super) settings: Settings,
    /// The segment that is running.
    pub(super) segment: Segment,
    /// What the segments before it add up to.
    pub(super) past: Past,
    pub(super) audits: Counts,
}

/// What runs from one restart to the next: a supermartingale with its own error probability.
#[derive(Debug)]
pub(super) struct Segment {
    /// From 1.
    pub(super) number: u32,
    pub(super) mixture: Mixture,
    /// What this segment adds to the grace. Kept: it takes a mixture to compute.
    pub(super) grace: f64,
    pub(super) served: u64,
    /// Wrong answers served in this segment: at most this many.
    pub(super) wrong: u64,
    /// Audits that are not settled yet.
    pub(super) pending: u64,
    pub(super) closed: bool,
}

/// The sums over closed segments.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(super) struct Past {
    pub(super) served: u64,
    pub(super) wrong: u64,
    pub(super) grace: f64,
}

/// Counts over the whole life.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(super) struct Counts {
    pub(super) begun: u64,
    pub(super) caught: u64,
    pub(super) failed: u64,
}

/// What the coin decided about one would-be hit.
#[derive(Debug)]
#[must_use = "the decision is counted: it must be carried out"]
pub enum Draw {
    /// Tails: serve the stored answer.
    Serve,
    /// Heads: ask the backend, give the caller the fresh answer, and have the two compared.
    Audit(Audit),
}

/// An audit that is under way. It counts as a wrong answer found until it is settled, and for ever
/// if it is dropped.
#[derive(Debug)]
#[must_use = "an audit that is dropped counts as a wrong answer for ever"]
pub struct Audit {
    segment: u32,
    rate: f64,
}

/// Whether the stored answer would have done in place of the fresh one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// They say the same.
    Same,
    /// They differ: the stored answer is wrong for this request.
    Different,
}

/// Where a certificate stands. All numbers are over the whole life unless they say otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Standing {
    /// Answers served: N.
    pub served: u64,
    /// An upper bound of the wrong ones among them: V is at most this, at the set confidence.
    pub wrong: u64,
    /// What `wrong` is held against: `max_wrong * served` + `grace`.
    pub allowed: f64,
    /// The sum of the graces of all segments so far: what the promise adds to `max_wrong * N`.
    pub grace: f64,
    /// How many more wrong answers could be served in this segment.
    pub credit: f64,
    /// Audits begun.
    pub audited: u64,
    /// Audits that found a difference.
    pub caught: u64,
    /// Audits that failed; they count as caught.
    pub failed: u64,
    /// Audits of this segment without a judgement so far; they count as caught meanwhile.
    pub pending: u64,
    /// How often serving began anew.
    pub restarts: u32,
    /// The least audit rate now.
    pub audit_rate: f64,
    /// Nothing is served until a restart.
    pub closed: bool,
}

// === impl Certificate ===

impl Certificate {
    /// A certificate that has seen nothing.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range, or the grace is too small for anything to be served.
    pub fn new(settings: Settings) -> Result<Self, InvalidSettings> {
        settings.check()?;
        Ok(Self {
            segment: Segment::new(&settings, 1),
            past: Past::default(),
            audits: Counts::default(),
            settings,
        })
    }

    /// The settings it was made with.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The least audit rate now. Whoever draws may ask for more, never for less.
    #[must_use]
    pub fn audit_rate(&self) -> f64 {
        self.settings.floor(self.segment.number)
    }

    /// Whether one more answer may be served: whether, if it is wrong, the promise still holds.
    #[must_use]
    pub fn may_serve(&self) -> bool {
        !self.segment.closed && self.credit() >= 0.0
    }

    /// How many wrong answers could be served beyond the next one in this segment. Below zero,
    /// nothing is served.
    #[must_use]
    pub fn credit(&self) -> f64 {
        let segment = &self.segment;
        let after = self.settings.max_wrong * (segment.served + 1) as f64 + segment.grace;
        after - segment.after_serving() as f64
    }

    /// For how many more wrong answers caught there is room in this segment.
    #[must_use]
    pub fn headroom(&self) -> f64 {
        let segment = &self.segment;
        let room = self.settings.max_wrong * segment.served as f64 + segment.grace
            - segment.mixture.bound() as f64;
        // One that is caught stands for this many that were served, and the bound takes a third
        // more.
        let rate = self.audit_rate();
        room / ((1.0 - rate) / rate * 4.0 / 3.0)
    }

    /// Decides about one would-be hit; `None` when nothing may be served.
    ///
    /// `rate` is the probability of an audit, raised to the [least one](Self::audit_rate) where it
    /// is below; whatever it depends on must be known before the coin. `coin` gives a number drawn
    /// uniformly from [0, 1), independent of everything else, and is asked at most once.
    pub fn draw(&mut self, rate: f64, coin: impl FnOnce() -> f64) -> Option<Draw> {
        if !self.may_serve() {
            return None;
        }
        let rate = self.segment.mixture.rate(rate);
        // Whatever is no number below the rate is tails; NaN must not be.
        let coin = coin();
        if coin.is_nan() || coin < rate {
            self.audits.begun = self.audits.begun.saturating_add(1);
            Some(Draw::Audit(self.segment.begin(rate)))
        } else {
            self.segment.serve();
            Some(Draw::Serve)
        }
    }

    /// An audit came to a judgement.
    pub fn judged(&mut self, audit: Audit, judgement: Judgement) {
        match judgement {
            Judgement::Same => self.segment.acquit(&audit),
            Judgement::Different => {
                self.audits.caught = self.audits.caught.saturating_add(1);
                self.segment.convict(&audit);
            }
        }
    }

    /// An audit came to nothing: the backend or the judge failed. It counts as a wrong answer found,
    /// since the failure might have to do with the answer.
    pub fn failed(&mut self, audit: Audit) {
        self.audits.failed = self.audits.failed.saturating_add(1);
        self.segment.convict(&audit);
    }

    /// Whether the credit is used up for good: no judgement that is awaited could bring it back.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.segment.pending == 0 && self.credit() < 0.0
    }

    /// Whether it was closed.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.segment.closed
    }

    /// Whether it was closed and may not begin anew.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.segment.closed && self.segment.number > self.settings.max_restarts
    }

    /// Stops serving until [`restart`](Self::restart).
    pub fn close(&mut self) {
        self.segment.closed = true;
    }

    /// Begins a new segment: with a smaller error probability, more audits, and a grace of its own
    /// on top of the others. `false`, and nothing changes, when there were as many restarts as
    /// allowed.
    ///
    /// Audits of the old segment may still be settled; they no longer change anything.
    pub fn restart(&mut self) -> bool {
        let old = &self.segment;
        if old.number > self.settings.max_restarts {
            return false;
        }
        self.past.served = self.past.served.saturating_add(old.served);
        self.past.wrong = self.past.wrong.saturating_add(old.wrong);
        self.past.grace += old.grace;
        self.segment = Segment::new(&self.settings, old.number + 1);
        true
    }

    /// Where it stands.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let segment = &self.segment;
        let served = self.past.served.saturating_add(segment.served);
        let grace = self.past.grace + segment.grace;
        Standing {
            served,
            wrong: self.past.wrong.saturating_add(segment.wrong),
            allowed: self.settings.max_wrong * served as f64 + grace,
            grace,
            credit: self.credit(),
            audited: self.audits.begun,
            caught: self.audits.caught,
            failed: self.audits.failed,
            pending: segment.pending,
            restarts: segment.number - 1,
            audit_rate: self.audit_rate(),
            closed: segment.closed,
        }
    }
}

// === impl Segment ===

impl Segment {
    pub(super) fn new(settings: &Settings, number: u32) -> Self {
        Self {
            number,
            mixture: settings.mixture(number),
            grace: settings.segment_grace(number),
            served: 0,
            // Nothing was served: nothing served was wrong.
            wrong: 0,
            pending: 0,
            closed: false,
        }
    }

    /// What `wrong` becomes when one more answer is served.
    ///
    /// Two bounds hold at once: that of the coins, and the bound before plus one. The smaller one
    /// wins, so that an audit that finds something, which lifts the first by a dozen, does not
    /// lift what is known about the past.
    fn after_serving(&self) -> u64 {
        self.mixture.bound().min(self.wrong.saturating_add(1))
    }

    fn serve(&mut self) {
        self.wrong = self.after_serving();
        self.served = self.served.saturating_add(1);
    }

    fn begin(&mut self, rate: f64) -> Audit {
        self.pending = self.pending.saturating_add(1);
        self.mixture.begin(rate);
        Audit {
            segment: self.number,
            rate,
        }
    }

    fn acquit(&mut self, audit: &Audit) {
        if self.is_over(audit) {
            return;
        }
        self.mixture.acquit(audit.rate, self.pending == 0);
        self.wrong = self.wrong.min(self.mixture.bound());
    }

    fn convict(&mut self, audit: &Audit) {
        if self.is_over(audit) {
            return;
        }
        self.mixture.convict(audit.rate, self.pending == 0);
    }

    /// Counts the audit as settled, if it is one of this segment.
    fn is_over(&mut self, audit: &Audit) -> bool {
        if audit.segment != self.number {
            return true;
        }
        self.pending = self.pending.saturating_sub(1);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: fn() -> f64 = || 0.0;
    const TAILS: fn() -> f64 = || 0.999_999;

    fn certificate() -> Certificate {
        Certificate::new(Settings::new(0.02, 0.95, 110.0)).expect("valid")
    }

    fn audit(certificate: &mut Certificate) -> Audit {
        match certificate.draw(0.0, HEADS) {
            Some(Draw::Audit(audit)) => audit,
            other => panic!("{other:?}"),
        }
    }

    fn serve(certificate: &mut Certificate) -> bool {
        matches!(certificate.draw(0.0, TAILS), Some(Draw::Serve))
    }

    #[test]
    fn the_first_answers_are_bounded_by_their_number_and_then_by_the_coins() {
        let mut certificate = certificate();
        assert_eq!(certificate.standing().wrong, 0);
        for n in 1..200 {
            assert!(serve(&mut certificate));
            let standing = certificate.standing();
            assert_eq!(standing.wrong, n.min(certificate.segment.mixture.bound()));
            assert!(standing.wrong as f64 <= standing.allowed);
        }
    }

    #[test]
    fn wrong_answers_caught_use_the_credit_up_and_close() {
        let mut certificate = certificate();
        while serve(&mut certificate) && certificate.standing().served < 500 {}
        let mut caught = 0;
        while certificate.may_serve() {
            let audit = audit(&mut certificate);
            certificate.judged(audit, Judgement::Different);
            caught += 1;
            assert!(caught < 100);
            while serve(&mut certificate) && !certificate.standing().served.is_multiple_of(100) {}
        }
        assert!(certificate.exhausted());
        assert!(
            certificate
                .draw(0.0, || unreachable!("no coin is asked"))
                .is_none()
        );
        let standing = certificate.standing();
        assert!(standing.wrong as f64 <= standing.allowed, "{standing:?}");
        assert_eq!(standing.caught, caught);
    }

    #[test]
    fn a_failed_or_forgotten_audit_counts_like_one_that_caught_something() {
        let bound = |settle: fn(&mut Certificate, Audit)| {
            let mut certificate = certificate();
            let audit = audit(&mut certificate);
            settle(&mut certificate, audit);
            certificate.segment.mixture.bound()
        };
        let caught = bound(|c, audit| c.judged(audit, Judgement::Different));
        assert_eq!(bound(|c, audit| c.failed(audit)), caught);
        assert_eq!(bound(|_, audit| drop(audit)), caught);
        assert!(bound(|c, audit| c.judged(audit, Judgement::Same)) < caught);
    }

    #[test]
    fn a_restart_adds_its_grace_and_leaves_the_past_alone() {
        let mut certificate = certificate();
        for _ in 0..300 {
            assert!(serve(&mut certificate));
        }
        let late = audit(&mut certificate);
        let before = certificate.standing();
        certificate.close();
        assert!(!serve(&mut certificate));
        assert!(certificate.restart());
        let after = certificate.standing();
        assert_eq!((after.served, after.wrong), (before.served, before.wrong));
        assert!(after.grace > before.grace);
        assert!(after.audit_rate >= 0.3);
        certificate.judged(late, Judgement::Different);
        assert_eq!(certificate.standing().credit, after.credit);
        assert_eq!(certificate.standing().pending, 0);
        assert!(serve(&mut certificate));
    }

    #[test]
    fn error_probabilities_of_all_segments_sum_to_no_more_than_the_whole() {
        let settings = Settings::new(0.02, 0.95, 110.0);
        let sum: f64 = (1..100_000).map(|k| settings.alpha(k)).sum();
        assert!(sum <= 0.05 && sum > 0.0499);
    }

    #[test]
    fn restarts_end() {
        let mut certificate =
            Certificate::new(Settings::new(0.02, 0.95, 110.0).max_restarts(2)).expect("valid");
        assert!(certificate.restart() && certificate.restart() && !certificate.restart());
        assert_eq!(certificate.standing().restarts, 2);
    }

    #[test]
    fn settings_that_promise_nothing_are_refused() {
        let good = Settings::new(0.02, 0.95, 110.0);
        for (settings, name) in [
            (Settings::new(0.0, 0.95, 110.0), "max_wrong"),
            (Settings::new(0.02, 1.0, 110.0), "confidence"),
            (Settings::new(0.02, f64::NAN, 110.0), "confidence"),
            (Settings::new(0.02, 0.95, 40.0), "grace"),
            (Settings::new(0.02, 0.95, f64::INFINITY), "grace"),
            (good.audit_rate(0.0), "audit_rate"),
            (good.restart_audit_rate(0.2), "restart_audit_rate"),
            (good.judge_misses(1.0), "judge_misses"),
        ] {
            let error = Certificate::new(settings).expect_err(name);
            assert_eq!(error.setting(), name, "{error}");
        }
        assert!(Certificate::new(good).is_ok());
    }

    #[test]
    fn the_suggested_grace_has_room_for_three_caught() {
        let settings = Settings::new(0.02, 0.95, 0.0);
        assert_eq!(settings.suggested_grace(), Ok(110.0));
        assert_eq!(settings.audit_rate(0.2).suggested_grace(), Ok(51.0));
        assert_eq!(settings.audit_rate(0.3).suggested_grace(), Ok(31.0));
    }

    #[test]
    fn a_judge_that_may_miss_makes_the_bound_grow_faster() {
        let bound = |misses| {
            let settings = Settings::new(0.02, 0.95, 500.0).judge_misses(misses);
            let mut certificate = Certificate::new(settings).expect("valid");
            for _ in 0..10 {
                let audit = audit(&mut certificate);
                certificate.judged(audit, Judgement::Different);
            }
            certificate.segment.mixture.bound()
        };
        assert!(bound(0.0) < bound(0.1) && bound(0.1) < bound(0.3));
    }
}
