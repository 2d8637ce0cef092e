//! F7: an expired hot key causes one generation, and everybody waits for it once.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Figure, Tolerance};
use crate::gateway::{Gateway, chat};
use crate::virtual_time;
use llm_bench::measure::{Source, millis};
use llm_front::config::Config;
use llm_front::config::types::Span;
use std::time::Duration;
use tokio::task::JoinSet;

const HOW: &str = "an answer is cached through the whole gateway for 1 s, and expires; then 200 callers ask for it at once, \
before a backend of 45 ms";
const CALLERS: usize = 200;
const TTL: Duration = Duration::from_secs(1);

pub(super) fn measure() -> Result<Row, BoxError> {
    virtual_time::run(within())
}

async fn within() -> Result<Row, BoxError> {
    let gateway = Gateway::new(&Config {
        cache_ttl: Span(TTL),
        ..Config::default()
    })?;
    let hot = || chat("stub?delay=45ms", "the hot one", "");
    gateway.ask(hot()?).await?;
    let warm = gateway.ask(hot()?).await?;
    tokio::time::sleep(TTL + Duration::from_millis(1)).await;
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let (gateway, request) = (gateway.clone(), hot()?);
        callers.spawn(async move { gateway.ask(request).await });
    }
    let (mut generations, mut coalesced, mut whole) = (0, 0, 0);
    let (mut shortest, mut longest) = (Duration::MAX, Duration::ZERO);
    while let Some(answer) = callers.join_next().await {
        let answer = answer??;
        match answer.source() {
            Source::Generation => generations += 1,
            Source::Coalesced => coalesced += 1,
            _ => {}
        }
        whole += usize::from(answer.body() == warm.body());
        shortest = shortest.min(answer.took);
        longest = longest.max(answer.took);
    }
    Ok(Row::new(
        "F7",
        "single flight",
        Clock::Virtual,
        HOW,
        vec![
            Figure::count(
                "before it expires: hits",
                1,
                usize::from(warm.source() == Source::Hit),
            ),
            Figure::count("generations", 1, generations),
            Figure::count("callers who joined it", CALLERS - 1, coalesced),
            Figure::count("callers with the whole answer", CALLERS, whole),
            Figure::new(
                "shortest wait",
                "ms",
                45.0,
                millis(shortest),
                Tolerance::Exact,
            ),
            Figure::new(
                "longest wait",
                "ms",
                45.0,
                millis(longest),
                Tolerance::Exact,
            ),
        ],
    ))
}
