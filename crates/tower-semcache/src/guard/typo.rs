//! Slips of the finger.

/// The shortest word in which a slip is forgiven: in short words every letter counts.
const SHORTEST: usize = 4;

/// Whether one word is the other with one letter left out, put in, changed, or two exchanged. The
/// first letter is right in nearly all typing errors, and must be.
pub(super) fn is_typo(one: &str, two: &str) -> bool {
    let (short, long) = if one.len() <= two.len() {
        (one, two)
    } else {
        (two, one)
    };
    let letters = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    if short.len() < SHORTEST || long.len() - short.len() > 1 || !letters(short) || !letters(long) {
        return false;
    }
    let (short, long) = (short.as_bytes(), long.as_bytes());
    let start = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    if start == 0 {
        return false;
    }
    let tails = |one: usize, two: usize| short.get(start + one..) == long.get(start + two..);
    if short.len() < long.len() {
        return tails(0, 1);
    }
    let exchanged = match (short.get(start..start + 2), long.get(start..start + 2)) {
        (Some([a, b]), Some([c, d])) => a == d && b == c && tails(2, 2),
        _ => false,
    };
    // A changed last letter is as likely another word: "form", "fork".
    exchanged || short.len() > 5 && tails(1, 1)
}

#[cfg(test)]
mod tests {
    use super::is_typo;

    #[test]
    fn one_slip_is_forgiven_and_two_are_not() {
        assert!(is_typo("connection", "conection"));
        assert!(is_typo("child", "chlid"));
        assert!(is_typo("emergency", "emergancy"));
        assert!(!is_typo("prednisone", "prednisolone"));
        assert!(!is_typo("milk", "silk"));
        assert!(!is_typo("form", "fork"));
        assert!(!is_typo("rat", "cat"));
    }
}
