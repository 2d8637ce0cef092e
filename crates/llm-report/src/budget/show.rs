//! The budget as text, for a terminal.

use super::{Budget, Clock, State};
use llm_bench::report::Table;
use std::fmt;

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(
            "latency budget: techniques, expected and measured",
            ["", "expected", "measured", "ratio", "tolerance", "time", ""],
        );
        for row in &self.rows {
            let state = if row.state == State::Measured {
                String::new()
            } else {
                row.state.word().to_owned()
            };
            let title = format!("{} {}", row.id, row.technique);
            table.row([
                title,
                String::new(),
                String::new(),
                String::new(),
                String::new(),
                row.clock.word().to_owned(),
                state,
            ]);
            for figure in &row.figures {
                table.row([
                    format!("    {}", figure.figure),
                    quantity(figure.expected, figure.unit),
                    quantity(figure.measured, figure.unit),
                    figure
                        .ratio
                        .map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}")),
                    figure.tolerance.to_string(),
                    figure.clock.map_or("", Clock::word).to_owned(),
                    if figure.passed { "ok" } else { "FAIL" }.to_owned(),
                ]);
            }
        }
        write!(f, "{table}")?;
        writeln!(f)?;
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

/// A value with as many digits as a reader compares, and its unit.
#[must_use]
pub(crate) fn quantity(value: f64, unit: &str) -> String {
    let space = if unit.is_empty() { "" } else { " " };
    format!("{}{space}{unit}", digits(value))
}

/// Four significant digits, thousands set apart.
#[must_use]
pub(crate) fn digits(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs();
    if magnitude >= 1000.0 || (value - value.round()).abs() < 1e-9 {
        return grouped(value.round());
    }
    let decimals = match magnitude {
        m if m >= 100.0 => 1,
        m if m >= 10.0 => 2,
        m if m >= 0.1 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn grouped(whole: f64) -> String {
    let plain = format!("{:.0}", whole.abs());
    let mut text = String::new();
    for (at, digit) in plain.chars().enumerate() {
        if at > 0 && (plain.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if whole < 0.0 {
        format!("−{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_digits_that_are_compared() {
        for (value, shown) in [
            (10_889.0, "10,889"),
            (138.888, "138.9"),
            (23.9976, "24"),
            (0.4971, "0.497"),
            (200.0, "200"),
            (0.0956, "0.0956"),
            (-1234.0, "−1,234"),
            (0.0, "0"),
        ] {
            assert_eq!(digits(value), shown);
        }
    }
}
