use crate::guard::pair::{Pair, Side};

/// Of one set, each text names something that the other does not.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
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
