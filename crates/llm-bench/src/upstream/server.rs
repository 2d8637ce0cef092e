//! Listens, and keeps count.

use super::answer::Prepared;
use super::{Pace, Script, connection};
use crate::clock::Stamp;
use parking_lot::Mutex;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::{AbortHandle, JoinSet};

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// A running server; dropping it closes everything.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    state: Arc<State>,
    accepting: AbortHandle,
}

/// The last answer with a pace.
#[derive(Clone, Debug, Default)]
pub struct Last {
    /// When each part of it was sent, as late as can be told: just before the write.
    pub sent: Vec<Stamp>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) calls: AtomicU64,
    pub(super) prepared: Mutex<Arc<Prepared>>,
    pub(super) last: Mutex<Last>,
    pub(super) history: Mutex<Vec<Scripted>>,
}

/// When a scripted answer was asked for, and when each part of it was sent.
#[derive(Clone, Debug)]
pub(super) struct Scripted {
    pub(super) asked: Stamp,
    pub(super) sent: Vec<Stamp>,
}

impl State {
    fn new(prepared: Prepared) -> Self {
        Self {
            calls: AtomicU64::new(0),
            prepared: Mutex::new(Arc::new(prepared)),
            last: Mutex::default(),
            history: Mutex::default(),
        }
    }
}

impl Upstream {
    /// Listens on a free port of loopback, within a tokio runtime.
    ///
    /// # Errors
    /// There is no port.
    pub fn start(pace: Pace) -> io::Result<Self> {
        Self::listen(Prepared::new(pace))
    }

    /// The same, with one answer to whatever is asked. It remembers when it was asked, and when it sent what.
    ///
    /// # Errors
    /// There is no port.
    pub fn script(script: Script) -> io::Result<Self> {
        Self::listen(Prepared::scripted(script))
    }

    fn listen(prepared: Prepared) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let listener = socket.listen(BACKLOG)?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::new(prepared));
        let accepting = tokio::spawn(accept(listener, state.clone())).abort_handle();
        Ok(Self {
            address,
            state,
            accepting,
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes the answers to calls from now on.
    pub fn set(&self, pace: Pace) {
        *self.state.prepared.lock() = Arc::new(Prepared::new(pace));
    }

    /// Calls so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state.calls.load(Ordering::Relaxed)
    }

    /// When each part of each scripted answer was sent, as late as can be told: just before the write. In the order in which they
    /// were asked for.
    #[must_use]
    pub fn history(&self) -> Vec<Vec<Stamp>> {
        self.state
            .history
            .lock()
            .iter()
            .map(|scripted| scripted.sent.clone())
            .collect()
    }

    /// When each scripted answer was asked for.
    #[must_use]
    pub fn asked(&self) -> Vec<Stamp> {
        self.state
            .history
            .lock()
            .iter()
            .map(|scripted| scripted.asked)
            .collect()
    }

    /// The last answer that had a pace.
    #[must_use]
    pub fn last(&self) -> Last {
        self.state.last.lock().clone()
    }
}

/// Answers at once at `address`, for as long as it is polled: the other end of a load generator that is itself under test, in a
/// process of its own.
///
/// # Errors
/// The address cannot be had.
pub async fn serve(address: SocketAddr) -> Result<(), crate::BoxError> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    accept(listener, Arc::new(State::new(Prepared::new(Pace::AT_ONCE)))).await;
    Ok(())
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    // Dropped with this task, and every connection with it.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            // Correctness: either order will do; ended connections are only cleared away.
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(connection::serve(stream, state.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
