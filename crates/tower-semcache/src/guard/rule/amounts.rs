use crate::guard::amount::Amount;
use crate::guard::pair::{Pair, Side};

pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let mut one: Vec<_> = pair.one.reading.amounts.iter().collect();
    let mut two: Vec<_> = pair.two.reading.amounts.iter().collect();
    one.retain(|amount| {
        let same = two.iter().position(|other| amount.equals(other));
        same.map(|at| two.swap_remove(at)).is_none()
    });
    match (one.is_empty(), two.is_empty()) {
        (true, true) => false,
        (false, true) => one.iter().any(|amount| !goes_unsaid(amount, &pair.two)),
        (true, false) => two.iter().any(|amount| !goes_unsaid(amount, &pair.one)),
        (false, false) => true,
    }
}

/// One of something may go without its number: "a mile" is "1 mile", and "miles".
fn goes_unsaid(amount: &Amount, other: &Side<'_, '_>) -> bool {
    let named = |unit| {
        let mut tokens = other.tokens();
        tokens.any(|(_, token)| token.entry.and_then(|entry| entry.unit) == unit)
    };
    amount.soft || (amount.is_one() && named(amount.unit))
}
