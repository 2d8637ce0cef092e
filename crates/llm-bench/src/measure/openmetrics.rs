//! What a server counts of itself, read from its `/metrics`.

/// One line of OpenMetrics text: `name{label="value",…} number`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample<'a> {
    /// The name, suffix included.
    pub name: &'a str,
    labels: &'a str,
    /// The number.
    pub value: f64,
}

impl<'a> Sample<'a> {
    /// The value of a label. Values with escapes or commas in them are not read.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&'a str> {
        self.labels.split(',').find_map(|label| {
            let (key, value) = label.split_once('=')?;
            (key == name).then(|| value.trim_matches('"'))
        })
    }
}

/// All samples in `text`; what is no sample is skipped.
pub fn samples(text: &str) -> impl Iterator<Item = Sample<'_>> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            let value = value.parse().ok()?;
            let (name, labels) = match series.split_once('{') {
                Some((name, labels)) => (name, labels.strip_suffix('}')?),
                None => (series, ""),
            };
            Some(Sample {
                name,
                labels,
                value,
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_with_and_without_labels() {
        let text =
            "# HELP x y\n# TYPE b counter\nb_total{items=\"8\",kind=\"a\"} 2\nflights 0\n# EOF\n";
        let samples: Vec<_> = samples(text).collect();
        assert_eq!(samples.len(), 2);
        assert_eq!(
            (samples[0].name, samples[0].label("items"), samples[0].value),
            ("b_total", Some("8"), 2.0)
        );
        assert_eq!(
            (samples[1].name, samples[1].label("items"), samples[1].value),
            ("flights", None, 0.0)
        );
    }
}
