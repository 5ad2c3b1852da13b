//! Adapts a connection and a clock to the HTTP library.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{ReadBufCursor, Sleep, Timer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::connections::Activity;

/// The number of bytes that a client must read before the timeout restarts.
const PROGRESS_BYTES: usize = 16 << 10;

/// The size of the buffer from which the library reads.
const READ_BYTES: usize = 8 << 10;

/// A connection that fails if the client reads too slowly. The library bounds the time for sending.
pub(super) struct Stream {
    inner: TcpStream,
    timeout: Duration,
    /// Runs while the client has not read the data sent to it.
    stalled: Option<Pin<Box<tokio::time::Sleep>>>,
    /// Bytes written since `stalled` was started.
    written: usize,
    activity: Activity,
}

impl Stream {
    pub(super) fn new(inner: TcpStream, timeout: Duration, activity: Activity) -> Stream {
        Stream { inner, timeout, stalled: None, written: 0, activity }
    }

    /// Waits until the client reads, and fails after the timeout.
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let timeout = self.timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        match stalled.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    fn progressed(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written >= PROGRESS_BYTES {
            (self.stalled, self.written) = (None, 0);
        }
    }
}

impl hyper::rt::Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // The copy through this buffer avoids `unsafe`; heads are small.
        let mut bytes = [0; READ_BYTES];
        let length = cursor.remaining().min(READ_BYTES);
        let mut buffer = ReadBuf::new(&mut bytes[..length]);
        let read = Pin::new(&mut self.inner).poll_read(context, &mut buffer);
        if let Poll::Ready(Ok(())) = read {
            cursor.put_slice(buffer.filled());
        }
        read
    }
}

impl hyper::rt::Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.inner).poll_write(context, bytes) {
            Poll::Pending => self.wait(context),
            Poll::Ready(written) => {
                self.progressed(*written.as_ref().unwrap_or(&0));
                Poll::Ready(written)
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The library flushes when it has nothing more to write.
        (self.stalled, self.written) = (None, 0);
        self.activity.flushed();
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// The clock of the library's own timeouts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock;

struct Sleeping(Pin<Box<tokio::time::Sleep>>);

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Sleeping(Box::pin(tokio::time::sleep(duration))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Sleeping(Box::pin(tokio::time::sleep_until(deadline.into()))))
    }
}

impl Future for Sleeping {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Sleep for Sleeping {}
