//! In process, under paused time: every figure is exact.

use super::workload::{Answer, CALLERS, PAUSE, REQUESTS, Run, WINDOW, body};
use super::{Batches, Mode};
use crate::BoxError;
use crate::arrivals::Cursor;
use crate::measure::Source;
use crate::report::progress;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use llm_front::config::Config;
use llm_front::config::types::{BatchWindow, Span};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::{Service, ServiceExt};

/// So many runs of each mode.
///
/// # Errors
/// A run could not be made.
pub fn runs(count: u32) -> Result<Vec<(Mode, Run)>, BoxError> {
    progress(&format!(
        "reference, in process: {count} runs with and without coalescing"
    ));
    let modes = (0..count).flat_map(|_| Mode::BOTH);
    modes.map(|mode| Ok((mode, run(mode)?))).collect()
}

/// One run, on a runtime of its own, whose time stands still until everybody waits.
///
/// # Errors
/// The stack cannot be built, or a caller got no answer.
pub fn run(mode: Mode) -> Result<Run, BoxError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()?;
    runtime.block_on(within(mode))
}

async fn within(mode: Mode) -> Result<Run, BoxError> {
    let config = Config {
        coalesce: mode.switch().parse()?,
        batch_window_mode: BatchWindow::Fixed,
        batch_window: Span(WINDOW),
        batch_items: 8,
        ..Config::default()
    };
    let gateway = llm_front::stack::build::<Full<Bytes>>(&config)?;
    let cursor = Cursor::new(REQUESTS);
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(call(gateway.service.clone(), cursor.clone()));
    }
    let mut answers = Vec::new();
    while let Some(caller) = callers.join_next().await {
        answers.append(&mut caller??);
    }
    Ok(Run::new(
        &answers,
        Batches::read(&gateway.metrics.render()),
        Duration::ZERO,
    ))
}

async fn call<S, B>(mut service: S, cursor: Cursor) -> Result<Vec<Answer>, BoxError>
where
    S: Service<Request<Full<Bytes>>, Response = http::Response<B>, Error: Into<BoxError>>,
    B: http_body::Body<Error: Into<BoxError>>,
{
    let mut answers = Vec::new();
    while let Some(number) = cursor.take() {
        let sent = Instant::now();
        let request = Request::post("/v1/generate")
            .header("content-type", "application/json")
            .body(Full::from(body(number)))?;
        let response = service
            .ready()
            .await
            .map_err(Into::into)?
            .call(request)
            .await
            .map_err(Into::into)?;
        let (head, body) = response.into_parts();
        body.collect().await.map_err(Into::into)?;
        if head.status != 200 {
            return Err(format!("request {number} was answered {}", head.status).into());
        }
        let source = head
            .headers
            .get("cache-status")
            .map_or(Source::Unsaid, |value| Source::of(value.as_bytes()));
        answers.push(Answer {
            source,
            took: sent.elapsed(),
        });
        tokio::time::sleep(PAUSE).await;
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::reference::workload::LIMIT;

    #[test]
    fn sixteen_callers_of_three_prompts_cause_sixteen_generations_without_coalescing() {
        let run = run(Mode::Without).unwrap();
        assert_eq!(run.counts, Mode::Without.expected());
    }

    #[test]
    fn sixteen_callers_of_three_prompts_cause_three_generations_with_coalescing() {
        let run = run(Mode::With).unwrap();
        assert_eq!(run.counts, Mode::With.expected());
        assert_eq!(run.took.iter().max(), Some(&LIMIT));
    }
}
