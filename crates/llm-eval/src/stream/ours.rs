//! The bounded policy.

use tower_semcache::bounded::{
    Candidate, Cluster, Controller, Decision, Judgement, NEIGHBOURS, Next, Reason, Snapshot,
};

use super::chance::Chance;
use super::rule::{Bound, Rule, Step};
use super::space::Near;

/// A [`Controller`] in a cache whose guard accepts everything and whose refits take no time.
#[derive(Debug)]
pub(super) struct Bounded {
    controller: Controller,
    coins: Chance,
    /// The cluster of each entry.
    clusters: Vec<Cluster>,
    candidates: Vec<Candidate>,
    refused: [u64; Reason::ALL.len()],
}

// === impl Bounded ===

impl Bounded {
    pub(super) fn new(controller: Controller, coins: Chance) -> Self {
        Self {
            controller,
            coins,
            clusters: Vec::new(),
            candidates: Vec::new(),
            refused: [0; Reason::ALL.len()],
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.controller.snapshot()
    }

    /// How often a request was not served, by reason.
    pub(super) fn refused(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let names = Reason::ALL.map(Reason::as_str);
        names.into_iter().zip(self.refused)
    }

    fn count(&mut self, reason: Reason) {
        let counts = Reason::ALL.iter().zip(&mut self.refused);
        for (_, count) in counts.filter(|(other, _)| **other == reason) {
            *count += 1;
        }
    }
}

impl Rule for Bounded {
    const NEIGHBOURS: usize = NEIGHBOURS;

    fn request(&mut self, near: &[Near], judge: &mut dyn FnMut(usize) -> bool) -> Step {
        let clusters = &self.clusters;
        self.candidates.clear();
        self.candidates.extend(near.iter().filter_map(|near| {
            Some(Candidate {
                similarity: near.similarity,
                cluster: *clusters.get(near.entry)?,
                accepted: true,
                literal: true,
            })
        }));
        let coins = &mut self.coins;
        let mut ticket = match self.controller.decide(&self.candidates, || coins.uniform()) {
            Decision::Serve { candidate } => return Step::Hit(candidate),
            Decision::Refuse(reason, cluster) => {
                self.count(reason);
                self.clusters.push(cluster);
                return Step::Stored;
            }
            Decision::Audit(ticket) => ticket,
            Decision::Explore(ticket, reason) => {
                self.count(reason);
                ticket
            }
        };
        let cluster = loop {
            let judgement = if judge(ticket.candidate()) {
                Judgement::Same
            } else {
                Judgement::Different
            };
            match self.controller.judged(ticket, judgement) {
                Next::Done(cluster) => break cluster,
                Next::Compare(further) => ticket = further,
            }
        };
        self.clusters.push(cluster);
        if let Some(fitted) = self.controller.refit().and_then(|refit| refit.run()) {
            self.controller.install(fitted);
        }
        Step::Stored
    }

    fn bound(&self) -> Option<Bound> {
        let standing = self.controller.snapshot().certificate;
        Some(Bound {
            wrong: standing.wrong,
            allowed: standing.allowed,
        })
    }
}
