//! What `--max-wrong` promises, and what it needs.

use super::Config;
use super::check::Refused;
use super::types::{Backend, Judge, Semantic};
use tower_semcache::bounded::{self, Certificate};

impl Config {
    /// The promise of `--max-wrong`, where one is made.
    pub(crate) fn promise(&self) -> Option<Result<bounded::Settings, Refused>> {
        let max_wrong = self.max_wrong.0?;
        let settings = |grace| {
            let rate = self.audit_rate.0;
            bounded::Settings::new(max_wrong.0, self.confidence.0, grace)
                .audit_rate(rate)
                .restart_audit_rate(rate.max(bounded::MIN_RESTART_AUDIT_RATE))
                .judge_misses(self.judge_misses.0)
        };
        let grace = match self.grace.0 {
            Some(grace) => Ok(grace.0),
            None => settings(0.0).suggested_grace(),
        };
        let promise = grace.and_then(|grace| {
            let settings = settings(grace);
            Certificate::new(settings).map(|_| settings)
        });
        Some(promise.map_err(|error| Refused {
            setting: error.setting(),
            why: error.to_string(),
        }))
    }

    pub(super) fn check_promise(&self) -> Result<(), Refused> {
        let refuse = |setting, why: &str| {
            Err(Refused {
                setting,
                why: why.to_owned(),
            })
        };
        if self.semantic_state.0.is_some() && self.max_wrong.0.is_none() {
            return refuse(
                "semantic_state",
                "keeps what --max-wrong has proven, and there is nothing to keep: name a share with --max-wrong 0.02, or leave this out",
            );
        }
        if self.semantic_state.0.is_some() && self.secret_file.0.is_none() {
            return refuse(
                "semantic_state",
                "needs --secret-file: make one with `openssl rand -hex 32 > FILE`, readable by this process alone",
            );
        }
        let Some(promise) = self.promise() else {
            return Ok(());
        };
        promise?;
        if self.semantic == Semantic::Off {
            return refuse(
                "max_wrong",
                "is about answers to rephrased requests, and these are not matched: add --semantic minilm",
            );
        }
        Ok(())
    }

    pub(super) fn warn_of_promise(&self) {
        if self.max_wrong.0.is_none() {
            return;
        }
        if self.judge == Judge::Similarity && self.judge_misses.0 == 0.0 {
            tracing::warn!(
                "--judge similarity overlooks some wrong answers, and --judge-misses 0 says that it overlooks none: the promise is void until you measure how many, and name the share"
            );
        }
        let keyless = self.backend_key.0.is_none() && self.backend != Backend::Stub;
        if self.judge == Judge::Backend && keyless {
            tracing::warn!(
                "--judge backend asks the backend without a credential: where it demands one, name it with --backend-key, or every comparison fails and nothing similar is served"
            );
        }
    }
}
