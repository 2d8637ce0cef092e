//! Similar answers under a bound on how many of them are wrong (`--max-wrong`).

use super::kept::{File, Kept};
use crate::config::Config;
use crate::config::types::{Judge, SemanticMode};
use crate::judges::{self, AnyJudge};
use tower::BoxError;
use tower_semcache::bounded::{Certificate, Controller};
use tower_semcache::http::Answer;
use tower_semcache::{Again, Bounded, Cache, Mode, Secret};
use tower_service::Service;

/// Comparisons at one time, where each is a call to the backend.
const CALLS: usize = 4;

/// Who decides, and what of it outlives the process. Judging begins.
///
/// # Errors
/// The settings cannot work, or what was kept cannot be read or written.
///
/// # Panics
/// Outside of a tokio runtime.
pub(crate) fn bounded<S>(
    config: &Config,
    secret: &Secret,
    cache: &Cache<Answer>,
    judge: AnyJudge,
    again: S,
) -> Result<(Option<Bounded<Answer>>, Kept), BoxError>
where
    S: Service<Again, Response = Answer, Error = BoxError> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    let Some(promise) = config.promise().transpose()? else {
        return Ok((None, Kept::none()));
    };
    let judged_by = judges::id(config);
    let file = config.semantic_state.0.as_ref();
    let file = file.map(|file| File::new(&file.0, secret.clone(), judged_by));
    let resumed = match &file {
        Some(file) => file.resume(promise)?,
        None => None,
    };
    let certificate = match resumed {
        Some(certificate) => certificate,
        None => Certificate::new(promise)?,
    };
    let controller = Controller::with_certificate(certificate);
    let mode = match config.semantic_mode {
        SemanticMode::Serve => Mode::Serve,
        SemanticMode::Shadow => Mode::Shadow,
    };
    let (bounded, worker) = Bounded::pair(controller, mode, cache.clone(), judge);
    let worker = worker.again(again);
    let worker = match config.judge {
        Judge::Backend => worker.concurrency(CALLS),
        Judge::Equal | Judge::Similarity => worker,
    };
    // It ends with the last of those who could want a judgement.
    tokio::spawn(worker.run());
    let kept = Kept::new(file, bounded.clone())?;
    Ok((Some(bounded), kept))
}
