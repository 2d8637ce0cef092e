//! A deterministic discrete-event simulation of LLM serving.
//!
//! One core ([`engine`]) moves requests through a [`front`] to any number of
//! [servers](server); a server is a scheduler over a [cost model](cost) and, where it has one, a
//! paged [KV cache](kv). Workloads are [drawn](workload) from laws or read from [traces](trace);
//! results are [mergeable summaries](metrics) whose size does not depend on the number of requests.
//!
//! Units everywhere: milliseconds, tokens, requests a second. The same seed gives the same bytes.
//!
//! # Examples
//!
//! One continuous-batching server at 8 requests a second:
//!
//! ```
//! use llm_sim::{cost::Affine, engine::Simulation, front::Direct, server::Continuous, workload::Workload};
//!
//! let server = Continuous::new(32, Affine::SEED);
//! let mut sim = Simulation::new(vec![Box::new(server)], Direct::default());
//! let report = sim.run(Workload::seed(0, 8.0).take(500));
//! assert_eq!(report.counts.done, 500);
//! assert!(report.latency.e2e.quantile(0.5) > report.latency.ttft.quantile(0.5));
//! ```
//!
//! Four servers with vLLM's scheduler behind the power of two choices:
//!
//! ```
//! use llm_sim::{
//!     cost::presets,
//!     engine::Simulation,
//!     front::{Balance, Direct},
//!     server::{Server, Vllm, VllmConfig},
//!     workload::Workload,
//! };
//!
//! let preset = presets::find("a100-llama-3-8b").expect("a preset of that name exists");
//! let servers = (0..4)
//!     .map(|_| {
//!         let config = VllmConfig::default().kv_blocks(preset.kv_blocks());
//!         Box::new(Vllm::new(config, preset.cost)) as Box<dyn Server>
//!     })
//!     .collect();
//! let mut sim = Simulation::new(servers, Direct::new(Balance::TwoChoices, "doc"));
//! let report = sim.run(Workload::seed(0, 16.0).take(300));
//! assert_eq!(report.counts.done, 300);
//! ```

#![forbid(unsafe_code)]

#[cfg(feature = "cli")]
pub mod cli;
pub mod cost;
pub mod engine;
pub mod error;
pub mod front;
pub mod kv;
pub mod metrics;
pub mod plan;
pub mod plot;
pub mod reference;
pub mod rng;
pub mod server;
pub mod study;
pub mod theory;
pub mod trace;
pub mod validate;
pub mod workload;
