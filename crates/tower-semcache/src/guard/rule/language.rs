use crate::guard::pair::{MAX_TOKENS, Pair};

pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (pair.one.reading, pair.two.reading);
    let readable = one.covered && two.covered;
    let short = one.tokens.len() <= MAX_TOKENS && two.tokens.len() <= MAX_TOKENS;
    let equal = || one.words.texts().eq(two.words.texts());
    !((readable && short) || equal())
}
