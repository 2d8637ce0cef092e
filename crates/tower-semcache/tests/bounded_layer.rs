//! A layer whose semantic hits are bounded: decisions, audits, judgements, all the way round.
#![cfg(all(feature = "hashed", feature = "guards"))]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tower::{BoxError, Layer, Service, ServiceExt, service_fn};
use tower_semcache::bounded::{Controller, Judgement, Reason, Settings};
use tower_semcache::hashed::{HashedEmbedder, Ngrams};
use tower_semcache::judge::{Comparison, Equal};
use tower_semcache::{
    AcceptAll, Again, Bounded, Cache, CacheLayer, Cloned, Lookup, Matching, Mode, Secret, Worker,
};

/// What a run came to.
struct Run {
    hits: usize,
    wrong: usize,
    bounded: Bounded<String>,
    cache: Cache<String>,
}

/// Words that all questions share, so that a class is a matter of the rest.
const FILLER: [&str; 8] = [
    "please", "tell", "me", "now", "kindly", "about", "the", "what",
];

/// Question number `n` of a class: its words, and some filler.
fn question(class: usize, n: usize) -> String {
    let word = |i: usize| {
        FILLER
            .into_iter()
            .nth((n / 8_usize.pow(i as u32)) % 8)
            .unwrap_or_default()
    };
    format!(
        "{} {} topic{class} subject{class} matter{class} {}",
        word(0),
        word(1),
        word(2)
    )
}

fn settings() -> Settings {
    Settings::new(0.05, 0.95, 110.0)
}

async fn run<J>(
    requests: usize,
    mode: Mode,
    answer: impl Fn(usize, usize) -> String,
    judge: J,
    hire: impl FnOnce(Worker<String, J>),
) -> Run
where
    J: Service<Comparison<String>, Response = Judgement> + Clone + Send + 'static,
    J::Error: Into<BoxError>,
    J::Future: Send,
{
    let secret = Secret::from_bytes([7; 32]);
    let policy = move |asked: &(usize, String)| {
        let lookup = Lookup::new(&secret, secret.scope(&[]), asked.1.clone().into());
        Some(lookup.text(asked.1.as_str()).matching(Matching::Bounded))
    };
    let cache: Cache<String> = Cache::builder().build().expect("valid");
    let controller = Controller::new(settings()).expect("valid");
    let (bounded, worker) = Bounded::pair(controller, mode, cache.clone(), judge);
    hire(worker);
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let fresh = Arc::new(answer);
    let layer = CacheLayer::new(cache.clone(), policy, Cloned)
        .semantic(HashedEmbedder::new(Ngrams::Words), AcceptAll)
        .bounded(bounded.clone());
    let (mut hits, mut wrong) = (0, 0);
    for n in 0..requests {
        let class = (n * 7_919) % 40;
        let right = fresh(class, n);
        let reply = right.clone();
        let counted = Arc::clone(&counted);
        let mut service = layer.layer(service_fn(move |_: (usize, String)| {
            counted.fetch_add(1, Ordering::Relaxed);
            let reply = reply.clone();
            async move { Ok::<_, Infallible>(reply) }
        }));
        let before = calls.load(Ordering::Relaxed);
        let asked = (class, question(class, n / 40));
        let got = service
            .ready()
            .await
            .expect("ready")
            .call(asked)
            .await
            .expect("answered");
        if calls.load(Ordering::Relaxed) == before {
            hits += 1;
            wrong += usize::from(got != right);
        }
        // The judge is off the path; here it may keep up.
        tokio::task::yield_now().await;
    }
    Run {
        hits,
        wrong,
        bounded,
        cache,
    }
}

fn work<J>(worker: Worker<String, J>)
where
    J: Service<Comparison<String>, Response = Judgement> + Clone + Send + 'static,
    J::Error: Into<BoxError>,
    J::Future: Send,
{
    tokio::spawn(worker.run());
}

fn class_answer(class: usize, _: usize) -> String {
    format!("the answer of {class}")
}

fn equal() -> Equal<impl Fn(&String) -> Option<String> + Clone> {
    Equal::new(|answer: &String| Some(answer.clone()))
}

#[tokio::test]
async fn what_is_learned_from_judgements_is_served_and_keeps_to_the_bound() {
    let run = run(2_500, Mode::Serve, class_answer, equal(), work).await;
    let standing = run.bounded.snapshot().certificate;
    let stats = run.cache.stats();
    assert!(
        stats.hits_semantic > 200,
        "{stats:?} {:?}",
        run.bounded.snapshot()
    );
    assert_eq!(stats.hits_semantic, standing.served);
    assert!(
        run.wrong as u64 <= standing.wrong,
        "{} {standing:?}",
        run.wrong
    );
    assert!(standing.wrong as f64 <= standing.allowed, "{standing:?}");
    assert!(standing.audited > 0 && standing.failed == 0, "{standing:?}");
}

#[tokio::test]
async fn where_no_score_can_help_nothing_is_served_and_the_reason_is_told() {
    // Every answer is its own: no stored one is ever right.
    let own = |class: usize, n: usize| format!("{class} {n}");
    let run = run(1_200, Mode::Serve, own, equal(), work).await;
    assert_eq!(
        run.cache.stats().hits_semantic,
        0,
        "{:?}",
        run.bounded.snapshot()
    );
    let refused: u64 = run.bounded.refused().map(|(_, count)| count).sum();
    assert!(refused > 800);
}

#[tokio::test]
async fn a_judge_that_fails_and_a_worker_that_never_ran_leave_the_cache_exact() {
    let failing = service_fn(|_: Comparison<String>| async {
        Err::<Judgement, BoxError>("the judge is away".into())
    });
    let away = run(400, Mode::Serve, class_answer, failing, work).await;
    assert_eq!(away.cache.stats().hits_semantic, 0);
    let idle = run(400, Mode::Serve, class_answer, equal(), drop).await;
    assert_eq!(idle.cache.stats().hits_semantic, 0);
    let reasons: Vec<_> = idle
        .bounded
        .refused()
        .filter(|(_, count)| *count > 0)
        .collect();
    assert!(
        reasons.iter().any(|(reason, _)| *reason == Reason::NoScore),
        "{reasons:?}"
    );
}

#[tokio::test]
async fn a_shadow_serves_nothing_and_shows_what_it_would() {
    let run = run(1_500, Mode::Shadow, class_answer, equal(), work).await;
    let standing = run.bounded.snapshot().certificate;
    assert_eq!(run.cache.stats().hits_semantic, 0);
    assert_eq!(standing.served, 0);
    assert!(standing.audited > 200, "{standing:?}");
    assert_eq!(run.wrong, 0);
    assert_eq!(run.hits as u64, run.cache.stats().hits_exact);
}

/// The answer to a question, from its canonical bytes.
fn answer_of(again: &Again) -> String {
    let text = std::str::from_utf8(again.canonical()).expect("a question");
    let class = text.split(' ').find_map(|word| word.strip_prefix("topic"));
    format!("the answer of {}", class.expect("a topic"))
}

#[tokio::test]
async fn what_a_second_answer_clears_does_not_count_as_wrong() {
    // One answer in thirty is a slip of the tongue; stored, it is as wrong as it sounds.
    let slips = |class: usize, n: usize| match n % 30 {
        0 => format!("er, the answer of {class}"),
        _ => class_answer(class, n),
    };
    let again = service_fn(|again: Again| async move { Ok::<_, Infallible>(answer_of(&again)) });
    let run = run(1_200, Mode::Serve, slips, equal(), |worker| {
        work(worker.again(again));
    })
    .await;
    let snapshot = run.bounded.snapshot();
    assert!(snapshot.cleared > 4, "{snapshot:?}");
    assert!(run.cache.stats().hits_semantic > 200, "{snapshot:?}");
    let judged = run.bounded.judged();
    let compared = (judged.same + judged.different) as f64;
    assert!(
        (0.02..0.2).contains(&(judged.again as f64 / compared)),
        "{judged:?}"
    );
}

#[tokio::test]
async fn a_judge_that_disagrees_with_itself_is_not_relied_on() {
    // No two answers to a request are the same, but for those that the cache has.
    let calls = AtomicUsize::new(0);
    let calls = Arc::new(calls);
    let again = service_fn(move |again: Again| {
        let n = calls.fetch_add(1, Ordering::Relaxed);
        async move { Ok::<_, Infallible>(format!("{} {n}", answer_of(&again))) }
    });
    let run = run(1_500, Mode::Serve, class_answer, equal(), |worker| {
        work(worker.again(again));
    })
    .await;
    let noise = run.bounded.snapshot().judge_noise;
    assert!(noise.is_some_and(|noise| noise > 0.9), "{noise:?}");
    let mut refused = run.bounded.refused();
    let refused = refused.find(|(reason, _)| *reason == Reason::JudgeNoise);
    assert!(refused.is_some_and(|(_, count)| count > 300), "{refused:?}");
}
