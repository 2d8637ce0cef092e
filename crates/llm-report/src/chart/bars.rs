//! Bars to the right, each with its value beside it.

use super::svg::{Canvas, width};
use super::{Drawing, escape};
use crate::budget::quantity;
use llm_sim::plot::{Axis, label};

/// One bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// How long it is.
    pub value: f64,
    /// The smallest and the largest of what was measured.
    pub reach: Option<(f64, f64)>,
}

impl Bar {
    /// A bar without a reach.
    #[must_use]
    pub const fn new(value: f64) -> Self {
        Self { value, reach: None }
    }
}

/// Bars that belong together: one a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What they belong to.
    pub name: String,
    /// The bars, in the order of the series.
    pub bars: Vec<Bar>,
}

/// A chart of bars.
#[derive(Clone, Debug)]
pub struct Bars {
    /// Its name in links and files.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it shows, for whoever cannot see it.
    pub description: String,
    /// What the bars measure, with its unit.
    pub x: &'static str,
    /// The unit that stands behind each value.
    pub unit: &'static str,
    /// What the bars of a group are; one name, or none, for a bar a group.
    pub series: Vec<&'static str>,
    /// The groups, from the top.
    pub groups: Vec<Group>,
    /// A value that is not to be passed, and what it is.
    pub limit: Option<(f64, &'static str)>,
    /// Whether the axis is logarithmic.
    pub logarithmic: bool,
}

const WIDTH: f64 = 760.0;
const BAR: f64 = 20.0;
const BETWEEN: f64 = 14.0;
const TOP: f64 = 40.0;

impl Bars {
    /// Draws it.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let names = self.groups.iter().map(|group| width(&group.name));
        let left = names.fold(60.0, f64::max).min(270.0) + 12.0;
        let right = WIDTH - 92.0;
        let top = TOP
            + if self.series.len() > 1 { 22.0 } else { 0.0 }
            + if self.limit.is_some() { 18.0 } else { 0.0 };
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let values =
            bars().flat_map(|bar| [bar.value, bar.reach.map_or(bar.value, |reach| reach.1)]);
        let x = Axis::new(
            values.chain(self.limit.map(|limit| limit.0)),
            self.logarithmic,
            (left, right),
        );
        let height = |group: &Group| BAR * group.bars.len() as f64 + BETWEEN;
        let bottom = top + self.groups.iter().map(height).sum::<f64>();
        let mut canvas = Canvas::default();
        canvas.add(format_args!(
            r#"<text x="0" y="18" font-size="15" font-weight="600">{}</text>"#,
            escape(self.title)
        ));
        self.series(&mut canvas);
        for tick in x.ticks() {
            let at = x.pixel(tick);
            canvas.line("grid", (at, top), (at, bottom));
            canvas.text("soft middle", at, bottom + 18.0, &label(tick));
        }
        let mut y = top + BETWEEN / 2.0;
        for group in &self.groups {
            let middle = y + BAR * group.bars.len() as f64 / 2.0;
            canvas.text("end", left - 10.0, middle + 4.5, &group.name);
            for (tone, bar) in group.bars.iter().enumerate() {
                self.bar(&mut canvas, tone, *bar, &x, y);
                y += BAR;
            }
            y += BETWEEN;
        }
        canvas.line("axis", (left, top), (left, bottom));
        if let Some((limit, name)) = self.limit {
            let at = x.pixel(limit);
            canvas.line("mark", (at, top - 4.0), (at, bottom));
            canvas.text("middle halo", at, top - 9.0, name);
        }
        canvas.text(
            "soft middle",
            f64::midpoint(left, right),
            bottom + 38.0,
            self.x,
        );
        Drawing {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            description: self.description.clone(),
            size: (WIDTH, bottom + 46.0),
            inside: canvas.0,
        }
    }

    fn series(&self, canvas: &mut Canvas) {
        if self.series.len() < 2 {
            return;
        }
        let mut x = 0.0;
        for (tone, name) in self.series.iter().enumerate() {
            canvas.add(format_args!(
                r#"<rect class="f{}" x="{x:.1}" y="32" width="12" height="12" rx="2"/>"#,
                tone % 5
            ));
            canvas.text("", x + 18.0, 42.5, name);
            x += 18.0 + width(name) + 22.0;
        }
    }

    fn bar(&self, canvas: &mut Canvas, tone: usize, bar: Bar, x: &Axis, y: f64) {
        let (from, to) = (x.start(), x.pixel(bar.value));
        let middle = y + BAR / 2.0;
        let wide = (to - from).max(1.0);
        canvas.add(format_args!(
            r#"<rect class="f{}" x="{from:.1}" y="{:.1}" width="{wide:.1}" height="{:.1}" rx="2"/>"#,
            tone % 5,
            y + 2.0,
            BAR - 4.0
        ));
        let mut end = from + wide;
        if let Some((least, most)) = bar.reach {
            let (least, most) = (x.pixel(least), x.pixel(most));
            canvas.add(format_args!(
                r#"<path class="reach" d="M{least:.1} {middle:.1}H{most:.1}M{least:.1} {0:.1}v8M{most:.1} {0:.1}v8"/>"#,
                middle - 4.0
            ));
            end = end.max(most);
        }
        canvas.text(
            "halo",
            end + 7.0,
            middle + 4.5,
            &quantity(bar.value, self.unit),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bar_has_its_value_beside_it() {
        let bars = Bars {
            id: "a",
            title: "CPU",
            description: String::new(),
            x: "µs a request",
            unit: "µs",
            series: vec!["mean", "p99"],
            groups: vec![Group {
                name: "hit".to_owned(),
                bars: vec![
                    Bar::new(14.0),
                    Bar {
                        value: 20.0,
                        reach: Some((18.0, 26.0)),
                    },
                ],
            }],
            limit: Some((30.0, "limit")),
            logarithmic: false,
        };
        let svg = bars.draw().inline();
        assert!(
            svg.contains(">14 µs</text>")
                && svg.contains(">20 µs</text>")
                && svg.contains(">p99</text>")
        );
        assert_eq!(svg.matches("class=\"reach\"").count(), 1);
    }
}
