//! What a chart of lines shows.

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Style {
    /// A dot a point, joined.
    #[default]
    Joined,
    /// A dot a point.
    Dots,
    /// Without dots, dashed and grey: a law, not a measurement.
    Law,
}

/// One line: x, y and half the width of the interval of y (0 for none).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// The points, by x.
    pub points: Vec<(f64, f64, f64)>,
    /// How it is drawn.
    pub style: Style,
}

impl Line {
    /// A line without intervals.
    #[must_use]
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points: points.into_iter().map(|(x, y)| (x, y, 0.0)).collect(),
            style: Style::Joined,
        }
    }

    /// Draws it in another style.
    #[must_use]
    pub const fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// Something to be pointed at.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A height, and what it is.
    Height(f64, String),
    /// A point, and what is there.
    Point(f64, f64, String),
}
