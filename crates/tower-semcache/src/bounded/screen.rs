/// The levels: the share of δ that the answers of a level should be wrong in, the strictest first.
///
/// Not thresholds of the score: a new score gets new thresholds, and the levels mean the same.
pub(super) const LEVELS: [f64; 7] = [0.05, 0.1, 0.15, 0.22, 0.32, 0.45, 0.6];

/// What the judged would-be hits must show at a level: fewer than this many times δ wrong.
///
/// The certificate keeps δ itself. A screen that asked for δ would take three times the labels.
const SLACK: f64 = 3.0;

/// The bets, as shares of the largest one.
const BETS: [f64; 6] = [0.1, 0.25, 0.45, 0.65, 0.85, 1.0];

/// Which level may serve, from labels alone.
#[derive(Clone, Debug)]
pub(super) struct Screen {
    /// δ′.
    target: f64,
    /// J/α.
    needed: f64,
    evidence: [Evidence; LEVELS.len()],
    /// How often the evidence was given a new start.
    starts: u32,
    /// The level in use: those below and at it may serve.
    open: Option<usize>,
}

/// A wealth per bet: the sum over all starts so far of their weight times their growth since.
#[derive(Clone, Copy, Debug)]
struct Evidence {
    wealth: [f64; BETS.len()],
}

// === impl Screen ===

impl Screen {
    pub(super) fn new(max_wrong: f64, alpha: f64) -> Self {
        let mut screen = Self {
            target: (SLACK * max_wrong).min(0.5),
            needed: LEVELS.len() as f64 / alpha,
            evidence: [Evidence {
                wealth: [0.0; BETS.len()],
            }; LEVELS.len()],
            starts: 0,
            open: None,
        };
        screen.start();
        screen
    }

    /// Lets the evidence begin once more, with what is left of the weight: what was bad before a
    /// change need not be made up for.
    pub(super) fn start(&mut self) {
        let k = f64::from(self.starts);
        let weight = 1.0 / ((k + 1.0) * (k + 2.0)) / BETS.len() as f64;
        self.starts = self.starts.saturating_add(1);
        for evidence in &mut self.evidence {
            for wealth in &mut evidence.wealth {
                *wealth += weight;
            }
        }
    }

    /// A would-be hit of this level, and so of all above it, was judged.
    ///
    /// The bet on a would-be hit that is judged with probability π is π times the one on a sure one,
    /// and its label counts 1/π: what is left is the same factor for every label.
    pub(super) fn label(&mut self, level: usize, wrong: bool) {
        let gain = (self.target - f64::from(u8::from(wrong))) / (1.0 - self.target);
        for evidence in self.evidence.iter_mut().skip(level) {
            for (wealth, share) in evidence.wealth.iter_mut().zip(BETS) {
                // At the largest bet a wrong answer takes everything; keep rounding out of it.
                *wealth = (*wealth * (1.0 + share * gain).max(0.0)).min(1e100);
            }
        }
    }

    /// Opens the loosest level that the evidence allows. Levels open, and do not close by
    /// themselves: for that there are the audits.
    pub(super) fn reopen(&mut self) -> bool {
        let needed = self.needed;
        let best = self
            .evidence
            .iter()
            .rposition(|evidence| evidence.total() >= needed);
        let opened = self.open.is_none() && best.is_some();
        self.open = self.open.max(best);
        opened
    }

    /// Forgets all evidence.
    pub(super) fn close(&mut self) {
        for evidence in &mut self.evidence {
            evidence.wealth = [0.0; BETS.len()];
        }
        self.starts = 0;
        self.open = None;
        self.start();
    }

    pub(super) const fn open(&self) -> Option<usize> {
        self.open
    }

    /// The largest evidence of any level, over what is needed: 1 opens.
    pub(super) fn evidence(&self) -> f64 {
        let totals = self.evidence.iter().map(Evidence::total);
        totals.fold(0.0, f64::max) / self.needed
    }
}

// === impl Evidence ===

impl Evidence {
    fn total(&self) -> f64 {
        self.wealth.iter().sum()
    }
}

/// Watches the audits of served levels: an alarm when wrong ones come too thick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cusum {
    up: f64,
    down: f64,
    sum: f64,
}

/// The logarithm of how much likelier the bad rate must be: one false alarm in some hundred times
/// the audits it takes to see a change.
const ALARM: f64 = 5.0;

// === impl Cusum ===

impl Cusum {
    /// Tells a rate of δ from one of four times δ.
    pub(super) fn new(max_wrong: f64) -> Self {
        let bad = (4.0 * max_wrong).min(0.9);
        let good = max_wrong.min(bad / 2.0);
        Self {
            up: (bad / good).ln(),
            down: ((1.0 - bad) / (1.0 - good)).ln(),
            sum: 0.0,
        }
    }

    /// `true`: alarm. It begins anew then.
    pub(super) fn audit(&mut self, wrong: bool) -> bool {
        let step = if wrong { self.up } else { self.down };
        self.sum = (self.sum + step).max(0.0);
        let alarm = self.sum >= ALARM;
        if alarm {
            self.sum = 0.0;
        }
        alarm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in [0, 1) that look random and are the same everywhere.
    fn chance(state: &mut u64) -> f64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1u64 << 53) as f64
    }

    fn labels_to_open(max_wrong: f64) -> usize {
        let mut screen = Screen::new(max_wrong, 0.05);
        for n in 1.. {
            screen.label(0, false);
            if screen.reopen() {
                return n;
            }
        }
        unreachable!("right labels open it")
    }

    #[test]
    fn right_labels_open_every_level_they_belong_to() {
        assert_eq!([0.01, 0.02, 0.05].map(labels_to_open), [232, 114, 44]);
        let mut screen = Screen::new(0.02, 0.05);
        for _ in 0..200 {
            screen.label(3, false);
        }
        assert!(screen.evidence() >= 1.0);
        screen.reopen();
        assert_eq!(screen.open(), Some(LEVELS.len() - 1));
    }

    #[test]
    fn levels_that_are_wrong_too_often_hardly_ever_open() {
        let (mut state, mut opened) = (1, 0);
        let runs = 400;
        for _ in 0..runs {
            let mut screen = Screen::new(0.02, 0.05);
            for n in 0..3_000 {
                let wrong = chance(&mut state) < SLACK * 0.02;
                screen.label(LEVELS.len() - 1, wrong);
                if n % 300 == 0 {
                    screen.start();
                }
                screen.reopen();
            }
            opened += usize::from(screen.open().is_some());
        }
        assert!(opened * 20 <= runs, "{opened}");
    }

    #[test]
    fn a_bad_beginning_is_overcome_by_a_new_start() {
        let mut screen = Screen::new(0.02, 0.05);
        for _ in 0..100 {
            screen.label(0, true);
        }
        for _ in 0..300 {
            screen.label(0, false);
        }
        assert!(!screen.reopen());
        screen.start();
        for _ in 0..300 {
            screen.label(0, false);
        }
        assert!(screen.reopen());
    }

    #[test]
    fn what_is_closed_needs_all_evidence_again() {
        let mut screen = Screen::new(0.02, 0.05);
        for _ in 0..500 {
            screen.label(0, false);
        }
        assert!(screen.reopen());
        screen.close();
        assert!(!screen.reopen());
        assert_eq!(screen.open(), None);
    }

    #[test]
    fn the_alarm_goes_off_after_a_change_and_hardly_ever_before() {
        let mut state = 7;
        let mut good = Cusum::new(0.02);
        let alarms = (0..20_000)
            .filter(|_| good.audit(chance(&mut state) < 0.01))
            .count();
        assert!(alarms <= 2, "{alarms}");
        for _ in 0..50 {
            let mut bad = good;
            let delay = (0..).find(|_| bad.audit(chance(&mut state) < 0.25));
            assert!(delay.is_some_and(|delay| delay < 100), "{delay:?}");
        }
    }
}
