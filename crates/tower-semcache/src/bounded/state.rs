use super::certificate::{Certificate, Counts, Past, Segment};
use super::error::InvalidState;
use super::settings::Settings;

/// What a certificate must remember to go on after a restart of the process.
///
/// Audits that were pending are kept as failed: their judgement would reach nobody.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    version: u32,
    settings: Settings,
    past: Past,
    audits: Counts,
    segment: u32,
    served: u64,
    wrong: u64,
    closed: bool,
    sums: Vec<f64>,
}

/// The form of the state, and the bets its sums belong to.
const VERSION: u32 = 1;

// === impl Certificate ===

impl Certificate {
    /// The state as of now.
    #[must_use]
    pub fn state(&self) -> State {
        let Self {
            settings,
            segment,
            past,
            audits,
        } = self;
        let mut audits = *audits;
        audits.failed = audits.failed.saturating_add(segment.pending);
        State {
            version: VERSION,
            settings: *settings,
            past: *past,
            audits,
            segment: segment.number,
            served: segment.served,
            wrong: segment.wrong,
            closed: segment.closed,
            sums: segment.mixture.sums(),
        }
    }

    /// Goes on from a state.
    ///
    /// A state must be resumed at most once, and must be the last one: what was served after it was
    /// taken is in no count. Whoever stores states stores one at least at every clean end, and
    /// begins anew after any other.
    ///
    /// # Errors
    ///
    /// When the state was taken under other settings (a promise is one about one setting), by
    /// another version, or cannot be one.
    pub fn resume(settings: Settings, state: &State) -> Result<Self, InvalidState> {
        if state.version != VERSION {
            return Err(InvalidState::new("it is of another version"));
        }
        settings
            .check()
            .map_err(|_| InvalidState::new("the settings are not valid"))?;
        if state.settings != settings {
            return Err(InvalidState::new("it was taken under other settings"));
        }
        if state.segment == 0 || state.segment - 1 > settings.max_restarts {
            return Err(InvalidState::new("there is no such segment"));
        }
        if state.wrong > state.served || state.past.wrong > state.past.served {
            return Err(InvalidState::new("more were wrong than were served"));
        }
        let grace: f64 = (1..state.segment).map(|k| settings.segment_grace(k)).sum();
        let mixture = settings
            .mixture(state.segment)
            .resume(&state.sums)
            .ok_or(InvalidState::new("its sums are not those of this mixture"))?;
        Ok(Self {
            settings,
            segment: Segment {
                number: state.segment,
                mixture,
                grace: settings.segment_grace(state.segment),
                served: state.served,
                wrong: state.wrong,
                pending: 0,
                closed: state.closed,
            },
            past: Past {
                grace,
                ..state.past
            },
            audits: state.audits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::certificate::{Draw, Judgement};
    use super::*;

    /// A run of coins and judgements: everything that is not tails of a multiple of seven is right.
    fn run(certificate: &mut Certificate, from: u64, to: u64) {
        for t in from..to {
            let coin = (t as f64 * 0.618_033_988_749).fract();
            match certificate.draw(0.1 + (t % 3) as f64 / 10.0, || coin) {
                Some(Draw::Audit(audit)) if t % 7 == 0 => {
                    certificate.judged(audit, Judgement::Different);
                }
                Some(Draw::Audit(audit)) => certificate.judged(audit, Judgement::Same),
                Some(Draw::Serve) => {}
                None => assert!(certificate.restart()),
            }
        }
    }

    fn settings() -> Settings {
        Settings::new(0.05, 0.95, 120.0).max_restarts(1_000)
    }

    fn through_json(state: &State) -> State {
        let text = serde_json::to_string(state).expect("serialises");
        serde_json::from_str(&text).expect("parses")
    }

    #[test]
    fn stopping_and_resuming_gives_the_same_numbers() {
        let mut whole = Certificate::new(settings()).expect("valid");
        run(&mut whole, 0, 3_000);
        for stop in [0, 1, 777, 1_500, 2_999] {
            let mut first = Certificate::new(settings()).expect("valid");
            run(&mut first, 0, stop);
            let state = through_json(&first.state());
            let mut second = Certificate::resume(settings(), &state).expect("fits");
            assert_eq!(first.standing(), second.standing());
            run(&mut second, stop, 3_000);
            assert_eq!(whole.standing(), second.standing(), "stopped at {stop}");
        }
        assert!(whole.standing().restarts > 0);
    }

    #[test]
    fn an_audit_pending_at_the_stop_counts_as_failed() {
        let mut certificate = Certificate::new(settings()).expect("valid");
        let Some(Draw::Audit(audit)) = certificate.draw(0.1, || 0.0) else {
            panic!("heads")
        };
        let resumed = Certificate::resume(settings(), &certificate.state()).expect("fits");
        certificate.failed(audit);
        assert_eq!(resumed.standing(), certificate.standing());
    }

    #[test]
    fn a_state_that_does_not_fit_is_refused() {
        let mut certificate = Certificate::new(settings()).expect("valid");
        run(&mut certificate, 0, 100);
        let good = certificate.state();
        assert!(Certificate::resume(settings().audit_rate(0.2), &good).is_err());
        let refused = |change: fn(&mut State)| {
            let mut state = good.clone();
            change(&mut state);
            Certificate::resume(settings(), &state).is_err()
        };
        assert!(!refused(|_| {}));
        assert!(refused(|state| state.version += 1));
        assert!(refused(|state| state.segment = 0));
        assert!(refused(|state| state.segment = 5_000));
        assert!(refused(|state| state.wrong = state.served + 1));
        assert!(refused(|state| state.sums.truncate(3)));
        assert!(refused(|state| state.sums = vec![f64::NAN; 9]));
        assert!(refused(|state| state.sums = vec![-1.0; 9]));
    }
}
