use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};

/// Something comes from in one text what it goes to in the other.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (ways(&pair.one), ways(&pair.two));
    let mut joined = pair.one.tokens().filter_map(|(at, _)| {
        let ours = one.get(at).copied().flatten()?;
        let theirs = two.get(pair.one.partner(at)?).copied().flatten()?;
        Some((ours, theirs))
    });
    joined.any(|(ours, theirs)| ours != theirs)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    From,
    To,
}

/// What each token is, if a word before it says so: up to the next word of grammar.
fn ways(side: &Side<'_, '_>) -> Vec<Option<Way>> {
    let mut way = None;
    let mut ways = Vec::with_capacity(side.reading.tokens.len());
    for (_, token) in side.tokens() {
        let marked = if token.has(Role::Source) {
            Some(Way::From)
        } else if token.has(Role::Target) {
            Some(Way::To)
        } else {
            None
        };
        let article = token.has(Role::Single) || token.has(Role::Mine) || token.has(Role::Yours);
        if marked.is_some() {
            way = marked;
        } else if token.parted || (token.has(Role::Function) && !article) {
            way = None;
        }
        let itself = marked.is_none() && (token.is_matter() || token.amount.is_some());
        ways.push(way.filter(|_| itself));
    }
    ways
}
