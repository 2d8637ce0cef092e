//! Small words about numbers and sentences.

/// Begins with a capital letter.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

/// Begins with a capital letter and ends with a full stop.
pub(super) fn sentence(text: &str) -> String {
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{}{stop}", capital(text))
}

/// A number with its sign, a true minus among them.
pub(super) fn signed(value: f64) -> String {
    format!("{value:+.1}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_and_end_once() {
        assert_eq!(sentence("über alles"), "Über alles.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(signed(-0.731), "−0.7");
    }
}
