//! One technique: what it is, how it was shown, and its figures.

use super::Figure;
use serde::Serialize;
use serde_json::Value;

/// How far a technique has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is in the product, or a law that sizes it, and was measured.
    Measured,
    /// Only the simulator knows it.
    SimulationOnly,
    /// It is not there yet.
    NotBuilt,
}

impl State {
    /// In words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::SimulationOnly => "simulation only",
            Self::NotBuilt => "not built",
        }
    }
}

/// By which clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The product's code under a clock that stands still until everybody waits.
    Virtual,
    /// A discrete-event simulation's.
    Simulated,
    /// None: numbers drawn from a law, the same each time.
    Drawn,
    /// This machine's own: the figure differs from machine to machine.
    Real,
    /// Not measured.
    None,
}

impl Clock {
    /// In words.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Virtual => "virtual",
            Self::Simulated => "simulated",
            Self::Drawn => "drawn",
            Self::Real => "real",
            Self::None => "–",
        }
    }
}

/// Figures in columns, for a reader who wants to see the whole curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// What it shows.
    pub caption: String,
    /// What each column holds, unit included.
    pub heads: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

/// One technique.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its number in the list of techniques.
    pub id: &'static str,
    /// What it is.
    pub technique: &'static str,
    /// How far it has come.
    pub state: State,
    /// By which clock.
    pub clock: Clock,
    /// How it was shown, in one sentence; for what is not built, what it will be held to.
    pub how: &'static str,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Curves behind them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curve>,
}

impl Row {
    /// A technique that was measured.
    #[must_use]
    pub const fn new(
        id: &'static str,
        technique: &'static str,
        clock: Clock,
        how: &'static str,
        figures: Vec<Figure>,
    ) -> Self {
        Self {
            id,
            technique,
            state: State::Measured,
            clock,
            how,
            figures,
            curves: Vec::new(),
        }
    }

    /// A technique that is not there yet, and what it will be held to.
    #[must_use]
    pub const fn not_built(id: &'static str, technique: &'static str, goal: &'static str) -> Self {
        Self {
            id,
            technique,
            state: State::NotBuilt,
            clock: Clock::None,
            how: goal,
            figures: Vec::new(),
            curves: Vec::new(),
        }
    }

    /// Only the simulator knows it.
    #[must_use]
    pub const fn simulation_only(mut self) -> Self {
        self.state = State::SimulationOnly;
        self
    }

    /// Adds a curve.
    #[must_use]
    pub fn curve(mut self, curve: Curve) -> Self {
        self.curves.push(curve);
        self
    }
}
