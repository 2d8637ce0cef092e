//! What no single value shows: settings that cannot work, alone or together.

use super::types::{Backend, GuardRules, History, Maybe, Semantic, Tenants};
use super::{Config, Settings};
use std::fmt;
use std::net::IpAddr;

/// A setting that was refused, and what to write instead.
#[derive(Debug)]
pub struct Refused {
    pub(super) setting: &'static str,
    pub(super) why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}: {}", self.setting.replace('_', "-"), self.why)
    }
}

impl std::error::Error for Refused {}

impl Settings {
    /// Refuses what was asked for and cannot be had together.
    ///
    /// # Errors
    /// The setting to leave out.
    pub fn check(&self) -> Result<(), Refused> {
        let bounded = matches!(&self.max_wrong, Some(Maybe(Some(_))));
        if bounded && self.threshold.is_some() {
            return Err(Refused {
                setting: "max_wrong",
                why: "and --threshold exclude each other: either the share of wrong answers decides what is served, or a similarity does. Leave one out (or write --max-wrong none)".to_owned(),
            });
        }
        Ok(())
    }
}

impl Config {
    /// Refuses what cannot work.
    ///
    /// # Errors
    /// The first setting that cannot work, with the fix.
    pub fn check(&self) -> Result<(), Refused> {
        let refuse = |setting, why: &str| {
            Err(Refused {
                setting,
                why: why.to_owned(),
            })
        };
        for (setting, value) in [
            ("max_requests", self.max_requests),
            ("max_upstream", self.max_upstream),
            ("body_limit", self.body_limit.0),
        ] {
            if value == 0 {
                return refuse(setting, "must be at least 1: with 0 no request could pass");
            }
        }
        for (setting, value, instead) in [
            ("batch_items", self.batch_items, "write 1 for no batching"),
            (
                "cache_bytes",
                self.cache_bytes.0,
                "write --cache off for no cache",
            ),
            (
                "cache_entry_bytes",
                self.cache_entry_bytes.0,
                "write --cache off for no cache",
            ),
            (
                "log_cap",
                self.log_cap.0,
                "write --coalesce off to share nothing",
            ),
        ] {
            if value == 0 {
                return refuse(setting, &format!("must be at least 1: {instead}"));
            }
        }
        for (setting, value) in [
            ("body_timeout", self.body_timeout),
            ("send_timeout", self.send_timeout),
            ("connect_timeout", self.connect_timeout),
            ("headers_timeout", self.headers_timeout),
            ("first_token_timeout", self.first_token_timeout),
            ("idle_timeout", self.idle_timeout),
            ("cache_ttl", self.cache_ttl),
            ("embed_timeout", self.embed_timeout),
            ("flight_age", self.flight_age),
        ] {
            if value.0.is_zero() {
                return refuse(setting, "must be longer than 0: write 1ms or more");
            }
        }
        if self.total_timeout.0.is_some_and(|total| total.0.is_zero()) {
            return refuse(
                "total_timeout",
                "must be longer than 0: write `none` for no limit",
            );
        }
        if self.cache_entry_bytes.0 > self.cache_bytes.0 {
            return refuse(
                "cache_entry_bytes",
                "one answer cannot be larger than the whole cache: raise --cache-bytes or lower this",
            );
        }
        if self.semantic != Semantic::Off && !self.cache.is_on() {
            return refuse("semantic", "needs the cache: leave out --cache off");
        }
        if self.history == History::Guarded
            && !matches!(self.guard, GuardRules::English | GuardRules::Verified)
        {
            return refuse(
                "history",
                "guarded needs rules that read the texts: --guard english or verified",
            );
        }
        self.check_promise()?;
        if self.backend == Backend::WithCredentials {
            return refuse(
                "backend",
                "a backend URL must not carry credentials: give them with --backend-key",
            );
        }
        if let Backend::Url(url) = &self.backend
            && url.port_u16() == Some(self.listen.port())
            && url.host().is_some_and(|host| self.hears(host))
        {
            return refuse(
                "backend",
                "is this gateway itself: name the server behind it, or another --listen",
            );
        }
        if let Some(word) = self
            .log
            .0
            .split(',')
            .find(|part| !part.contains('=') && !is_level(part))
        {
            return refuse(
                "log",
                &format!(
                    "`{word}` is not a level: write off, error, warn, info, debug or trace, or target=level"
                ),
            );
        }
        if self.workers > 1024 {
            return refuse(
                "workers",
                "more threads than any machine here has use for: write 0 for one a CPU",
            );
        }
        if self.backend_key.0.is_some() && self.backend == Backend::Stub {
            return refuse(
                "backend_key",
                "the built-in stub takes no credential: name a server with --backend URL",
            );
        }
        if self
            .backend_key
            .0
            .as_ref()
            .is_some_and(|key| !is_header_text(&key.0))
        {
            return refuse(
                "backend_key",
                "is empty or holds characters that no HTTP header can carry",
            );
        }
        Ok(())
    }

    /// Whether whoever calls `host` on the port of this gateway calls this gateway, as far as the name tells.
    fn hears(&self, host: &str) -> bool {
        let own = self.listen.ip();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match host.parse::<IpAddr>() {
            Ok(address) => {
                address == own
                    || own.is_unspecified() && (address.is_loopback() || address.is_unspecified())
            }
            Err(_) => {
                host.eq_ignore_ascii_case("localhost")
                    && (own.is_loopback() || own.is_unspecified())
            }
        }
    }

    /// Logs what can work, and may not be what was meant.
    pub fn warn(&self) {
        if self.tenants == Tenants::Header && !self.listen.ip().is_loopback() {
            // Trusted as asked: a proxy may stand anywhere.
            tracing::warn!(
                "--tenants header on {}: every caller that reaches this address can name any tenant",
                self.listen
            );
        }
        self.warn_of_promise();
    }
}

fn is_level(word: &str) -> bool {
    let levels = ["off", "error", "warn", "info", "debug", "trace"];
    levels
        .iter()
        .any(|level| word.trim().eq_ignore_ascii_case(level))
}

fn is_header_text(text: &str) -> bool {
    !text.is_empty() && http::HeaderValue::from_str(text).is_ok()
}

#[cfg(test)]
mod tests {
    use crate::config::types::{Maybe, Semantic, Share, Size, Span, Switch, Text};
    use crate::config::{Config, Settings};
    use std::time::Duration;

    #[test]
    fn the_defaults_are_accepted() {
        Config::default().check().unwrap();
    }

    #[test]
    fn what_cannot_work_is_refused_with_the_fix() {
        let refused = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.check().unwrap_err().to_string()
        };
        assert!(refused(|c| c.max_requests = 0).starts_with("--max-requests: must be at least 1"));
        assert!(refused(|c| c.cache_ttl = Span(Duration::ZERO)).contains("--cache-ttl"));
        assert!(refused(|c| c.cache_bytes = Size(1)).contains("--cache-bytes"));
        for (listen, backend) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("127.0.0.1:8080", "http://localhost:8080/v1"),
            ("0.0.0.0:8080", "http://127.0.0.1:8080"),
            ("[::]:8080", "http://[::1]:8080"),
        ] {
            let mut config = Config {
                listen: listen.parse().unwrap(),
                backend: backend.parse().unwrap(),
                ..Config::default()
            };
            let itself = config.check().unwrap_err().to_string();
            assert!(itself.contains("this gateway itself"), "{itself}");
            config.backend = "http://10.0.0.1:8080".parse().unwrap();
            config.check().unwrap();
        }
        let semantic = refused(|c| {
            c.semantic = Semantic::Hashed;
            c.cache = Switch::Off;
        });
        assert!(semantic.contains("leave out --cache off"));
        let alone = refused(|c| c.max_wrong = Maybe(Some(Share(0.02))));
        assert!(alone.contains("add --semantic minilm"), "{alone}");
        let none = refused(|c| c.max_wrong = Maybe(Some(Share(0.0))));
        assert!(none.starts_with("--max-wrong: max_wrong is 0"), "{none}");
        let small = refused(|c| {
            c.max_wrong = Maybe(Some(Share(0.02)));
            c.grace = "1".parse().map(|one| Maybe(Some(one))).unwrap();
        });
        assert!(
            small.starts_with("--grace: ") && small.contains("raise it"),
            "{small}"
        );
        let secret = refused(|c| {
            c.max_wrong = Maybe(Some(Share(0.02)));
            c.semantic = Semantic::Hashed;
            c.semantic_state = Maybe(Some(Text("state".to_owned())));
        });
        assert!(secret.contains("openssl rand -hex 32"), "{secret}");
    }

    #[test]
    fn a_share_of_wrong_answers_and_a_threshold_exclude_each_other() {
        let settings: Settings = toml::from_str("max_wrong = 0.02\nthreshold = 0.9").unwrap();
        let refused = settings.check().unwrap_err().to_string();
        assert!(
            refused.contains("--threshold exclude each other"),
            "{refused}"
        );
        let settings: Settings = toml::from_str("max_wrong = \"none\"\nthreshold = 0.9").unwrap();
        settings.check().unwrap();
    }
}
