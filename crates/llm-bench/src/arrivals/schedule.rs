//! Times of arrival.

use super::Ramp;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand_distr::{Distribution, Gamma};
use std::time::Duration;

/// When requests arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// All at once.
    Together,
    /// At a rate.
    Rate {
        /// Requests a second; above 0.
        rate: f64,
        /// How evenly.
        burstiness: Burstiness,
    },
    /// At a rate that grows.
    Ramp {
        /// How it grows.
        ramp: Ramp,
        /// How evenly.
        burstiness: Burstiness,
    },
    /// At these times, each after the start, in ascending order.
    Times(Vec<Duration>),
}

/// How evenly requests arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Burstiness {
    /// At equal intervals.
    Constant,
    /// At intervals that are gamma distributed with this shape: 1 is a Poisson process, less is burstier, more is evener. The
    /// squared coefficient of variation of an interval is 1 / shape. Above 0.
    Gamma(f64),
}

impl Arrivals {
    /// The first `count` arrivals, in ascending order, fewer where the times are given and end before.
    ///
    /// At a constant rate the n-th is at n / rate. Where the intervals are drawn, their sum is scaled to `count` / rate, as
    /// `vllm bench serve` does: the offered load is then the one asked for, whatever the seed. A ramp's are not.
    #[must_use]
    pub fn of_count(&self, count: usize, seed: u64) -> Vec<Duration> {
        let mut draw = Draw::new(seed);
        match self {
            Self::Together => vec![Duration::ZERO; count],
            Self::Times(times) => times.iter().copied().take(count).collect(),
            Self::Rate {
                rate,
                burstiness: Burstiness::Constant,
            } => (0..count).map(|n| seconds(n as f64 / rate)).collect(),
            Self::Rate { rate, burstiness } => {
                let times = draw.sums((0..count).map(|_| *rate), *burstiness);
                let scale = times.last().map_or(1.0, |last| count as f64 / rate / last);
                times
                    .into_iter()
                    .map(|time| seconds(time * scale))
                    .collect()
            }
            Self::Ramp { ramp, burstiness } => {
                let rates = (0..count).map(|number| ramp.rate(number, count));
                let times = draw.sums(rates, *burstiness);
                times.into_iter().map(seconds).collect()
            }
        }
    }

    /// Those before `end`, as they fall: nothing is scaled. A ramp needs a count and has none here.
    #[must_use]
    pub fn until(&self, end: Duration, seed: u64) -> Vec<Duration> {
        let before = |time: &Duration| *time < end;
        match self {
            Self::Together | Self::Ramp { .. } => Vec::new(),
            Self::Times(times) => times.iter().copied().take_while(before).collect(),
            Self::Rate {
                rate,
                burstiness: Burstiness::Constant,
            } => (0..)
                .map(|n: u64| seconds(n as f64 / rate))
                .take_while(before)
                .collect(),
            Self::Rate { rate, burstiness } => {
                let mut draw = Draw::new(seed);
                let mut sum = 0.0;
                std::iter::from_fn(|| {
                    sum += draw.interval(*rate, *burstiness);
                    Some(seconds(sum))
                })
                .take_while(before)
                .collect()
            }
        }
    }
}

struct Draw(Xoshiro256PlusPlus);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn interval(&mut self, rate: f64, burstiness: Burstiness) -> f64 {
        let Burstiness::Gamma(shape) = burstiness else {
            return 1.0 / rate;
        };
        // The mean of a gamma distribution is shape · scale.
        match Gamma::new(shape, 1.0 / (rate * shape)) {
            Ok(gamma) => gamma.sample(&mut self.0),
            // A shape or a rate that is no number above 0: the command line refuses both.
            Err(_) => 1.0 / rate,
        }
    }

    fn sums(&mut self, rates: impl Iterator<Item = f64>, burstiness: Burstiness) -> Vec<f64> {
        let mut sum = 0.0;
        rates
            .map(|rate| {
                sum += self.interval(rate, burstiness);
                sum
            })
            .collect()
    }
}

fn seconds(time: f64) -> Duration {
    Duration::try_from_secs_f64(time).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 20_000;

    fn squared_variation(times: &[Duration]) -> f64 {
        let gaps: Vec<f64> = times
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64())
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        variance / (mean * mean)
    }

    #[test]
    fn intervals_vary_as_their_burstiness_says() {
        for shape in [0.25, 1.0, 4.0] {
            let arrivals = Arrivals::Rate {
                rate: 50.0,
                burstiness: Burstiness::Gamma(shape),
            };
            let times = arrivals.of_count(COUNT, 7);
            let (measured, expected) = (squared_variation(&times), 1.0 / shape);
            assert!(
                (measured / expected - 1.0).abs() < 0.06,
                "{shape}: {measured}"
            );
            assert!(times.is_sorted());
        }
    }

    #[test]
    fn the_offered_load_is_the_one_asked_for_whatever_the_seed() {
        let arrivals = Arrivals::Rate {
            rate: 50.0,
            burstiness: Burstiness::Gamma(1.0),
        };
        for seed in 0..5 {
            let last = *arrivals.of_count(COUNT, seed).last().unwrap();
            assert!((last.as_secs_f64() - COUNT as f64 / 50.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_seed_is_a_schedule() {
        let arrivals = Arrivals::Rate {
            rate: 50.0,
            burstiness: Burstiness::Gamma(0.5),
        };
        assert_eq!(arrivals.of_count(100, 3), arrivals.of_count(100, 3));
        assert_ne!(arrivals.of_count(100, 3), arrivals.of_count(100, 4));
    }

    #[test]
    fn a_poisson_process_of_a_minute_has_the_count_of_its_rate() {
        let arrivals = Arrivals::Rate {
            rate: 100.0,
            burstiness: Burstiness::Gamma(1.0),
        };
        let times = arrivals.until(Duration::from_secs(60), 1);
        // Five standard deviations of a Poisson count of 6,000.
        assert!(times.len().abs_diff(6_000) < 388, "{}", times.len());
        assert!(times.iter().all(|time| *time < Duration::from_secs(60)));
    }

    #[test]
    fn a_ramp_gets_denser() {
        let ramp = Ramp {
            strategy: super::super::Strategy::Linear,
            from: 1.0,
            to: 9.0,
        };
        let times = Arrivals::Ramp {
            ramp,
            burstiness: Burstiness::Constant,
        }
        .of_count(9, 0);
        let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.windows(2).all(|pair| pair[1] < pair[0]), "{gaps:?}");
    }
}
