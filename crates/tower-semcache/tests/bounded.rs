//! The controller on streams made up here: topics that lie on a circle, each with its own answer.

#![expect(
    clippy::indexing_slicing,
    reason = "in a test a wrong index is a failure"
)]

use tower_semcache::bounded::{
    Candidate, Cluster, Controller, Decision, Judgement, NEIGHBOURS, Next, Reason, Settings,
};

/// SplitMix64: a few lines, and the same numbers everywhere.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Near zero more often than far from it.
    fn spread(&mut self) -> f64 {
        self.next() + self.next() + self.next() - 1.5
    }
}

#[derive(Clone, Copy)]
struct Entry {
    angle: f64,
    answer: u64,
    cluster: Cluster,
}

const TOPICS: u64 = 12;

#[derive(Default)]
struct Tally {
    served: u64,
    wrong: u64,
    compared: u64,
    refused: [u64; Reason::ALL.len()],
}

/// A cache, its controller, and a stream of requests.
struct World {
    controller: Controller,
    chance: Chance,
    coins: Chance,
    entries: Vec<Entry>,
    tally: Tally,
    /// How often the judge sees a difference that is none.
    false_alarms: f64,
}

impl World {
    fn new(settings: Settings, seed: u64) -> Self {
        Self {
            controller: Controller::new(settings).expect("valid"),
            chance: Chance(seed),
            coins: Chance(seed ^ 0x5555_5555),
            entries: Vec::new(),
            tally: Tally::default(),
            false_alarms: 0.0,
        }
    }

    fn candidates(&self, angle: f64) -> Vec<(Candidate, u64)> {
        let mut near: Vec<_> = self
            .entries
            .iter()
            .map(|entry| {
                let candidate = Candidate {
                    similarity: (entry.angle - angle).cos() as f32,
                    cluster: entry.cluster,
                    accepted: true,
                    literal: true,
                };
                (candidate, entry.answer)
            })
            .collect();
        near.sort_by(|a, b| b.0.similarity.total_cmp(&a.0.similarity));
        near.truncate(NEIGHBOURS);
        near
    }

    fn judge(&mut self, stored: u64, fresh: u64) -> Judgement {
        self.tally.compared += 1;
        if stored == fresh && self.chance.next() >= self.false_alarms {
            Judgement::Same
        } else {
            Judgement::Different
        }
    }

    /// One request; `answer` says what the backend would say about a topic.
    fn request(&mut self, answer: impl Fn(&mut Chance, u64) -> u64) {
        let topic = (self.chance.next() * TOPICS as f64) as u64;
        let circle = std::f64::consts::TAU;
        let angle = (topic as f64 + 0.5 * self.chance.spread()) / TOPICS as f64 * circle;
        let fresh = answer(&mut self.chance, topic);
        let near = self.candidates(angle);
        let candidates: Vec<_> = near.iter().map(|(candidate, _)| *candidate).collect();
        let coins = &mut self.coins;
        let ticket = match self.controller.decide(&candidates, || coins.next()) {
            Decision::Serve { candidate } => {
                self.tally.served += 1;
                self.tally.wrong += u64::from(near[candidate].1 != fresh);
                return self.check();
            }
            Decision::Refuse(reason, cluster) => {
                self.refused(reason);
                return self.keep(angle, fresh, cluster);
            }
            Decision::Explore(ticket, reason) => {
                self.refused(reason);
                ticket
            }
            Decision::Audit(ticket) => ticket,
        };
        let mut ticket = ticket;
        let cluster = loop {
            let judgement = self.judge(near[ticket.candidate()].1, fresh);
            match self.controller.judged(ticket, judgement) {
                Next::Done(cluster) => break cluster,
                Next::Compare(further) => ticket = further,
            }
        };
        self.keep(angle, fresh, cluster);
        if let Some(fitted) = self.controller.refit().and_then(|refit| refit.run()) {
            self.controller.install(fitted);
        }
        self.check();
    }

    fn refused(&mut self, reason: Reason) {
        let at = Reason::ALL.iter().position(|other| *other == reason);
        self.tally.refused[at.expect("all are listed")] += 1;
    }

    fn keep(&mut self, angle: f64, answer: u64, cluster: Cluster) {
        // A store of some size: the oldest entry goes.
        if self.entries.len() >= 600 {
            self.entries.remove(0);
        }
        self.entries.push(Entry {
            angle,
            answer,
            cluster,
        });
    }

    fn check(&self) {
        let standing = self.controller.snapshot().certificate;
        assert_eq!(standing.served, self.tally.served);
        assert!(self.tally.wrong as f64 <= standing.allowed);
    }

    fn run(&mut self, requests: usize, answer: impl Fn(&mut Chance, u64) -> u64 + Copy) {
        for _ in 0..requests {
            self.request(answer);
        }
    }
}

fn settings(max_wrong: f64) -> Settings {
    Settings::new(max_wrong, 0.95, 110.0)
}

fn of(tally: &Tally, reason: Reason) -> u64 {
    let at = Reason::ALL.iter().position(|other| *other == reason);
    tally.refused[at.expect("all are listed")]
}

#[test]
fn topics_with_an_answer_each_come_to_be_served_and_stay_below_the_target() {
    let mut world = World::new(settings(0.05), 1);
    world.run(6_000, |_, topic| topic);
    let Tally { served, wrong, .. } = world.tally;
    assert!(served > 2_500, "{served}");
    assert!(wrong * 20 <= served, "{wrong} of {served}");
    // Near the borders nobody can tell: refused as a risk, not for want of evidence.
    assert!(of(&world.tally, Reason::Risk) > 200);
    let snapshot = world.controller.snapshot();
    assert!(snapshot.threshold.is_some() && snapshot.labels > 1_000);
}

#[test]
fn answers_that_have_nothing_to_do_with_the_question_are_never_served() {
    let mut world = World::new(settings(0.05), 2);
    let random = |chance: &mut Chance, _| (chance.next() * 50.0) as u64;
    world.run(2_000, random);
    let before = world.tally.compared;
    world.run(4_000, random);
    assert_eq!(world.tally.served, 0);
    assert!(of(&world.tally, Reason::Risk) > 4_000);
    let later = world.tally.compared - before;
    assert!(later <= 4_000 / 5, "{later} comparisons of 4000 requests");
}

#[test]
fn answers_that_all_change_are_soon_served_no_more_and_the_new_ones_are() {
    let mut world = World::new(settings(0.05), 3);
    world.run(4_000, |_, topic| topic);
    let before = world.tally.served;
    let wrong = world.tally.wrong;
    assert!(before > 1_000);
    world.run(400, |_, topic| topic + 100);
    // Of 400 requests whose stored answers are all wrong, few are served one.
    let wrong = world.tally.wrong - wrong;
    assert!(wrong < 80, "{wrong}");
    // Whatever was served meanwhile is within what was promised: the world checks it every time.
    world.run(6_000, |_, topic| topic + 100);
    assert!(world.controller.snapshot().certificate.served > before + 500);
}

#[test]
fn a_judge_that_is_nervous_now_and_then_is_looked_at_twice() {
    let mut world = World::new(settings(0.05), 4);
    world.false_alarms = 0.02;
    world.run(6_000, |_, topic| topic);
    assert!(world.tally.served > 2_000, "{}", world.tally.served);
    assert!(world.controller.snapshot().cleared > 10);
}

#[test]
fn a_judge_that_disagrees_with_itself_stops_the_serving() {
    let mut world = World::new(settings(0.05), 5);
    world.run(3_000, |_, topic| topic);
    for n in 0..200 {
        let judgement = if n % 20 == 0 {
            Judgement::Different
        } else {
            Judgement::Same
        };
        world.controller.compared_fresh(judgement);
    }
    let noise = world.controller.snapshot().judge_noise.expect("compared");
    assert!((noise - 0.05).abs() < 0.01, "{noise}");
    let served = world.tally.served;
    world.run(500, |_, topic| topic);
    assert_eq!(world.tally.served, served);
    assert!(of(&world.tally, Reason::JudgeNoise) > 100);
}

#[test]
fn nothing_near_and_nothing_allowed_are_told_apart() {
    let mut controller = Controller::new(settings(0.05)).expect("valid");
    let decision = controller.decide(&[], || 0.5);
    let Decision::Refuse(Reason::NoNeighbour, cluster) = decision else {
        panic!("{decision:?}")
    };
    let vetoed = Candidate {
        similarity: 0.99,
        cluster,
        accepted: false,
        literal: false,
    };
    let decision = controller.decide(&[vetoed], || 0.5);
    assert!(matches!(decision, Decision::Refuse(Reason::Vetoed, _)));
}

#[test]
fn a_failed_comparison_serves_nobody_and_counts_where_it_was_an_audit() {
    let mut world = World::new(settings(0.05), 6);
    world.run(3_000, |_, topic| topic);
    let before = world.controller.snapshot().certificate;
    let mut audits = 0;
    for _ in 0..200 {
        let angle = world.chance.next() * std::f64::consts::TAU;
        let candidates: Vec<_> = world.candidates(angle).iter().map(|(c, _)| *c).collect();
        // Always heads.
        match world.controller.decide(&candidates, || 0.0) {
            Decision::Audit(ticket) => {
                world.controller.failed(ticket);
                audits += 1;
            }
            Decision::Explore(ticket, _) => {
                world.controller.failed(ticket);
            }
            Decision::Serve { .. } => panic!("heads never serves"),
            Decision::Refuse(..) => {}
        }
    }
    let after = world.controller.snapshot().certificate;
    assert!(audits > 0);
    assert_eq!(after.failed - before.failed, audits);
    assert_eq!(after.served, before.served);
    assert!(after.credit < before.credit);
}

#[test]
fn names_of_reasons_are_distinct_and_plain() {
    let mut names: Vec<_> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    assert!(
        names
            .iter()
            .all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
    );
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Reason::ALL.len());
}
