use super::*;

fn conversation<'t>(texts: &[&'t str]) -> Vec<Turn<'t>> {
    let speakers = [Speaker::User, Speaker::Assistant].into_iter().cycle();
    speakers
        .zip(texts)
        .map(|(speaker, text)| Turn { speaker, text })
        .collect()
}

fn accepts(one: &[&str], two: &[&str]) -> bool {
    let (one, two) = (conversation(one), conversation(two));
    let guard: Conversations = Conversations::default();
    let verdict = guard.compare(&one, &two);
    assert_eq!(verdict, guard.compare(&two, &one));
    assert_eq!(
        verdict.is_accept(),
        guard
            .accepts(&Conversations::join(&one), &Conversations::join(&two))
            .is_accept()
    );
    verdict.is_accept()
}

#[test]
fn a_question_that_stands_by_itself_does_not_care_about_the_history() {
    assert!(accepts(
        &[
            "My blender broke",
            "Sorry!",
            "Do you ship spare parts to Norway?"
        ],
        &[
            "I like your mugs",
            "Thanks!",
            "Do you ship spare parts to Norway?"
        ],
    ));
}

#[test]
fn a_question_that_leans_on_the_history_needs_the_same_history() {
    let asked = ["I bought a tent from you", "Nice!", "Can I return it?"];
    assert!(!accepts(
        &asked,
        &[
            "I bought an ice cream from you",
            "Nice!",
            "Can I return it?"
        ]
    ));
    assert!(accepts(
        &asked,
        &[
            "hi, i purchased a tent from you",
            "Great.",
            "can I send it back?"
        ]
    ));
    assert!(!accepts(&asked, &["Can I return it?"]));
}

#[test]
fn amounts_and_names_of_the_history_must_agree_and_keep_their_order() {
    let history = |first, second| [first, "ok", second, "ok", "where is it?"];
    assert!(!accepts(
        &history("my order is 4411", "my neighbour has 4412"),
        &history("my order is 4412", "my neighbour has 4411"),
    ));
}

#[test]
fn an_assent_needs_an_equal_history() {
    let history = |offer| ["the lamp is broken", offer, "yes please"];
    assert!(!accepts(&history("A refund?"), &history("A new lamp?")));
    assert!(accepts(&history("A refund?"), &history("a refund")));
}

#[test]
fn a_text_without_turns_is_a_conversation_of_one_message() {
    assert_eq!(last_message("hello"), "hello");
    let joined = Conversations::join(&conversation(&["a", "b", "c"]));
    assert_eq!(last_message(&joined), "c");
}
