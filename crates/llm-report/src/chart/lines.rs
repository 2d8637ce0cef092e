//! Lines over a common axis, each named where it ends.

use super::labels::{Label, spread};
use super::line::{Line, Mark, Style};
use super::room::Room;
use super::svg::{Canvas, width};
use super::{Drawing, escape};
use llm_sim::plot::{Axis, Scale, label};

/// A chart of up to four lines and their laws.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Its name in links and files.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it shows, for whoever cannot see it.
    pub description: String,
    /// What runs to the right, with its unit.
    pub x: &'static str,
    /// What runs up, with its unit.
    pub y: &'static str,
    /// How the vertical axis runs.
    pub scale: Scale,
    /// The lines.
    pub lines: Vec<Line>,
    /// What is pointed at.
    pub marks: Vec<Mark>,
    /// Where to label the horizontal axis, if not at round values; it is logarithmic then.
    pub x_ticks: Vec<f64>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = HEIGHT - 52.0;

/// A canvas with its axes.
struct Frame {
    canvas: Canvas,
    x: Axis,
    y: Axis,
    right: f64,
}

impl Lines {
    /// Draws it.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let mut frame = self.frame();
        let mut room = Room::default();
        for line in &self.lines {
            room.add(
                finite(line)
                    .map(|point| (frame.x.pixel(point.0), frame.y.pixel(point.1)))
                    .collect(),
            );
        }
        self.grid(&mut frame);
        for (tone, line) in self.toned() {
            draw(&mut frame, tone, line);
        }
        // Names keep clear of lines and marked heights, and what is marked keeps clear of lines and names.
        let mut around = room.clone();
        for mark in &self.marks {
            if let Mark::Height(height, _) = mark {
                let at = frame.y.pixel(*height);
                around.add(vec![(LEFT, at), (frame.right, at)]);
            }
        }
        for name in self.names(&mut frame, &around) {
            room.add(vec![(name.x, name.y), (name.x + name.width, name.y)]);
        }
        self.marks(&mut frame, &room);
        Drawing {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            description: self.description.clone(),
            size: (WIDTH, HEIGHT),
            inside: frame.canvas.0,
        }
    }

    fn frame(&self) -> Frame {
        let names = self.lines.iter().map(|line| width(&line.name));
        let right = WIDTH - names.fold(60.0, f64::max).min(220.0) - 22.0;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let logarithmic = self.scale == Scale::Logarithmic;
        let marked = self.marks.iter().map(|mark| match mark {
            Mark::Height(y, _) | Mark::Point(_, y, _) => *y,
        });
        // Room above the highest point.
        let head = if logarithmic { 1.0 } else { 1.06 };
        let heights = points().flat_map(|point| [point.1, (point.1 + point.2) * head]);
        Frame {
            canvas: Canvas::default(),
            x: Axis::new(
                points().map(|point| point.0),
                !self.x_ticks.is_empty(),
                (LEFT, right),
            ),
            y: Axis::new(heights.chain(marked), logarithmic, (BOTTOM, TOP)),
            right,
        }
    }

    /// The lines, each with its colour; laws share the grey one.
    fn toned(&self) -> impl Iterator<Item = (usize, &Line)> {
        let mut next = 0..4;
        self.lines.iter().map(move |line| match line.style {
            Style::Law => (4, line),
            Style::Joined | Style::Dots => (next.next().unwrap_or(4), line),
        })
    }

    fn grid(&self, frame: &mut Frame) {
        let Frame {
            canvas,
            x,
            y,
            right,
        } = frame;
        let title = escape(self.title);
        canvas.add(format_args!(
            r#"<text x="0" y="18" font-size="15" font-weight="600">{title}</text>"#
        ));
        canvas.text("soft", 0.0, 38.0, self.y);
        for tick in y.ticks() {
            let at = y.pixel(tick);
            canvas.line("grid", (LEFT, at), (*right, at));
            canvas.text("soft end", LEFT - 8.0, at + 4.5, &label(tick));
        }
        let ticks = if self.x_ticks.is_empty() {
            x.ticks()
        } else {
            self.x_ticks.clone()
        };
        for tick in ticks {
            let at = x.pixel(tick);
            canvas.line("axis", (at, BOTTOM), (at, BOTTOM + 5.0));
            canvas.text("soft middle", at, BOTTOM + 20.0, &label(tick));
        }
        canvas.line("axis", (LEFT, BOTTOM), (*right, BOTTOM));
        canvas.text(
            "soft middle",
            f64::midpoint(LEFT, *right),
            HEIGHT - 8.0,
            self.x,
        );
    }

    fn marks(&self, frame: &mut Frame, room: &Room) {
        let Frame {
            canvas,
            x,
            y,
            right,
        } = frame;
        for mark in &self.marks {
            match mark {
                Mark::Height(height, name) => {
                    let at = y.pixel(*height);
                    canvas.line("mark", (LEFT, at), (*right, at));
                    // Where no line passes.
                    let last = (*right - width(name) - 8.0).max(LEFT);
                    let places = (0..=12)
                        .map(|step| LEFT + 8.0 + (last - LEFT - 8.0) * f64::from(step) / 12.0);
                    let labels = places.map(|x| Label {
                        x,
                        y: at - 11.0,
                        width: width(name),
                    });
                    let place = room.best(labels).map_or(LEFT + 8.0, |label| label.x);
                    canvas.text("halo", place, at - 7.0, name);
                }
                Mark::Point(over, height, name) => {
                    let (at, up) = (x.pixel(*over), y.pixel(*height));
                    canvas.add(format_args!(
                        r#"<circle class="ring" cx="{at:.1}" cy="{up:.1}" r="8"/>"#
                    ));
                    canvas.text("halo middle", at + 8.0, up + 28.0, name);
                }
            }
        }
    }

    /// Writes the names of the lines, and says where they stand.
    fn names(&self, frame: &mut Frame, room: &Room) -> Vec<Label> {
        let Frame {
            canvas,
            x,
            y,
            right,
        } = frame;
        let named = || self.toned().filter(|(_, line)| !line.name.is_empty());
        let mut labels = Vec::new();
        for (_, line) in named() {
            let last = finite(line).last();
            let (at, up) = last.map_or((LEFT, TOP), |point| (x.pixel(point.0), y.pixel(point.1)));
            let wide = width(&line.name);
            let beside = Label {
                x: at + 12.0,
                y: up,
                width: wide,
            };
            let inside = at + 12.0 + wide < *right;
            // A line that ends among others: beside its end, above or below it, where most room is.
            let around = [0.0, -16.0, 16.0, -28.0, 28.0].map(|off| Label {
                y: up + off,
                ..beside
            });
            labels.push(if inside {
                room.best(around).unwrap_or(beside)
            } else {
                beside
            });
        }
        spread(&mut labels, TOP, BOTTOM - 8.0);
        for ((tone, line), place) in named().zip(&labels) {
            canvas.text(&format!("halo f{tone}"), place.x, place.y + 4.5, &line.name);
        }
        labels
    }
}

fn finite(line: &Line) -> impl DoubleEndedIterator<Item = &(f64, f64, f64)> {
    line.points.iter().filter(|point| point.1.is_finite())
}

fn draw(frame: &mut Frame, tone: usize, line: &Line) {
    let Frame { canvas, x, y, .. } = frame;
    let join = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        let points = points.map(|(at, up)| format!("{:.1},{:.1}", x.pixel(at), y.pixel(up)));
        points.collect::<Vec<_>>().join(" ")
    };
    if finite(line).any(|point| point.2 > 0.0) {
        let upper = finite(line).map(|point| (point.0, point.1 + point.2));
        let lower = finite(line).rev().map(|point| (point.0, point.1 - point.2));
        let edge = join(&mut upper.chain(lower));
        canvas.add(format_args!(
            r#"<polygon class="band f{tone}" points="{edge}"/>"#
        ));
    }
    if line.style != Style::Dots {
        let dashed = if line.style == Style::Law {
            " dashed"
        } else {
            ""
        };
        let points = join(&mut finite(line).map(|point| (point.0, point.1)));
        canvas.add(format_args!(
            r#"<polyline class="line s{tone}{dashed}" points="{points}"/>"#
        ));
    }
    if line.style != Style::Law {
        for point in finite(line) {
            let (at, up) = (x.pixel(point.0), y.pixel(point.1));
            canvas.add(format_args!(
                r#"<circle class="f{tone}" cx="{at:.1}" cy="{up:.1}" r="3.4"/>"#
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_names_its_lines_and_leaves_out_what_was_not_measured() {
        let lines = Lines {
            id: "a",
            title: "a < b",
            description: String::new(),
            x: "load, req/s",
            y: "p95, s",
            scale: Scale::Logarithmic,
            lines: vec![
                Line::new("one", [(1.0, 0.5), (2.0, 50.0)]),
                Line::new("dots", [(1.0, 0.5), (2.0, 5.0)]).style(Style::Dots),
                Line::new("law", [(1.0, f64::NAN), (2.0, 3.0)]).style(Style::Law),
            ],
            marks: vec![
                Mark::Height(10.0, "limit".to_owned()),
                Mark::Point(2.0, 3.0, "here".to_owned()),
            ],
            x_ticks: vec![1.0, 2.0],
        };
        let svg = lines.draw().inline();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(
            svg.contains(">one</text>")
                && svg.contains(">limit</text>")
                && svg.contains("a &lt; b")
        );
        assert!(!svg.contains("NaN"));
    }
}
