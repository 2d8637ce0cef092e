use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::guard::literal::quoted;
use crate::guard::pair::Pair;

/// A text may leave the quotes out, not what is in them.
pub(super) fn broken(pair: &Pair<'_, '_>) -> bool {
    let (one, two) = (
        straight(pair.one.reading.source),
        straight(pair.two.reading.source),
    );
    if !one.contains(QUOTES) && !two.contains(QUOTES) {
        return false;
    }
    let (ours, theirs) = (spans(&one), spans(&two));
    let missing = |spans: &BTreeSet<&str>, others: &BTreeSet<&str>, text: &str| {
        spans.iter().any(|span| {
            // Two quotes differ; one quote may be plain text on the other side.
            !others.contains(span) && (!others.is_empty() || !holds(text, span))
        })
    };
    missing(&ours, &theirs, &two) || missing(&theirs, &ours, &one)
}

const QUOTES: [char; 3] = ['"', '\'', '`'];

fn straight(text: &str) -> Cow<'_, str> {
    let curly = ['“', '”', '„', '«', '»', '‘', '’'];
    if text.contains(curly) {
        let text = text.replace(['“', '”', '„', '«', '»'], "\"");
        Cow::Owned(text.replace(['‘', '’'], "'"))
    } else {
        Cow::Borrowed(text)
    }
}

fn spans(text: &str) -> BTreeSet<&str> {
    let mut spans: BTreeSet<&str> = quoted(text).into_iter().map(str::trim).collect();
    let mut pieces = text.split('`').skip(1);
    while let (Some(inside), Some(_)) = (pieces.next(), pieces.next()) {
        if !inside.trim().is_empty() {
            spans.insert(inside.trim());
        }
    }
    spans
}

/// Whether `text` has `span` as whole words.
fn holds(text: &str, span: &str) -> bool {
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(span).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text
            .get(at + span.len()..)
            .and_then(|after| after.chars().next());
        !letter(before) && !letter(after)
    })
}
