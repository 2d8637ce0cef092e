use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};

/// Something is done with a thing in one text, and before or after it in the other.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    pair.one.tokens().any(|(at, _)| {
        let ours = relation(&pair.one, at);
        let theirs = pair
            .one
            .partner(at)
            .and_then(|with| relation(&pair.two, with));
        ours.zip(theirs)
            .is_some_and(|(ours, theirs)| ours != theirs)
    })
}

const RELATIONS: [Role; 3] = [Role::Together, Role::Earlier, Role::Later];

/// How the rest of the text stands to what the token names: by the preposition before it; articles, adjectives
/// and the verb of "after taking it" may stand between.
fn relation(side: &Side<'_, '_>, at: usize) -> Option<Role> {
    let tokens = &side.reading.tokens;
    let mut after = tokens.get(at).filter(|token| token.is_matter())?;
    for before in tokens.iter().take(at).rev() {
        if after.parted {
            return None;
        }
        let found = RELATIONS.into_iter().find(|role| before.has(*role));
        if found.is_some() || before.has(Role::Marker) || before.has(Role::Break) {
            return found;
        }
        after = before;
    }
    None
}
