//! What the store learns of its entries: vetoes, copies that leave with their origin, bad answers,
//! neighbours and their clusters.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use common::{cache, lookup, prefix, similar};
use proptest::prelude::*;
use tokio::time::advance;
use tower_semcache::{
    AcceptAll, Cache, Detail, EntryId, Hit, Lookup, Matching, Refusal, Threshold, Vector,
};

const LOOSE: f32 = 0.5;

fn ask(text: &str) -> Lookup {
    similar("t", text, LOOSE)
}

fn vector(text: &str) -> Vector {
    Vector::from(prefix(text))
}

fn store(cache: &Cache<String>, tenant: &str, text: &str) -> EntryId {
    let lookup = similar(tenant, text, LOOSE);
    let commit = cache.begin(lookup.clone()).vector(vector(text));
    commit.store(format!("to {text}")).expect("room");
    cache.entry(&lookup).expect("stored")
}

fn nearest(cache: &Cache<String>, text: &str) -> Option<Hit<String>> {
    let threshold = Threshold::new(LOOSE).expect("valid");
    cache.get_similar(&ask(text), vector(text), threshold, &AcceptAll)
}

fn answer(hit: Option<Hit<String>>) -> Option<String> {
    hit.map(|hit| hit.value().clone())
}

#[test]
fn a_pair_judged_different_never_matches_again_in_either_direction() {
    let cache = cache();
    let (one, two) = (store(&cache, "t", "a1"), store(&cache, "t", "a2"));
    assert!(cache.veto(one, two));
    cache.remove(&ask("a2"));
    assert!(nearest(&cache, "a2").is_none(), "one of them still lives");
    assert_eq!(answer(nearest(&cache, "a3")).as_deref(), Some("to a1"));
    let two = store(&cache, "t", "a2");
    cache.remove(&ask("a1"));
    assert_eq!(answer(nearest(&cache, "a1")).as_deref(), Some("to a2"));
    assert!(cache.veto_request(&ask("a1"), two));
    assert!(nearest(&cache, "a1").is_none());
    store(&cache, "t", "a1");
    cache.remove(&ask("a1"));
    assert!(nearest(&cache, "a1").is_none(), "stored or not");
    assert!(!cache.veto(one, one), "neither lives");
}

#[test]
fn an_entry_with_too_many_vetoes_answers_equal_requests_only() {
    let cache = cache();
    let entry = store(&cache, "t", "a1");
    let before = cache.bytes();
    for n in 0..64 {
        assert!(cache.veto_request(&ask(&format!("other {n}")), entry));
    }
    let grown = cache.bytes() - before;
    assert!((64 * 32..=128 * 32).contains(&grown), "{grown}");
    assert_eq!(cache.provenance(entry).expect("lives").vetoes, 64);
    assert!(nearest(&cache, "a2").is_some());
    assert!(cache.veto_request(&ask("one more"), entry));
    assert!(nearest(&cache, "a2").is_none());
    assert_eq!(cache.stats().vectors, 0);
    let hit = cache.get(&ask("a1")).expect("the exact tier keeps it");
    assert_eq!(hit.detail(), Detail::Exact);
    cache.purge();
    assert_eq!((cache.len(), cache.bytes()), (0, 0));
}

#[test]
fn vetoes_count_against_the_bound_on_bytes() {
    let cache: Cache<String> = Cache::builder().max_bytes(24_000).build().expect("valid");
    for n in 0..40 {
        let entry = store(&cache, "t", &format!("a{n}"));
        for m in 0..60 {
            cache.veto_request(&ask(&format!("other {m}")), entry);
            assert!(cache.bytes() <= cache.max_bytes());
        }
    }
    assert!(cache.stats().evicted > 0);
}

#[tokio::test(start_paused = true)]
async fn a_promoted_copy_is_a_semantic_hit_that_ages_and_expires_with_its_origin() {
    let cache = Cache::builder()
        .ttl(Duration::from_secs(10))
        .build()
        .expect("valid");
    let origin = store(&cache, "t", "a1");
    advance(Duration::from_secs(4)).await;
    let hit = nearest(&cache, "a2").expect("similar");
    let copy = cache.promote(&ask("a2"), &hit).expect("room");
    advance(Duration::from_secs(2)).await;
    let repeat = cache.get(&ask("a2")).expect("remembered");
    assert_eq!(repeat.detail(), hit.detail());
    assert!(matches!(repeat.detail(), Detail::Semantic { .. }));
    assert_eq!(repeat.age(), Duration::from_secs(6));
    assert_eq!(repeat.entry(), origin);
    let known = cache.provenance(origin).expect("lives");
    assert_eq!((known.served_exact, known.served_semantic), (0, 2));
    assert_eq!((known.promoted, known.origin), (1, None));
    assert_eq!(cache.provenance(copy).expect("lives").origin, Some(origin));
    advance(Duration::from_secs(4)).await;
    assert!(cache.get(&ask("a2")).is_none());
    assert!(cache.get(&ask("a1")).is_none());
    assert_eq!((cache.len(), cache.bytes()), (0, 0));
}

#[test]
fn a_promoted_copy_serves_only_who_would_have_matched_its_origin() {
    let cache = cache();
    store(&cache, "t", "a1");
    let hit = nearest(&cache, "a2").expect("similar");
    cache.promote(&ask("a2"), &hit).expect("room");
    assert!(cache.get(&ask("a2")).is_some());
    assert!(cache.get(&similar("t", "a2", 1.0)).is_none());
    assert!(cache.get(&ask("a2").matching(Matching::Exact)).is_none());
    assert!(cache.get(&similar("u", "a2", LOOSE)).is_none());
}

#[test]
fn a_copy_leaves_with_its_origin_whatever_takes_it_away() {
    type Away = fn(&Cache<String>, EntryId);
    let ways: [Away; 5] = [
        |cache, _| assert!(cache.remove(&ask("a1"))),
        |cache, _| cache.purge_scope(ask("a1").scope()),
        |cache, id| assert!(cache.bad(&ask("a2"), id)),
        |cache, id| assert_ne!(store(cache, "t", "a1"), id),
        |cache, id| assert!(cache.veto_request(&ask("a2"), id)),
    ];
    for (n, away) in ways.into_iter().enumerate() {
        let cache = cache();
        let origin = store(&cache, "t", "a1");
        let hit = nearest(&cache, "a2").expect("similar");
        cache.promote(&ask("a2"), &hit).expect("room");
        away(&cache, origin);
        assert!(cache.get(&ask("a2")).is_none(), "{n}");
        let left = usize::from(cache.get(&ask("a1")).is_some());
        assert_eq!(cache.len(), left, "{n}");
        if left == 0 {
            assert_eq!(cache.promote(&ask("a2"), &hit), Err(Refusal::Purged));
            assert_eq!((cache.len(), cache.bytes()), (0, 0), "{n}");
        }
    }
}

#[test]
fn a_copy_never_stands_in_the_way_of_an_own_answer() {
    let cache = cache();
    let origin = store(&cache, "t", "a1");
    let hit = nearest(&cache, "a2").expect("similar");
    let begun = cache.begin(ask("a2"));
    cache.promote(&ask("a2"), &hit).expect("room");
    begun
        .store("own".into())
        .expect("a copy is no newer answer");
    assert_eq!(answer(cache.get(&ask("a2"))).as_deref(), Some("own"));
    assert_eq!(cache.promote(&ask("a2"), &hit), Err(Refusal::Superseded));
    assert_eq!(cache.provenance(origin).expect("lives").promoted, 0);
    let exact = cache.get(&ask("a1")).expect("stored");
    assert_eq!(cache.promote(&ask("a2"), &exact), Err(Refusal::Forbidden));
}

#[test]
fn copies_of_one_answer_are_bounded() {
    let cache = cache();
    store(&cache, "t", "a1");
    let hit = nearest(&cache, "a2").expect("similar");
    let promote = |n: usize| cache.promote(&ask(&format!("a {n}")), &hit);
    assert!((0..256).all(|n| promote(n).is_ok()));
    assert_eq!(promote(256), Err(Refusal::Busy));
    assert_eq!(cache.len(), 257);
    cache.remove(&ask("a 0"));
    assert!(promote(256).is_ok());
    cache.purge();
    assert_eq!((cache.len(), cache.bytes()), (0, 0));
}

#[test]
fn a_bad_answer_leaves_at_once_with_its_copies_and_does_not_come_back() {
    let cache = cache();
    let origin = store(&cache, "t", "a1");
    let hit = nearest(&cache, "a2").expect("similar");
    for text in ["a2", "a3"] {
        cache.promote(&ask(text), &hit).expect("room");
    }
    assert!(
        !cache.bad(&similar("u", "a2", LOOSE), origin),
        "another tenant's"
    );
    let served = cache.get(&ask("a2")).expect("promoted").entry();
    assert!(cache.bad(&ask("a2"), served));
    assert!(!cache.bad(&ask("a2"), served), "once");
    for text in ["a1", "a2", "a3"] {
        assert!(cache.get(&ask(text)).is_none(), "{text}");
        assert!(nearest(&cache, text).is_none(), "{text}");
    }
    store(&cache, "t", "a1");
    assert!(
        nearest(&cache, "a2").is_none(),
        "stored again, still vetoed"
    );
    assert!(nearest(&cache, "a3").is_some(), "nobody complained there");
    let own = store(&cache, "t", "a2");
    assert!(cache.bad(&ask("a2"), own), "an exact hit can be bad too");
    assert!(cache.get(&ask("a2")).is_none());
}

#[test]
fn neighbours_come_with_cluster_and_veto_and_can_be_served() {
    let cache = cache();
    let ids: Vec<_> = (0..20)
        .map(|n| store(&cache, "t", &format!("a{n}")))
        .collect();
    store(&cache, "u", "a0");
    assert!(cache.set_cluster(ids[3], 77) && cache.set_cluster(ids[4], 77));
    assert!(cache.veto_request(&ask("a asked"), ids[5]));
    let all = cache.neighbours(&ask("a asked"), vector("a asked"), 100);
    assert_eq!(all.len(), 20, "the other tenant's is not among them");
    assert!(all.is_sorted_by(|one, two| one.similarity >= two.similarity));
    let best = cache.neighbours(&ask("a asked"), vector("a asked"), 8);
    assert_eq!(best[..], all[..8]);
    for neighbour in &all {
        let n = ids
            .iter()
            .position(|id| *id == neighbour.entry)
            .expect("one of ours");
        assert_eq!(&*neighbour.text, format!("a{n}"));
        assert_eq!(neighbour.cluster == 77, [3, 4].contains(&n));
        assert_eq!(neighbour.vetoed, n == 5);
        let hit = cache.get_neighbour(&ask("a asked"), neighbour);
        assert_eq!(hit.is_some(), n != 5);
    }
    let clusters: BTreeSet<_> = all.iter().map(|neighbour| neighbour.cluster).collect();
    assert_eq!(clusters.len(), 19);
    let gone = &all[0];
    cache.bad(&ask("a asked"), gone.entry);
    assert!(cache.get_neighbour(&ask("a asked"), gone).is_none());
    assert!(!cache.set_cluster(gone.entry, 1));
    let blind = lookup("t", "a asked");
    assert!(cache.neighbours(&blind, Vector::from(vec![]), 8).is_empty());
}

#[derive(Default)]
struct Model {
    /// By text: when it was stored, and which texts it must not answer.
    live: BTreeMap<usize, (usize, BTreeSet<usize>)>,
    copies: BTreeMap<usize, usize>,
    bad: BTreeSet<(usize, usize)>,
}

// === impl Model ===

impl Model {
    fn vetoed(&self, asked: usize, cached: usize) -> bool {
        let by = |one: usize, two| self.live.get(&one).is_some_and(|(_, no)| no.contains(&two));
        by(cached, asked)
            || by(asked, cached)
            || self.bad.contains(&(asked.min(cached), asked.max(cached)))
    }

    fn nearest(&self, asked: usize) -> Option<usize> {
        let fine = self.live.iter().filter(|(n, _)| !self.vetoed(asked, **n));
        fine.min_by_key(|(_, (stored, _))| *stored).map(|(n, _)| *n)
    }

    fn under(&self, asked: usize) -> Option<usize> {
        if self.live.contains_key(&asked) {
            return Some(asked);
        }
        let origin = self.copies.get(&asked).copied();
        origin.filter(|origin| !self.vetoed(asked, *origin))
    }

    fn leave(&mut self, n: usize) {
        self.live.remove(&n);
        self.copies.retain(|_, origin| *origin != n);
    }
}

/// All are equally similar, so that the one stored first is the nearest.
fn text(n: usize) -> String {
    let letters = ["1", "7", "=", "C", "I", "O", "U", "["];
    letters
        .get(n)
        .map_or_else(String::new, |letter| format!("a{letter}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_store_serves_what_a_plain_model_would(
        steps in prop::collection::vec((0..8u8, 0..8usize, 0..8usize), 1..100),
    ) {
        let cache = cache();
        let mut model = Model::default();
        for (step, (kind, one, two)) in steps.into_iter().enumerate() {
            let id = |n: usize| cache.entry(&lookup("t", &text(n)));
            match kind {
                0..=2 => {
                    store(&cache, "t", &text(one));
                    model.leave(one);
                    model.copies.remove(&one);
                    model.live.insert(one, (step, BTreeSet::new()));
                }
                3 => {
                    cache.remove(&ask(&text(one)));
                    if model.live.contains_key(&one) {
                        model.leave(one);
                    } else {
                        model.copies.remove(&one);
                    }
                }
                4 => {
                    if let Some(id) = id(two).filter(|_| model.live.contains_key(&two) && one != two) {
                        prop_assert!(cache.veto_request(&ask(&text(one)), id));
                        for (n, other) in [(one, two), (two, one)] {
                            if let Some((_, no)) = model.live.get_mut(&n) {
                                no.insert(other);
                            }
                        }
                        if model.copies.get(&one) == Some(&two) {
                            model.copies.remove(&one);
                        }
                        if model.copies.get(&two) == Some(&one) {
                            model.copies.remove(&two);
                        }
                    }
                }
                5 => {
                    let served = nearest(&cache, &text(one));
                    prop_assert_eq!(served.is_some(), model.nearest(one).is_some());
                    if let (Some(hit), Some(n)) = (served, model.nearest(one)) {
                        prop_assert!(cache.bad(&ask(&text(one)), hit.entry()));
                        model.leave(n);
                        if n != one {
                            model.bad.insert((one.min(n), one.max(n)));
                        }
                    }
                }
                _ => {
                    if let Some(hit) = nearest(&cache, &text(one)) {
                        let origin = model.nearest(one).expect("as the cache");
                        let promoted = cache.promote(&ask(&text(one)), &hit).is_ok();
                        let fine = origin != one && !model.live.contains_key(&one);
                        prop_assert_eq!(promoted, fine);
                        if fine {
                            model.copies.insert(one, origin);
                        }
                    }
                }
            }
            for n in 0..8 {
                let expected = |n: Option<usize>| n.map(|n| format!("to {}", text(n)));
                prop_assert_eq!(answer(cache.get(&ask(&text(n)))), expected(model.under(n)));
                prop_assert_eq!(answer(nearest(&cache, &text(n))), expected(model.nearest(n)));
            }
            let entries = model.live.len() + model.copies.len();
            prop_assert_eq!(cache.len(), entries);
            prop_assert_eq!(cache.stats().vectors, model.live.len());
        }
        cache.purge();
        prop_assert_eq!((cache.len(), cache.bytes()), (0, 0));
    }
}

#[test]
fn no_copy_outlives_its_origin_when_many_threads_promote_and_report() {
    let cache = cache();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let cache = &cache;
            threads.spawn(move || {
                for step in 0..400 {
                    let name = format!("a{}", step % 5);
                    let copy = format!("a copy {thread} {}", step % 7);
                    // Another thread may have stored it, or taken it away again.
                    let begun = cache.begin(ask(&name)).vector(vector(&name));
                    let _ = begun.store(name.clone());
                    let Some(id) = cache.entry(&ask(&name)) else {
                        continue;
                    };
                    if let Some(hit) = nearest(cache, &copy) {
                        let _ = cache.promote(&ask(&copy), &hit);
                        let _ = cache.get(&ask(&copy));
                    }
                    if step % 3 == 0 {
                        cache.bad(&ask(&name), id);
                        let served = cache.get(&ask(&copy)).map(|hit| hit.entry());
                        assert_ne!(served, Some(id), "reported, and served again");
                    }
                }
            });
        }
    });
    for n in 0..5 {
        cache.remove(&ask(&format!("a{n}")));
    }
    assert_eq!((cache.len(), cache.bytes()), (0, 0));
    assert_eq!(cache.stats().vectors, 0);
}
