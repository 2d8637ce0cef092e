//! Amounts: a number with its unit, or a time of the day.

use super::Reading;
use super::token::Token;
use crate::guard::amount::{Amount, Written};
use crate::guard::lexicon::{Lexicon, Number, Role};

/// How far "in the morning" may stand from its hour.
const NEAR: usize = 5;

impl Reading<'_> {
    /// Reads an amount at `at`; how many words it took.
    pub(super) fn amount(&mut self, lexicon: &'static Lexicon, at: usize) -> usize {
        let index = self.tokens.len();
        let Some((text, word)) = self.word(at) else {
            return 0;
        };
        let parted = word.parted;
        let mut taken = 1;
        let mut unit = None;
        let mut amount;
        if let Some(sign) = self.known(at).and_then(|entry| entry.unit)
            && let Some(written) = self
                .word(at + 1)
                .and_then(|(text, _)| Written::read(text, index))
            && written.amount.unit.is_none()
        {
            // "$50", "GBP 50".
            unit = Some(sign);
            taken = 2;
            amount = written.amount;
            if !self.finish(lexicon, &mut amount, written.suffix) {
                return 0;
            }
        } else if text.starts_with(|c: char| c.is_ascii_digit()) {
            let Some(written) = Written::read(text, index) else {
                return 0;
            };
            amount = written.amount;
            if !self.finish(lexicon, &mut amount, written.suffix) {
                return 0;
            }
        } else {
            match self.known(at).and_then(|entry| entry.number) {
                Some(Number::Is(value)) => amount = Amount::whole(value, index),
                Some(Number::Times(factor)) if text.len() > 2 => {
                    amount = Amount::whole(factor, index);
                }
                _ => return 0,
            }
        }
        while let Some(entry) = self.known(at + taken) {
            match entry.number {
                Some(Number::Times(factor)) => amount.times(factor),
                Some(Number::Is(value)) if amount.plus(value) => {}
                _ => break,
            }
            taken += 1;
        }
        if amount.unit.is_none() {
            amount.unit = unit;
        }
        taken += self.bind(lexicon, &mut amount, at + taken);
        self.tokens.push(Token {
            first: at,
            count: taken,
            stem: usize::MAX,
            entry: None,
            amount: Some(self.amounts.len()),
            name: false,
            parted,
        });
        self.amounts.push(amount);
        taken
    }

    /// Applies the letters that stand right behind the digits; false where they make a name of them.
    fn finish(&self, lexicon: &Lexicon, amount: &mut Amount, suffix: &str) -> bool {
        if matches!(suffix, "" | "st" | "nd" | "rd" | "th" | "s") {
            return true;
        }
        let Some(entry) = lexicon.word(suffix) else {
            return false;
        };
        if let Some(Number::Times(factor)) = entry.number {
            amount.times(factor);
            return true;
        }
        if entry.has(Role::Forenoon) || entry.has(Role::Afternoon) {
            return amount.at_hour(entry.has(Role::Afternoon));
        }
        amount.unit = entry.unit;
        entry.unit.is_some()
    }

    /// The unit behind an amount, or its time of the day; how many words that took.
    fn bind(&self, lexicon: &Lexicon, amount: &mut Amount, at: usize) -> usize {
        let entry = self.known(at);
        let half = |role| entry.is_some_and(|entry| entry.has(role));
        if half(Role::Forenoon) || half(Role::Afternoon) {
            return usize::from(amount.at_hour(half(Role::Afternoon)));
        }
        if amount.unit.is_some() {
            return 0;
        }
        if let Some((count, entry)) = lexicon.phrase(self.texts(at))
            && let Some(unit) = entry.unit
        {
            amount.unit = Some(unit);
            return count;
        }
        if let Some(unit) = entry.and_then(|entry| entry.unit) {
            amount.unit = Some(unit);
            return 1;
        }
        let near = self.known.iter().skip(at).take(NEAR);
        for entry in near.copied().flatten() {
            if entry.number.is_some() {
                break;
            }
            let (early, late) = (entry.has(Role::Forenoon), entry.has(Role::Afternoon));
            if (early || late) && !entry.has(Role::Function) {
                amount.at_hour(late);
                break;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::Reading;

    fn amounts(text: &str) -> usize {
        Reading::new(text).amounts.len()
    }

    #[test]
    fn every_kind_of_amount_is_read() {
        for text in [
            "£5",
            "5 km",
            "5km",
            "five kilometres",
            "15%",
            "half past 7",
            "7 pm",
            "2-year",
            "USD 50",
        ] {
            assert_eq!(amounts(text), 1, "{text}");
        }
        assert_eq!(amounts("two hundred and twenty five"), 2);
        assert_eq!(amounts("two factor authentication"), 0);
    }
}
