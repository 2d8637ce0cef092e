use crate::guard::lexicon::Role;
use crate::guard::pair::Pair;

pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    pair.sides().into_iter().any(|(side, _)| {
        let mut unmatched = side.unmatched();
        unmatched.any(|(_, token)| token.has(Role::Decisive))
    })
}
