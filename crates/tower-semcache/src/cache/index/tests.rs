use std::collections::HashMap;

use proptest::prelude::*;

use super::vectors::SMALL;
use super::*;
use crate::matching::Threshold;
use crate::scope::Secret;
use crate::vector::{Vector, dot};

const SECRET: Secret = Secret::from_bytes([3; 32]);

/// Repeatable noise (xorshift), in [-1, 1).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn vector(&mut self, dimensions: usize) -> Vec<f32> {
        (0..dimensions).map(|_| self.next()).collect()
    }

    /// Away from `centre` by this much, coordinate by coordinate.
    fn near(&mut self, centre: &[f32], by: f32) -> Vec<f32> {
        centre.iter().map(|x| x + by * self.next()).collect()
    }
}

fn unit(coordinates: Vec<f32>) -> Unit {
    Unit::new(Vector::from(coordinates)).expect("finite")
}

fn wave(seed: u64) -> Unit {
    unit(
        (0..5)
            .map(|i| ((seed * 31 + i) as f32 * 0.7).sin())
            .collect(),
    )
}

fn scope(n: u64) -> Scope {
    SECRET.scope(&[("n", &n.to_le_bytes())])
}

fn id(sequence: u64) -> EntryId {
    let key = SECRET.entry(&scope(0), &sequence.to_le_bytes());
    EntryId { sequence, key }
}

fn at_least(cosine: f32) -> Similarity {
    Threshold::new(cosine).expect("valid").similarity()
}

/// One scope beside what it should hold.
struct Modelled {
    index: Index,
    scope: Scope,
    rows: HashMap<u64, (Arc<Slot>, Unit)>,
}

impl Modelled {
    fn new() -> Self {
        Self {
            index: Index::default(),
            scope: scope(0),
            rows: HashMap::new(),
        }
    }

    fn insert(&mut self, sequence: u64, unit: Unit) {
        let slot = self.index.insert(&self.scope, id(sequence), &unit);
        self.rows.insert(sequence, (slot.expect("room"), unit));
    }

    fn remove(&mut self, sequence: u64) {
        if let Some((slot, _)) = self.rows.remove(&sequence) {
            self.index.remove(&self.scope, &slot);
            self.index.remove(&self.scope, &slot);
        }
    }

    fn expected(&self, asked: &Unit, least: Similarity) -> Vec<(Similarity, u64)> {
        let cosine = |unit: &Unit| Similarity::new(dot(asked.as_slice(), unit.as_slice()));
        let mut expected: Vec<_> = self
            .rows
            .iter()
            .filter_map(|(n, (_, unit))| Some((cosine(unit).filter(|s| *s >= least)?, *n)))
            .collect();
        expected.sort_by_key(|(similarity, n)| (std::cmp::Reverse(*similarity), *n));
        expected
    }

    fn found(&self, asked: &Unit, least: Similarity, depth: Depth) -> Vec<(Similarity, u64)> {
        let found = self.index.search(&self.scope, asked, least, depth);
        let plain = |candidate: Candidate| (candidate.similarity, candidate.id.sequence);
        found.candidates.into_iter().map(plain).collect()
    }

    /// Every row is where its slot says, and coded about the centre of its block.
    fn check(&self) {
        assert_eq!(self.index.len(), self.rows.len());
        let scopes = self.index.scopes.read();
        let Some(vectors) = scopes.get(&self.scope) else {
            assert!(self.rows.is_empty());
            return;
        };
        let vectors = vectors.read();
        assert_eq!(vectors.signs().is_some(), self.has_signs(&vectors));
        for (slot, unit) in self.rows.values() {
            let own = vectors
                .score(unit.as_slice(), slot.place().expect("there") as u32)
                .expect("there");
            assert!((own - 1.0).abs() < 1e-6);
            if let Some(signs) = vectors.signs() {
                assert_eq!(signs.distance(slot, unit.as_slice()), Some(0));
            }
        }
    }

    fn has_signs(&self, vectors: &Vectors) -> bool {
        match self.rows.len() {
            0..=512 => false,
            rows if rows > SMALL => true,
            _ => vectors.signs().is_some(),
        }
    }
}

#[test]
fn a_vector_of_another_length_is_refused_and_finds_nothing() {
    let (index, scope) = (Index::default(), scope(0));
    let short = unit(vec![1.0, 0.0]);
    let slot = index.insert(&scope, id(1), &wave(1)).expect("room");
    assert!(index.insert(&scope, id(2), &short).is_none());
    let found = index.search(&scope, &short, at_least(1e-6), Depth::Near);
    assert!(found.candidates.is_empty());
    index.remove(&scope, &slot);
    assert!(
        index.insert(&scope, id(3), &short).is_some(),
        "an empty scope takes any length"
    );
}

#[test]
fn an_empty_scope_leaves_the_map() {
    let index = Index::default();
    for n in 0..100 {
        let slot = index.insert(&scope(n), id(n), &wave(n)).expect("room");
        index.remove(&scope(n), &slot);
    }
    assert!(index.scopes.read().is_empty());
}

#[test]
fn a_scope_among_a_thousand_finds_what_it_would_find_alone() {
    let shared = Index::default();
    let mut noise = Noise(7);
    let mut alone: Vec<_> = (0..1_000).map(|_| Modelled::new()).collect();
    for n in 0..12_000u64 {
        // One large scope, many small ones: what the large one holds must cost nobody anything.
        let owner = if n % 4 == 0 { 0 } else { n % 1_000 };
        let unit = unit(noise.vector(16));
        let slot = shared.insert(&scope(owner), id(n), &unit).expect("room");
        alone[owner as usize].insert(n, unit);
        if n % 9 == 0 {
            shared.remove(&scope(owner), &slot);
            alone[owner as usize].remove(n);
        }
    }
    for (n, alone) in alone.iter().enumerate() {
        for asked in alone.rows.values().take(3).map(|(_, unit)| unit) {
            let asked = unit(noise.near(asked.as_slice(), 0.2));
            let together = shared.search(&scope(n as u64), &asked, at_least(0.2), Depth::Near);
            let together = together.candidates.into_iter();
            let together: Vec<_> = together.map(|c| (c.similarity, c.id.sequence)).collect();
            assert_eq!(
                together,
                alone.found(&asked, at_least(0.2), Depth::Near),
                "{n}"
            );
        }
    }
}

/// The nearest of all, in a scope that grows, is half replaced, and shrinks again.
#[test]
fn the_nearest_row_of_a_large_scope_is_found_through_growth_churn_and_shrinking() {
    const DIMENSIONS: usize = 128;
    let mut noise = Noise(11);
    let mut model = Modelled::new();
    // A direction that all share, as embeddings of one model do.
    let common = noise.vector(DIMENSIONS);
    let check = |model: &Modelled, noise: &mut Noise| {
        model.check();
        let near: Vec<_> = model.rows.values().take(8).cloned().collect();
        for (_, unit_there) in near {
            let asked = unit(noise.near(unit_there.as_slice(), 0.05));
            let expected = model.expected(&asked, at_least(0.3));
            for depth in [Depth::Nearest, Depth::Near, Depth::Deep] {
                let found = model.found(&asked, at_least(0.3), depth);
                assert_eq!(found.first(), expected.first(), "{} rows", model.rows.len());
                assert!(found.is_sorted_by_key(|(s, n)| (std::cmp::Reverse(*s), *n)));
            }
        }
    };
    for n in 0..3_000u64 {
        let topic = noise.vector(DIMENSIONS);
        model.insert(
            n,
            unit(
                noise
                    .near(&common, 0.8)
                    .iter()
                    .zip(&topic)
                    .map(|(a, b)| a + 0.3 * b)
                    .collect(),
            ),
        );
        if [1_024, 1_025, 1_500, 2_060, 2_999].contains(&n) {
            check(&model, &mut noise);
        }
    }
    for n in 3_000..6_000u64 {
        model.remove(n - 3_000 + n % 7);
        model.insert(n, unit(noise.near(&common, 0.8)));
        if n % 1_000 == 0 {
            check(&model, &mut noise);
        }
    }
    let mut left: Vec<_> = model.rows.keys().copied().collect();
    left.sort_unstable_by_key(|n| n % 61);
    for n in left {
        model.remove(n);
        if [1_025, 1_024, 513, 512, 1, 0].contains(&model.rows.len()) {
            check(&model, &mut noise);
        }
    }
}

/// A writer may pass between two stretches of a search; the last row then takes the place of the one
/// removed. Asked for is always the row that is moved next.
#[test]
fn a_row_that_is_moved_while_a_search_runs_is_not_missed() {
    const DIMENSIONS: usize = 32;
    const KEPT: u64 = 1_000;
    let (index, scope) = (Index::default(), scope(0));
    let mut noise = Noise(5);
    let mut others = Vec::new();
    for n in 0..40_000 {
        others.push(index.insert(&scope, id(n), &unit(noise.vector(DIMENSIONS))));
    }
    let kept: Vec<_> = (0..KEPT).map(|_| unit(noise.vector(DIMENSIONS))).collect();
    for (n, unit) in (100_000..).zip(&kept) {
        index.insert(&scope, id(n), unit).expect("room");
    }
    let moved = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            // The last row is moved by each, to where a search comes last.
            for slot in others.iter().flatten().take(kept.len() - 1) {
                index.remove(&scope, slot);
                moved.fetch_add(1, Ordering::Relaxed);
            }
        });
        loop {
            let last = kept.len() - 1 - moved.load(Ordering::Relaxed);
            let (unit, sequence) = (&kept[last], 100_000 + last as u64);
            let depth = [Depth::Nearest, Depth::Near][last % 2];
            let found = index.search(&scope, unit, at_least(0.99), depth);
            let met = found
                .candidates
                .iter()
                .filter(|c| c.id.sequence == sequence);
            assert_eq!(met.count(), 1, "{last}");
            if last == 0 {
                break;
            }
        }
    });
}

/// Rows of three kinds, asked for from near to far: with the first floor of a search, the second and none.
#[test]
fn the_nearest_row_is_found_however_far_it_is() {
    const DIMENSIONS: usize = 192;
    let mut noise = Noise(17);
    let topics: Vec<_> = (0..20).map(|_| noise.vector(DIMENSIONS)).collect();
    let outweighs = |mut vector: Vec<f32>| {
        vector[7] *= 40.0;
        vector
    };
    let mut kinds = [Modelled::new(), Modelled::new(), Modelled::new()];
    for n in 0..4_000u64 {
        let rows = [
            noise.vector(DIMENSIONS),
            noise.near(&topics[n as usize % 20], 0.7),
            outweighs(noise.vector(DIMENSIONS)),
        ];
        for (model, row) in kinds.iter_mut().zip(rows) {
            model.insert(n, unit(row));
        }
    }
    let least = at_least(0.2);
    for (kind, model) in kinds.iter().enumerate() {
        for n in 0..60u64 {
            // Where one coordinate outweighs all others, signs say little about what is far.
            if kind == 2 && n % 6 > 2 {
                continue;
            }
            let (_, row) = &model.rows[&(n * 61)];
            let by = (n % 6) as f32 * 0.4 / (DIMENSIONS as f32).sqrt();
            let asked = unit(noise.near(row.as_slice(), by));
            let expected = model.expected(&asked, least);
            let found = model.found(&asked, least, Depth::Nearest);
            assert_eq!(found.first(), expected.first(), "{kind} {n}");
        }
    }
}

#[test]
fn a_search_for_the_nearest_says_whether_others_may_follow() {
    const DIMENSIONS: usize = 256;
    let mut noise = Noise(23);
    let mut model = Modelled::new();
    let middle = unit(noise.vector(DIMENSIONS));
    for n in 0..2_000 {
        let row = match n {
            0 => middle.as_slice().to_vec(),
            1..100 => noise.near(middle.as_slice(), 0.06),
            _ => noise.vector(DIMENSIONS),
        };
        model.insert(n, unit(row));
    }
    let search = |cosine, depth| {
        model
            .index
            .search(&model.scope, &middle, at_least(cosine), depth)
    };
    let found = search(0.8, Depth::Nearest);
    assert!(found.more && found.candidates.len() < 100);
    let all = search(0.8, Depth::Near);
    assert_eq!(all.candidates.len(), 100);
    assert!(!all.more);
    let alone = search(0.99, Depth::Nearest);
    assert_eq!(alone.candidates.len(), 1);
    assert!(!alone.more);
}

proptest! {
    #[test]
    fn a_search_finds_what_a_plain_list_would(
        steps in prop::collection::vec((0..3u8, 0..40u64), 1..120),
        asked in 0..40u64,
    ) {
        let mut model = Modelled::new();
        for (kind, n) in steps {
            if kind > 0 && !model.rows.contains_key(&n) {
                model.insert(n, wave(n));
            } else {
                model.remove(n);
            }
        }
        model.check();
        let least = at_least(0.2);
        let found = model.found(&wave(asked), least, Depth::Near);
        prop_assert_eq!(found, model.expected(&wave(asked), least));
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn the_rows_of_a_large_scope_stay_where_their_slots_say(
        seed in 1..u64::MAX,
        share in 2..9usize,
    ) {
        let mut noise = Noise(seed);
        let mut model = Modelled::new();
        let mut next = 0;
        for round in 0..6 {
            for _ in 0..500 {
                model.insert(next, unit(noise.vector(70)));
                next += 1;
            }
            let gone: Vec<_> = model.rows.keys().copied().collect();
            gone.iter().step_by(share + round).for_each(|n| model.remove(*n));
        }
        model.check();
        let (slot_of, asked) = model.rows.iter().next().map(|(n, (_, unit))| (*n, unit)).expect("left");
        prop_assert_eq!(model.found(asked, at_least(0.9), Depth::Near).first().map(|(_, n)| *n), Some(slot_of));
    }
}
