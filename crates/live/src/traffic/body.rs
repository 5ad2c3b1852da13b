//! Bodies in transit. All are aborted when idle; those of requests are also bounded in size and buffered for retries.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use crate::seams::{Body, BodyError};

/// An empty body.
pub(super) fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed()
}

/// A body of these bytes.
pub(super) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed()
}

/// Why a body was aborted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cut {
    /// It exceeds the maximum length.
    TooLong,
    /// It was idle for too long.
    Idle,
    /// A later attempt sends the body now.
    Superseded,
}

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Cut::TooLong => "the body is longer than it may be",
            Cut::Idle => "nothing of the body came for too long",
            Cut::Superseded => "the body is sent by another attempt",
        })
    }
}

impl std::error::Error for Cut {}

/// The body of a request. It is buffered while it is sent, up to a limit, so that the request can be retried.
#[derive(Clone)]
pub(super) struct Replay {
    /// `None` for an empty body.
    state: Option<Arc<Mutex<ReplayState>>>,
}

struct ReplayState {
    incoming: Timed,
    /// The bytes read so far; empty once they exceed the limit of the buffer.
    kept: VecDeque<Bytes>,
    kept_bytes: usize,
    kept_max: usize,
    is_kept_whole: bool,
    trailers: Option<HeaderMap>,
    is_read: bool,
    bytes_left: u64,
    cut: Option<Cut>,
    attempts: u32,
}

/// The body of one attempt.
struct Attempt {
    state: Arc<Mutex<ReplayState>>,
    number: u32,
    next: usize,
    is_done: bool,
}

impl Replay {
    /// Creates a body that buffers up to `kept_max` bytes, and is aborted when it exceeds `bytes_max` bytes or is idle
    /// for `idle`.
    pub(super) fn new(incoming: Incoming, kept_max: usize, bytes_max: u64, idle: Duration) -> Replay {
        if incoming.is_end_stream() {
            return Replay { state: None };
        }
        let state = ReplayState {
            incoming: Timed::new(incoming, idle),
            kept: VecDeque::new(),
            kept_bytes: 0,
            kept_max,
            is_kept_whole: true,
            trailers: None,
            is_read: false,
            bytes_left: bytes_max,
            cut: None,
            attempts: 0,
        };
        Replay { state: Some(Arc::new(Mutex::new(state))) }
    }

    /// Returns the body for the next attempt. Bodies of earlier attempts fail from then on.
    pub(super) fn attempt(&self) -> Body {
        let Some(state) = &self.state else { return empty() };
        let number = {
            let mut locked = lock(state);
            locked.attempts += 1;
            locked.attempts
        };
        Attempt { state: Arc::clone(state), number, next: 0, is_done: false }.boxed()
    }

    /// Whether another attempt would send the same bytes from the start.
    pub(super) fn is_replayable(&self) -> bool {
        self.state.as_ref().is_none_or(|state| {
            let state = lock(state);
            state.is_kept_whole && state.cut.is_none()
        })
    }

    /// Why the body was aborted, if it was.
    pub(super) fn cut(&self) -> Option<Cut> {
        self.state.as_ref().and_then(|state| lock(state).cut)
    }
}

fn lock(state: &Mutex<ReplayState>) -> MutexGuard<'_, ReplayState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReplayState {
    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(cut) = self.cut {
            return Poll::Ready(Some(Err(cut.into())));
        }
        if self.is_read {
            return Poll::Ready(None);
        }
        let frame = match std::task::ready!(Pin::new(&mut self.incoming).poll_frame(context)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => {
                self.cut = error.downcast_ref::<Cut>().copied();
                self.is_kept_whole = false;
                return Poll::Ready(Some(Err(error)));
            }
            None => {
                self.is_read = true;
                return Poll::Ready(None);
            }
        };
        match frame.into_data() {
            Ok(data) => {
                let Some(bytes_left) = self.bytes_left.checked_sub(data.len() as u64) else {
                    self.cut = Some(Cut::TooLong);
                    return Poll::Ready(Some(Err(Cut::TooLong.into())));
                };
                self.bytes_left = bytes_left;
                self.kept_bytes += data.len();
                if self.is_kept_whole && self.kept_bytes <= self.kept_max {
                    self.kept.push_back(data.clone());
                } else {
                    self.is_kept_whole = false;
                    self.kept.clear();
                }
                // Detects the end together with the last data, so that HTTP/2 sends both in one frame. Receivers limit
                // small DATA frames that do not end a stream, and close a link that exceeds the limit.
                self.is_read = self.incoming.is_end_stream();
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
            Err(frame) => {
                if let Ok(trailers) = frame.into_trailers() {
                    self.trailers = Some(trailers.clone());
                    self.is_read = true;
                    return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
                }
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

impl HttpBody for Attempt {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.is_done {
            return Poll::Ready(None);
        }
        let shared = Arc::clone(&self.state);
        let mut state = lock(&shared);
        if state.attempts != self.number {
            return Poll::Ready(Some(Err(Cut::Superseded.into())));
        }
        if let Some(data) = state.kept.get(self.next).cloned() {
            self.next += 1;
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if state.is_read {
            self.is_done = true;
            return Poll::Ready(state.trailers.clone().map(|trailers| Ok(Frame::trailers(trailers))));
        }
        let polled = state.poll_more(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) if frame.is_data() => self.next = state.kept.len(),
            Poll::Ready(_) => self.is_done = true,
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        if self.is_done {
            return true;
        }
        let state = lock(&self.state);
        state.is_read && state.trailers.is_none() && self.next >= state.kept.len()
    }

    fn size_hint(&self) -> SizeHint {
        let state = lock(&self.state);
        let kept: u64 = state.kept.iter().skip(self.next).map(|data| data.len() as u64).sum();
        let more = if state.is_read { SizeHint::with_exact(0) } else { state.incoming.size_hint() };
        let mut hint = SizeHint::new();
        hint.set_lower(more.lower() + kept);
        if let Some(upper) = more.upper() {
            hint.set_upper(upper + kept);
        }
        hint
    }
}

/// A body with an idle timeout.
pub(super) struct Timed {
    incoming: Incoming,
    idle: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Timed {
    fn new(incoming: Incoming, idle: Duration) -> Timed {
        Timed { incoming, idle, timer: None }
    }
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match Pin::new(&mut self.incoming).poll_frame(context) {
            Poll::Ready(frame) => {
                self.timer = None;
                Poll::Ready(frame.map(|frame| frame.map_err(BodyError::from)))
            }
            Poll::Pending => {
                let idle = self.idle;
                // A timer is created only when the next frame is not ready at once.
                let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(idle)));
                match timer.as_mut().poll(context) {
                    Poll::Ready(()) => {
                        timer.as_mut().reset(Instant::now() + idle);
                        Poll::Ready(Some(Err(Cut::Idle.into())))
                    }
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

/// The body of a response, with a guard that is held until the body ends, fails or is dropped.
pub(super) struct Held<T> {
    body: Timed,
    held: Option<T>,
}

impl<T: Unpin> Held<T> {
    pub(super) fn new(incoming: Incoming, idle: Duration, held: T) -> Held<T> {
        let is_over = incoming.is_end_stream();
        Held { body: Timed::new(incoming, idle), held: (!is_over).then_some(held) }
    }
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) || self.body.is_end_stream() {
            self.held = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
