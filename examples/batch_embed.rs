//! Batching on an embedding function: callers embed one text each, the model is called with eight at a time.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use tokio::task::JoinSet;
use tower::{BoxError, Layer, ServiceExt};
use tower_batch_llm::{BatchLayer, BatchResult, Window, batch_fn, cost};

type Vector = Vec<f32>;

/// Stands for a model, which takes 12 ms a call whether it is given one text or eight.
///
/// There are two ways to fail: the outer `Result` is for the whole batch, an inner one for its text alone.
async fn embed(texts: Vec<String>) -> BatchResult<Vector> {
    tokio::time::sleep(Duration::from_millis(12)).await;
    let vector = |text: String| match text.split_whitespace().count() {
        0 => Err("there is nothing to embed".into()),
        words => Ok(vec![words as f32, text.len() as f32]),
    };
    Ok(texts.into_iter().map(vector).collect())
}

// The clock is paused, so that waiting takes no time and the batches below are exact.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), BoxError> {
    let layer = BatchLayer::new(8)
        // Wait up to 6 ms for company. `WhileBusy` would not wait while the model is idle, and is what a server wants.
        .window(Window::Fixed(Duration::from_millis(6)))
        // A padded batch costs its number of texts times its longest: one novel does not join seven short questions.
        .max_cost(4_096, cost::padded(|text: &String| text.len() as u64));
    let stats = layer.stats();
    let service = layer.layer(batch_fn(embed));

    let mut callers = JoinSet::new();
    for n in 0..20 {
        let text = if n == 5 {
            String::new()
        } else {
            format!("text number {n}")
        };
        // `oneshot` waits for a place in the queue: a full queue holds callers back, it never turns them away.
        callers.spawn(service.clone().oneshot(text));
    }
    let answers = callers.join_all().await;

    // The caller of the empty text has its error; the seven others of its batch know nothing of it.
    assert_eq!(answers.iter().filter(|answer| answer.is_err()).count(), 1);
    assert!(
        answers
            .iter()
            .flatten()
            .all(|vector| vector.first() == Some(&3.0))
    );
    let seen = stats.snapshot();
    assert_eq!((seen.batches, seen.items), (3, 20));
    // Two full batches, which went at once, and the rest, when its window ended.
    assert_eq!((seen.batches_of(8), seen.batches_of(4)), (2, 1));
    println!("{} texts, {} calls of the model", seen.items, seen.batches);
    Ok(())
}

#[test]
fn twenty_texts_are_three_calls() -> Result<(), BoxError> {
    main()
}
