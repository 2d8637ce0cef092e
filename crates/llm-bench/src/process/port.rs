//! Ports that nobody uses.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// A loopback address that was free a moment ago.
///
/// # Errors
/// There is none.
pub fn free() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}
