//! Who says whether two answers mean the same, once their callers are served: see [`tower_semcache::judge`].

mod again;
mod backend;
mod call;
mod said;

pub(crate) use again::AskAgain;

use crate::config::Config;
use crate::config::types::Judge;
use backend::AskBackend;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use llm_backend::RequestBody;
use said::said;
use std::sync::Arc;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceExt};
use tower_semcache::bounded::Judgement;
use tower_semcache::http::Answer;
use tower_semcache::judge::{Comparison, Equal, Similar};
use tower_semcache::{Threshold, Vector};
use tower_service::Service;

/// A judge of any kind.
pub(crate) type AnyJudge = BoxCloneSyncService<Comparison<Answer>, Judgement, BoxError>;

/// The judge that `config` asks for. `embedder` is that of the requests, `upstream` the way to the backend.
///
/// # Errors
/// The threshold means nothing.
pub(crate) fn judge<S, B>(
    config: &Config,
    embedder: BoxCloneSyncService<Arc<str>, Vector, BoxError>,
    upstream: S,
) -> Result<AnyJudge, BoxError>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = BoxError>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    Ok(match config.judge {
        Judge::Equal => BoxCloneSyncService::new(Equal::new(said).map_err(Into::into)),
        Judge::Similarity => {
            let least = Threshold::new(config.judge_threshold.0)?;
            BoxCloneSyncService::new(Similar::new(embedder, said, least))
        }
        Judge::Backend => {
            let model = config.judge_model.0.as_ref().map(|model| model.0.as_str());
            BoxCloneSyncService::new(AskBackend::new(upstream, model))
        }
    })
}

/// What tells judges apart: what one of them calls wrong, another one need not.
pub(crate) fn id(config: &Config) -> String {
    match config.judge {
        Judge::Equal => "equal".to_owned(),
        Judge::Similarity => {
            let (least, by) = (config.judge_threshold.0, &config.semantic);
            format!("similarity {least} by {by:?}")
        }
        Judge::Backend => {
            let model = config.judge_model.0.as_ref().map(|model| model.0.as_str());
            format!("backend {}", model.unwrap_or("of the answer"))
        }
    }
}
