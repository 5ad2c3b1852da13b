//! Health probes of workloads.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Probes a workload once. It is healthy if it answers `GET path` with a 2xx status, or, without a path, if it accepts
/// a connection.
pub async fn probe(address: SocketAddr, path: Option<&str>, patience: Duration) -> io::Result<()> {
    match timeout(patience, ask(address, path)).await {
        Ok(answer) => answer,
        Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer in {} ms", patience.as_millis()))),
    }
}

async fn ask(address: SocketAddr, path: Option<&str>) -> io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    let Some(path) = path else { return Ok(()) };
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nuser-agent: mario\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    // Only the start of the status line is read.
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    match &head {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', b'2', tens, ones]
            if tens.is_ascii_digit() && ones.is_ascii_digit() =>
        {
            Ok(())
        }
        _ => Err(io::Error::other(format!("`{path}` answers `{}`", String::from_utf8_lossy(&head).escape_debug()))),
    }
}

/// Whether a failed probe says something about the copy: it refused or closed the connection, or gave no or another
/// answer. All other errors of the system, such as a lack of file descriptors, concern this node.
pub(super) fn concerns_copy(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, TimedOut};
    error.raw_os_error().is_none()
        || matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionRefused | ConnectionReset | TimedOut)
}
