//! A semantic cache on a stream of requests, simulated: how much does it serve, how much of that is
//! wrong, and does it keep its promise?
//!
//! Labelled texts arrive one by one at an empty cache; texts of one class have one answer. What is not
//! served becomes an entry. Every text arrives once, so that a hit is never a repeat. [`simulate`] makes
//! one run of one [`Policy`]; a [`Summary`] is made of many, one a seed. Runs differ in the order
//! of arrival and in their coins, and are the same on every machine up to the last digit of its
//! exponential function.

mod chance;
mod order;
mod ours;
mod rule;
mod space;
mod summary;
mod threshold;
mod vcache;

pub use self::order::Order;
pub use self::rule::Counts;
pub use self::space::Space;
pub use self::summary::{Range, Summary};

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use tower_semcache::bounded::error::InvalidSettings;
use tower_semcache::bounded::{Controller, Settings};

use self::chance::Chance;
use self::ours::Bounded;
use self::rule::{Judge, run};
use self::threshold::Threshold;
use self::vcache::Vcache;

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// `Matching::Bounded`, with these settings.
    Bounded(Settings),
    /// vCache, with this share of errors among all requests.
    Vcache(f64),
    /// A fixed cosine.
    Threshold(f32),
}

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenario {
    /// Who decides.
    pub policy: Policy,
    /// The order of arrival.
    pub order: Order,
    /// How often the judge sees a difference where there is none.
    pub false_alarms: f64,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// What happened.
    pub counts: Counts,
    /// What the certificate says at the end; only of [`Policy::Bounded`].
    pub certificate: Option<Certificate>,
}

/// The end of a run under a certificate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Certificate {
    /// The bound of the wrong answers served: V̄.
    pub bound: u64,
    /// The sum of the graces: Σ c.
    pub grace: f64,
    /// How often serving began anew.
    pub restarts: u32,
    /// How often the audits raised an alarm.
    pub alarms: u32,
    /// Audits.
    pub audited: u64,
    /// Audits that found something.
    pub caught: u64,
    /// Requests that were not served, by reason.
    pub refused: BTreeMap<&'static str, u64>,
}

const COINS: u64 = 11;
const JUDGE: u64 = 12;

/// Makes one run.
///
/// # Errors
///
/// Settings that are out of their range.
pub fn simulate(space: &Space, scenario: &Scenario, seed: u64) -> Result<Run, InvalidSettings> {
    let stream = scenario.order.stream(space.classes(), seed);
    let coins = Chance::new(seed, COINS);
    let judge = Judge {
        false_alarms: scenario.false_alarms,
        chance: Chance::new(seed, JUDGE),
    };
    let without = |counts| Run {
        counts,
        certificate: None,
    };
    Ok(match scenario.policy {
        Policy::Threshold(cosine) => without(run(space, &stream, &mut Threshold(cosine), judge)),
        Policy::Vcache(max_error) => without(run(
            space,
            &stream,
            &mut Vcache::new(max_error, coins),
            judge,
        )),
        Policy::Bounded(settings) => {
            let mut rule = Bounded::new(Controller::new(settings)?, coins);
            let counts = run(space, &stream, &mut rule, judge);
            let snapshot = rule.snapshot();
            let standing = snapshot.certificate;
            Run {
                counts,
                certificate: Some(Certificate {
                    bound: standing.wrong,
                    grace: standing.grace,
                    restarts: standing.restarts,
                    alarms: snapshot.alarms,
                    audited: standing.audited,
                    caught: standing.caught,
                    refused: rule.refused().filter(|(_, count)| *count > 0).collect(),
                }),
            }
        }
    })
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bounded(_) => f.write_str("bounded"),
            Self::Vcache(_) => f.write_str("vCache"),
            Self::Threshold(cosine) => write!(f, "threshold {cosine}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far a text strays from the middle of its class at most, in radians; classes are a quarter turn apart.
    const NOISE: f64 = 1.0;

    /// Four classes, with some overlap.
    fn space() -> Space {
        let mut chance = Chance::new(1, 1);
        let mut vectors = Vec::new();
        let mut classes = Vec::new();
        for text in 0..3_000_u32 {
            let class = text % 4;
            let angle = f64::from(class) * std::f64::consts::FRAC_PI_2
                + NOISE * (chance.uniform() + chance.uniform() - 1.0);
            vectors.push([angle.cos() as f32, angle.sin() as f32]);
            classes.push(class);
        }
        Space::new(&vectors, classes, |_| {}).expect("a class a vector")
    }

    fn scenario(policy: Policy) -> Scenario {
        Scenario {
            policy,
            order: Order::Shuffled,
            false_alarms: 0.0,
        }
    }

    fn bounded() -> Policy {
        Policy::Bounded(Settings::new(0.05, 0.95, 110.0))
    }

    #[test]
    fn the_bounded_policy_serves_and_keeps_its_promise_and_a_threshold_knows_no_promise() {
        let space = space();
        let ours = simulate(&space, &scenario(bounded()), 1)
            .expect("valid")
            .counts;
        assert!(ours.hits > 1_000 && !ours.broke_promise, "{ours:?}");
        assert!(ours.wrong * 20 <= ours.hits, "{ours:?}");
        let fixed = scenario(Policy::Threshold(0.5));
        let fixed = simulate(&space, &fixed, 1).expect("valid").counts;
        assert!(
            fixed.hits > ours.hits && fixed.wrong * 10 > fixed.hits,
            "{fixed:?}"
        );
        assert_eq!(fixed.judged, 0);
    }

    #[test]
    fn a_run_is_the_same_again_and_another_one_with_another_seed() {
        let space = space();
        for policy in [bounded(), Policy::Vcache(0.05)] {
            let of = |seed| simulate(&space, &scenario(policy), seed).expect("valid");
            assert_eq!(of(1), of(1));
            assert_ne!(of(1), of(2));
        }
    }

    #[test]
    fn random_answers_are_never_served() {
        let random = Scenario {
            order: Order::Random,
            ..scenario(bounded())
        };
        let run = simulate(&space(), &random, 1).expect("valid");
        assert_eq!(run.counts.hits, 0);
        let refused = run.certificate.expect("ours").refused;
        let told: u64 = refused.values().sum();
        assert!(told > 2_000, "{refused:?}");
    }

    #[test]
    fn settings_that_promise_nothing_are_an_error() {
        let policy = Policy::Bounded(Settings::new(0.05, 0.95, 1.0));
        assert!(simulate(&space(), &scenario(policy), 1).is_err());
    }
}
