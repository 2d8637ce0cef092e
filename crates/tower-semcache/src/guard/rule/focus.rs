use crate::guard::pair::{Pair, Side};

/// Both texts ask for something, and for nothing in common.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (asked(&pair.one), asked(&pair.two));
    one != 0 && two != 0 && one & two == 0
}

fn asked(side: &Side<'_, '_>) -> u32 {
    let entries = side.tokens().filter_map(|(_, token)| token.entry);
    entries.fold(0, |asked, entry| asked | entry.focus)
}
