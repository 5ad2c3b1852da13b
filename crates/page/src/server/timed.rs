//! A connection that fails if the client reads too slowly. The HTTP library itself limits how slowly a client may send
//! the head of a request.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::connections::Activity;

/// The timeout is reset when this many bytes have been written since the last reset, and at every flush.
const PROGRESS_BYTES: usize = 16 << 10;

pub(super) struct TimedStream {
    inner: TcpStream,
    timeout: Duration,
    /// The timeout; `None` if the socket has accepted all writes since the last reset.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the last reset.
    written: usize,
    activity: Activity,
}

impl TimedStream {
    pub(super) fn new(inner: TcpStream, timeout: Duration, activity: Activity) -> TimedStream {
        TimedStream { inner, timeout, stalled: None, written: 0, activity }
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.inner).poll_write(context, bytes) {
            Poll::Pending => {
                let timeout = self.timeout;
                let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(timeout)));
                stalled.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
            Poll::Ready(written) => {
                self.written += *written.as_ref().unwrap_or(&0);
                if self.written >= PROGRESS_BYTES {
                    (self.stalled, self.written) = (None, 0);
                }
                Poll::Ready(written)
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The library flushes only when it has nothing more to write, so the timeout is reset.
        (self.stalled, self.written) = (None, 0);
        self.activity.flushed();
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
