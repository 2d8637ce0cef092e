use super::{Reason, Route};
use crate::guard::table;

/// Texts of our own with where they must go.
const EXAMPLES: &str = include_str!("examples.txt");

fn reason(text: &str) -> &'static str {
    Route::of(text).reason().map_or("semantic", Reason::as_str)
}

fn go(section: &str) {
    let mut found = "";
    let mut wrong = Vec::new();
    for line in table::lines(EXAMPLES) {
        let name = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'));
        found = name.unwrap_or(found);
        if name.is_none() && found == section && reason(line) != section {
            wrong.push((line, reason(line)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(EXAMPLES.contains(section));
}

#[test]
fn what_is_answered_alike_at_all_times_and_for_all_stays() {
    go("semantic");
}

#[test]
fn what_depends_on_the_moment_is_fresh() {
    go("fresh");
}

#[test]
fn what_depends_on_who_asks_is_private() {
    go("private");
}

#[test]
fn what_asks_for_a_deed_is_an_action() {
    go("action");
}

#[test]
fn a_question_overrules_what_stands_in_its_own_sentence() {
    assert_eq!(reason("How do I rate a driver?"), "semantic");
    assert_eq!(
        reason("How do I rate a driver? Where is my taxi?"),
        "private"
    );
    assert_eq!(
        reason("Where is my taxi? How do I rate a driver?"),
        "private"
    );
    assert_eq!(reason("How do I do this: cancel my order"), "semantic");
    assert_eq!(reason(""), "semantic");
}
