//! The one table of settings: name, type, default, environment variable, meaning.

use super::types::{
    self, Amount, Backend, BatchWindow, GuardRules, HeaderNames, History, Judge, LogFormat, Maybe,
    Named, Sampled, Semantic, SemanticMode, Share, Size, Span, Switch, Tenants, Text, Threshold,
    UpstreamForm,
};
use std::net::SocketAddr;

macro_rules! settings {
    ($( $heading:literal { $( $(#[doc = $doc:literal])+ $name:ident: $ty:ty = $default:literal, $env:literal; )* } )*) => {
        /// What was asked for, setting by setting; `None` leaves it to the next source.
        #[derive(Clone, Debug, Default, clap::Args, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $($(
                $(#[doc = $doc])+
                #[serde(default, deserialize_with = "types::some")]
                #[arg(long, env = $env, value_parser = types::parse::<$ty>, hide_env_values = true, help_heading = $heading, value_name = <$ty as Named>::NAME,
                      help = concat!($($doc,)+ " [default: ", $default, "]").trim_ascii_start())]
                pub $name: Option<$ty>,
            )*)*
        }

        /// Every setting, decided.
        #[derive(Clone, Debug)]
        pub struct Config {
            $($( $(#[doc = $doc])+ pub $name: $ty, )*)*
        }

        impl Settings {
            /// Takes from `lower` what `self` leaves open.
            #[must_use]
            pub fn or(self, lower: Self) -> Self {
                Self { $($( $name: self.$name.or(lower.$name), )*)* }
            }

            /// Fills what is still open with the defaults.
            #[must_use]
            pub fn or_default(self) -> Config {
                Config { $($( $name: self.$name.unwrap_or_else(|| parse_default($default)), )*)* }
            }

            /// Every setting as (flag, default, environment variable), in the order of `--help`.
            #[must_use]
            pub const fn table() -> &'static [(&'static str, &'static str, &'static str)] {
                &[$($( (stringify!($name), $default, $env), )*)*]
            }
        }
    };
}

settings! {
    "Server" {
        /// Where to listen
        listen: SocketAddr = "127.0.0.1:8080", "LLM_FRONT_LISTEN";
        /// Largest request body that is read; beyond it 413 (other paths are passed on without a limit)
        body_limit: Size = "64MiB", "LLM_FRONT_BODY_LIMIT";
        /// Longest silence within a request body; beyond it 408
        body_timeout: Span = "60s", "LLM_FRONT_BODY_TIMEOUT";
        /// Longest time that a caller may take nothing of its answer; beyond it the connection is closed
        send_timeout: Span = "300s", "LLM_FRONT_SEND_TIMEOUT";
        /// Requests inside at one time, waiting ones included; beyond it 503
        max_requests: usize = "16384", "LLM_FRONT_MAX_REQUESTS";
        /// How long open answers may run on after SIGTERM or Ctrl-C; a second signal stops at once
        drain: Span = "30s", "LLM_FRONT_DRAIN";
        /// Worker threads; 0: as many as CPUs
        workers: usize = "0", "LLM_FRONT_WORKERS";
        /// What to log: off, error, warn, info, debug, trace, or target=level, comma-separated
        log: Text = "info", "LLM_FRONT_LOG";
        /// How to log: text or json
        log_format: LogFormat = "text", "LLM_FRONT_LOG_FORMAT";
    }
    "Backend" {
        /// Base URL of an OpenAI-compatible server, with or without /v1, or `stub`, the built-in one (the time limits below do not apply to it)
        backend: Backend = "stub", "LLM_FRONT_BACKEND";
        /// Credential sent to the backend as `Authorization: Bearer …` in place of the caller's
        backend_key: Maybe<Text> = "none", "LLM_FRONT_BACKEND_KEY";
        /// Model that `POST /v1/generate` asks for when the caller names none: one of the server's, with --backend URL
        generate_model: Text = "stub", "LLM_FRONT_GENERATE_MODEL";
        /// How chats and completions are asked for: `as-asked`, or always as a `stream`, so that a caller who leaves frees the backend (llama.cpp finishes what is not streamed)
        upstream_form: UpstreamForm = "as-asked", "LLM_FRONT_UPSTREAM_FORM";
        /// Requests at the backend at one time; hits and followers take none
        max_upstream: usize = "1024", "LLM_FRONT_MAX_UPSTREAM";
        /// Longest wait for a place at the backend; beyond it 503
        upstream_wait: Span = "30s", "LLM_FRONT_UPSTREAM_WAIT";
        /// Limit on connecting: name, TCP and TLS; beyond it 504
        connect_timeout: Span = "2s", "LLM_FRONT_CONNECT_TIMEOUT";
        /// Limit from the request to the head of the answer; beyond it 504
        headers_timeout: Span = "600s", "LLM_FRONT_HEADERS_TIMEOUT";
        /// Limit on the wait for the first piece of the answer, from the request on
        first_token_timeout: Span = "600s", "LLM_FRONT_FIRST_TOKEN_TIMEOUT";
        /// Limit on a silence within an answer, while somebody waits for it; beyond it the answer is cut
        idle_timeout: Span = "300s", "LLM_FRONT_IDLE_TIMEOUT";
        /// Limit from the request to the end of its answer
        total_timeout: Maybe<Span> = "none", "LLM_FRONT_TOTAL_TIMEOUT";
    }
    "Who shares with whom" {
        /// Whose answers are kept apart: `credentials` (every header that looks like one: cookie, or a name with auth, key, token, secret, session or credential), or `header` (x-tenant, set by a trusted proxy; 401 without it)
        tenants: Tenants = "credentials", "LLM_FRONT_TENANTS";
        /// Request headers that can change an answer, comma-separated; all others but credentials are not in the key
        key_headers: HeaderNames = "origin,openai-organization,openai-project,openai-beta,anthropic-version,anthropic-beta", "LLM_FRONT_KEY_HEADERS";
        /// Sampled requests (temperature above 0 or absent, n or best_of above 1): `bypass` cache and coalescing, or `reuse` answers
        sampled: Sampled = "bypass", "LLM_FRONT_SAMPLED";
    }
    "Cache" {
        /// Keep answers and serve them to the same request again: on or off
        cache: Switch = "on", "LLM_FRONT_CACHE";
        /// Memory for answers, their requests and vectors; the least recently used go first
        cache_bytes: Size = "256MiB", "LLM_FRONT_CACHE_BYTES";
        /// Most memory for one answer, its request included; a larger one is not kept
        cache_entry_bytes: Size = "4MiB", "LLM_FRONT_CACHE_ENTRY_BYTES";
        /// How long an answer is kept, at most. Never kept: what ran into a limit (finish_reason `length`), was filtered, failed or broke off
        cache_ttl: Span = "1h", "LLM_FRONT_CACHE_TTL";
    }
    "Rephrased requests (semantic matching)" {
        /// Serve answers to rephrased requests, found by: `off`, `minilm` (all-MiniLM-L6-v2 in this process; `cargo xtask model fetch` gets it), `minilm-int8` (the same in 8-bit integers: faster, and with thresholds of its own), `hashed` (n-grams: no model, parity with the reference only), or the URL of a server with /v1/embeddings
        semantic: Semantic = "off", "LLM_FRONT_SEMANTIC";
        /// Folder of the model, in the layout of the Hugging Face hub
        model: Text = "models/all-MiniLM-L6-v2", "LLM_FRONT_MODEL";
        /// Model that an embedding server is asked for
        embedding_model: Text = "all-minilm-l6-v2", "LLM_FRONT_EMBEDDING_MODEL";
        /// Longest wait for an embedding; beyond it the request goes on as a miss
        embed_timeout: Span = "100ms", "LLM_FRONT_EMBED_TIMEOUT";
        /// Similarity from which a rephrased request is a hit, above 0, at most 1
        threshold: Threshold = "0.96", "LLM_FRONT_THRESHOLD";
        /// Who has the last word on a similar text: `english` (numbers and units, direction, negation, names and more), `verified` (the same, and where only the wording differs a small model made for minilm: more hits), `literal` (numbers, quotes, negation), or `off`
        guard: GuardRules = "english", "LLM_FRONT_GUARD";
        /// What of a chat may differ: `equal` (the last message alone; all earlier turns must be equal), or `guarded` (earlier turns too, where the last message stands by itself in both chats, or leans on histories that say the same; rules for English)
        history: History = "equal", "LLM_FRONT_HISTORY";
        /// `serve` similar answers, or `shadow`: find them, count them, say so in Cache-Status, and serve none
        semantic_mode: SemanticMode = "serve", "LLM_FRONT_SEMANTIC_MODE";
    }
    "How many rephrased requests may get a wrong answer (in place of --threshold)" {
        /// Share of the similar answers served that may be wrong, 0.02 say: the gateway learns what it may serve from comparisons with the backend's own answers, and serves while these prove that it keeps to this. `none`: --threshold decides
        max_wrong: Maybe<Share> = "none", "LLM_FRONT_MAX_WRONG";
        /// How surely it keeps to --max-wrong, at every moment
        confidence: Share = "0.95", "LLM_FRONT_CONFIDENCE";
        /// Wrong answers allowed beyond that share, whatever the number served; `none`: three mistakes found are forgiven (about 110 with the other defaults)
        grace: Maybe<Amount> = "none", "LLM_FRONT_GRACE";
        /// Least share of similar answers that are compared with the backend's own instead of being served; fewer prove less
        audit_rate: Share = "0.1", "LLM_FRONT_AUDIT_RATE";
        /// Who says whether two answers mean the same: `equal` (the same words), `similarity` (of the two answers, by --semantic's embedder), or `backend` (it is asked, one call a comparison, with --backend-key)
        judge: Judge = "equal", "LLM_FRONT_JUDGE";
        /// Model that the backend judges with; `none`: the one that gave the answer
        judge_model: Maybe<Text> = "none", "LLM_FRONT_JUDGE_MODEL";
        /// Similarity from which two answers mean the same, with --judge similarity
        judge_threshold: Threshold = "0.95", "LLM_FRONT_JUDGE_THRESHOLD";
        /// Share of wrong answers that the judge may overlook: measure it; the proof counts with it
        judge_misses: Share = "0", "LLM_FRONT_JUDGE_MISSES";
        /// File in which the proof outlives this process: written every minute and at the end; needs --secret-file. `none`: each start begins anew
        semantic_state: Maybe<Text> = "none", "LLM_FRONT_SEMANTIC_STATE";
        /// File with a secret of 64 hexadecimal digits (`openssl rand -hex 32`): the key of all digests, and the seal of --semantic-state; `none`: a new one at each start
        secret_file: Maybe<Text> = "none", "LLM_FRONT_SECRET_FILE";
    }
    "Coalescing" {
        /// Let identical requests in flight share one call: on or off
        coalesce: Switch = "on", "LLM_FRONT_COALESCE";
        /// How much of a shared answer is kept for who joins late, and how far one reader may fall behind another before it is cut off
        log_cap: Size = "4MiB", "LLM_FRONT_LOG_CAP";
        /// Longest life of a shared call; beyond it 504
        flight_age: Span = "1h", "LLM_FRONT_FLIGHT_AGE";
    }
    "Batching (POST /v1/generate; completions and embeddings with --merge on)" {
        /// Most requests in one batch
        batch_items: usize = "8", "LLM_FRONT_BATCH_ITEMS";
        /// How long a batch waits for more, unless it is full
        batch_window: Span = "6ms", "LLM_FRONT_BATCH_WINDOW";
        /// When the window counts: `while-busy` (an idle backend is never kept waiting) or `fixed`
        batch_window_mode: BatchWindow = "while-busy", "LLM_FRONT_BATCH_WINDOW_MODE";
        /// Merge inputs of several callers of /v1/completions and /v1/embeddings into one call (their `usage` is then unknowable, and left out): on or off
        merge: Switch = "off", "LLM_FRONT_MERGE";
    }
}

fn parse_default<T>(text: &str) -> T
where
    T: std::str::FromStr,
    T::Err: std::fmt::Debug,
{
    text.parse()
        .expect("the table of defaults holds values of their own types: a test reads them all")
}

impl Default for Config {
    fn default() -> Self {
        Settings::default().or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_type() {
        let config = Config::default();
        assert_eq!(config.listen.port(), 8080);
        assert_eq!(config.max_requests, 16_384);
    }

    #[test]
    fn what_is_asked_for_first_wins() {
        let flag = Settings {
            max_requests: Some(1),
            ..Settings::default()
        };
        let file = Settings {
            max_requests: Some(2),
            max_upstream: Some(3),
            ..Settings::default()
        };
        let config = flag.or(file).or_default();
        assert_eq!((config.max_requests, config.max_upstream), (1, 3));
    }
}
