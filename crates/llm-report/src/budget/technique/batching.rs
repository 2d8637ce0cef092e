//! F16: what batches buy, and where it stops being worth it.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Curve, Figure, Tolerance, round};
use crate::virtual_time::{self, model_ms, slowed};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};
use tower_batch_llm::{BatchLayer, Window, batch_fn};

const HOW: &str = "the batcher before a backend that takes 6 + 1.2 b ms for a batch of b, one batch at a time, 4 b callers who each ask \
again at once; the knee is the largest batch whose last doubling still brings a fifth more (any share from 14 to 23 % names the same)";
const CURVE: [(usize, f64); 6] = [
    (1, 138.9),
    (2, 238.0),
    (4, 370.0),
    (8, 513.0),
    (16, 635.0),
    (32, 721.0),
];
/// A doubling of the batch that brings less is not worth the wait.
const WORTH: f64 = 0.2;
const BATCHES: usize = 200;

pub(super) fn measure() -> Result<Row, BoxError> {
    let (mut figures, mut rows, mut points) = (Vec::new(), Vec::new(), Vec::new());
    for (size, expected) in CURVE {
        let rate = saturated(size)?;
        let whole = Figure::new(
            format!("batches of {size}"),
            "req/s",
            expected,
            rate,
            Tolerance::Within(0.002),
        );
        figures.push(whole);
        rows.push(vec![
            json!(size),
            json!(round(rate)),
            json!(round(cost_ms(size))),
        ]);
        points.push((size, rate));
    }
    let thirteen = saturated(13)?;
    figures.push(Figure::new(
        "a batch of 13 takes",
        "ms",
        21.6,
        13e3 / thirteen,
        Tolerance::Exact,
    ));
    figures.push(Figure::count("knee, items", 16, knee(&points)));
    Ok(Row::new(
        "F16",
        "the batching curve and its knee",
        Clock::Virtual,
        HOW,
        figures,
    )
    .curve(Curve {
        caption: "A saturated batcher, T(b) = 6 + 1.2 b ms".to_owned(),
        heads: vec!["items a batch", "req/s", "ms a batch"],
        rows,
    }))
}

fn cost_ms(items: usize) -> f64 {
    6.0 + 1.2 * items as f64
}

/// The largest batch whose last doubling still brings [`WORTH`] more.
fn knee(points: &[(usize, f64)]) -> usize {
    let doublings = points.iter().zip(points.iter().skip(1));
    let worth = doublings.filter(|((_, before), (_, after))| after / before - 1.0 >= WORTH);
    worth.map(|(_, (size, _))| *size).max().unwrap_or(1)
}

/// Requests a second of batches of `size` with no end of callers.
fn saturated(size: usize) -> Result<f64, BoxError> {
    virtual_time::run(async move {
        let backend = batch_fn(move |items: Vec<()>| async move {
            tokio::time::sleep(slowed(cost_ms(items.len()))).await;
            Ok::<_, BoxError>(items.into_iter().map(Ok).collect())
        });
        let service = BatchLayer::new(size)
            .window(Window::Fixed(Duration::from_secs(1)))
            .max_in_flight(1)
            .layer(backend);
        let start = Instant::now();
        let mut callers = JoinSet::new();
        for _ in 0..4 * size {
            let mut service = service.clone();
            callers.spawn(async move {
                for _ in 0..BATCHES / 4 {
                    service.ready().await?.call(()).await?;
                }
                Ok::<_, BoxError>(())
            });
        }
        while let Some(caller) = callers.join_next().await {
            caller??;
        }
        Ok((BATCHES * size) as f64 / model_ms(start.elapsed()) * 1e3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_where_doubling_stops_paying() {
        assert_eq!(knee(&[(1, 100.0), (2, 200.0), (4, 300.0), (8, 330.0)]), 4);
        assert_eq!(knee(&[(1, 100.0), (2, 101.0)]), 1);
    }
}
