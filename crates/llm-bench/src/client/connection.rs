//! One keep-alive connection.

use super::{Error, Recording};
use crate::clock::Stamp;
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// One keep-alive connection. One exchange at a time.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
}

impl Connection {
    /// Connects to `server`, from the address `source` where one is given.
    ///
    /// # Errors
    /// The connection cannot be had.
    pub async fn open(server: SocketAddr, source: Option<IpAddr>) -> Result<Self, Error> {
        let socket = if server.is_ipv4() {
            TcpSocket::new_v4()?
        } else {
            TcpSocket::new_v6()?
        };
        if let Some(source) = source {
            socket.bind(SocketAddr::new(source, 0))?;
        }
        let stream = socket.connect(server).await?;
        // Without it small requests wait for the peer's acknowledgement.
        stream.set_nodelay(true)?;
        Ok(Self { stream })
    }

    /// Whether the server has neither closed it nor said anything unasked. Costs a system call only where it did.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let mut byte = [0];
        matches!(self.stream.try_read(&mut byte), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    }

    /// Sends `request` and records the answer, to its end. What `recording` held is dropped, its memory kept.
    ///
    /// # Errors
    /// The socket fails, the answer is cut or no HTTP/1.1. What has arrived is in `recording`. The connection is of no more use.
    pub async fn exchange(
        &mut self,
        request: &[u8],
        recording: &mut Recording,
    ) -> Result<(), Error> {
        recording.start(Stamp::now());
        self.stream.write_all(request).await?;
        loop {
            let read = self.stream.read_buf(recording.space()).await?;
            let now = Stamp::now();
            if recording.arrived(read, now)? {
                return Ok(());
            }
        }
    }
}
