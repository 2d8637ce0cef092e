//! Two halves that share no text.

use std::collections::HashMap;
use std::sync::Arc;

use super::Half;

/// A half for each pair. Pairs that share a text, directly or through others, stay together: a threshold must not be
/// reported on a text that it was found with. Groups go to the half that is the smaller one so far, in their order.
pub(super) fn halves(pairs: &[(Arc<str>, Arc<str>)]) -> Vec<Half> {
    let mut groups = Groups::default();
    for (a, b) in pairs {
        groups.join(a, b);
    }
    let roots: Vec<usize> = pairs.iter().map(|(a, _)| groups.root_of(a)).collect();
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    for root in &roots {
        *sizes.entry(*root).or_default() += 1;
    }
    let (mut dev, mut test) = (0, 0);
    let mut chosen = HashMap::new();
    let mut half = |root| {
        *chosen.entry(root).or_insert_with(|| {
            let size = sizes.get(&root).copied().unwrap_or(0);
            if dev <= test {
                dev += size;
                Half::Dev
            } else {
                test += size;
                Half::Test
            }
        })
    };
    roots.into_iter().map(&mut half).collect()
}

/// Sets of texts that grow together.
#[derive(Default)]
struct Groups {
    numbers: HashMap<Arc<str>, usize>,
    parents: Vec<usize>,
}

// === impl Groups ===

impl Groups {
    fn join(&mut self, a: &Arc<str>, b: &Arc<str>) {
        let (a, b) = (self.root_of(a), self.root_of(b));
        if let Some(parent) = self.parents.get_mut(b) {
            *parent = a;
        }
    }

    fn root_of(&mut self, text: &Arc<str>) -> usize {
        let next = self.parents.len();
        let mut at = *self.numbers.entry(Arc::clone(text)).or_insert(next);
        if at == next {
            self.parents.push(next);
        }
        while let Some(parent) = self.parents.get(at).copied().filter(|parent| *parent != at) {
            at = parent;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_text_is_in_both_halves_and_the_halves_are_about_equal() {
        let pairs: Vec<(Arc<str>, Arc<str>)> = (0..60)
            .map(|n| (format!("a{}", n / 3).into(), format!("b{}", n % 40).into()))
            .chain((0..60).map(|n| (format!("c{n}").into(), format!("d{n}").into())))
            .collect();
        let halves = halves(&pairs);
        let of = |half| {
            let pairs = pairs
                .iter()
                .zip(&halves)
                .filter(move |(_, found)| **found == half);
            pairs.flat_map(|((a, b), _)| [a, b]).collect::<HashSet<_>>()
        };
        let (dev, test) = (of(Half::Dev), of(Half::Test));
        assert!(dev.is_disjoint(&test));
        let share = halves.iter().filter(|half| **half == Half::Dev).count();
        assert!((55..=65).contains(&share), "{share} of 120");
    }
}
