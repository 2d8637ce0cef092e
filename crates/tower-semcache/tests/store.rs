//! The memory store: bounds, life, order of use, purges.

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::{SECRET, cache, control, lookup, scope};
use proptest::prelude::*;
use tokio::time::advance;
use tower_semcache::{Cache, Lookup, Refusal};

fn small(max_bytes: usize) -> Cache<String> {
    Cache::builder()
        .max_bytes(max_bytes)
        .build()
        .expect("valid")
}

fn value(cache: &Cache<String>, lookup: &Lookup) -> Option<String> {
    cache.get(lookup).map(|hit| hit.value().clone())
}

#[test]
fn settings_that_cannot_work_are_refused_with_a_reason() {
    let builder = || Cache::builder();
    let refused = [
        builder().max_bytes(0).build::<String>(),
        builder().max_entry_bytes(0).build(),
        builder().max_bytes(10).max_entry_bytes(11).build(),
        builder().ttl(Duration::ZERO).build(),
    ];
    for refused in refused {
        assert!(!refused.expect_err("refused").to_string().is_empty());
    }
    builder()
        .ttl(Duration::MAX)
        .build::<String>()
        .expect("for ever is a life");
}

#[tokio::test(start_paused = true)]
async fn a_life_is_counted_from_the_store_and_use_does_not_prolong_it() {
    let cache = cache();
    let key = lookup("t", "a").ttl(Duration::from_secs(10));
    cache.insert(&key, "1".into()).expect("room");
    for _ in 0..9 {
        advance(Duration::from_secs(1)).await;
        assert!(cache.get(&key).is_some());
    }
    assert_eq!(cache.get(&key).expect("live").age(), Duration::from_secs(9));
    advance(Duration::from_millis(999)).await;
    assert!(cache.get(&key).is_some());
    advance(Duration::from_millis(1)).await;
    assert!(cache.get(&key).is_none());
    assert_eq!(
        (cache.len(), cache.bytes(), cache.stats().expired),
        (0, 0, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn lives_are_per_entry_and_the_default_is_the_caches() {
    let cache = Cache::builder()
        .ttl(Duration::from_secs(5))
        .build()
        .expect("valid");
    let short = lookup("t", "short").ttl(Duration::from_secs(1));
    let (usual, long) = (lookup("t", "usual"), lookup("t", "long").ttl(Duration::MAX));
    for key in [&short, &usual, &long] {
        cache.insert(key, String::new()).expect("room");
    }
    let live = |cache: &Cache<String>| [&short, &usual, &long].map(|key| cache.get(key).is_some());
    advance(Duration::from_secs(1)).await;
    assert_eq!(live(&cache), [false, true, true]);
    advance(Duration::from_secs(4)).await;
    assert_eq!(live(&cache), [false, false, true]);
    let zero = lookup("t", "zero").ttl(Duration::ZERO);
    assert_eq!(cache.insert(&zero, String::new()), Err(Refusal::Forbidden));
}

#[tokio::test(start_paused = true)]
async fn what_has_expired_makes_room_before_what_lives() {
    let one = cost("");
    let cache = small(one * 4);
    for name in ["live", "b", "c"] {
        let ttl = if name == "live" { 100 } else { 1 };
        let key = lookup("t", name).ttl(Duration::from_secs(ttl));
        cache.insert(&key, String::new()).expect("room");
    }
    advance(Duration::from_secs(2)).await;
    for name in ["d", "e", "f", "g"] {
        cache
            .insert(&lookup("t", name), String::new())
            .expect("room");
    }
    let stats = cache.stats();
    assert_eq!((stats.expired, stats.evicted), (2, 1), "{stats:?}");
}

#[test]
fn a_tenant_never_sees_anothers_answer() {
    let cache = cache();
    cache
        .insert(&lookup("one", "q"), "secret".into())
        .expect("room");
    assert!(cache.get(&lookup("two", "q")).is_none());
    assert_eq!(
        value(&cache, &lookup("one", "q")).as_deref(),
        Some("secret")
    );
    assert!(cache.get(&lookup("one", "Q")).is_none());
}

#[test]
fn an_entry_over_the_bound_of_one_is_refused_and_disturbs_nobody() {
    let cache = Cache::builder()
        .max_entry_bytes(4_096)
        .build()
        .expect("valid");
    let (small, large) = (lookup("t", "small"), lookup("t", "large"));
    cache.insert(&small, String::new()).expect("room");
    assert_eq!(
        cache.insert(&large, "x".repeat(4_096)),
        Err(Refusal::TooLarge)
    );
    let prompt = lookup("t", &"p".repeat(4_096));
    assert_eq!(cache.insert(&prompt, String::new()), Err(Refusal::TooLarge));
    assert_eq!((cache.len(), cache.stats().refused_too_large), (1, 2));
    assert!(cache.get(&small).is_some());
}

#[test]
fn a_stored_request_keeps_no_larger_buffer_alive() {
    let cache = cache();
    let buffer = Bytes::from(vec![b'x'; 1 << 20]);
    let key = Lookup::new(&SECRET, scope("t"), buffer.slice(..8));
    cache.insert(&key, String::new()).expect("room");
    drop(key);
    assert!(buffer.is_unique());
}

#[tokio::test(start_paused = true)]
async fn an_answer_begun_earlier_does_not_replace_one_that_was_asked_for_afresh() {
    let cache = cache();
    let key = lookup("one", "q");
    let slow = cache.begin(key.clone());
    tokio::time::advance(Duration::from_secs(1)).await;
    let fresh = cache.begin(key.clone());
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(fresh.store("fresh".into()), Ok(()));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(slow.store("old".into()), Err(Refusal::Superseded));
    assert_eq!(
        cache.get(&key).map(|hit| hit.value().clone()).as_deref(),
        Some("fresh")
    );
    assert_eq!(cache.stats().refused_superseded, 1);
}

#[test]
fn purges_take_what_they_name_and_drop_what_began_before() {
    let cache = cache();
    let (one, two) = (lookup("one", "q"), lookup("two", "q"));
    let fill = || {
        for key in [&one, &two] {
            cache.insert(key, String::new()).expect("room");
        }
    };
    fill();
    let (begun_one, begun_two) = (cache.begin(one.clone()), cache.begin(two.clone()));
    cache.purge_scope(&scope("one"));
    assert_eq!(
        [&one, &two].map(|key| cache.get(key).is_some()),
        [false, true]
    );
    assert_eq!(begun_one.store("late".into()), Err(Refusal::Purged));
    assert_eq!(begun_two.store("fine".into()), Ok(()));
    assert!(cache.get(&one).is_none());

    fill();
    let begun = cache.begin(one.clone());
    cache.purge();
    assert_eq!((cache.len(), cache.bytes()), (0, 0));
    assert_eq!(begun.store("late".into()), Err(Refusal::Purged));
    fill();
    assert!(cache.remove(&one));
    assert!(!cache.remove(&one));
    assert_eq!(cache.len(), 1);
    assert_eq!(cache.stats().refused_purged, 2);
}

#[test]
fn recordings_in_flight_are_bounded_too() {
    let cache = small(1 << 20);
    let begin = |name| cache.begin(lookup("t", name));
    let (mut one, mut two) = (begin("one"), begin("two"));
    assert_eq!(one.reserve((1 << 20) + 1), Err(Refusal::TooLarge));
    assert_eq!(one.reserve(1 << 20), Ok(()));
    assert_eq!(two.reserve(1), Err(Refusal::Busy));
    drop(one);
    assert_eq!(two.reserve(1 << 20), Ok(()));
    two.refuse(Refusal::Incomplete);
    assert_eq!(begin("three").reserve(1 << 20), Ok(()));
    let stats = cache.stats();
    assert_eq!((stats.refused_unfinished, stats.refused_incomplete), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_caller_may_ask_for_a_younger_answer() {
    let cache = cache();
    let key = lookup("t", "q").ttl(Duration::from_secs(60));
    cache.insert(&key, String::new()).expect("room");
    advance(Duration::from_secs(10)).await;
    let found = |change: fn(&mut tower_semcache::Control)| {
        cache.get(&key.clone().control(control(change))).is_some()
    };
    assert!(found(|c| c.max_age = Some(Duration::from_secs(10))));
    assert!(!found(|c| c.max_age = Some(Duration::from_secs(9))));
    assert!(found(|c| c.min_fresh = Some(Duration::from_secs(50))));
    assert!(!found(|c| c.min_fresh = Some(Duration::from_secs(51))));
    assert!(!found(|c| c.lookup = false));
}

#[test]
fn a_large_store_keeps_its_bound_from_many_threads() {
    let cache: Cache<String> = Cache::builder()
        .max_bytes(1 << 20)
        .max_entry_bytes(1 << 12)
        .build()
        .expect("valid");
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let cache = &cache;
            threads.spawn(move || {
                for n in 0..5_000 {
                    let key = lookup("t", &format!("{}", (n * (thread + 7)) % 3_000));
                    // One that meets a purge is refused.
                    let _ = cache.insert(&key, "x".repeat(n % 500));
                    let _ = cache.get(&key);
                    if n % 1_000 == 999 {
                        cache.purge_scope(&scope("t"));
                    }
                }
            });
        }
    });
    let stats = cache.stats();
    assert!(stats.bytes <= cache.max_bytes(), "{stats:?}");
    cache.purge();
    assert_eq!((cache.bytes(), cache.stats().vectors), (0, 0));
}

/// What an entry of the names used here costs, with this value.
fn cost(value: &str) -> usize {
    let cache = cache();
    cache
        .insert(&lookup("t", "a"), value.to_owned())
        .expect("room");
    cache.bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_store_is_what_a_plain_queue_would_be(
        steps in prop::collection::vec((0..4u8, 0..12usize, 0..300usize), 1..150),
    ) {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let max_bytes = cost("") * 5;
        let cache = small(max_bytes);
        let mut model: Vec<(usize, usize)> = Vec::new();
        for (kind, name, size) in steps {
            let key = lookup("t", names[name]);
            if kind < 2 {
                let bytes = cost(&"x".repeat(size));
                cache.insert(&key, "x".repeat(size)).expect("room");
                model.retain(|(other, _)| *other != name);
                while model.iter().map(|(_, bytes)| bytes).sum::<usize>() + bytes > max_bytes {
                    model.remove(0);
                }
                model.push((name, bytes));
            } else if kind == 2 {
                let found = model.iter().position(|(other, _)| *other == name);
                prop_assert_eq!(cache.get(&key).is_some(), found.is_some());
                if let Some(at) = found {
                    let entry = model.remove(at);
                    model.push(entry);
                }
            } else {
                let found = model.iter().position(|(other, _)| *other == name);
                prop_assert_eq!(cache.remove(&key), found.is_some());
                found.map(|at| model.remove(at));
            }
            prop_assert_eq!(cache.len(), model.len());
            prop_assert_eq!(cache.bytes(), model.iter().map(|(_, bytes)| bytes).sum::<usize>());
            prop_assert!(cache.bytes() <= max_bytes);
        }
    }
}
