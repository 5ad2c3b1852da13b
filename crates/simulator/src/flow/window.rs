//! The period that an agent observes, and the span in which the requests of that period were sent.

use mario_domain::{Duration, Time};

/// An evaluation period of this `length` that ends at `now`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    pub(super) length: Duration,
    pub(super) now: Time,
}

/// A half-open interval of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) from: Time,
    pub(super) until: Time,
}

impl Window {
    /// When requests with this latency must be sent to arrive in this period.
    pub(super) fn sent(self, latency: Duration) -> Span {
        Span { from: self.now - self.length - latency, until: self.now - latency }
    }
}
