//! Connections that nobody uses just now.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::connection::{Connection, Destination};

/// How long an unused connection is kept. vLLM and llama.cpp close theirs after 5 s; who closes first does not find out by a
/// lost request.
const IDLE: Duration = Duration::from_secs(4);

/// How many are kept. One more is closed.
const MAX_IDLE: usize = 1024;

/// Idle connections, to any server. Clones are the same pool.
///
/// Nobody watches them: one that its server has closed is found out by who would take it. A task that lives while there are any
/// closes those that are too old.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    idle: Mutex<Idle>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Idle {
    /// With the time since when, longest first.
    connections: VecDeque<(Instant, Box<Connection>)>,
    /// Whether the task that closes them runs.
    attended: bool,
}

// === impl Pool ===

impl Pool {
    /// The connection to `to` that was used last.
    pub(super) fn take(&self, to: &Destination, now: Instant) -> Option<Box<Connection>> {
        loop {
            let (since, mut connection) = self.pop(to)?;
            if now.saturating_duration_since(since) < IDLE && connection.is_alive() {
                return Some(connection);
            }
        }
    }

    fn pop(&self, to: &Destination) -> Option<(Instant, Box<Connection>)> {
        let mut idle = self.inner.idle.lock();
        let mut each = idle.connections.iter();
        let at = each.rposition(|(_, connection)| connection.to() == to)?;
        idle.connections.remove(at)
    }

    /// Waits until somebody else is done with a connection to `to`.
    pub(super) async fn freed(&self, to: &Destination) -> Box<Connection> {
        loop {
            self.inner.freed.notified().await;
            if let Some(connection) = self.take(to, Instant::now()) {
                return connection;
            }
        }
    }

    /// Keeps a connection, if it can be used again.
    pub(super) fn put(&self, mut connection: Box<Connection>) {
        if !connection.rest() {
            return;
        }
        let mut idle = self.inner.idle.lock();
        if idle.connections.len() >= MAX_IDLE {
            drop(idle);
            return;
        }
        idle.connections.push_back((Instant::now(), connection));
        let attended = std::mem::replace(&mut idle.attended, true);
        drop(idle);
        self.inner.freed.notify_one();
        if !attended {
            tokio::spawn(attend(Arc::downgrade(&self.inner)));
        }
    }
}

/// Closes what is too old, for as long as there is a pool with something in it.
async fn attend(pool: Weak<Inner>) {
    while let Some(next) = pool.upgrade().and_then(|pool| pool.close_old()) {
        sleep_until(next).await;
    }
}

// === impl Inner ===

impl Inner {
    /// Closes what is too old. Returns when to look again; if there is nothing left, not at all.
    fn close_old(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut idle = self.idle.lock();
        let old = idle
            .connections
            .partition_point(|(since, _)| now.saturating_duration_since(*since) >= IDLE);
        let closed: Vec<_> = idle.connections.drain(..old).collect();
        let next = idle.connections.front().map(|(since, _)| *since + IDLE);
        idle.attended = next.is_some();
        drop(idle);
        drop(closed);
        next
    }
}
