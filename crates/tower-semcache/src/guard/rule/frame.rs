use crate::guard::pair::Pair;

/// Each text has something of substance that the other lacks, and one of them little else: a word was
/// replaced.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (pair.one.unmatched().count(), pair.two.unmatched().count());
    one + two > 0
}
