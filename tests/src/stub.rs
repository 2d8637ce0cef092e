//! The stub as a server.

use crate::client::{Answer, Request};
use llm_backend::stub::{self, Settings, Stub};
use serde_json::Value;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The stub on a free port of its own. Dropped, it is dead: every connection closes at once.
#[derive(Debug)]
pub struct StubServer {
    /// Where it listens.
    pub address: SocketAddr,
    stub: Stub,
    task: JoinHandle<()>,
}

impl StubServer {
    /// Starts one.
    ///
    /// # Panics
    /// When there is no port to be had.
    pub async fn start(settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stub = Stub::new(settings);
        let task = tokio::spawn(stub::serve(
            listener,
            stub.clone(),
            std::future::pending::<()>(),
        ));
        Self {
            address,
            stub,
            task,
        }
    }

    /// What it has done.
    #[must_use]
    pub const fn stub(&self) -> &Stub {
        &self.stub
    }

    /// Its own answer, with no gateway between.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        Request::post(path, body).send(self.address).await
    }
}

impl Drop for StubServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
