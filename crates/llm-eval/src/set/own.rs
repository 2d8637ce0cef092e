//! The project's own labelled set.

use tower::BoxError;

use super::{Set, pairs};

/// Pairs written for this project: `data/README.md` says how.
///
/// # Errors
///
/// None: the set is a part of the program, and a test reads it.
pub fn own() -> Result<Set, BoxError> {
    pairs::parse("own", crate::LABELLED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::Half;
    use std::collections::HashSet;

    #[test]
    fn the_set_has_both_halves_both_labels_and_no_text_in_both_halves() {
        let set = own().expect("a set");
        let of = |half| set.cases.iter().filter(move |case| case.half == half);
        for half in [Half::Dev, Half::Test] {
            assert!(of(half).filter(|case| case.answerable).count() > 50);
            assert!(of(half).filter(|case| !case.answerable).count() > 50);
        }
        let texts = |half| of(half).map(|case| &case.asked).collect::<HashSet<_>>();
        assert!(texts(Half::Dev).is_disjoint(&texts(Half::Test)));
    }
}
