//! The period that an agent looks at, and the span in which what reached it was sent.

use mario_domain::{Duration, Time};

/// An evaluation period: `length` long, and over `now`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    pub(super) length: Duration,
    pub(super) now: Time,
}

/// From one moment on, and before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) from: Time,
    pub(super) until: Time,
}

impl Window {
    /// When the requests were sent that arrived in this period, after this latency.
    pub(super) fn sent(self, latency: Duration) -> Span {
        Span { from: self.now - self.length - latency, until: self.now - latency }
    }
}
