use crate::guard::lexicon::Role;
use crate::guard::pair::{Pair, Side};

pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let third = |side: &Side<'_, '_>| side.tokens().any(|(_, token)| token.has(Role::Other));
    third(&pair.one) != third(&pair.two) || stranger(pair) || exchanged(pair)
}

/// One text speaks of a person of whom the other does not.
fn stranger(pair: &Pair<'_, '_>) -> bool {
    pair.sides().into_iter().any(|(side, _)| {
        let mut tokens = side.tokens();
        tokens.any(|(at, token)| token.has(Role::Person) && side.partner(at).is_none())
    })
}

/// "my order" in one is "your order" in the other.
fn exchanged(pair: &Pair<'_, '_>) -> bool {
    pair.one.tokens().any(|(at, _)| {
        let owners =
            owner(&pair.one, at).zip(pair.one.partner(at).and_then(|with| owner(&pair.two, with)));
        owners.is_some_and(|(one, two)| one != two)
    })
}

/// Who owns what the token names: the possessive right before it, adjectives aside.
fn owner(side: &Side<'_, '_>, at: usize) -> Option<Role> {
    let tokens = &side.reading.tokens;
    tokens.get(at).filter(|token| !token.has(Role::Function))?;
    for before in tokens.iter().take(at).rev() {
        let text = side.reading.text(before);
        for (role, possessive) in [(Role::Mine, ["my", "our"]), (Role::Yours, ["your", "your"])] {
            if before.has(role) && possessive.contains(&text) {
                return Some(role);
            }
        }
        if !before.is_matter() || before.parted {
            return None;
        }
    }
    None
}
