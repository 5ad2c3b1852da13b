//! The bytes of a client's connection, as they arrive: the first ones must be in time, and each request must have one
//! length.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::admission::Place;

use super::framing::Framing;

/// The length of the preface of HTTP/2. After as many bytes, the version of HTTP is known, and hyper limits the time.
const PREFACE_BYTES: usize = 24;

/// A connection that fails if neither its version of HTTP nor its first request is known in time, because hyper waits
/// for the version without a limit. Its place counts as silent until its first byte arrives.
pub(super) struct Opening<S> {
    stream: S,
    place: Arc<Place>,
    progress: Arc<Progress>,
    read: usize,
    framing: Framing,
    /// `None` once the version is known.
    deadline: Option<Pin<Box<Sleep>>>,
}

/// What is known about a connection.
#[derive(Debug)]
pub(super) struct Progress {
    /// Whether a request has arrived.
    has_request: AtomicBool,
    /// How many requests have arrived. Over HTTP/1.1, they arrive in the order in which they were sent.
    requests: AtomicU64,
    /// The number of the first request with both a content length and a transfer encoding; the maximum if there is none.
    two_lengths: AtomicU64,
    /// Whether the connection failed because nothing arrived in time.
    pub(super) was_silent: AtomicBool,
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress {
            has_request: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            two_lengths: AtomicU64::new(u64::MAX),
            was_silent: AtomicBool::new(false),
        }
    }

    /// Counts a request. Returns whether it has both a content length and a transfer encoding.
    pub(super) fn count_request(&self) -> bool {
        self.has_request.store(true, Ordering::Relaxed);
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        number == self.two_lengths.load(Ordering::Relaxed)
    }
}

impl<S> Opening<S> {
    pub(super) fn new(stream: S, place: Arc<Place>, progress: Arc<Progress>, patience: Duration) -> Opening<S> {
        let framing = Framing::new();
        Opening { stream, place, progress, read: 0, framing, deadline: Some(Box::pin(sleep(patience))) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Opening<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        match Pin::new(&mut this.stream).poll_read(context, buffer) {
            Poll::Ready(result) => {
                let count = buffer.filled().len() - before;
                if this.read == 0 && count > 0 {
                    this.place.has_spoken();
                }
                this.read = this.read.saturating_add(count);
                if let Some(request) = this.framing.feed(&buffer.filled()[before..]) {
                    this.progress.two_lengths.store(request, Ordering::Relaxed);
                }
                if this.read >= PREFACE_BYTES {
                    this.deadline = None;
                }
                Poll::Ready(result)
            }
            Poll::Pending => {
                let Some(deadline) = this.deadline.as_mut() else { return Poll::Pending };
                if this.progress.has_request.load(Ordering::Relaxed) {
                    this.deadline = None;
                    return Poll::Pending;
                }
                ready!(deadline.as_mut().poll(context));
                this.progress.was_silent.store(true, Ordering::Relaxed);
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "nothing was sent in time")))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Opening<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
