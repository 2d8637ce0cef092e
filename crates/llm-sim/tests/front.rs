//! What stands before the servers: what each room does, and what all of them conserve.

use std::{collections::HashMap, sync::Arc};

use llm_sim::{
    cost::Affine,
    engine::{Context, Due, Report, Simulation},
    front::{
        Admission, Balance, Batching, Cache, CacheConfig, Coalesce, Direct, Front, Hedge, Hedged,
        Tally, Window,
    },
    metrics::Little,
    server::{Completion, Continuous, Padding, Server, Signal, Stalling, Static, Vllm, VllmConfig},
    workload::{Arrivals, Length, Prefix, Request, Workload, Zipf},
};
use proptest::prelude::*;

/// 1 ms a step.
const TICK: Affine = Affine::new(1.0, 0.0, 0.0);

fn request(id: u64, arrival_ms: f64, key: u64, output_tokens: u32) -> Request {
    Request {
        id,
        arrival_ms,
        prompt_tokens: 0,
        output_tokens,
        tenant: 0,
        priority: 0,
        key,
        prefix: Prefix::Own,
    }
}

fn ticking(servers: usize) -> Vec<Box<dyn Server>> {
    (0..servers)
        .map(|_| Box::new(Continuous::new(1000, TICK)) as Box<dyn Server>)
        .collect()
}

fn run<F>(
    servers: Vec<Box<dyn Server>>,
    front: F,
    requests: Vec<Request>,
) -> (Report, Tally, Vec<Completion>)
where
    F: Front,
{
    let mut done: Vec<Completion> = Vec::new();
    let mut sim = Simulation::new(servers, front);
    let report = sim.run_into(requests, &mut done);
    (report, Tally::of(sim.front()), done)
}

fn by_id(done: &[Completion], id: u64) -> &Completion {
    let done = done.iter().find(|done| done.request.id == id);
    done.expect("it is answered")
}

#[test]
fn followers_get_the_leaders_tokens_and_end_with_it() {
    let requests = vec![
        request(0, 0.0, 7, 10),
        request(1, 0.0, 7, 10),
        request(2, 4.5, 7, 10),
        request(3, 4.5, 8, 10),
        request(4, 10.5, 7, 10),
    ];
    let (_, tally, done) = run(ticking(1), Coalesce::new(Direct::default()), requests);
    assert_eq!(
        (tally.leaders, tally.followers, tally.dispatched),
        (3, 2, 3)
    );
    assert_eq!(
        (by_id(&done, 1).first_token_ms, by_id(&done, 1).finished_ms),
        (1.0, 10.0)
    );
    // Who joins late reads what is out at once.
    assert_eq!(
        (by_id(&done, 2).first_token_ms, by_id(&done, 2).finished_ms),
        (4.5, 10.0)
    );
    assert_eq!(by_id(&done, 4).finished_ms, 21.0);
}

#[test]
fn two_tenants_never_share() {
    let mut requests = vec![
        request(0, 0.0, 7, 10),
        request(1, 1.0, 7, 10),
        request(2, 20.0, 7, 10),
    ];
    requests[1].tenant = 1;
    requests[2].tenant = 1;
    let cache = Cache::new(Direct::default(), CacheConfig::default(), "");
    let (_, tally, _) = run(ticking(1), Coalesce::new(cache), requests);
    assert_eq!((tally.followers, tally.hits, tally.dispatched), (0, 1, 2));
}

#[test]
fn a_rejected_leader_takes_its_followers_with_it() {
    // Four blocks of memory: the first can never fit.
    let tiny =
        || vec![Box::new(Vllm::new(VllmConfig::default().kv_blocks(4), TICK)) as Box<dyn Server>];
    let mut requests = vec![
        request(0, 0.0, 7, 100),
        request(1, 0.0, 7, 100),
        request(2, 5.0, 8, 3),
    ];
    requests[2].prompt_tokens = 8;
    let (report, _, done) = run(tiny(), Coalesce::new(Direct::default()), requests);
    assert_eq!((report.counts.rejected, done.len()), (2, 1));
    assert_eq!(report.little.present(), 0);
}

#[test]
fn an_answer_is_served_for_its_life_and_not_longer() {
    let requests = vec![
        request(0, 0.0, 7, 10),
        request(1, 109.0, 7, 10),
        request(2, 110.0, 7, 10),
        request(3, 121.0, 7, 10),
    ];
    let cache = Cache::new(Direct::default(), CacheConfig::default().ttl_ms(100.0), "");
    let (_, tally, done) = run(ticking(1), cache, requests);
    // Stored at 10: alive until just before 110.
    assert_eq!((tally.hits, tally.misses, tally.expired), (2, 2, 1));
    assert_eq!(tally.oldest_hit_ms, 99.0);
    assert_eq!(by_id(&done, 1).finished_ms, 109.0);
    assert_eq!(by_id(&done, 2).finished_ms, 120.0);
}

#[test]
fn the_least_recently_used_answer_makes_room() {
    let keys = [1, 2, 1, 3, 1, 2];
    let requests = keys
        .iter()
        .zip(0..)
        .map(|(key, id)| request(id, 20.0 * id as f64, *key, 5));
    let cache = Cache::new(Direct::default(), CacheConfig::default().entries(2), "");
    let (_, tally, _) = run(ticking(1), cache, requests.collect());
    // 3 evicts 2, which is asked for again.
    assert_eq!((tally.hits, tally.misses, tally.evicted), (2, 4, 2));
}

#[test]
fn similar_questions_pay_for_an_embedding_and_no_generation() {
    let config = CacheConfig::default().semantic(1.0, 3.0);
    let cache = Cache::new(Direct::default(), config, "");
    let requests = vec![request(0, 0.0, 1, 10), request(1, 50.0, 2, 10)];
    let (_, tally, done) = run(ticking(1), cache, requests);
    // An empty cache holds nothing similar.
    assert_eq!((tally.semantic_hits, tally.misses), (1, 1));
    assert_eq!(
        (by_id(&done, 0).finished_ms, by_id(&done, 1).finished_ms),
        (13.0, 53.0)
    );
}

#[test]
fn who_finds_no_seat_waits_in_order_and_who_finds_no_place_is_turned_away() {
    let requests: Vec<Request> = (0..4).map(|id| request(id, 0.0, id, 10)).collect();
    let (report, tally, done) = run(
        ticking(1),
        Admission::new(Direct::default(), 1).queue(2),
        requests,
    );
    assert_eq!(
        (report.counts.done, tally.shed, tally.admitted_peak),
        (3, 1, 1)
    );
    let ends: Vec<f64> = (0..3).map(|id| by_id(&done, id).finished_ms).collect();
    assert_eq!(ends, [10.0, 20.0, 30.0]);
}

#[test]
fn who_has_waited_too_long_is_turned_away() {
    let requests: Vec<Request> = (0..3).map(|id| request(id, 0.0, id, 10)).collect();
    let (report, tally, _) = run(
        ticking(1),
        Admission::new(Direct::default(), 1).wait_ms(15.0),
        requests,
    );
    assert_eq!((report.counts.done, tally.timed_out), (2, 1));
}

#[test]
fn the_first_copy_to_speak_is_the_answer_and_the_other_is_cancelled() {
    // The first server holds everything back.
    let stalled =
        || Box::new(Stalling::new(Continuous::new(9, TICK), 1.0, 1000.0, "")) as Box<dyn Server>;
    let servers = vec![stalled(), ticking(1).remove(0)];
    let hedge = Hedge::after(100.0);
    let (report, tally, done) = run(
        servers,
        Hedged::new(Balance::RoundRobin, hedge, ""),
        vec![request(0, 0.0, 0, 10)],
    );
    assert_eq!(
        (tally.hedges, tally.hedges_won, tally.dispatched),
        (1, 1, 2)
    );
    assert_eq!(
        (done[0].first_token_ms, done[0].finished_ms),
        (101.0, 110.0)
    );
    assert_eq!((report.counts.done, report.last_departure_ms), (1, 110.0));
}

#[test]
fn a_request_that_speaks_in_time_has_no_second_copy() {
    let hedge = Hedge::after(5.0);
    let (_, tally, done) = run(
        ticking(2),
        Hedged::new(Balance::RoundRobin, hedge, ""),
        vec![request(0, 0.0, 0, 100)],
    );
    assert_eq!((tally.hedges, done[0].finished_ms), (0, 100.0));
}

/// One forward of 10 ms a batch.
fn forward(items: usize) -> Vec<Box<dyn Server>> {
    let cost = Affine::new(10.0, 0.0, 0.0);
    vec![Box::new(Static::new(items, 0.0, Padding::Padded, cost))]
}

#[test]
fn a_window_while_busy_lets_a_lone_request_go_at_once() {
    let requests = vec![
        request(0, 0.0, 0, 1),
        request(1, 1.0, 1, 1),
        request(2, 2.0, 2, 1),
    ];
    for (window, ends, batches) in [
        (Window::WhileBusy(50.0), [10.0, 20.0, 20.0], 2),
        (Window::Fixed(50.0), [60.0, 60.0, 60.0], 1),
    ] {
        let front = Batching::new(Direct::default(), 8, window);
        let (_, tally, done) = run(forward(8), front, requests.clone());
        let got: Vec<f64> = (0..3).map(|id| by_id(&done, id).finished_ms).collect();
        assert_eq!((got.as_slice(), tally.batches), (ends.as_slice(), batches));
    }
}

#[test]
fn a_full_batch_does_not_wait() {
    let requests: Vec<Request> = (0..5).map(|id| request(id, 0.0, id, 1)).collect();
    let front = Batching::new(Direct::default(), 2, Window::Fixed(50.0)).max_in_flight(8);
    let (_, tally, done) = run(forward(2), front, requests);
    assert_eq!(tally.batches, 3);
    assert_eq!(by_id(&done, 3).finished_ms, 20.0);
    assert_eq!(by_id(&done, 4).finished_ms, 60.0);
}

/// A room that looks on: what is within it, and how often each question is.
#[derive(Debug)]
struct Watch<F> {
    inner: F,
    entered_ms: HashMap<u64, f64>,
    of_question: HashMap<(u32, u64), u32>,
    most_of_one: u32,
    little: Little,
}

impl<F> Watch<F> {
    fn new(inner: F) -> Self {
        Self {
            inner,
            entered_ms: HashMap::new(),
            of_question: HashMap::new(),
            most_of_one: 0,
            little: Little::default(),
        }
    }

    fn reported(&mut self, reports: Vec<Signal>, cx: &mut Context<'_>) {
        for signal in reports {
            let left = match &signal {
                Signal::FirstToken(_) | Signal::Token(_) => None,
                Signal::Done(done) => Some(&done.request),
                Signal::Rejected(request) => Some(request),
            };
            if let Some(request) = left {
                *self
                    .of_question
                    .entry((request.tenant, request.key))
                    .or_default() -= 1;
                let entered_ms = self.entered_ms.remove(&request.id);
                self.little
                    .leave(cx.now_ms(), entered_ms.expect("it entered"));
            }
            cx.report(signal);
        }
    }
}

impl<F> Front for Watch<F>
where
    F: Front,
{
    fn arrive(&mut self, request: Request, cx: &mut Context<'_>) {
        let same = self
            .of_question
            .entry((request.tenant, request.key))
            .or_default();
        *same += 1;
        self.most_of_one = self.most_of_one.max(*same);
        self.little.enter(cx.now_ms());
        self.entered_ms.insert(request.id, cx.now_ms());
        let reports = cx.inner(|cx| self.inner.arrive(request, cx));
        self.reported(reports, cx);
    }

    fn signal(&mut self, server: usize, signal: Signal, cx: &mut Context<'_>) {
        let reports = cx.inner(|cx| self.inner.signal(server, signal, cx));
        self.reported(reports, cx);
    }

    fn timer(&mut self, due: Due, cx: &mut Context<'_>) {
        if let Err(due) = due.token() {
            let reports = cx.inner(|cx| self.inner.timer(due, cx));
            self.reported(reports, cx);
        }
    }

    fn tally(&self, tally: &mut Tally) {
        let Self {
            little,
            most_of_one,
            ..
        } = self;
        assert_eq!(
            little.area_ns(),
            little.sojourns_ns(),
            "Little's law holds inside"
        );
        assert_eq!((little.present(), little.backward()), (0, 0));
        assert!(*most_of_one <= 1, "one generation in flight a question");
        self.inner.tally(tally);
    }
}

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    rate: f64,
    questions: usize,
    tenants: u32,
    ttl_ms: f64,
    entries: usize,
    semantic: f64,
    limit: usize,
    queue: usize,
    wait_ms: f64,
    balance: Balance,
    hedge_ms: f64,
    budget: f64,
    servers: usize,
    stall: f64,
}

fn cases() -> impl Strategy<Value = Case> {
    const BALANCES: [Balance; 4] = [
        Balance::Random,
        Balance::RoundRobin,
        Balance::TwoChoices,
        Balance::LeastOutstanding,
    ];
    let load = (0..1000u64, 1.0..60.0f64, 1..200usize, 1..4u32);
    let cache = (
        10.0..20_000.0f64,
        1..50usize,
        prop_oneof![Just(0.0), 0.0..0.9f64],
    );
    let admission = (
        1..80usize,
        0..100usize,
        prop_oneof![Just(f64::INFINITY), 1.0..3000.0f64],
    );
    let replicas = (
        prop::sample::select(&BALANCES[..]),
        1.0..500.0f64,
        0.0..1.0f64,
        1..5usize,
        0.0..0.3f64,
    );
    (load, cache, admission, replicas).prop_map(|(load, cache, admission, replicas)| {
        let ((seed, rate, questions, tenants), (ttl_ms, entries, semantic)) = (load, cache);
        let ((limit, queue, wait_ms), (balance, hedge_ms, budget, servers, stall)) =
            (admission, replicas);
        Case {
            seed,
            rate,
            questions,
            tenants,
            ttl_ms,
            entries,
            semantic,
            limit,
            queue,
            wait_ms,
            balance,
            hedge_ms,
            budget,
            servers,
            stall,
        }
    })
}

const REQUESTS: usize = 300;

fn play(case: &Case) -> (Report, Tally, Vec<Completion>) {
    let servers = (0..case.servers).map(|number| {
        let server = Continuous::new(8, Affine::SEED);
        let seed = format!("{}:{number}", case.seed);
        Box::new(Stalling::new(server, case.stall, 700.0, &seed)) as Box<dyn Server>
    });
    let hedge = Hedge::after(case.hedge_ms).budget(case.budget);
    let hedged = Hedged::new(case.balance, hedge, "case");
    let admission = Admission::new(Watch::new(hedged), case.limit)
        .queue(case.queue)
        .wait_ms(case.wait_ms);
    let config = CacheConfig::default()
        .ttl_ms(case.ttl_ms)
        .entries(case.entries)
        .semantic(case.semantic, 4.0);
    let front = Coalesce::new(Watch::new(Cache::new(admission, config, "case")));
    let requests = Workload::new(&format!("case:{}", case.seed), Arrivals::poisson(case.rate))
        .output(Length::log_normal(20.0, 0.9, 1, 200))
        .popularity(Arc::new(Zipf::new(case.questions, 1.0)))
        .tenants(case.tenants);
    run(servers.collect(), front, requests.take(REQUESTS).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 600 }))]

    #[test]
    fn whatever_the_rooms_every_request_leaves_once_and_is_accounted_for(case in cases()) {
        let (report, tally, done) = play(&case);
        let counts = report.counts;
        prop_assert_eq!(counts.arrived, REQUESTS as u64);
        prop_assert_eq!(counts.done + counts.rejected, counts.arrived);
        let mut ids: Vec<u64> = done.iter().map(|done| done.request.id).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len() as u64, counts.done);
        prop_assert_eq!(report.little.area_ns(), report.little.sojourns_ns());
        // Floor by floor.
        prop_assert_eq!(tally.leaders + tally.followers, counts.arrived);
        prop_assert_eq!(tally.hits + tally.semantic_hits + tally.misses, tally.leaders);
        prop_assert_eq!(tally.dispatched - tally.hedges + tally.shed + tally.timed_out, tally.misses);
        // Bounds.
        prop_assert!(tally.hedges as f64 <= case.budget * (tally.dispatched - tally.hedges) as f64);
        prop_assert!(tally.hedges_won <= tally.hedges);
        prop_assert!(tally.hits == 0 || tally.oldest_hit_ms < case.ttl_ms);
        prop_assert!(tally.admitted_peak <= case.limit as u64);
        for done in &done {
            prop_assert!(done.first_token_ms >= done.request.arrival_ms);
            prop_assert!(done.finished_ms >= done.first_token_ms);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes(case in cases()) {
        let bytes = |(report, tally, done): (Report, Tally, Vec<Completion>)| format!("{report:?} {tally:?} {done:?}");
        prop_assert_eq!(bytes(play(&case)), bytes(play(&case)));
    }
}
