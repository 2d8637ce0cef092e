//! Numbers, and what they count.

use super::lexicon::{CLOCK, Unit};

/// A number with its unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Amount {
    /// Millionths.
    value: i128,
    /// Written with a point: `3.10` is not `3.1` where it may be a version.
    pointed: Option<Box<str>>,
    pub(super) unit: Option<Unit>,
    /// "a mile", not "1 mile": it may be left unsaid.
    pub(super) soft: bool,
    /// Where it stands among the tokens.
    pub(super) token: usize,
}

const MILLION: i128 = 1_000_000;
const DAY: i128 = 24 * 60;

/// A number as it is written: its value, whether it has a point, the letters after it.
pub(super) struct Written<'w> {
    pub(super) amount: Amount,
    pub(super) suffix: &'w str,
}

// === impl Amount ===

impl Amount {
    pub(super) fn whole(value: i64, token: usize) -> Self {
        Self {
            value: i128::from(value) * MILLION,
            pointed: None,
            unit: None,
            soft: false,
            token,
        }
    }

    /// One of a unit, said with an article.
    pub(super) fn single(unit: Unit, token: usize) -> Self {
        Self {
            unit: Some(unit),
            soft: true,
            ..Self::whole(1, token)
        }
    }

    /// Whether it is exactly one of its unit.
    pub(super) fn is_one(&self) -> bool {
        self.value == MILLION && self.unit.is_some()
    }

    /// "twenty" followed by "five", "two" followed by "hundred".
    pub(super) fn plus(&mut self, value: i64) -> bool {
        let tens = self.value / MILLION;
        let fits = value > 0
            && ((20..100).contains(&tens) && tens % 10 == 0 && value < 10
                || tens >= 100 && tens % 100 == 0 && value < 100);
        if fits && self.pointed.is_none() {
            self.value += i128::from(value) * MILLION;
        }
        fits
    }

    pub(super) fn times(&mut self, factor: i64) {
        self.value = self.value.saturating_mul(i128::from(factor));
        self.pointed = None;
    }

    /// Turns the hour into a time of the day, in minutes; false when it is none.
    pub(super) fn at_hour(&mut self, afternoon: bool) -> bool {
        let minutes = match self.unit {
            None => self.value * 60 / MILLION,
            Some(Unit {
                dimension: CLOCK, ..
            }) => self.value / MILLION,
            Some(_) => return false,
        };
        if !(0..=12 * 60 + 59).contains(&minutes) {
            return false;
        }
        let shift = if afternoon { DAY / 2 } else { 0 };
        self.value = (minutes % (DAY / 2) + shift) * MILLION;
        self.pointed = None;
        self.unit = Some(Unit {
            dimension: CLOCK,
            factor: 1,
            silent: false,
            also: None,
        });
        true
    }

    /// Whether two amounts are the same, whatever their units are called.
    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self.unit, other.unit) {
            (Some(one), Some(two)) => one.readings().any(|(dimension, factor)| {
                let value = self.value.saturating_mul(i128::from(factor));
                two.readings().any(|(other_dimension, factor)| {
                    dimension == other_dimension
                        && value == other.value.saturating_mul(i128::from(factor))
                })
            }),
            // What has a point may be a version.
            (None, None) => self.value == other.value && self.pointed == other.pointed,
            (Some(unit), None) | (None, Some(unit)) => unit.silent && self.value == other.value,
        }
    }
}

// === impl Written ===

impl<'w> Written<'w> {
    /// Reads `5`, `1,000`, `3.10`, `9:15`, `10gb`, `3rd`. Dates with slashes and versions with two
    /// points are no amounts: they are compared as they are written.
    pub(super) fn read(word: &'w str, token: usize) -> Option<Self> {
        let end = word
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | ':')))
            .unwrap_or(word.len());
        let (digits, suffix) = word.split_at_checked(end)?;
        let mut amount = Amount::whole(0, token);
        if let Some((hours, minutes)) = digits.split_once(':') {
            let (hours, minutes) = (whole(hours)?, whole(minutes)?);
            if hours > 24 || minutes > 59 {
                return None;
            }
            amount.value = (hours * 60 + minutes) * MILLION;
            amount.unit = Some(Unit {
                dimension: CLOCK,
                factor: 1,
                silent: false,
                also: None,
            });
        } else {
            let plain: String = digits.chars().filter(|c| *c != ',').collect();
            let grouped = digits.split(',').skip(1).all(|group| {
                let group = group.split('.').next().unwrap_or_default();
                group.len() == 3
            });
            if !grouped {
                return None;
            }
            let (whole_part, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
            if fraction.contains('.') || fraction.len() > 6 {
                return None;
            }
            let padded = format!("{fraction:0<6}");
            amount.value = whole(whole_part)?
                .checked_mul(MILLION)?
                .checked_add(whole(&padded)?)?;
            amount.pointed = (!fraction.is_empty()).then(|| plain.into_boxed_str());
        }
        Some(Self { amount, suffix })
    }
}

fn whole(digits: &str) -> Option<i128> {
    (digits.len() <= 18).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(word: &str) -> Amount {
        Written::read(word, 0).expect("a number").amount
    }

    #[test]
    fn numbers_are_read_in_every_spelling() {
        assert!(amount("1,000").equals(&amount("1000")));
        assert!(amount("007").equals(&amount("7")));
        assert!(!amount("3.10").equals(&amount("3.1")));
        assert!(Written::read("1.2.3", 0).is_none());
        assert!(Written::read("1,00", 0).is_none());
        assert!(Written::read("99999999999999999999", 0).is_none());
        assert!(Written::read("25:00", 0).is_none());
    }

    #[test]
    fn a_unit_makes_decimals_plain_numbers() {
        let unit = Some(Unit {
            dimension: 1,
            factor: 1,
            silent: false,
            also: None,
        });
        let (mut one, mut two) = (amount("5"), amount("5.0"));
        (one.unit, two.unit) = (unit, unit);
        assert!(one.equals(&two));
    }

    #[test]
    fn hours_become_times_of_the_day() {
        let mut seven = amount("7");
        assert!(seven.at_hour(true));
        assert!(seven.equals(&amount("19:00")));
        let mut noon = amount("12");
        assert!(noon.at_hour(true));
        assert!(noon.equals(&amount("12:00")));
        assert!(!amount("31").at_hour(true));
    }
}
