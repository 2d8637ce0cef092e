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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    From,
    To,
}

/// What each token is, if a word beside it says so. "From" says it of what follows up to the next
/// word of grammar; "to" says it of the one that follows, for it may be a verb with its object, and
/// makes what stands right before it the start.
fn ways(side: &Side<'_, '_>) -> Vec<Option<Way>> {
    let mut ways: Vec<Option<Way>> = Vec::with_capacity(side.reading.tokens.len());
    let mut way = None;
    // How many tokens without a way of their own stand right before.
    let mut bare = 0;
    for (at, token) in side.tokens() {
        let article = token.has(Role::Single) || token.has(Role::Mine) || token.has(Role::Yours);
        let itself = token.is_matter() || token.amount.is_some();
        if token.has(Role::Source) {
            (way, bare) = (Some(Way::From), 0);
            ways.push(None);
        } else if token.has(Role::Target) {
            for before in ways.iter_mut().skip(at - bare) {
                *before = Some(Way::From);
            }
            (way, bare) = (Some(Way::To), 0);
            ways.push(None);
        } else if token.parted || (token.has(Role::Function) && !article) {
            (way, bare) = (None, usize::from(itself && !token.has(Role::Function)));
            ways.push(None);
        } else {
            let given = way.filter(|_| itself);
            bare = if itself && given.is_none() {
                bare + 1
            } else {
                0
            };
            if given == Some(Way::To) {
                way = None;
            }
            ways.push(given);
        }
    }
    ways
}
