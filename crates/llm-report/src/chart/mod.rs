//! Charts as SVG, drawn for light and dark grounds, with their labels where they belong.
//!
//! A chart in a page takes its colours from the page's style sheet ([`STYLE`]); one in a file of its own carries it along.

mod bars;
mod labels;
mod line;
mod lines;
mod room;
mod svg;

pub use self::bars::{Bar, Bars, Group};
pub use self::line::{Line, Mark, Style};
pub use self::lines::Lines;
pub use self::svg::{Drawing, escape};

/// What gives the charts their colours, in both themes.
pub const STYLE: &str = include_str!("style.css");
