//! What inflection adds to a word, and the word without it.

use std::sync::LazyLock;

use super::table;

struct Stems {
    endings: Vec<(&'static str, usize)>,
    tails: Vec<&'static str>,
}

static STEMS: LazyLock<Stems> = LazyLock::new(Stems::load);

/// The part of a word that stays the same when it is inflected: a prefix of it.
///
/// It is for comparing, not for reading: `deliver`, `delivery`, `delivered` have one stem, and so
/// have `cancel` and `cancellation`.
pub(super) fn stem(word: &str) -> &str {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    let mut rest = word;
    for (ending, least) in &STEMS.endings {
        match rest.strip_suffix(ending) {
            // "glass" is no plural.
            Some(stem) if stem.len() >= *least && !(*ending == "s" && stem.ends_with('s')) => {
                rest = stem;
                break;
            }
            _ => {}
        }
    }
    for tail in &STEMS.tails {
        match rest.strip_suffix(tail) {
            Some(stem) if stem.len() >= 3 => {
                rest = stem;
                break;
            }
            _ => {}
        }
    }
    undouble(rest)
}

/// "cancell" is "cancel".
fn undouble(stem: &str) -> &str {
    let mut last = stem.bytes().rev();
    let doubled = last.next() == last.next();
    if doubled && stem.len() > 3 {
        stem.get(..stem.len() - 1).unwrap_or(stem)
    } else {
        stem
    }
}

// === impl Stems ===

impl Stems {
    fn load() -> Self {
        let (mut endings, mut tails) = (Vec::new(), Vec::new());
        for (section, line) in table::sections(include_str!("data/stems.txt")) {
            match (section, line.split_once(' ')) {
                ("endings", Some((ending, least))) => {
                    endings.push((ending, least.parse().unwrap_or(3)));
                }
                ("tails", None) => tails.push(line),
                _ => {}
            }
        }
        Self { endings, tails }
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn inflected_words_have_one_stem() {
        for family in [
            ["cancel", "cancelled", "cancellation"],
            ["delivery", "deliveries", "delivered"],
            ["charge", "charging", "charges"],
            ["floss", "flossing", "flossed"],
            ["city", "cities", "cities"],
        ] {
            let stems = family.map(stem);
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn words_that_only_look_inflected_keep_their_difference() {
        for (one, two) in [
            ("glass", "glad"),
            ("ball", "bell"),
            ("member", "remember"),
            ("be", "bed"),
        ] {
            assert_ne!(stem(one), stem(two));
        }
    }
}
