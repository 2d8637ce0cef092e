//! The index holds the vectors of the entries and nothing else, whatever happens to them.

use bytes::Bytes;
use proptest::prelude::*;
use std::time::Duration;

use super::{Cache, Commit};
use crate::guard::AcceptAll;
use crate::lookup::Lookup;
use crate::matching::Threshold;
use crate::scope::{Scope, Secret};
use crate::vector::{Unit, Vector};

const SECRET: Secret = Secret::from_bytes([9; 32]);

fn scope(n: usize) -> Scope {
    SECRET.scope(&[("n", &n.to_le_bytes())])
}

fn lookup(scope_number: usize, n: usize) -> Lookup {
    let canonical = Bytes::copy_from_slice(&n.to_le_bytes());
    Lookup::new(&SECRET, scope(scope_number), canonical).text("text")
}

/// No two of these are parallel.
fn unit(n: usize) -> Unit {
    let angle = n as f32 / 100.0;
    Unit::new(Vector::from(vec![angle.cos(), angle.sin()])).expect("finite")
}

fn insert(cache: &Cache<String>, lookup: &Lookup, n: usize, size: usize) -> bool {
    let generation = cache.generation(lookup);
    let commit = Commit::new(cache.clone(), lookup.clone(), generation, Some(unit(n)));
    commit.store("x".repeat(size)).is_ok()
}

fn finds(cache: &Cache<String>, lookup: &Lookup, n: usize) -> bool {
    let threshold = Threshold::new(1.0).expect("valid");
    cache
        .peek_nearest(lookup, &unit(n), threshold, &AcceptAll)
        .is_some()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_entry_is_found_by_its_vector_and_nothing_else_is(
        steps in prop::collection::vec((0..12u8, 0..3usize, 0..20usize, 0..600usize), 1..120),
    ) {
        let cache = Cache::builder().max_bytes(8_000).build().expect("valid");
        for (kind, scope_number, n, size) in steps {
            let key = lookup(scope_number, n);
            match kind {
                0 => cache.purge_scope(&scope(scope_number)),
                1 => drop(cache.remove(&key)),
                2 if n == 0 => cache.purge(),
                _ => prop_assert!(insert(&cache, &key, n, size)),
            }
            let stats = cache.stats();
            prop_assert_eq!(stats.vectors, stats.entries);
            prop_assert!(stats.bytes <= cache.max_bytes());
        }
        for scope_number in 0..3 {
            for n in 0..20 {
                let key = lookup(scope_number, n);
                prop_assert_eq!(finds(&cache, &key, n), cache.get(&key).is_some());
            }
        }
    }
}

#[test]
fn no_vector_outlives_its_entry_when_many_threads_store_and_purge() {
    let builder = Cache::builder()
        .max_bytes(256 << 10)
        .max_entry_bytes(2 << 10);
    let cache: Cache<String> = builder.build().expect("valid");
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let cache = &cache;
            threads.spawn(move || {
                for step in 0..3_000 {
                    let n = (step * (thread + 7)) % 500;
                    let key = lookup(n % 3, n);
                    insert(cache, &key, n, step % 300);
                    finds(cache, &key, n);
                    match step % 1_000 {
                        333 => cache.purge_scope(&scope(thread % 3)),
                        999 => cache.purge(),
                        _ => {}
                    }
                }
            });
        }
    });
    let stats = cache.stats();
    assert_eq!(stats.vectors, stats.entries, "{stats:?}");
    assert!(stats.bytes <= cache.max_bytes());
    cache.purge();
    let stats = cache.stats();
    assert_eq!((stats.entries, stats.bytes, stats.vectors), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn what_has_expired_is_not_found_by_its_vector_and_leaves_the_index() {
    let cache = Cache::builder()
        .ttl(Duration::from_secs(5))
        .build()
        .expect("valid");
    let key = lookup(0, 1);
    assert!(insert(&cache, &key, 1, 0));
    tokio::time::advance(Duration::from_secs(4)).await;
    assert!(finds(&cache, &key, 1));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(!finds(&cache, &key, 1));
    let stats = cache.stats();
    assert_eq!((stats.entries, stats.vectors, stats.expired), (0, 0, 1));
}
