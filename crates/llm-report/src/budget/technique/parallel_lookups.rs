//! F14: what does not depend on each other is looked up at once.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Figure, Tolerance};
use crate::virtual_time;
use llm_bench::measure::millis;
use std::time::Duration;
use tokio::time::Instant;
use tower::{ServiceExt, service_fn};

const HOW: &str = "two look-ups as tower services, of 4 and 9 ms, one after the other and joined";

pub(super) fn measure() -> Result<Row, BoxError> {
    virtual_time::run(async {
        let lookup = service_fn(|ms: u64| async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok::<_, BoxError>(())
        });
        let start = Instant::now();
        lookup.oneshot(4).await?;
        lookup.oneshot(9).await?;
        let serial = start.elapsed();
        let start = Instant::now();
        tokio::try_join!(lookup.oneshot(4), lookup.oneshot(9))?;
        let joined = start.elapsed();
        Ok(Row::new(
            "F14",
            "independent look-ups at once",
            Clock::Virtual,
            HOW,
            vec![
                Figure::new(
                    "one after the other",
                    "ms",
                    13.0,
                    millis(serial),
                    Tolerance::Exact,
                ),
                Figure::new("at once", "ms", 9.0, millis(joined), Tolerance::Exact),
            ],
        ))
    })
}
