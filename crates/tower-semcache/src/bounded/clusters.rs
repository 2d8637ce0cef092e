use std::collections::{BTreeMap, BTreeSet};

use super::observation::Cluster;

/// Which answers say the same, and how each cluster did lately.
///
/// Bounded: past `capacity` the oldest of each kind go. A merge that is forgotten costs votes; what
/// is served wrongly because of it, the audits see.
#[derive(Debug)]
pub(super) struct Clusters {
    capacity: usize,
    next: u64,
    /// Towards the smaller number.
    merged: BTreeMap<Cluster, Cluster>,
    /// Both ways round, so that all pairs of a cluster lie together.
    different: BTreeSet<(Cluster, Cluster)>,
    /// Pairs on the way to be merged.
    agreed: BTreeMap<(Cluster, Cluster), u8>,
    records: BTreeMap<Cluster, Record>,
}

/// Judgements of a cluster, older ones counting less.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    wrong: f32,
    judged: f32,
}

/// How much of a record is left when the next judgement comes: it remembers about twenty.
const KEPT: f32 = 0.95;
/// What a cluster without a record is taken for: one wrong in ten, worth two judgements.
const PRIOR_WRONG: f32 = 0.2;
const PRIOR_RIGHT: f32 = 1.8;
/// How many judgements that all say the same it takes to merge two clusters. One might be a slip,
/// and a merge is not undone.
const AGREED: u8 = 2;

// === impl Clusters ===

impl Clusters {
    pub(super) const fn new(capacity: usize) -> Self {
        Self {
            capacity,
            next: 0,
            merged: BTreeMap::new(),
            different: BTreeSet::new(),
            agreed: BTreeMap::new(),
            records: BTreeMap::new(),
        }
    }

    /// A cluster that no other entry has.
    pub(super) fn fresh(&mut self) -> Cluster {
        let cluster = Cluster(self.next);
        self.next = self.next.saturating_add(1);
        cluster
    }

    /// The cluster it was merged into, or itself.
    pub(super) fn resolve(&self, mut cluster: Cluster) -> Cluster {
        // Merges lead to smaller numbers, so that this ends.
        while let Some(into) = self.merged.get(&cluster) {
            cluster = *into;
        }
        cluster
    }

    /// The log-odds that an answer of the cluster was wrong lately.
    pub(super) fn record(&self, cluster: Cluster) -> f32 {
        let record = self.records.get(&cluster).copied().unwrap_or_default();
        let right = record.judged - record.wrong;
        ((record.wrong + PRIOR_WRONG) / (right + PRIOR_RIGHT)).ln()
    }

    /// An answer of the cluster was judged.
    pub(super) fn judged(&mut self, cluster: Cluster, wrong: bool) {
        let record = self.records.entry(cluster).or_default();
        record.wrong = record.wrong * KEPT + f32::from(u8::from(wrong));
        record.judged = record.judged * KEPT + 1.0;
        if self.records.len() > self.capacity {
            self.records.pop_first();
        }
    }

    /// Whether two clusters are known to say different things.
    pub(super) fn are_different(&self, one: Cluster, two: Cluster) -> bool {
        self.different.contains(&(one, two))
    }

    /// An answer of `one` and one of `two` were judged different.
    pub(super) fn differ(&mut self, one: Cluster, two: Cluster) {
        if one == two {
            return;
        }
        self.agreed.remove(&ordered(one, two));
        self.different.insert((one, two));
        self.different.insert((two, one));
        if self.different.len() > 2 * self.capacity
            && let Some((one, two)) = self.different.pop_first()
        {
            self.different.remove(&(two, one));
        }
    }

    /// One fresh answer was judged the same as one of `one`, and as one of `two`.
    pub(super) fn agree(&mut self, one: Cluster, two: Cluster) {
        if one == two {
            return;
        }
        let pair = ordered(one, two);
        let agreed = self.agreed.entry(pair).or_default();
        *agreed += 1;
        if *agreed >= AGREED {
            self.agreed.remove(&pair);
            self.merge(pair);
        } else if self.agreed.len() > self.capacity {
            self.agreed.pop_first();
        }
    }

    fn merge(&mut self, (into, from): (Cluster, Cluster)) {
        if self.merged.len() >= self.capacity {
            self.merged.pop_first();
        }
        self.merged.insert(from, into);
        if let Some(moved) = self.records.remove(&from) {
            let record = self.records.entry(into).or_default();
            record.wrong += moved.wrong;
            record.judged += moved.judged;
        }
        let pairs = (from, Cluster(0))..=(from, Cluster(u64::MAX));
        let others: Vec<_> = self.different.range(pairs).map(|(_, two)| *two).collect();
        for other in others {
            self.different.remove(&(from, other));
            self.different.remove(&(other, from));
            self.differ(into, other);
        }
    }
}

fn ordered(one: Cluster, two: Cluster) -> (Cluster, Cluster) {
    if one < two { (one, two) } else { (two, one) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clusters_merge_when_two_judgements_say_so() {
        let mut clusters = Clusters::new(10);
        let (one, two) = (clusters.fresh(), clusters.fresh());
        clusters.agree(one, two);
        assert_ne!(clusters.resolve(one), clusters.resolve(two));
        clusters.agree(two, one);
        assert_eq!(clusters.resolve(one), clusters.resolve(two));
    }

    #[test]
    fn a_difference_in_between_takes_back_the_first_judgement() {
        let mut clusters = Clusters::new(10);
        let (one, two) = (clusters.fresh(), clusters.fresh());
        clusters.agree(one, two);
        clusters.differ(one, two);
        clusters.agree(one, two);
        assert_ne!(clusters.resolve(one), clusters.resolve(two));
        assert!(clusters.are_different(two, one));
    }

    #[test]
    fn what_differs_from_one_differs_from_what_it_is_merged_into() {
        let mut clusters = Clusters::new(10);
        let (one, two, three) = (clusters.fresh(), clusters.fresh(), clusters.fresh());
        clusters.differ(two, three);
        clusters.agree(one, two);
        clusters.agree(one, two);
        assert!(clusters.are_different(one, three) && clusters.are_different(three, one));
        assert!(!clusters.are_different(one, two));
    }

    #[test]
    fn a_cluster_that_was_wrong_lately_has_the_worse_record() {
        let mut clusters = Clusters::new(10);
        let (one, two) = (clusters.fresh(), clusters.fresh());
        let unknown = clusters.record(one);
        for _ in 0..10 {
            clusters.judged(one, false);
        }
        let good = clusters.record(one);
        assert!(good < unknown);
        clusters.judged(one, true);
        assert!(clusters.record(one) > good);
        assert_eq!(clusters.record(two), unknown);
    }

    #[test]
    fn nothing_grows_past_its_capacity() {
        let mut clusters = Clusters::new(8);
        for _ in 0..1_000 {
            let (one, two, three) = (clusters.fresh(), clusters.fresh(), clusters.fresh());
            clusters.agree(one, two);
            clusters.agree(one, two);
            clusters.agree(two, three);
            clusters.differ(one, three);
            clusters.judged(one, true);
        }
        assert!(clusters.merged.len() <= 8 && clusters.agreed.len() <= 8);
        assert!(clusters.different.len() <= 16 && clusters.records.len() <= 8);
    }
}
