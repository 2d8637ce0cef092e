use crate::guard::pair::{Pair, Side};

/// Every number is followed by the same thing in both texts, if by anything that both speak of.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    if pair.one.reading.amounts.len() < 2 {
        return false;
    }
    pair.one.tokens().any(|(at, token)| {
        let Some(with) = pair.one.partner(at).filter(|_| token.amount.is_some()) else {
            return false;
        };
        let ours = counted(&pair.one, at).and_then(|at| pair.one.partner(at));
        let theirs = counted(&pair.two, with).filter(|with| pair.two.partner(*with).is_some());
        ours.zip(theirs)
            .is_some_and(|(ours, theirs)| ours != theirs)
    })
}

/// The next token of substance in the same clause, before the next number.
fn counted(side: &Side<'_, '_>, at: usize) -> Option<usize> {
    let rest = side.tokens().skip(at + 1);
    let mut clause = rest.take_while(|(_, token)| token.amount.is_none() && !token.parted);
    clause
        .find(|(_, token)| token.is_matter())
        .map(|(at, _)| at)
}
