use crate::guard::pair::{Pair, Side};

pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    classes(&pair.one) != classes(&pair.two)
}

fn classes(side: &Side<'_, '_>) -> u32 {
    let tokens = &side.reading.tokens;
    let next = tokens.iter().skip(1).map(Some).chain([None]);
    tokens.iter().zip(next).fold(0, |classes, (token, next)| {
        let counts = next.is_some_and(|next| next.amount.is_some());
        let entry = token.entry.map_or(0, |entry| {
            entry.scope | if counts { entry.bounds } else { 0 }
        });
        classes | entry
    })
}
