//! A server under load.

use crate::BoxError;
use crate::client::{Connection, Error, Recording};
use parking_lot::Mutex;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

/// A server under load, with the connections to it that are open and idle. Clones share them.
#[derive(Clone, Debug)]
pub struct Target {
    address: SocketAddr,
    authority: Arc<str>,
    path: Arc<str>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Target {
    /// The server at `url`: `http://host:port`, perhaps with the beginning of a path.
    ///
    /// # Errors
    /// It is no such URL, or the host is not known.
    pub fn parse(url: &str) -> Result<Self, BoxError> {
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| format!("`{url}` is no URL: write http://HOST:PORT"))?;
        if scheme != "http" {
            return Err(format!("`{url}`: only http:// is spoken here; put a TLS-ending proxy of your own before a server that wants {scheme}").into());
        }
        let (authority, path) = rest
            .split_once('/')
            .map_or((rest, ""), |(authority, path)| (authority, path));
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let with_port = if has_port {
            authority.to_owned()
        } else {
            format!("{authority}:80")
        };
        let mut addresses = with_port
            .to_socket_addrs()
            .map_err(|error| format!("`{url}`: {error}"))?;
        let address = addresses
            .next()
            .ok_or_else(|| format!("`{url}`: the host has no address"))?;
        let path = path.trim_end_matches('/');
        Ok(Self {
            address,
            authority: authority.into(),
            path: if path.is_empty() {
                "".into()
            } else {
                format!("/{path}").into()
            },
            idle: Arc::default(),
        })
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its `host:port`, as in its URL.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// What all its paths begin with; empty, or `/…`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is on this machine.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Sends `request` on a connection that is open, or on a new one, and records the answer.
    ///
    /// A server may close an idle connection at any time. Where one turns out to be closed before any byte of the answer, the
    /// request is sent once more, on a new one.
    ///
    /// # Errors
    /// No connection can be had, or the answer is not whole. What has arrived is in `recording`.
    pub async fn exchange(&self, request: &[u8], recording: &mut Recording) -> Result<(), Error> {
        if let Some(connection) = self.idle() {
            let error = match self.on(connection, request, recording).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            if recording.first().is_ok() || !error.is_stale() {
                return Err(error);
            }
        }
        let connection = Connection::open(self.address, None)
            .await
            .map_err(Error::connect)?;
        self.on(connection, request, recording).await
    }

    async fn on(
        &self,
        mut connection: Connection,
        request: &[u8],
        recording: &mut Recording,
    ) -> Result<(), Error> {
        connection.exchange(request, recording).await?;
        if recording.keeps_alive() {
            self.idle.lock().push(connection);
        }
        Ok(())
    }

    /// The one used last, so that no more are kept alive than are needed.
    fn idle(&self) -> Option<Connection> {
        let mut idle = self.idle.lock();
        while let Some(connection) = idle.pop() {
            if connection.is_open() {
                return Some(connection);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_host_a_port_and_the_beginning_of_a_path() {
        let target = Target::parse("http://127.0.0.1:8000/").unwrap();
        assert_eq!(
            (target.authority(), target.path(), target.is_local()),
            ("127.0.0.1:8000", "", true)
        );
        let target = Target::parse("http://[::1]:81/openai/").unwrap();
        assert_eq!((target.address().port(), target.path()), (81, "/openai"));
        assert_eq!(
            Target::parse("http://10.1.2.3").unwrap().address().port(),
            80
        );
        assert!(!Target::parse("http://10.1.2.3").unwrap().is_local());
    }

    #[test]
    fn what_cannot_be_spoken_to_is_refused_with_the_fix() {
        assert!(
            Target::parse("127.0.0.1:8000")
                .unwrap_err()
                .to_string()
                .contains("write http://")
        );
        assert!(
            Target::parse("https://127.0.0.1")
                .unwrap_err()
                .to_string()
                .contains("only http://")
        );
    }
}
