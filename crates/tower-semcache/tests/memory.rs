//! What the store says it holds is no less than what the allocator says.

mod common;

use allocation_counter::measure;
use common::{lookup, scope, similar};
use tower_semcache::{AcceptAll, Cache, Threshold, Vector};

const DIMENSIONS: usize = 384;

fn vector(n: usize) -> Vector {
    let turned = |i: usize| ((n * 7 + i * i) as f32 * 0.61).sin();
    Vector::from((0..DIMENSIONS).map(turned).collect::<Vec<_>>())
}

fn store(cache: &Cache<String>, tenant: &str, n: usize) {
    let commit = cache.begin(lookup(tenant, &format!("question {n}")));
    let answer = "a".repeat(n % 200);
    commit.vector(vector(n)).store(answer).expect("room");
}

type Step<'a> = &'a dyn Fn(&Cache<String>);

/// Bytes by the allocator after each step, and by the cache.
fn compare(steps: &[Step<'_>]) {
    let cache: Cache<String> = Cache::builder().max_bytes(64 << 20).build().expect("valid");
    let mut held = 0;
    for (n, step) in steps.iter().enumerate() {
        held += measure(|| step(&cache)).bytes_current;
        let (held, counted) = (usize::try_from(held).unwrap_or(0), cache.bytes());
        assert!(held <= counted, "step {n}: {held} held, {counted} counted");
    }
}

#[test]
fn one_large_scope_costs_no_more_than_is_counted_as_it_grows_and_shrinks() {
    let grow = |from: usize, to: usize| {
        move |cache: &Cache<String>| (from..to).for_each(|n| store(cache, "t", n))
    };
    compare(&[
        &grow(0, 1),
        &grow(1, 100),
        &grow(100, 257),
        &grow(257, 1_024),
        &grow(1_024, 1_030),
        &grow(1_030, 2_500),
        &|cache| {
            for n in (0..2_500).filter(|n| n % 5 != 0) {
                cache.remove(&lookup("t", &format!("question {n}")));
            }
        },
        &grow(5_000, 5_700),
    ]);
}

#[test]
fn many_small_scopes_cost_no_more_than_is_counted() {
    compare(&[
        &|cache| (0..600).for_each(|n| store(cache, &format!("tenant {n}"), n)),
        &|cache| (0..1_200).for_each(|n| store(cache, &format!("tenant {}", n % 400), n + 600)),
        &|cache| (0..300).for_each(|n| cache.purge_scope(&scope(&format!("tenant {n}")))),
    ]);
}

#[test]
fn copies_and_vetoes_cost_no_more_than_is_counted() {
    let threshold = Threshold::new(0.5).expect("valid");
    compare(&[
        &|cache| (0..50).for_each(|n| store(cache, "t", n)),
        &|cache| {
            for n in 0..2_000 {
                let asked = similar("t", &format!("asked {n}"), 0.5);
                let hit = cache.get_similar(&asked, vector(n % 50), threshold, &AcceptAll);
                cache
                    .promote(&asked, &hit.expect("its like"))
                    .expect("room");
            }
        },
        &|cache| {
            for n in 0..2_000 {
                let entry = cache.entry(&lookup("t", &format!("question {}", n % 50)));
                let other = lookup("t", &format!("other {n}"));
                assert!(cache.veto_request(&other, entry.expect("lives")));
            }
        },
    ]);
}
