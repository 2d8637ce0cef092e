//! What is stored and what is asked for.

pub(crate) const DIMENSIONS: usize = 384;

/// Rows to store, and rows to ask for: each is near one that is stored.
pub(crate) struct Data {
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<Vec<f32>>,
    pub(crate) asked: Vec<Vec<f32>>,
}

/// Repeatable noise: xorshift, twelve uniform numbers to a normal one.
struct Noise(u64);

/// Directions in which vectors differ, the first ones most, as embeddings of texts do: the spread along
/// the n-th is as 1/√n.
struct Axes(Vec<Vec<f32>>);

// === impl Data ===

impl Data {
    /// Directions without any order.
    pub(crate) fn random(rows: usize) -> Self {
        let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
        let rows: Vec<_> = (0..rows).map(|_| unit(noise.vector(1.0))).collect();
        Self::asking("random", rows, near(), &mut noise)
    }

    /// A direction that all share, topics about it, and texts about the topics, some hundred each: the
    /// cosine is 0.2 between topics and 0.75 within one.
    pub(crate) fn clustered(rows: usize) -> Self {
        let mut noise = Noise(0x2545_f491_4f6c_dd1d);
        let common = noise.vector(0.5);
        let topics: Vec<_> = (0..rows.div_ceil(300))
            .map(|_| noise.near(&common, 0.9))
            .collect();
        let rows = (0..rows)
            .map(|n| unit(noise.near(&topics[n % topics.len()], 0.6)))
            .collect();
        Self::asking("clustered", rows, near(), &mut noise)
    }

    /// Texts in eight wordings each, as an embedder gives them: most of what a vector says is common to all,
    /// and the rest lies along few axes. Asked for is a ninth wording: the cosine with the nearest is about
    /// 0.9, and the others are not far behind.
    pub(crate) fn wordings(rows: usize) -> Self {
        let mut noise = Noise(0x5851_f42d_4c95_7f2d);
        let common: Vec<_> = unit(noise.vector(1.0)).iter().map(|x| x * 1.5).collect();
        let axes = Axes::new(&mut noise);
        let (texts, asked) = (rows.div_ceil(8), 2_000.min(rows));
        let texts: Vec<_> = (0..texts)
            .map(|_| axes.near(&common, 0.8, &mut noise))
            .collect();
        let wording =
            |n: usize, noise: &mut Noise| unit(axes.near(&texts[n % texts.len()], 0.3, noise));
        let rows = (0..rows).map(|n| wording(n, &mut noise)).collect();
        let asked = (0..asked).map(|n| wording(n * 7, &mut noise)).collect();
        Self {
            name: "wordings",
            rows,
            asked,
        }
    }

    /// Topics as in `clustered`, and a question far from all: the nearest has a cosine of about 0.6, and
    /// some hundred are almost as near.
    pub(crate) fn hard(rows: usize) -> Self {
        let Self { rows, .. } = Self::clustered(rows);
        let (mut noise, size) = (
            Noise(0x1405_7b7e_f767_814f),
            1.25 / (DIMENSIONS as f32).sqrt(),
        );
        Self::asking("hard", rows, size, &mut noise)
    }

    /// Every fifth row is asked for, the others stored.
    pub(crate) fn read(path: impl AsRef<std::path::Path>) -> Result<Self, std::io::Error> {
        let bytes = std::fs::read(path)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        let numbers: Vec<_> = numbers.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let all = numbers
            .chunks_exact(DIMENSIONS)
            .map(|row| unit(row.to_vec()));
        let (asked, rows): (Vec<_>, Vec<_>) = all.enumerate().partition(|(n, _)| n % 5 == 0);
        let plain = |rows: Vec<(usize, Vec<f32>)>| rows.into_iter().map(|(_, row)| row).collect();
        Ok(Self {
            name: "file",
            rows: plain(rows),
            asked: plain(asked),
        })
    }

    /// Asks for vectors near stored ones, by so much in each coordinate.
    fn asking(name: &'static str, rows: Vec<Vec<f32>>, size: f32, noise: &mut Noise) -> Self {
        let step = (rows.len() / 2_000).max(1);
        let near = |row: &Vec<f32>| unit(noise.near(row, size));
        let asked = rows.iter().step_by(step).map(near).collect();
        Self { name, rows, asked }
    }
}

// === impl Noise ===

impl Noise {
    fn uniform(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u32 << 24) as f32
    }

    fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.uniform()).sum::<f32>() - 6.0
    }

    fn vector(&mut self, size: f32) -> Vec<f32> {
        (0..DIMENSIONS).map(|_| size * self.normal()).collect()
    }

    fn near(&mut self, middle: &[f32], by: f32) -> Vec<f32> {
        middle.iter().map(|x| x + by * self.normal()).collect()
    }
}

/// A text near a stored one: the cosine is 0.95.
fn near() -> f32 {
    0.33 / (DIMENSIONS as f32).sqrt()
}

// === impl Axes ===

impl Axes {
    fn new(noise: &mut Noise) -> Self {
        let axis = |n: usize, noise: &mut Noise| {
            let mut axis = unit(noise.vector(1.0));
            axis.iter_mut().for_each(|x| *x /= (n as f32).sqrt());
            axis
        };
        Self((1..=64).map(|n| axis(n, noise)).collect())
    }

    fn near(&self, middle: &[f32], by: f32, noise: &mut Noise) -> Vec<f32> {
        let mut vector = noise.near(middle, by * 0.02);
        for axis in &self.0 {
            let along = by * noise.normal();
            vector
                .iter_mut()
                .zip(axis)
                .for_each(|(x, y)| *x += along * y);
        }
        vector
    }
}

/// Of vectors of norm one.
pub(crate) fn cosine(one: &[f32], two: &[f32]) -> f64 {
    let mut sums = [0.0f32; 16];
    for (one, two) in one.as_chunks::<16>().0.iter().zip(two.as_chunks::<16>().0) {
        for ((sum, x), y) in sums.iter_mut().zip(one).zip(two) {
            *sum += x * y;
        }
    }
    sums.iter().map(|x| f64::from(*x)).sum()
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = cosine(&vector, &vector).sqrt() as f32;
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}
