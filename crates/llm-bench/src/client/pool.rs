//! Many connections, opened first.

use super::{Connection, Error};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Connections being opened at one time: below any listener's backlog.
const STEP: usize = 256;

/// Which of our own addresses connections come from.
#[derive(Clone, Copy, Debug)]
pub enum Sources {
    /// Whichever the system picks.
    Any,
    /// `127.0.subnet.2` and up, so many connections from each, since one address has only some 28,000 ports, and each stays
    /// taken for a minute after its connection was closed.
    Spread {
        /// The third number of the addresses.
        subnet: u8,
        /// Connections from one address.
        each: usize,
    },
}

impl Sources {
    fn of(self, number: usize) -> Option<IpAddr> {
        match self {
            Self::Any => None,
            Self::Spread { subnet, each } => {
                let host = 2 + number / each.max(1) % 250;
                Some(Ipv4Addr::new(127, 0, subnet, u8::try_from(host).unwrap_or(2)).into())
            }
        }
    }
}

/// Opens `count` connections to `server`, some at a time.
///
/// # Errors
/// The first that cannot be had.
pub async fn open_many(
    server: SocketAddr,
    count: usize,
    sources: Sources,
) -> Result<Vec<Connection>, Error> {
    let permits = Arc::new(Semaphore::new(STEP));
    let mut opening = JoinSet::new();
    for number in 0..count {
        let permits = permits.clone();
        opening.spawn(async move {
            let _permit = permits.acquire().await;
            Connection::open(server, sources.of(number)).await
        });
    }
    let mut open = Vec::with_capacity(count);
    while let Some(opened) = opening.join_next().await {
        open.push(opened.map_err(std::io::Error::other)??);
    }
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_spread_over_loopback_addresses() {
        let sources = Sources::Spread { subnet: 7, each: 2 };
        let addresses: Vec<String> = (0..5)
            .filter_map(|n| sources.of(n))
            .map(|a| a.to_string())
            .collect();
        assert_eq!(
            addresses,
            [
                "127.0.7.2",
                "127.0.7.2",
                "127.0.7.3",
                "127.0.7.3",
                "127.0.7.4"
            ]
        );
        assert_eq!(Sources::Any.of(0), None);
    }
}
