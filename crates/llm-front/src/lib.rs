//! The gateway: configuration, routes, and [`stack`], the one page that shows the layers.
//!
//! The binary is a thin shell around [`stack::build`] and [`server::serve`]; tests and experiments build the same stack in
//! process.
#![forbid(unsafe_code)]

pub mod admin;
pub mod asked;
pub mod backend;
pub mod cli;
mod collect;
pub mod config;
pub mod errors;
mod feedback;
pub mod front;
pub mod journey;
mod judges;
pub mod keys;
mod layer_metrics;
pub mod layers;
pub mod metrics;
mod policies;
pub mod receipts;
pub mod routes;
pub mod semantic;
pub mod server;
pub mod source;
pub mod stack;
