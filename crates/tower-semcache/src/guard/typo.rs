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
    let rest = |word: &'_ [u8], from: usize| word.get(from..).unwrap_or_default().to_vec();
    if short.len() < long.len() {
        return rest(short, start) == rest(long, start + 1);
    }
    let two = |word: &[u8]| word.get(start..start + 2).map(<[u8]>::to_vec);
    let exchanged = two(short).is_some_and(|mut letters| {
        letters.reverse();
        two(long) == Some(letters)
    });
    // A changed last letter is as likely another word: "form", "fork".
    let changed = short.len() > 5 && rest(short, start + 1) == rest(long, start + 1);
    exchanged && rest(short, start + 2) == rest(long, start + 2) || changed
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
