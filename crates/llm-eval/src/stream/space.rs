//! Who is how similar to whom.

/// Labelled texts, as all that a cache sees of them: their similarities.
///
/// All pairs are kept, in 2 bytes each: 342 MB for the 13,083 texts of BANKING77. A run then takes
/// part of a second instead of minutes.
#[derive(Debug)]
pub struct Space {
    similarities: Vec<i16>,
    classes: Vec<u32>,
}

/// An entry among the nearest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    pub(super) similarity: f32,
    /// The place of the entry in the cache.
    pub(super) entry: usize,
}

const SCALE: f32 = 32_767.0;

// === impl Space ===

impl Space {
    /// Vectors of norm one, and the class of each: texts of one class have one answer. `each` is
    /// told how many rows are done.
    ///
    /// `None` unless there is a class a vector.
    pub fn new<V>(vectors: &[V], classes: Vec<u32>, mut each: impl FnMut(usize)) -> Option<Self>
    where
        V: AsRef<[f32]>,
    {
        if vectors.len() != classes.len() {
            return None;
        }
        let n = vectors.len();
        let mut similarities = vec![0; n * n];
        for (i, one) in vectors.iter().enumerate() {
            each(i);
            for (j, two) in vectors.iter().enumerate().skip(i) {
                let cosine = dot(one.as_ref(), two.as_ref());
                let cosine = (cosine.clamp(-1.0, 1.0) * SCALE).round() as i16;
                for at in [i * n + j, j * n + i] {
                    if let Some(cell) = similarities.get_mut(at) {
                        *cell = cosine;
                    }
                }
            }
        }
        Some(Self {
            similarities,
            classes,
        })
    }

    /// How many texts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The class of each text.
    #[must_use]
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// The `k` entries most similar to a text, the most similar first. `entries` are texts.
    pub(super) fn nearest(&self, text: usize, entries: &[usize], k: usize, near: &mut Vec<Near>) {
        near.clear();
        let n = self.len();
        let row = self
            .similarities
            .get(text * n..(text + 1) * n)
            .unwrap_or(&[]);
        let mut worst = i16::MIN;
        let mut found: Vec<(i16, usize)> = Vec::with_capacity(4 * k);
        for (entry, other) in entries.iter().enumerate() {
            let Some(&similarity) = row.get(*other) else {
                continue;
            };
            if similarity <= worst {
                continue;
            }
            found.push((similarity, entry));
            if found.len() == 4 * k {
                found.select_nth_unstable_by(k - 1, order);
                found.truncate(k);
                worst = found.last().map_or(i16::MIN, |(similarity, _)| *similarity);
            }
        }
        found.sort_unstable_by(order);
        found.truncate(k);
        near.extend(found.into_iter().map(|(similarity, entry)| Near {
            similarity: f32::from(similarity) / SCALE,
            entry,
        }));
    }
}

/// The most similar first; of equals, the older one.
fn order(one: &(i16, usize), two: &(i16, usize)) -> std::cmp::Ordering {
    two.0.cmp(&one.0).then(one.1.cmp(&two.1))
}

fn dot(one: &[f32], two: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (one, one_rest) = one.as_chunks::<LANES>();
    let (two, two_rest) = two.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in one.iter().zip(two) {
        for ((sum, x), y) in sums.iter_mut().zip(a).zip(b) {
            *sum += x * y;
        }
    }
    let rest: f32 = one_rest.iter().zip(two_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_only_entries_count() {
        let angles: Vec<f32> = (0..200).map(|i| i as f32 / 100.0).collect();
        let vectors: Vec<_> = angles.iter().map(|a| [a.cos(), a.sin()]).collect();
        let space = Space::new(&vectors, vec![0; 200], |_| {}).expect("as many");
        let entries: Vec<usize> = (0..200).filter(|text| text % 2 == 1).collect();
        let mut near = Vec::new();
        space.nearest(50, &entries, 4, &mut near);
        let texts: Vec<_> = near.iter().map(|near| entries[near.entry]).collect();
        assert_eq!(texts, [49, 51, 47, 53]);
        assert!((near[0].similarity - 0.01_f32.cos()).abs() < 1e-4);
        space.nearest(50, &entries[..2], 4, &mut near);
        assert_eq!(near.len(), 2);
    }

    #[test]
    fn every_vector_has_a_class() {
        assert!(Space::new(&[[1.0, 0.0]], vec![], |_| {}).is_none());
    }
}
