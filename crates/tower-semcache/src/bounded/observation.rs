/// How many of the nearest entries are looked at.
pub const NEIGHBOURS: usize = 64;

/// How many numbers describe a would-be hit.
pub(super) const FEATURES: usize = 16;

/// The answers that are taken to say the same thing carry the same cluster.
///
/// A [`Controller`](super::Controller) hands them out: one to each new entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Cluster(pub(super) u64);

/// One of the nearest entries to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The cosine of the two texts.
    pub similarity: f32,
    /// The cluster of its answer.
    pub cluster: Cluster,
    /// Whether it may be served: the guard accepts the pair, and the two were never judged
    /// different.
    pub accepted: bool,
    /// Whether the literals of the two texts agree: numbers, quoted texts, negation.
    pub literal: bool,
}

/// What a score sees of one request.
pub(super) type Features = [f32; FEATURES];

/// What the neighbours say, in numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) features: Features,
    /// The index of the entry that would be served.
    pub(super) candidate: usize,
    pub(super) cluster: Cluster,
    /// The best other cluster, its best entry, and its share of the vote.
    pub(super) rival: Option<Rival>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Rival {
    pub(super) candidate: usize,
    pub(super) cluster: Cluster,
    /// Its share of the vote, over that of the winner.
    pub(super) odds: f32,
}

/// The widths of the kernels the neighbours vote with. Cosines of sentence embeddings differ by
/// hundredths where it matters.
const WIDTHS: [f32; 3] = [0.02, 0.05, 0.1];
/// The one that elects.
const ELECTS: usize = 1;

/// A cluster in the vote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Party {
    cluster: Cluster,
    votes: [f32; WIDTHS.len()],
    members: u32,
    best: f32,
    first: usize,
    /// The first one that may be served.
    accepted: Option<usize>,
    /// The sum over the three most similar members.
    top: f32,
}

/// Room for a vote, kept between requests.
#[derive(Debug, Default)]
pub(super) struct Vote {
    parties: Vec<Party>,
}

// === impl Cluster ===

impl From<u64> for Cluster {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl From<Cluster> for u64 {
    fn from(cluster: Cluster) -> Self {
        cluster.0
    }
}

// === impl Vote ===

impl Vote {
    /// Reads at most [`NEIGHBOURS`] candidates, the most similar first. `resolve` maps a cluster to
    /// the one it was merged into; `record` gives the log-odds that an answer of the cluster was
    /// wrong lately.
    ///
    /// `None` when the winning cluster has no entry that may be served.
    pub(super) fn read(
        &mut self,
        candidates: &[Candidate],
        entries: u64,
        resolve: impl Fn(Cluster) -> Cluster,
        record: impl Fn(Cluster) -> f32,
    ) -> Option<Reading> {
        let candidates = candidates.get(..NEIGHBOURS).unwrap_or(candidates);
        let best = candidates.first()?.similarity;
        self.parties.clear();
        for (at, candidate) in candidates.iter().enumerate() {
            let cluster = resolve(candidate.cluster);
            let votes = WIDTHS.map(|width| ((candidate.similarity - best) / width).exp());
            let party = self.party(cluster, at, candidate.similarity);
            for (sum, vote) in party.votes.iter_mut().zip(votes) {
                *sum += vote;
            }
            party.members += 1;
            if party.members <= 3 {
                party.top += candidate.similarity;
            }
            if candidate.accepted && party.accepted.is_none() {
                party.accepted = Some(at);
            }
        }
        let votes = |party: &Party| party.votes.get(ELECTS).copied().unwrap_or(0.0);
        // A cluster that was wrong lately loses its say: after a change of the world the entries of
        // the old answers are still the nearest ones.
        let mut totals = [0.0f32; WIDTHS.len()];
        for party in &mut self.parties {
            let right = 1.0 / (1.0 + record(party.cluster).exp());
            for (votes, total) in party.votes.iter_mut().zip(&mut totals) {
                *votes *= right * right;
                *total += *votes;
            }
        }
        let winner = *self
            .parties
            .iter()
            .max_by(|a, b| votes(a).total_cmp(&votes(b)))?;
        let rival = self
            .parties
            .iter()
            .filter(|party| party.cluster != winner.cluster)
            .max_by(|a, b| votes(a).total_cmp(&votes(b)))
            .copied();
        let candidate = winner.accepted?;
        let others_best = self
            .parties
            .iter()
            .filter(|party| party.cluster != winner.cluster)
            .map(|party| party.best)
            .fold(f32::NEG_INFINITY, f32::max);
        let others_best = if others_best.is_finite() {
            others_best
        } else {
            best - 0.5
        };
        let others_top = rival.map_or(others_best, |rival| rival.mean_top());
        let nearest = |n: usize| {
            let near = candidates.get(..n).unwrap_or(candidates);
            let members = near.iter().filter(|c| resolve(c.cluster) == winner.cluster);
            members.count() as f32 / near.len() as f32
        };
        let first_other = candidates
            .iter()
            .position(|c| resolve(c.cluster) != winner.cluster)
            .unwrap_or(candidates.len());
        let logit = |k: usize| {
            let (mine, all) = (
                winner.votes.get(k).copied().unwrap_or(0.0),
                totals.get(k).copied().unwrap_or(1.0),
            );
            ((mine + 1e-3) / (all - mine + 1e-3)).ln()
        };
        let literal = candidates.get(candidate).is_some_and(|c| c.literal);
        let against = rival.map_or(1e-3, |rival| votes(&rival).max(1e-3));
        let features = [
            logit(0),
            logit(1),
            logit(2),
            (votes(&winner) / against).ln(),
            best,
            (1.005 - best).max(1e-3).ln(),
            winner.best,
            winner.best - others_best,
            winner.mean_top(),
            winner.mean_top() - others_top,
            nearest(8),
            nearest(32),
            (first_other as f32 + 1.0).ln(),
            (entries as f32 + 1.0).ln(),
            f32::from(u8::from(literal)),
            record(winner.cluster),
        ];
        Some(Reading {
            features,
            candidate,
            cluster: winner.cluster,
            rival: rival.map(|rival| Rival {
                candidate: rival.first,
                cluster: rival.cluster,
                odds: votes(&rival) / votes(&winner),
            }),
        })
    }

    fn party(&mut self, cluster: Cluster, first: usize, best: f32) -> &mut Party {
        let at = self
            .parties
            .iter()
            .position(|party| party.cluster == cluster)
            .unwrap_or(self.parties.len());
        if at == self.parties.len() {
            self.parties.push(Party {
                cluster,
                votes: [0.0; WIDTHS.len()],
                members: 0,
                best,
                first,
                accepted: None,
                top: 0.0,
            });
        }
        self.parties
            .get_mut(at)
            .expect("it was found there, or pushed")
    }
}

// === impl Party ===

impl Party {
    fn mean_top(&self) -> f32 {
        self.top / self.members.clamp(1, 3) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(similarity: f32, cluster: u64) -> Candidate {
        Candidate {
            similarity,
            cluster: Cluster(cluster),
            accepted: true,
            literal: true,
        }
    }

    fn read(candidates: &[Candidate]) -> Option<Reading> {
        Vote::default().read(candidates, 100, |cluster| cluster, |_| -3.0)
    }

    #[test]
    fn several_near_entries_of_one_cluster_outvote_the_nearest_one() {
        let reading = read(&[
            candidate(0.90, 1),
            candidate(0.89, 2),
            candidate(0.88, 2),
            candidate(0.87, 2),
        ])
        .expect("a winner");
        assert_eq!((reading.cluster, reading.candidate), (Cluster(2), 1));
        assert_eq!(reading.rival.expect("another").cluster, Cluster(1));
    }

    #[test]
    fn an_entry_that_is_not_accepted_votes_and_is_never_the_candidate() {
        let mut candidates = [candidate(0.9, 1), candidate(0.8, 1), candidate(0.5, 2)];
        candidates[0].accepted = false;
        assert_eq!(read(&candidates).expect("a winner").candidate, 1);
        candidates[1].accepted = false;
        assert!(read(&candidates).is_none());
        assert!(read(&[]).is_none());
    }

    #[test]
    fn merged_clusters_vote_together() {
        let candidates = [candidate(0.9, 1), candidate(0.89, 2), candidate(0.89, 3)];
        let reading = Vote::default()
            .read(
                &candidates,
                100,
                |cluster| {
                    if cluster == Cluster(3) {
                        Cluster(2)
                    } else {
                        cluster
                    }
                },
                |_| -3.0,
            )
            .expect("a winner");
        assert_eq!(reading.cluster, Cluster(2));
    }

    #[test]
    fn a_cluster_that_was_wrong_lately_loses_its_say() {
        let candidates = [candidate(0.90, 1), candidate(0.90, 1), candidate(0.88, 2)];
        let record = |cluster| if cluster == Cluster(1) { 2.0 } else { -3.0 };
        let reading = Vote::default()
            .read(&candidates, 100, |cluster| cluster, record)
            .expect("a winner");
        assert_eq!(reading.cluster, Cluster(2));
    }

    #[test]
    fn features_are_finite_whatever_the_neighbours() {
        let cases: [&[Candidate]; 4] = [
            &[candidate(1.0, 1)],
            &[candidate(-1.0, 1), candidate(-1.0, 2)],
            &[candidate(1.0, 1); 80],
            &[candidate(1.0, 1), candidate(-1.0, 1), candidate(-1.0, 2)],
        ];
        for candidates in cases {
            let reading = read(candidates).expect("a winner");
            assert!(
                reading.features.iter().all(|x| x.is_finite()),
                "{reading:?}"
            );
        }
    }
}
