//! What may share an answer: everything that can change one is in the key.
//!
//! The scope holds the tenant, the route, the backend and the headers that can change an answer; the canonical request
//! holds every field of the body but a named few (see [`llm_backend::prompt`]). Where rephrased requests may match, the scope
//! also holds all of the canonical request but the one text that may differ.

use crate::asked::{Asked, Bypass, Form};
use crate::config::Config;
use crate::config::types::{Sampled, Tenants, UpstreamForm};
use crate::errors::Refusal;
use crate::layers::merge::Mergeable;
use crate::layers::tenant::{self, Tenant};
use crate::receipts::Receipts;
use crate::semantic::Asks;
use bytes::Bytes;
use http::{HeaderName, StatusCode, request::Parts};
use llm_backend::merge::{self, Part, completion_request};
use llm_backend::prompt::{Endpoint, Prompt};
use std::sync::Arc;
use std::time::Duration;
use tower_semcache::{Control, Lookup, Secret};

/// Makes keys.
#[derive(Debug)]
pub struct Keys {
    secret: Secret,
    tenants: Tenants,
    headers: Vec<HeaderName>,
    pool: String,
    sampled: Sampled,
    shares: bool,
    keeps: bool,
    semantic: Option<Asks>,
    ttl: Duration,
    upstream_form: UpstreamForm,
    merge: bool,
    generate_model: String,
}

impl Keys {
    /// Keys for this configuration. `semantic` is how rephrased requests are looked up, where they are.
    #[must_use]
    pub(crate) fn new(config: &Config, secret: Secret, semantic: Option<Asks>) -> Self {
        Self {
            secret,
            tenants: config.tenants,
            headers: config.key_headers.0.clone(),
            pool: config.backend.to_string(),
            sampled: config.sampled,
            shares: config.cache.is_on() || config.coalesce.is_on(),
            keeps: config.cache.is_on(),
            semantic,
            ttl: config.cache_ttl.0,
            upstream_form: config.upstream_form,
            merge: config.merge.is_on(),
            generate_model: config.generate_model.0.clone(),
        }
    }

    /// Works out what a request asks for.
    ///
    /// # Errors
    /// 400 naming what is wrong with the body.
    pub fn ask(
        &self,
        endpoint: Endpoint,
        parts: &Parts,
        body: &Bytes,
    ) -> Result<Arc<Asked>, Refusal> {
        let read = match self.merge {
            true => merge::parse(endpoint, body),
            false => Prompt::parse(endpoint, body).map(|prompt| (prompt, None)),
        };
        let (prompt, part) = read.map_err(|error| {
            Refusal::new(StatusCode::BAD_REQUEST, error.to_string())
                .param(error.param().map(str::to_owned))
        })?;
        let form = match prompt.stream {
            true => Form::Stream {
                usage: prompt.include_usage,
            },
            false => Form::Body,
        };
        let part = match endpoint {
            Endpoint::Generate => completion_request(body, Some(&self.generate_model))
                .and_then(|completion| Part::new(endpoint, &completion)),
            _ => part,
        };
        let merge = part.map(|part| Mergeable::new(part, parts));
        let wire = match (self.upstream_form, endpoint) {
            (UpstreamForm::Stream, Endpoint::ChatCompletions | Endpoint::Completions)
                if merge.is_none() =>
            {
                Form::Stream { usage: true }
            }
            _ => form,
        };
        let key = self
            .shareable(&prompt)
            .map(|()| self.key(endpoint, parts, &prompt));
        let keeps = self.keeps && key.is_ok();
        if !keeps && Control::from_headers(&parts.headers).only_if_cached {
            return Err(Refusal::not_cached());
        }
        let receipts = (self.semantic.is_some() && keeps).then(|| self.receipts(parts));
        Ok(Arc::new(Asked {
            endpoint,
            prompt,
            form,
            wire,
            key,
            receipts,
            merge,
        }))
    }

    /// How answers are named for the caller of a request.
    pub(crate) fn receipts(&self, parts: &Parts) -> Receipts {
        let tenant = parts.extensions.get::<Tenant>().map(|tenant| &tenant.0);
        let mut holder = self.secret.scope_builder().part("holder", b"");
        for (label, value) in tenant::identity(self.tenants, tenant, &parts.headers) {
            holder = holder.part(label, value);
        }
        Receipts::new(self.secret.clone(), holder.finish())
    }

    fn shareable(&self, prompt: &Prompt) -> Result<(), Bypass> {
        match self.sampled {
            _ if !self.shares => Err(Bypass::Off),
            Sampled::Bypass if prompt.choices => Err(Bypass::Choices),
            Sampled::Bypass if prompt.sampled => Err(Bypass::Sampled),
            Sampled::Bypass | Sampled::Reuse => Ok(()),
        }
    }

    fn key(&self, endpoint: Endpoint, parts: &Parts, prompt: &Prompt) -> Lookup {
        let semantic = self.semantic.as_ref();
        let semantic = semantic.and_then(|asks| Some((asks, asks.compared(prompt)?)));
        let tenant = parts.extensions.get::<Tenant>().map(|tenant| &tenant.0);
        let mut scope = self.secret.scope_builder();
        scope = scope
            .part("route", endpoint.path().as_bytes())
            .part("pool", self.pool.as_bytes())
            .part("query", parts.uri.query().unwrap_or_default().as_bytes());
        for (label, value) in tenant::identity(self.tenants, tenant, &parts.headers) {
            scope = scope.part(label, value);
        }
        for name in &self.headers {
            for value in parts.headers.get_all(name) {
                scope = scope.part(name.as_str(), value.as_bytes());
            }
        }
        if endpoint == Endpoint::Generate {
            scope = scope.part("model", self.generate_model.as_bytes());
        }
        if let Some((asks, compared)) = &semantic {
            scope = scope
                .part("around", &compared.around)
                .part("embedder", &asks.embedder);
        }
        let lookup = Lookup::new(&self.secret, scope.finish(), prompt.canonical.clone())
            .control(Control::from_headers(&parts.headers))
            .ttl(self.ttl);
        match semantic {
            Some((asks, compared)) => lookup.text(compared.text).matching(asks.matching),
            None => lookup,
        }
    }
}
