//! What several queries may use together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Inferences that any number of queries share, on any number of machines and threads.
///
/// A [`Budget`](crate::Budget) bounds one query. Whoever runs many queries of a program that nobody vouches for bounds all of
/// them together: when the allowance is spent, the running query stops with [`Resource::Time`](crate::Resource::Time), and so
/// does each later one.
#[derive(Clone, Debug)]
pub struct Allowance {
    left: Arc<AtomicU64>,
}

impl Allowance {
    /// An allowance of as many inferences.
    pub fn new(inferences: u64) -> Allowance {
        Allowance { left: Arc::new(AtomicU64::new(inferences)) }
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Takes inferences away.
    pub(crate) fn charge(&self, inferences: u64) {
        let take = |left: u64| Some(left.saturating_sub(inferences));
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    }
}
