//! Comma-separated values with quotes (RFC 4180).

/// The rows of a file. A quoted field may hold commas, doubled quotes and line breaks.
pub(super) fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted || field.is_empty() => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            c => field.push(c),
        }
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_be_quoted() {
        let text = "text,category\r\n\"I said \"\"no\"\", twice\",a\nplain,b\n\"two\nlines\",c";
        let expected = [
            ["text", "category"],
            ["I said \"no\", twice", "a"],
            ["plain", "b"],
            ["two\nlines", "c"],
        ];
        assert_eq!(rows(text), expected);
    }
}
