//! The figures against servers whose truth is known: this process's own, whose stamps are of the same clock.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what tests have in common may do what tests may do"
)]

use llm_bench::arrivals::{Arrivals, Burstiness};
use llm_bench::figures::{Metric, Summary};
use llm_bench::load::{End, Load, Outcome, Pacing, Ran, Target, run};
use llm_bench::measure::Sorted;
use llm_bench::upstream::{Part, Script, Upstream};
use llm_bench::workload::{Dialect, Endpoint, Form, Lengths, Random};
use serde_json::Map;
use std::sync::Arc;
use std::time::Duration;

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn load(upstream: &Upstream, form: Form, pacing: Pacing) -> Load {
    let target = Target::parse(&upstream.url()).unwrap();
    let path = Endpoint::Chat.path();
    let dialect = Dialect::new(
        Endpoint::Chat,
        path,
        target.authority(),
        "m",
        form,
        &[],
        &Map::new(),
    );
    let lengths = Lengths {
        input: 8,
        output: 8,
        range_ratio: 0.0,
        prefix: 0,
    };
    let random = Random {
        lengths,
        batch: 1,
        seed: 0,
    };
    Load::new(vec![(target, dialect)], Arc::new(random), pacing)
}

fn closed(count: usize) -> Pacing {
    Pacing::Closed {
        count: Some(count),
        think: Duration::ZERO,
    }
}

fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
}

fn content(text: &str) -> String {
    delta(&format!(r#"{{"content":"{text}"}}"#))
}

const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

fn usage(output: u64) -> String {
    format!(r#"{{"choices":[],"usage":{{"prompt_tokens":8,"completion_tokens":{output}}}}}"#)
}

fn with_usage(text: &str, output: u64) -> String {
    let usage = format!(r#"{{"prompt_tokens":8,"completion_tokens":{output}}}"#);
    format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}],"usage":{usage}}}"#)
}

/// Runs `count` requests, one after the other, against a server that follows `script`. With what the server says of each: when it
/// was asked, then when it sent each part.
async fn against(script: Script, count: usize) -> (Ran, Vec<Vec<Duration>>) {
    let upstream = Upstream::script(script).unwrap();
    let ran = run(load(&upstream, Form::Stream, closed(count)), |_| ())
        .await
        .unwrap();
    let moments: Vec<Vec<Duration>> = upstream
        .asked()
        .into_iter()
        .zip(upstream.history())
        .map(|(asked, sent)| {
            std::iter::once(asked)
                .chain(sent)
                .map(|stamp| stamp.since(ran.start))
                .collect()
        })
        .collect();
    assert_eq!((moments.len(), ran.outcomes.len()), (count, count));
    (ran, moments)
}

/// Within 1 % or 0.2 ms, whichever is more.
fn close(measured: f64, truth: f64) -> Result<(), String> {
    let allowed = (truth * 0.01).max(0.2);
    match (measured - truth).abs() <= allowed {
        true => Ok(()),
        false => Err(format!("{measured} ms for {truth} ms")),
    }
}

/// Between a server's stamp and ours lies what the machine does meanwhile, and others use it too: a mistake of ours is there every
/// time, a pause of the machine is not. One test at a time, for the same reason.
async fn patiently(test: impl AsyncFn() -> Result<(), String>) {
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _alone = ALONE.lock().await;
    let mut failures = Vec::new();
    for _ in 0..5 {
        match test().await {
            Ok(()) => return,
            Err(failure) => failures.push(failure),
        }
    }
    panic!("five times: {failures:?}");
}

/// The median over the requests: one of them may fall on a moment at which the machine was busy.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    values.collect::<Sorted>().median()
}

/// Chunks that say something; on a busy machine several of them come with one read.
fn chunks(outcome: &Outcome) -> u32 {
    outcome.arrivals.iter().map(|arrival| arrival.chunks).sum()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// From moment `from` to moment `to`, the median of all answers. The request is moment 0, the parts follow.
fn between(sent: &[Vec<Duration>], from: usize, to: usize) -> f64 {
    median(sent.iter().map(|parts| millis(parts[to] - parts[from])))
}

fn metric(ran: &Ran, metric: Metric) -> f64 {
    Summary::of(ran, &[], false).all.series(metric).median()
}

#[tokio::test]
async fn latency_counts_from_the_moment_a_request_should_have_been_sent() {
    patiently(async || {
        // 500 ms of service, 10 requests a second, 8 of them, one at a time: the n-th waits 400 ms for each one before it.
        let upstream = Upstream::script(Script::body(ms(500))).unwrap();
        let arrivals = Arrivals::Rate {
            rate: 10.0,
            burstiness: Burstiness::Constant,
        };
        let pacing = Pacing::Open(arrivals.of_count(8, 0));
        let ran = run(load(&upstream, Form::Body, pacing).cap(1), |_| ())
            .await
            .unwrap();
        let summary = Summary::of(&ran, &[], true);
        let e2el = summary.all.series(Metric::E2el);
        // When the server answered, and when each should have been sent: on a busy machine 500 ms take longer.
        let truth: Sorted = upstream
            .history()
            .iter()
            .zip(0..)
            .map(|(sent, number)| millis(sent[0].since(ran.start + ms(100) * number)))
            .collect();
        close(e2el.mean(), truth.mean())?;
        close(e2el.quantile(0.99), truth.quantile(0.99))?;
        // By arithmetic, where they took 500 ms. Never less.
        let slow = truth.mean() / 1900.0;
        assert!(slow > 0.999, "{slow}");
        if slow < 1.005 {
            close(e2el.mean(), 1900.0)?;
            close(e2el.quantile(0.99), 3272.0)?;
        }
        // What a load generator says that starts its clock when it sends: one service, whatever the wait.
        let naive = summary.all.series(Metric::E2elFromSend).median();
        assert!((499.0..600.0).contains(&naive), "{naive}");
        println!(
            "mean {:.1} ms, p99 {:.1} ms; from the send {naive:.1} ms",
            e2el.mean(),
            e2el.quantile(0.99)
        );
        // The load generator itself was in time: it was the cap that held requests back.
        let faults = summary.pace.faults();
        faults.is_empty().then_some(()).ok_or(faults.join(", "))
    })
    .await;
}

#[tokio::test]
async fn an_empty_first_chunk_is_no_token_and_usage_is_no_chunk() {
    patiently(async || {
        let mut script = Script::stream();
        script.push(Part::after(ms(20)).event(&delta(r#"{"role":"assistant","content":""}"#)));
        script.push(Part::after(ms(30)).event(&content("a")));
        for _ in 0..9 {
            script.push(Part::after(ms(10)).event(&content("b")));
        }
        script.push(
            Part::after(ms(5))
                .event(STOP)
                .event(&usage(10))
                .event("[DONE]"),
        );
        let (ran, sent) = against(script, 9).await;
        close(metric(&ran, Metric::Ttft), between(&sent, 0, 2))?;
        close(metric(&ran, Metric::Tpot), between(&sent, 2, 11) / 9.0)?;
        // Timers of whole milliseconds make pauses of two lengths: their mean is the pace.
        close(
            Metric::Itl.of_all(&ran.outcomes).mean(),
            between(&sent, 2, 11) / 9.0,
        )?;
        close(metric(&ran, Metric::E2el), between(&sent, 0, 12))?;
        for outcome in &ran.outcomes {
            assert_eq!(
                (outcome.end, outcome.output_tokens, chunks(outcome)),
                (End::Whole, 10, 10)
            );
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_first_token_and_the_end_are_stamped_when_they_were_sent() {
    patiently(async || {
        let mut script = Script::stream();
        script.push(Part::after(ms(40)).event(&content("a")));
        script.push(
            Part::after(ms(10))
                .event(STOP)
                .event(&usage(1))
                .event("[DONE]"),
        );
        let (ran, sent) = against(script, 15).await;
        close(metric(&ran, Metric::Ttft), between(&sent, 0, 1))?;
        close(metric(&ran, Metric::TtftFromSend), between(&sent, 0, 1))?;
        close(metric(&ran, Metric::E2el), between(&sent, 0, 2))?;
        close(metric(&ran, Metric::E2elFromSend), between(&sent, 0, 2))
    })
    .await;
}

#[tokio::test]
async fn several_tokens_in_a_chunk_do_not_make_the_time_per_token_zero_or_larger() {
    patiently(async || {
        let mut script = Script::stream();
        script.push(Part::after(ms(20)).event(&content("a b c d ")));
        for _ in 0..10 {
            script.push(Part::after(ms(24)).event(&content("a b c d ")));
        }
        script.push(
            Part::after(ms(1))
                .event(STOP)
                .event(&usage(44))
                .event("[DONE]"),
        );
        let (ran, sent) = against(script, 5).await;
        let pause = between(&sent, 1, 11) / 10.0;
        close(metric(&ran, Metric::Icl), pause)?;
        close(metric(&ran, Metric::Itl), pause / 4.0)?;
        close(metric(&ran, Metric::Tpot), pause / 4.0)?;
        assert_eq!(Summary::of(&ran, &[], false).tokens_per_chunk(), 4.0);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn chunks_that_come_together_share_the_pause_before_them() {
    patiently(async || {
        let mut script = Script::stream();
        script.push(Part::after(ms(10)).event(&content("a")));
        for _ in 0..6 {
            script.push(
                Part::after(ms(20))
                    .event(&content("b"))
                    .event(&content("c")),
            );
        }
        script.push(
            Part::after(ms(1))
                .event(STOP)
                .event(&usage(13))
                .event("[DONE]"),
        );
        let (ran, sent) = against(script, 5).await;
        let pause = between(&sent, 1, 7) / 6.0;
        close(metric(&ran, Metric::Itl), pause / 2.0)?;
        close(metric(&ran, Metric::Tpot), pause / 2.0)?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn reasoning_and_tool_calls_are_tokens() {
    patiently(async || {
        let mut script = Script::stream();
        script.push(
            Part::after(ms(30)).event(&delta(r#"{"role":"assistant","reasoning_content":"hm"}"#)),
        );
        script.push(Part::after(ms(20)).event(&delta(r#"{"reasoning":"hm"}"#)));
        script.push(Part::after(ms(20)).event(&delta(
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#,
        )));
        script.push(Part::after(ms(20)).event(&content("a")));
        script.push(
            Part::after(ms(1))
                .event(STOP)
                .event(&usage(4))
                .event("[DONE]"),
        );
        let (ran, sent) = against(script, 5).await;
        close(metric(&ran, Metric::Tpot), between(&sent, 1, 4) / 3.0)?;
        assert!(ran.outcomes.iter().all(|outcome| chunks(outcome) == 4));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn usage_in_every_chunk_is_assigned_and_tells_each_ones_tokens() {
    patiently(async || {
        let mut script = Script::stream();
        script.push(Part::after(ms(10)).event(&with_usage("a", 1)));
        script.push(Part::after(ms(30)).event(&with_usage("b c d", 4)));
        script.push(Part::after(ms(10)).event(&with_usage("e", 5)));
        script.push(
            Part::after(ms(1))
                .event(STOP)
                .event(&usage(5))
                .event("[DONE]"),
        );
        let (ran, sent) = against(script, 5).await;
        assert!(
            ran.outcomes
                .iter()
                .all(|outcome| outcome.output_tokens == 5)
        );
        close(metric(&ran, Metric::Tpot), between(&sent, 1, 3) / 4.0)?;
        // Three tokens share the first pause, one has the second.
        let itl = Metric::Itl.of_all(&ran.outcomes);
        let truth = |parts: &Vec<Duration>| {
            let shared = millis(parts[2] - parts[1]) / 3.0;
            [shared, shared, shared, millis(parts[3] - parts[2])]
        };
        let truth: Sorted = sent.iter().flat_map(truth).collect();
        close(itl.len() as f64, truth.len() as f64)?;
        close(itl.mean(), truth.mean())?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn what_fails_is_told_apart_and_never_dropped() {
    let end = |script| async {
        let upstream = Upstream::script(script).unwrap();
        let ran = run(
            load(&upstream, Form::Stream, closed(2)).timeout(ms(300)),
            |_| (),
        )
        .await
        .unwrap();
        let summary = Summary::of(&ran, &[], false);
        assert_eq!((summary.all.requests, summary.all.completed), (2, 0));
        ran.outcomes[0].end
    };
    let mut cut = Script::stream();
    cut.push(Part::after(ms(1)).event(&content("a")).cut());
    assert_eq!(end(cut).await, End::Cut);
    let mut incomplete = Script::stream();
    incomplete.push(Part::after(ms(1)).event(&content("a")));
    assert_eq!(end(incomplete).await, End::Incomplete);
    let mut error = Script::stream();
    error.push(
        Part::after(ms(1))
            .event(&content("a"))
            .event(r#"{"error":{"message":"no memory"}}"#),
    );
    assert_eq!(end(error).await, End::ErrorEvent);
    let mut slow = Script::stream();
    slow.push(Part::after(ms(900)).event(STOP));
    assert_eq!(end(slow).await, End::Timeout);
    assert_eq!(end(Script::status(429)).await, End::Status);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_failure_of_each_request() {
    let upstream = Upstream::script(Script::status(500)).unwrap();
    let load = load(&upstream, Form::Stream, closed(3));
    drop(upstream);
    tokio::task::yield_now().await;
    let ran = run(load, |_| ()).await.unwrap();
    assert_eq!(ran.outcomes.len(), 3);
    assert!(
        ran.outcomes
            .iter()
            .all(|outcome| matches!(outcome.end, End::Connect | End::Cut | End::Socket)),
        "{:?}",
        ran.outcomes[0]
    );
}

#[tokio::test]
async fn a_stopped_run_tells_what_it_has() {
    use llm_bench::load::Stop;
    let upstream = Upstream::script(Script::body(ms(50))).unwrap();
    let stop = Stop::default();
    let times = (0..1000).map(|n| ms(n * 20)).collect();
    let load = load(&upstream, Form::Body, Pacing::Open(times)).stop(stop.clone());
    let stopper = async {
        tokio::time::sleep(ms(205)).await;
        stop.stop();
    };
    let (ran, ()) = tokio::join!(run(load, |_| ()), stopper);
    let ran = ran.unwrap();
    assert!(
        (5..=12).contains(&ran.outcomes.len()),
        "{}",
        ran.outcomes.len()
    );
    assert_eq!(ran.outcomes.len() + ran.unsent, 1000);
    assert!(ran.outcomes.iter().all(|outcome| outcome.is_whole()));
}
