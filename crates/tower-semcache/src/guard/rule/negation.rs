use crate::guard::lexicon::{Lexicon, Role};
use crate::guard::pair::{Pair, Side, turned_round};

pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    negated(&pair.one) != negated(&pair.two) || prefixed(pair)
}

fn negated(side: &Side<'_, '_>) -> bool {
    side.tokens().any(|(_, token)| token.has(Role::Negation))
}

/// "safe" in one and "unsafe" in the other.
fn prefixed(pair: &Pair<'_, '_>) -> bool {
    let lexicon = Lexicon::get();
    pair.one.unmatched().any(|(_, one)| {
        let text = pair.one.reading.text(one);
        let mut others = pair.two.unmatched();
        others.any(|(_, two)| turned_round(lexicon, text, pair.two.reading.text(two)))
    })
}
