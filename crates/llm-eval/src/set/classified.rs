//! Classified texts, as they are.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use tower::BoxError;

use super::{csv, read};

/// Texts, and the number of the class of each: texts of one class have one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classified {
    /// The texts.
    pub texts: Vec<Arc<str>>,
    /// As many numbers, from 0 in the order in which classes appear.
    pub classes: Vec<u32>,
}

/// Reads CSV files of texts and labels, with or without a header `text,…`, one after the other.
///
/// # Errors
///
/// A file cannot be read, or a row has not two fields; the message names the row.
pub fn classified(files: &[PathBuf]) -> Result<Classified, BoxError> {
    let mut all = Classified::default();
    let mut numbers = HashMap::new();
    for file in files {
        let name = file.display().to_string();
        add(&mut all, &mut numbers, &name, &read(file)?)?;
    }
    Ok(all)
}

fn add(
    all: &mut Classified,
    numbers: &mut HashMap<String, u32>,
    name: &str,
    text: &str,
) -> Result<(), BoxError> {
    for (number, row) in csv::rows(text).into_iter().enumerate() {
        let [text, label] = <[String; 2]>::try_from(row)
            .map_err(|row| format!("{name}, row {}: {} fields, not 2", number + 1, row.len()))?;
        if number == 0 && text == "text" {
            continue;
        }
        let next = numbers.len() as u32;
        all.texts.push(text.into());
        all.classes.push(*numbers.entry(label).or_insert(next));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_numbered_over_all_files() {
        let (mut all, mut numbers) = (Classified::default(), HashMap::new());
        add(&mut all, &mut numbers, "one", "text,category\na,x\nb,y\n").expect("two fields");
        add(&mut all, &mut numbers, "two", "c,y\nd,z\n").expect("two fields");
        let texts: Vec<_> = all.texts.iter().map(|text| &**text).collect();
        assert_eq!(texts, ["a", "b", "c", "d"]);
        assert_eq!(all.classes, [0, 1, 1, 2]);
        let error = add(&mut all, &mut numbers, "three", "a,x\nalone\n").expect_err("one field");
        assert_eq!(error.to_string(), "three, row 2: 1 fields, not 2");
    }
}
