//! A line chart with intervals.

use std::fmt::Write;

use super::scale::{Axis, label};

/// How an axis runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear, from 0.
    #[default]
    Linear,
    /// Logarithmic.
    Logarithmic,
}

/// One line: x, y and half the width of the interval of y (0 for none).
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// The points, by x.
    pub points: Vec<(f64, f64, f64)>,
}

impl Line {
    /// A line from its name and points.
    #[must_use]
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
        }
    }
}

/// A chart of up to eight lines.
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    x: String,
    y: String,
    scale: Scale,
    lines: Vec<Line>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 180.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 56.0;

/// Colours that stand apart on white and on black, for common forms of colour blindness too.
const COLOURS: [&str; 8] = [
    "#2f7ed8", "#e07b00", "#1a9e5f", "#c7458f", "#7a68d8", "#a8861d", "#0f9bb0", "#d2504a",
];

const STYLE: &str = "\
.ink{fill:#24292f}.axis{stroke:#57606a}.grid{stroke:#d0d7de}.back{fill:#ffffff}\
text{font:13px system-ui,sans-serif}.title{font-size:16px;font-weight:600}\
@media (prefers-color-scheme:dark){.ink{fill:#e6edf3}.axis{stroke:#8b949e}\
.grid{stroke:#30363d}.back{fill:#0d1117}}";

impl Chart {
    /// A chart from its title and the labels of its axes, units included.
    #[must_use]
    pub fn new(title: impl Into<String>, x: impl Into<String>, y: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            x: x.into(),
            y: y.into(),
            scale: Scale::Linear,
            lines: Vec::new(),
        }
    }

    /// Sets how the y axis runs.
    #[must_use]
    pub const fn scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// Adds a line.
    #[must_use]
    pub fn line(mut self, line: Line) -> Self {
        self.lines.push(line);
        self
    }

    /// The chart as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let logarithmic = self.scale == Scale::Logarithmic;
        let x = Axis::new(points().map(|p| p.0), false, (LEFT, WIDTH - RIGHT));
        let y = Axis::new(points().map(|p| p.1), logarithmic, (HEIGHT - BOTTOM, TOP));
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             role=\"img\"><title>{0}</title><style>{STYLE}</style>\
             <rect class=\"back\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\
             <text class=\"ink title\" x=\"{LEFT}\" y=\"28\">{0}</text>",
            escape(&self.title)
        )?;
        for tick in y.ticks() {
            let at = y.pixel(tick);
            write!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"ink\" text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                at + 4.0,
                label(tick)
            )?;
        }
        for tick in x.ticks() {
            let at = x.pixel(tick);
            write!(
                out,
                "<line class=\"axis\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom}\" y2=\"{:.1}\"/>\
                 <text class=\"ink\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
                bottom + 5.0,
                bottom + 20.0,
                label(tick)
            )?;
        }
        write!(
            out,
            "<path class=\"axis\" fill=\"none\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>\
             <text class=\"ink\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
             <text class=\"ink\" text-anchor=\"middle\" transform=\"translate(18 {:.1}) \
             rotate(-90)\">{}</text>",
            f64::midpoint(LEFT, right),
            HEIGHT - 14.0,
            escape(&self.x),
            f64::midpoint(TOP, bottom),
            escape(&self.y)
        )?;
        for (number, (line, colour)) in self.lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
            draw(out, line, colour, &x, &y)?;
            let at = TOP + 12.0 + 22.0 * number as f64;
            write!(
                out,
                "<line x1=\"{0:.1}\" x2=\"{1:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" \
                 stroke=\"{colour}\" stroke-width=\"3\"/>\
                 <text class=\"ink\" x=\"{2:.1}\" y=\"{3:.1}\">{4}</text>",
                right + 14.0,
                right + 34.0,
                right + 40.0,
                at + 4.0,
                escape(&line.name)
            )?;
        }
        out.write_str("</svg>\n")
    }
}

fn draw(out: &mut String, line: &Line, colour: &str, x: &Axis, y: &Axis) -> std::fmt::Result {
    let finite = || line.points.iter().filter(|(_, value, _)| value.is_finite());
    if finite().any(|(_, _, half)| *half > 0.0 && half.is_finite()) {
        write!(out, "<path fill=\"{colour}\" fill-opacity=\"0.18\" d=\"")?;
        let (upper, lower) = (
            finite(),
            line.points.iter().rev().filter(|(_, v, _)| v.is_finite()),
        );
        let edges = upper
            .map(|(at, value, half)| (*at, value + half))
            .chain(lower.map(|(at, value, half)| (*at, value - half)));
        for (number, (at, value)) in edges.enumerate() {
            let command = if number == 0 { 'M' } else { 'L' };
            write!(out, "{command}{:.1} {:.1}", x.pixel(at), y.pixel(value))?;
        }
        out.write_str("Z\"/>")?;
    }
    write!(
        out,
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\""
    )?;
    for (at, value, _) in finite() {
        write!(out, "{:.1},{:.1} ", x.pixel(*at), y.pixel(*value))?;
    }
    out.write_str("\"/>")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_is_one_well_formed_document_with_its_lines() {
        let svg = Chart::new("a < b", "load, req/s", "p95, s")
            .scale(Scale::Logarithmic)
            .line(Line::new("one", vec![(1.0, 0.5, 0.1), (2.0, 50.0, 1.0)]))
            .line(Line::new(
                "two",
                vec![(1.0, f64::NAN, 0.0), (2.0, 3.0, 0.0)],
            ))
            .svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains("a &lt; b") && svg.contains("prefers-color-scheme:dark"));
        assert!(!svg.contains("NaN"));
    }
}
