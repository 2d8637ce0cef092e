use crate::guard::pair::{Pair, Side};

/// Of one set, each text names something that the other does not.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    opposed(pair) || compared(pair)
}

/// Each text compares by something that the other has no word for: the longest river and the widest,
/// heavier than lead and harder than lead.
fn compared(pair: &Pair<'_, '_>) -> bool {
    let degrees = |side: &Side<'_, '_>| {
        let mut tokens = side.unmatched();
        tokens.any(|(at, token)| {
            let text = side.reading.text(token);
            let sided = token.entry.is_some_and(|entry| !entry.sides.is_empty());
            let next = side.reading.tokens.get(at + 1);
            let next = next.and_then(|next| side.reading.last_word(next));
            let than = next.is_some_and(|(word, _)| word == THAN);
            than || sided && text.ends_with(MOST)
        })
    };
    degrees(&pair.one) && degrees(&pair.two)
}

const THAN: &str = "than";
const MOST: &str = "est";

fn opposed(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (sides(&pair.one), sides(&pair.two));
    let lacks = |set: u16, some: &[(u16, u16)], others: &[(u16, u16)]| {
        some.iter()
            .any(|side| side.0 == set && !others.contains(side))
    };
    // Only what has no partner can differ: "cold" is a state of the weather and an illness.
    pair.one.tokens().any(|(at, token)| {
        let entry = token.entry.filter(|_| pair.one.partner(at).is_none());
        entry.is_some_and(|entry| {
            entry
                .sides
                .iter()
                .any(|side| !two.contains(side) && lacks(side.0, &two, &one))
        })
    })
}

fn sides(side: &Side<'_, '_>) -> Vec<(u16, u16)> {
    let entries = side.tokens().filter_map(|(_, token)| token.entry);
    entries
        .flat_map(|entry| entry.sides.iter().copied())
        .collect()
}
