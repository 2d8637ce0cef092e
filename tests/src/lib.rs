//! What the tests of the whole share: a gateway on loopback, upstreams that behave and such that do not, a client that sees
//! every frame and every way in which an answer can end, and the contract that every layer keeps.
//!
//! A gateway in front of the stub, both on free ports, both gone at the end of the test:
//!
//! ```
//! use tests::{Gateway, chat};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let gateway = Gateway::before_stub(|_| {}).await;
//! let answer = gateway.post("/v1/chat/completions", &chat("Hello")).await;
//! assert_eq!(answer.status, 200);
//! assert_eq!(answer.header("cache-status"), "llm-front; fwd=miss");
//! assert_eq!(gateway.stub().stats().generations, 1);
//! # }
//! ```
//!
//! An upstream whose every byte the test decides:
//!
//! ```
//! use tests::{End, Gateway, Upstream, chat};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let mut upstream = Upstream::start().await;
//! let gateway = Gateway::before(&upstream.url(), |_| {}).await;
//! let ask = chat("Hello");
//! let (answer, ()) = tokio::join!(gateway.post("/v1/chat/completions", &ask), async {
//!     let mut peer = upstream.accept().await;
//!     peer.request().await;
//!     peer.say("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of it").await;
//! });
//! assert_eq!((answer.status, answer.end), (200, End::Cut));
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod binary;
pub mod client;
pub mod contract;
mod dice;
mod gateway;
mod metrics;
mod prompts;
mod stub;
mod upstream;
mod wait;

pub use self::client::{Answer, Connection, End, Frame, Request};
pub use self::dice::Dice;
pub use self::gateway::Gateway;
pub use self::metrics::Metrics;
pub use self::prompts::{chat, model, stream, with};
pub use self::stub::StubServer;
pub use self::upstream::{Close, Message, Peer, Upstream, answer_all};
pub use self::wait::{until, within};
