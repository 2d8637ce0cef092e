//! F15: a pipeline goes at the pace of its slowest stage.

use super::Row;
use crate::BoxError;
use crate::budget::{Clock, Figure, Tolerance};
use crate::virtual_time::{self, model_ms, slowed};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Instant, sleep};

const HOW: &str = "1,000 requests through three stages of 1.4 ms (tokenise), 24 ms (infer) and 0.7 ms (serialise), one request after \
the other, and as three tasks with bounded channels between them: time from answer to answer";
const STAGES: [f64; 3] = [1.4, 24.0, 0.7];
const REQUESTS: u32 = 1000;

pub(super) fn measure() -> Result<Row, BoxError> {
    let serial = virtual_time::run(serial())?;
    let pipelined = virtual_time::run(pipelined())?;
    Ok(Row::new(
        "F15",
        "pipelining: tokenise, infer, serialise",
        Clock::Virtual,
        HOW,
        vec![
            Figure::new("one after the other", "ms", 26.1, serial, Tolerance::Exact),
            Figure::new("pipelined", "ms", 24.0, pipelined, Tolerance::Exact),
            Figure::new(
                "more throughput",
                "%",
                8.75,
                (serial / pipelined - 1.0) * 100.0,
                Tolerance::Exact,
            ),
        ],
    ))
}

async fn serial() -> Result<f64, BoxError> {
    let start = Instant::now();
    for _ in 0..REQUESTS {
        for ms in STAGES {
            sleep(slowed(ms)).await;
        }
    }
    Ok(model_ms(start.elapsed()) / f64::from(REQUESTS))
}

async fn pipelined() -> Result<f64, BoxError> {
    let (source, mut end) = channel(1);
    for ms in STAGES {
        let (out, next) = channel(1);
        tokio::spawn(stage(ms, std::mem::replace(&mut end, next), out));
    }
    tokio::spawn(async move {
        for request in 0..REQUESTS {
            if source.send(request).await.is_err() {
                break;
            }
        }
    });
    let (mut answers, mut first) = (0, None);
    let mut last = Instant::now();
    while end.recv().await.is_some() {
        answers += 1;
        last = Instant::now();
        first.get_or_insert(last);
    }
    let first = first.ok_or("the pipeline gave no answer")?;
    Ok(model_ms(last - first) / f64::from(answers - 1))
}

/// Works for `ms` on each request, in order, and hands it on. The room for one between two stages is what they need not wait for.
async fn stage(ms: f64, mut from: Receiver<u32>, to: Sender<u32>) {
    while let Some(request) = from.recv().await {
        sleep(slowed(ms)).await;
        if to.send(request).await.is_err() {
            break;
        }
    }
}
