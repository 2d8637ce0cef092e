use crate::guard::pair::{Pair, Side};

pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    classes(&pair.one) != classes(&pair.two)
}

fn classes(side: &Side<'_, '_>) -> u32 {
    let entries = side.tokens().filter_map(|(_, token)| token.entry);
    entries.fold(0, |classes, entry| classes | entry.scope)
}
