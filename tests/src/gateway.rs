//! The gateway in process, on a free port.

use crate::client::{Answer, Connection, Request};
use crate::metrics::Metrics;
use crate::stub::StubServer;
use crate::wait::within;
use hyper::body::Incoming;
use llm_backend::stub::{Settings, Stub};
use llm_front::config::Config;
use llm_front::semantic::Kept;
use llm_front::server::{self, Patience};
use llm_front::stack;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A gateway that serves on loopback until it is dropped.
#[derive(Debug)]
pub struct Gateway {
    /// Where it listens.
    pub address: SocketAddr,
    backend: Option<StubServer>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    kept: Option<Kept>,
}

impl Gateway {
    /// In front of a stub server that answers at once.
    pub async fn before_stub(change: impl FnOnce(&mut Config)) -> Self {
        Self::before_stub_of(Settings::instant(), change).await
    }

    /// In front of a stub server of these settings.
    pub async fn before_stub_of(settings: Settings, change: impl FnOnce(&mut Config)) -> Self {
        let stub = StubServer::start(settings).await;
        let url = format!("http://{}", stub.address);
        let mut gateway = Self::before(&url, change).await;
        gateway.backend = Some(stub);
        gateway
    }

    /// In front of the server at `url`.
    ///
    /// # Panics
    /// When the configuration is refused or there is no port to be had.
    #[expect(clippy::unused_async, reason = "as its sisters; it needs a runtime")]
    pub async fn before(url: &str, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config {
            backend: url.parse().expect("a URL"),
            ..Config::default()
        };
        change(&mut config);
        config.check().expect("a configuration that works");
        let listener = server::listen(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
        let address = listener.local_addr().expect("an address");
        let gateway = stack::build::<Incoming>(&config).expect("a gateway");
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            let _ = stopped.await;
        };
        let task = tokio::spawn(server::serve(
            listener,
            gateway.service,
            stopped,
            std::future::pending(),
            Patience {
                send: config.send_timeout.0,
                drain: config.drain.0,
            },
        ));
        Self {
            address,
            backend: None,
            stop: Some(stop),
            task,
            kept: Some(gateway.kept),
        }
    }

    /// The stub behind it.
    ///
    /// # Panics
    /// When there is none, or none any more.
    #[must_use]
    pub fn stub(&self) -> &Stub {
        self.backend().stub()
    }

    /// The stub server behind it.
    ///
    /// # Panics
    /// When there is none, or none any more.
    #[must_use]
    pub fn backend(&self) -> &StubServer {
        self.backend.as_ref().expect("a stub behind the gateway")
    }

    /// Kills the stub server behind it.
    pub fn kill_backend(&mut self) {
        self.backend = None;
    }

    /// Connects to it.
    pub async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// Asks, on a connection of its own, and reads the answer to its end.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(&Request::post(path, body)).await
    }

    /// Asks `/v1/chat/completions`.
    pub async fn chat(&self, body: &Value) -> Answer {
        self.post("/v1/chat/completions", body).await
    }

    /// Reads from it.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(&Request::new("GET", path)).await
    }

    /// Sends `request`, on a connection of its own, and reads the answer to its end.
    pub async fn send(&self, request: &Request) -> Answer {
        request.send(self.address).await
    }

    /// Sends `request`, on a connection of its own, and reads the head of the answer.
    pub async fn open(&self, request: &Request) -> Connection {
        let mut connection = self.connect().await;
        connection.ask(request).await;
        connection.head().await;
        connection
    }

    /// What it counts.
    pub async fn metrics(&self) -> Metrics {
        Metrics::new(self.get("/metrics").await.text())
    }

    /// Waits until nothing is left of any request: every gauge at zero.
    ///
    /// # Panics
    /// When one does not come back within 20 s.
    pub async fn quiet(&self) {
        let mut busy = Vec::new();
        let quiet = async {
            loop {
                busy = self.metrics().await.busy();
                if busy.is_empty() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let done = tokio::time::timeout(Duration::from_secs(15), quiet)
            .await
            .is_ok();
        assert!(done, "never back at zero: {busy:?}");
    }

    /// Stops as on SIGTERM, and waits for the end.
    ///
    /// # Panics
    /// When it hangs.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        let _ = within(&mut self.task).await;
        if let Some(kept) = self.kept.take() {
            within(kept.end())
                .await
                .expect("what is kept can be written");
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}
