use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tower::BoxError;
use tower::util::Oneshot;
use tower_service::Service;

use super::Comparison;
use super::equal::{NoText, normalise};
use crate::bounded::Judgement;
use crate::matching::{Similarity, Threshold};
use crate::vector::{Unit, Vector, dot};

/// Judges by the similarity of the two answers: the same when the cosine of their vectors reaches a
/// threshold, or when they are [equal](super::Equal).
///
/// It lets a backend say the same in other words, and it overlooks some of what differs: an embedder that
/// takes "5 km" for "6 km" finds two answers alike that are not. How often it does has to be measured on
/// pairs that somebody has labelled, and told as
/// [`Settings::judge_misses`](crate::bounded::Settings::judge_misses); the promise is only as good as that
/// number. An embedder other than the one that matched the requests errs in other places, and is the better
/// judge.
///
/// Embeds the stored answer first, then the fresh one: one call at a time.
#[derive(Clone, Debug)]
pub struct Similar<E, F> {
    embedder: E,
    text: F,
    least: Threshold,
}

/// An embedder gave a vector without a direction: empty, zero, not finite, or of another length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDirection {
    _private: (),
}

// === impl Similar ===

impl<E, F> Similar<E, F> {
    /// Compares what `text` finds in the answers. An answer without a text, or with one that the embedder
    /// refuses, makes the comparison fail.
    pub const fn new<V>(embedder: E, text: F, least: Threshold) -> Self
    where
        F: Fn(&V) -> Option<String>,
    {
        Self {
            embedder,
            text,
            least,
        }
    }
}

impl<V, E, F> Service<Comparison<V>> for Similar<E, F>
where
    E: Service<Arc<str>, Response = Vector> + Clone,
    E::Error: Into<BoxError>,
    F: Fn(&V) -> Option<String>,
{
    type Response = Judgement;
    type Error = BoxError;
    type Future = Judging<E>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // Only clones are called, each inside the future.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, comparison: Comparison<V>) -> Self::Future {
        let texts = (self.text)(comparison.stored()).zip((self.text)(comparison.fresh()));
        let state = match texts {
            None => State::Known {
                judgement: Err(NoText::new()),
            },
            Some((stored, fresh)) if normalise(&stored) == normalise(&fresh) => State::Known {
                judgement: Ok(Judgement::Same),
            },
            Some((stored, fresh)) => State::Stored {
                call: Oneshot::new(self.embedder.clone(), stored.into()),
                fresh: fresh.into(),
            },
        };
        Judging {
            state,
            embedder: self.embedder.clone(),
            least: self.least,
        }
    }
}

pin_project! {
    /// The future of a [`Similar`].
    pub struct Judging<E>
    where
        E: Service<Arc<str>>,
    {
        #[pin]
        state: State<E>,
        embedder: E,
        least: Threshold,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<E>
    where
        E: Service<Arc<str>>,
    {
        Known { judgement: Result<Judgement, NoText> },
        Stored { #[pin] call: Oneshot<E, Arc<str>>, fresh: Arc<str> },
        Fresh { #[pin] call: Oneshot<E, Arc<str>>, stored: Unit },
    }
}

// === impl Judging ===

impl<E> Future for Judging<E>
where
    E: Service<Arc<str>, Response = Vector> + Clone,
    E::Error: Into<BoxError>,
{
    type Output = Result<Judgement, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let next = match this.state.as_mut().project() {
                StateProj::Known { judgement } => {
                    return Poll::Ready((*judgement).map_err(Into::into));
                }
                StateProj::Stored { call, fresh } => {
                    let stored = direction(ready!(call.poll(cx)))?;
                    State::Fresh {
                        call: Oneshot::new(this.embedder.clone(), Arc::clone(fresh)),
                        stored,
                    }
                }
                StateProj::Fresh { call, stored } => {
                    let fresh = direction(ready!(call.poll(cx)))?;
                    return Poll::Ready(judge(stored, &fresh, *this.least));
                }
            };
            this.state.set(next);
        }
    }
}

impl<E> fmt::Debug for Judging<E>
where
    E: Service<Arc<str>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judging").finish_non_exhaustive()
    }
}

fn direction<E>(vector: Result<Vector, E>) -> Result<Unit, BoxError>
where
    E: Into<BoxError>,
{
    let unit = Unit::new(vector.map_err(Into::into)?);
    unit.ok_or_else(|| NoDirection { _private: () }.into())
}

fn judge(stored: &Unit, fresh: &Unit, least: Threshold) -> Result<Judgement, BoxError> {
    let (stored, fresh) = (stored.as_slice(), fresh.as_slice());
    let cosine = (stored.len() == fresh.len())
        .then(|| Similarity::new(dot(stored, fresh)))
        .flatten();
    let cosine = cosine.ok_or(NoDirection { _private: () })?;
    Ok(if cosine >= least.similarity() {
        Judgement::Same
    } else {
        Judgement::Different
    })
}

// === impl NoDirection ===

impl fmt::Display for NoDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the vectors of two answers cannot be compared")
    }
}

impl Error for NoDirection {}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tower::{ServiceExt, service_fn};

    use super::*;
    use crate::cache::Cache;
    use crate::lookup::Lookup;
    use crate::scope::Secret;

    fn comparison(stored: &str, fresh: &str) -> Comparison<String> {
        let cache: Cache<String> = Cache::builder().build().expect("valid");
        let secret = Secret::from_bytes([5; 32]);
        let hit = |question: &'static str, answer: &str| {
            let lookup = Lookup::new(&secret, secret.scope(&[]), question.into());
            cache.insert(&lookup, answer.to_owned()).expect("it fits");
            cache.get(&lookup).expect("a hit")
        };
        Comparison::new("asked".into(), hit("one", stored), hit("two", fresh))
    }

    /// Axes for letters: "ab" and "ac" are at 0.5.
    async fn vector(text: Arc<str>) -> Result<Vector, Infallible> {
        let axis = |c: char| f32::from(u8::from(text.contains(c)));
        Ok(Vector::from(vec![axis('a'), axis('b'), axis('c')]))
    }

    async fn judged(least: f32, stored: &str, fresh: &str) -> Result<Judgement, BoxError> {
        let text = |answer: &String| (answer != "none").then(|| answer.clone());
        let least = Threshold::new(least).expect("valid");
        let judge = Similar::new(service_fn(vector), text, least);
        judge.oneshot(comparison(stored, fresh)).await
    }

    #[tokio::test]
    async fn two_answers_are_the_same_from_the_threshold_on() {
        for (least, judgement) in [(0.4, Judgement::Same), (0.6, Judgement::Different)] {
            assert_eq!(judged(least, "ab", "ac").await.expect("judged"), judgement);
        }
    }

    #[tokio::test]
    async fn equal_answers_need_no_vector_and_what_has_neither_is_not_judged() {
        let same = judged(1.0, "Xyz.", "xyz").await.expect("judged");
        assert_eq!(same, Judgement::Same);
        // Neither text has a direction.
        let error = judged(0.1, "xyz", "zyx").await.expect_err("no judgement");
        assert!(error.is::<NoDirection>(), "{error}");
        let error = judged(0.1, "none", "ab").await.expect_err("no judgement");
        assert!(error.is::<NoText>(), "{error}");
    }
}
