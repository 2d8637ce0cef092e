use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};

/// An amount stands before one thing in one text and before another in the other, and both texts speak
/// of both things.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    pair.one.tokens().any(|(at, token)| {
        let Some(with) = pair.one.partner(at).filter(|_| token.amount.is_some()) else {
            return false;
        };
        let ours = counted(&pair.one, at);
        let theirs = counted(&pair.two, with);
        let meant = |at: &usize| pair.one.partner(*at);
        let known = ours.iter().any(|at| meant(at).is_some())
            && theirs.iter().any(|with| pair.two.partner(*with).is_some());
        known
            && !ours
                .iter()
                .filter_map(meant)
                .any(|with| theirs.contains(&with))
    })
}

/// What stands right behind an amount, with one word of grammar between: "9am in London".
fn counted(side: &Side<'_, '_>, at: usize) -> Vec<usize> {
    let mut counted = Vec::new();
    for (next, token) in side.tokens().skip(at + 1) {
        let grammar = next == at + 1 && token.has(Role::Function);
        if token.parted || !(token.is_matter() || grammar) {
            break;
        }
        if token.is_matter() {
            counted.push(next);
        }
    }
    counted
}
