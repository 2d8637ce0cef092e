use super::certificate::{Certificate, Draw, Judgement};
use super::clusters::Clusters;
use super::decision::{Decision, Kind, Next, Reason, Stage, Ticket};
use super::error::InvalidSettings;
use super::observation::{Candidate, Cluster, Reading, Vote};
use super::refit::{Fitted, Memory, Refit};
use super::score::Label;
use super::screen::{Cusum, LEVELS, Screen};
use super::settings::Settings;
use super::snapshot::{Noise, Snapshot};

/// Decides what is served: a score of the neighbours, a screen that opens when judgements allow it,
/// and the [`Certificate`], which has the last word.
///
/// Synchronous, without a clock, a lock or a source of chance of its own. It holds some two
/// megabytes at most. A decision takes a few microseconds, a judgement fewer; only a [`Refit`] is
/// work for another thread.
#[derive(Debug)]
pub struct Controller {
    certificate: Certificate,
    screen: Screen,
    cusum: Cusum,
    alarms: u32,
    clusters: Clusters,
    vote: Vote,
    memory: Memory,
    fitted: Option<Fitted>,
    noise: Noise,
    /// Clusters given to entries so far.
    entries: u64,
}

/// The error probability of the screen. It guards the number of hits, not the promise.
const SCREEN_ALPHA: f64 = 0.05;
/// While so many more wrong answers may be caught, the loosest level serves.
const ROOM: f64 = 3.0;

/// Labels from which on a would-be hit that is hopeless may go unjudged.
const LEARN: usize = 2_000;
/// How likely it is to be wrong then, and how probably it is judged all the same.
const HOPELESS: f64 = 0.9;
const HOPELESS_CHANCE: f64 = 0.1;

/// Where the score finds the winner likelier wrong than this, a difference is no surprise, and
/// nobody looks twice.
const SURPRISE: f64 = 0.5;
/// The share of the winner's votes from which a rival is worth a comparison: to merge the two, or
/// as the next guess.
const MERGE: f32 = 0.2;
const GUESS: f32 = 0.3;

/// How many clusters are remembered, and pairs of them.
const CLUSTERS: usize = 1 << 14;
/// How many labels a score is learned from.
const LABELS: usize = 1 << 13;

// === impl Controller ===

impl Controller {
    /// A controller that has seen nothing.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range.
    pub fn new(settings: Settings) -> Result<Self, InvalidSettings> {
        Certificate::new(settings).map(Self::with_certificate)
    }

    /// A controller whose score and screen have seen nothing, under a certificate that goes on.
    #[must_use]
    pub fn with_certificate(certificate: Certificate) -> Self {
        let max_wrong = certificate.settings().max_wrong;
        Self {
            certificate,
            screen: Screen::new(max_wrong, SCREEN_ALPHA),
            cusum: Cusum::new(max_wrong),
            alarms: 0,
            clusters: Clusters::new(CLUSTERS),
            vote: Vote::default(),
            memory: Memory::new(LABELS),
            fitted: None,
            noise: Noise::default(),
            entries: 0,
        }
    }

    /// The certificate: what has to outlive the process.
    #[must_use]
    pub const fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// A cluster for an entry that came in without a decision.
    pub fn cluster(&mut self) -> Cluster {
        self.entries = self.entries.saturating_add(1);
        self.clusters.fresh()
    }

    /// Decides about one request.
    ///
    /// `candidates` are the nearest entries, the most similar first; those past
    /// [`NEIGHBOURS`](super::NEIGHBOURS) are not looked at. `coin` gives numbers drawn uniformly from
    /// [0, 1), independent of everything else; it is asked at most twice.
    pub fn decide(&mut self, candidates: &[Candidate], mut coin: impl FnMut() -> f64) -> Decision {
        let clusters = &self.clusters;
        let reading = self.vote.read(
            candidates,
            self.entries,
            |cluster| clusters.resolve(cluster),
            |cluster| clusters.record(cluster),
        );
        let Some(reading) = reading else {
            let reason = if candidates.is_empty() {
                Reason::NoNeighbour
            } else {
                Reason::Vetoed
            };
            return Decision::Refuse(reason, self.cluster());
        };
        self.memory.seen(reading.features);
        let Some(fitted) = &self.fitted else {
            let ticket = Ticket::new(reading, Kind::Explore { chance: 1.0 });
            return Decision::Explore(ticket, Reason::NoScore);
        };
        let wrong = fitted.score.wrong(&reading.features);
        let predicted = fitted.score.uncorrected(&reading.features);
        let level = fitted.thresholds.iter().position(|t| wrong <= *t);
        let scored = |kind| Ticket::new(reading, kind).scored(predicted, level);

        let reason = match self.reason(level) {
            Some(reason) => reason,
            None => {
                let rate = self.certificate.audit_rate();
                match self.certificate.draw(rate, &mut coin) {
                    Some(Draw::Serve) => {
                        let candidate = reading.candidate;
                        return Decision::Serve { candidate };
                    }
                    Some(Draw::Audit(audit)) => {
                        return Decision::Audit(scored(Kind::Audit { audit, rate }));
                    }
                    None => {
                        self.close_if_exhausted();
                        Reason::Credit
                    }
                }
            }
        };
        let hopeless = wrong > HOPELESS && self.memory.total() >= LEARN;
        let chance = if hopeless { HOPELESS_CHANCE } else { 1.0 };
        if chance >= 1.0 || coin() < chance {
            Decision::Explore(scored(Kind::Explore { chance }), reason)
        } else {
            Decision::Refuse(reason, self.cluster())
        }
    }

    /// Why a would-be hit of this level is not served; `None`: the certificate may be asked.
    fn reason(&self, level: Option<usize>) -> Option<Reason> {
        if self.certificate.is_over() {
            return Some(Reason::Closed);
        }
        let Some(level) = level else {
            return Some(Reason::Risk);
        };
        if self
            .noise
            .is_too_much(self.certificate.settings().max_wrong)
        {
            return Some(Reason::JudgeNoise);
        }
        match self.screen.open() {
            Some(open) if level > open => Some(Reason::NoEvidence),
            Some(_) if level > self.affordable() => Some(Reason::Credit),
            Some(_) => None,
            None => Some(Reason::NoEvidence),
        }
    }

    /// The loosest level while there is room for some more wrong answers caught, the strictest when
    /// there is for none.
    fn affordable(&self) -> usize {
        let [.., top] = LEVELS;
        let aim = top * self.certificate.headroom() / ROOM;
        LEVELS.iter().rposition(|level| *level <= aim).unwrap_or(0)
    }

    /// A comparison came to a judgement.
    pub fn judged(&mut self, mut ticket: Ticket, judgement: Judgement) -> Next {
        let wrong = judgement == Judgement::Different;
        match ticket.stage {
            Stage::First if wrong && (ticket.is_audit() || ticket.predicted < SURPRISE) => {
                ticket.stage = Stage::Second;
                Next::Compare(ticket)
            }
            Stage::First => self.settle(ticket, judgement),
            Stage::Second => {
                self.noise.cleared = self.noise.cleared.saturating_add(u64::from(!wrong));
                self.settle(ticket, judgement)
            }
            Stage::Rival { home } => {
                let home = home.map(|home| self.clusters.resolve(home));
                let Some(rival) = ticket.reading.rival else {
                    return self.done(home);
                };
                let rival = self.clusters.resolve(rival.cluster);
                let winner = self.clusters.resolve(ticket.reading.cluster);
                match (home, judgement) {
                    (Some(home), Judgement::Same) => self.clusters.agree(home, rival),
                    (Some(home), Judgement::Different) => self.clusters.differ(home, rival),
                    (None, Judgement::Same) => {
                        self.clusters.differ(winner, rival);
                        return self.done(Some(rival));
                    }
                    (None, Judgement::Different) => {}
                }
                self.done(home)
            }
        }
    }

    /// A comparison came to nothing: the backend or the judge failed. Gives the cluster of the new
    /// entry, if there is one.
    pub fn failed(&mut self, ticket: Ticket) -> Cluster {
        let Ticket { kind, stage, .. } = ticket;
        if let Kind::Audit { audit, .. } = kind {
            self.certificate.failed(audit);
            self.after_audit(true);
        }
        match stage {
            Stage::Rival { home: Some(home) } => {
                self.entries = self.entries.saturating_add(1);
                home
            }
            _ => self.cluster(),
        }
    }

    /// Two fresh answers to one request were compared, in the way audits are: with a second look
    /// when the first found a difference. Some, picked at random now and then, are what the noise of
    /// the judge is known from.
    pub fn compared_fresh(&mut self, judgement: Judgement) {
        self.noise.count(judgement == Judgement::Different);
    }

    /// The would-be hit is judged for good.
    fn settle(&mut self, ticket: Ticket, judgement: Judgement) -> Next {
        let wrong = judgement == Judgement::Different;
        let winner = self.clusters.resolve(ticket.reading.cluster);
        self.clusters.judged(winner, wrong);
        if let Some(level) = ticket.level {
            self.screen.label(level, wrong);
        }
        let chance = ticket.kind.chance();
        self.memory.label(Label {
            features: ticket.reading.features,
            wrong,
            weight: (1.0 / chance) as f32,
            predicted: ticket.predicted as f32,
        });
        if let Kind::Audit { audit, .. } = ticket.kind {
            self.certificate.judged(audit, judgement);
            self.after_audit(wrong);
        }
        self.reopen();
        let home = (!wrong).then_some(winner);
        if self.asks_rival(&ticket.reading, winner, home, chance) {
            // Nothing of the promise hangs on this comparison.
            let kind = Kind::Explore { chance };
            let stage = Stage::Rival { home };
            return Next::Compare(Ticket {
                kind,
                stage,
                ..ticket
            });
        }
        self.done(home)
    }

    fn asks_rival(
        &self,
        reading: &Reading,
        winner: Cluster,
        home: Option<Cluster>,
        chance: f64,
    ) -> bool {
        let Some(rival) = reading.rival else {
            return false;
        };
        let cluster = self.clusters.resolve(rival.cluster);
        match home {
            _ if cluster == winner => false,
            Some(home) => rival.odds > MERGE && !self.clusters.are_different(home, cluster),
            None => rival.odds > GUESS && chance >= 1.0,
        }
    }

    fn done(&mut self, home: Option<Cluster>) -> Next {
        let fresh = self.cluster();
        Next::Done(home.unwrap_or(fresh))
    }

    fn after_audit(&mut self, wrong: bool) {
        if self.cusum.audit(wrong) {
            self.alarms = self.alarms.saturating_add(1);
            self.screen.close();
        }
        self.close_if_exhausted();
    }

    fn close_if_exhausted(&mut self) {
        if self.certificate.exhausted() && !self.certificate.is_closed() {
            self.certificate.close();
            self.screen.close();
        }
    }

    /// A closed certificate begins anew when the evidence is there anew, and not before: each time
    /// adds to the grace.
    fn reopen(&mut self) {
        if self.screen.reopen() && self.certificate.is_closed() {
            self.certificate.restart();
        }
    }

    /// A refit, when enough judgements came in since the last one. Run it where there is time, and
    /// [`install`](Self::install) what comes out.
    ///
    /// Copies the labels: a few hundred microseconds at most, every few hundred labels.
    pub fn refit(&mut self) -> Option<Refit> {
        let max_wrong = self.certificate.settings().max_wrong;
        self.memory.due().then(|| self.memory.refit(max_wrong))
    }

    /// Scores with this from now on.
    pub fn install(&mut self, fitted: Fitted) {
        self.fitted = Some(fitted);
        // What an older score did wrong need not be made up for by a better one.
        if self.screen.open().is_none() {
            self.screen.start();
        }
    }

    /// Where it stands.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let threshold = self.fitted.as_ref().and_then(|fitted| {
            let open = self.screen.open()?.min(self.affordable());
            fitted.thresholds.get(open).copied()
        });
        Snapshot {
            certificate: self.certificate.standing(),
            threshold: threshold.filter(|_| self.certificate.may_serve()),
            evidence: self.screen.evidence(),
            labels: self.memory.total() as u64,
            alarms: self.alarms,
            cleared: self.noise.cleared,
            judge_noise: self.noise.share(),
        }
    }
}
