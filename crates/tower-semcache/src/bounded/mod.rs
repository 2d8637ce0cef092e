//! Similar answers under a bound on how many of them are wrong.
//!
//! A threshold on a similarity promises nothing about answers. Here the operator names the share of
//! *served* semantic hits that may be wrong, and the cache serves only while it can prove, from its
//! own audits, that it keeps to it.
//!
//! # The promise
//!
//! With `N_T` semantic hits served by time T and `V_T` wrong ones among them,
//!
//! > P(for all T: `V_T` ≤ δ `N_T` + c) ≥ 1 − α
//!
//! with δ = `max_wrong`, c = `grace`, 1 − α = `confidence`. That is a share of at most δ + c/N, at every
//! moment at once, not only at the end. "At most δ at every moment" cannot be had: after the first
//! hit the share is 0 or 1. Each restart after a failure adds a grace of its own: the promise then
//! is δ `N_T` + Σ `c_k`, and [`Standing::grace`] shows the sum.
//!
//! The bound is on hits that were served, which is what a user meets. A bound on the errors among
//! all requests is a weaker thing: where one request in ten is a hit, an error in fifty requests is
//! one wrong answer in five served.
//!
//! # How it is kept
//!
//! Before each would-be hit t, everything is fixed: the stored answer, and a rate `q_t` of at least
//! `q_min`. Then a coin `A_t` with probability `q_t` is thrown. Heads is an *audit*: the request goes to the
//! backend, the caller gets the fresh answer, and off the path a judge compares the two answers
//! (`J_t` = 1: different). Tails is a hit.
//!
//! Assumed are three things, and nothing of traffic, score, thresholds, models or drift:
//!
//! * **A1** The coin is independent of everything else, and nobody who produces the fresh answer can
//!   tell an audit from a miss.
//! * **A2** Whatever went before, the judge misses a wrong answer with probability at most β
//!   ([`Settings::judge_misses`]).
//! * **A3** An audit that fails, or is pending, counts as one that found a wrong answer.
//!
//! For 0 < λ < ln((1 − `q_min` β) / (1 − `q_min`)) let
//!
//! > κ(q) = ln\[ q (1 − β) / (1 − q β − (1 − q) e^λ) \],  `K_T` = Σ `A_t` `J_t` κ(`q_t`).
//!
//! Then `M_T` = exp(λ `V_T` − `K_T`) is a supermartingale. A would-be hit that is right leaves it alone, or
//! lowers it by a false alarm. One that is wrong multiplies it by e^λ when it is served (probability
//! 1 − q), by 1 when the judge misses it (q b, with b ≤ β), by e^−κ when it is caught (q (1 − b)); κ is
//! chosen so that these three add up to one at b = β, and they fall with b. So does any average of
//! such processes with weights fixed beforehand, and it starts at one. By Ville's inequality it ever
//! exceeds 1/α with probability at most α. While it has not,
//!
//! > `V_T` ≤ max { v : Σ `w_i` exp(`λ_i` v − `K_T`(`λ_i`)) ≤ 1/α }
//!
//! which is the bound a [`Certificate`] computes. Since `V_T` also never grows by more than one a hit,
//! the bound in use is the smaller of this and the last one plus one. An answer is served only if the
//! bound *after* it is at most δ (N + 1) + c. The k-th segment, from one restart to the next, runs at
//! `α_k` = α / (k (k + 1)), which sum to α.
//!
//! A wrong answer found at q = 0.1 stands for nine that were served, and the bound grows by about
//! twelve; at 0.3 by about three. So audits are not overhead that can be tuned away: without audits
//! nothing is known, and nothing is served.
//!
//! Ville's inequality: J. Ville, *Étude critique de la notion de collectif*, 1939. Test martingales
//! as bets, and mixtures of them: I. Waudby-Smith and A. Ramdas, *Estimating means of bounded random
//! variables by betting*, JRSS B 86(1), 2024.
//!
//! # What is a hit
//!
//! Whatever answers a request with the stored answer to another one. A repeat that is answered from
//! a copy which a semantic hit left under the asked request is a semantic hit, and must be drawn for
//! like one.
//!
//! One certificate a scope bounds the share in each; a pooled one bounds the pooled share only.
//!
//! # What decides how much is served
//!
//! A [`Certificate`] alone would promise the same of any rule. How much is served, and how far below δ
//! the share stays, is up to a [`Controller`]:
//!
//! * Every new entry has a [`Cluster`]: the answers judged to say the same as it. The nearest 64
//!   entries vote, near ones more, clusters that were wrong lately less; the winner's best entry is
//!   the would-be hit.
//! * A *score*, a logistic regression on 16 numbers of that vote, gives its probability of being
//!   wrong. It is fitted anew every few hundred judgements ([`Refit`]), and corrected by how far off
//!   it was before it knew.
//! * *Levels* are aims: serve what keeps the expected share of wrong answers below so much of δ. A
//!   level opens when the judgements of its would-be hits prove (an e-process, a mixture of bets with
//!   a new start at each refit) that less than 3 δ of them are wrong: without an error, after 232,
//!   114 and 44 of them at δ = 0.01, 0.02 and 0.05. Until then each is judged and none served.
//! * The less room the certificate has, the stricter the level. When audits find wrong answers too
//!   thick (a CUSUM), all evidence is asked for anew. When the certificate's credit is used up it
//!   closes, and begins a new segment when the evidence is there again.
//! * What is not served is judged too, unless it is hopeless; that teaches score and clusters. One
//!   further comparison with the runner-up tells whether two clusters are one.
//!
//! A difference that comes as a surprise, and every difference in an audit, is looked at once more,
//! against a second fresh answer. A judge that errs in 1 % of its comparisons then errs in 0.01 % of
//! its findings. β is about the two looks together.
//!
//! # Example
//!
//! A host asks for the nearest entries, obeys the [`Decision`], and lets somebody compare answers:
//!
//! ```
//! use tower_semcache::bounded::{Candidate, Controller, Decision, Judgement, Next, Settings};
//!
//! # fn main() -> Result<(), tower_semcache::bounded::error::InvalidSettings> {
//! # let mut state = 1u32;
//! # let mut random = || { state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223); f64::from(state) / 4_294_967_296.0 };
//! let mut controller = Controller::new(Settings::new(0.02, 0.95, 110.0))?;
//! // Nothing is stored yet: a miss, and the new entry gets a cluster.
//! let Decision::Refuse(reason, cluster) = controller.decide(&[], &mut random) else {
//!     unreachable!("nothing to serve");
//! };
//! assert_eq!(reason.as_str(), "no_neighbour");
//!
//! // A similar request: nothing is known yet, so that it is a miss that teaches.
//! let near = Candidate { similarity: 0.93, cluster, accepted: true, literal: true };
//! match controller.decide(&[near], &mut random) {
//!     Decision::Serve { candidate } => println!("serve the entry of candidate {candidate}"),
//!     Decision::Refuse(reason, cluster) => println!("{}: a miss, stored under {cluster:?}", reason.as_str()),
//!     Decision::Audit(mut ticket) | Decision::Explore(mut ticket, _) => {
//!         // The caller gets the fresh answer. Off its path, answers are compared:
//!         let cluster = loop {
//!             let judgement = Judgement::Same; // of candidate `ticket.candidate()` and `ticket.fresh()`
//!             match controller.judged(ticket, judgement) {
//!                 Next::Done(cluster) => break cluster,
//!                 Next::Compare(further) => ticket = further,
//!             }
//!         };
//!         println!("the new entry is stored under {cluster:?}");
//!     }
//! }
//! // Somewhere with time:
//! if let Some(fitted) = controller.refit().and_then(|refit| refit.run()) {
//!     controller.install(fitted);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The certificate alone, for a host with a score of its own:
//!
//! ```
//! use tower_semcache::bounded::{Certificate, Draw, Judgement, Settings};
//!
//! # fn main() -> Result<(), tower_semcache::bounded::error::InvalidSettings> {
//! let mut certificate = Certificate::new(Settings::new(0.02, 0.95, 110.0))?;
//! # let mut state = 1u32;
//! # let mut random = || { state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223); f64::from(state) / 4_294_967_296.0 };
//! for _ in 0..1_000 {
//!     match certificate.draw(0.1, &mut random) {
//!         Some(Draw::Serve) => { /* the stored answer */ }
//!         Some(Draw::Audit(audit)) => {
//!             // Ask the backend, answer with what it says, and compare later.
//!             certificate.judged(audit, Judgement::Same);
//!         }
//!         None => { /* no credit: a miss */ }
//!     }
//! }
//! let standing = certificate.standing();
//! assert_eq!(standing.served + standing.audited, 1_000);
//! assert!(standing.wrong as f64 <= 0.02 * standing.served as f64 + 110.0);
//! # Ok(())
//! # }
//! ```

mod certificate;
mod clusters;
mod controller;
mod decision;
pub mod error;
mod mixture;
mod observation;
mod refit;
mod score;
mod screen;
mod settings;
mod snapshot;
#[cfg(feature = "serde")]
mod state;

pub use certificate::{Audit, Certificate, Draw, Judgement, Standing};
pub use controller::Controller;
pub use decision::{Decision, Fresh, Next, Reason, Ticket};
pub use observation::{Candidate, Cluster, NEIGHBOURS};
pub use refit::{Fitted, Refit};
pub use settings::{MIN_RESTART_AUDIT_RATE, Settings};
pub use snapshot::Snapshot;
#[cfg(feature = "serde")]
pub use state::State;
