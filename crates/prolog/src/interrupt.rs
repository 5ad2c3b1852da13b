//! A handle with which a host stops a running query.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle with which another thread, or a signal handler, stops running queries.
///
/// A budget stops the same query at the same inference on every machine. The time of an interrupt is not deterministic,
/// so do not use one if a program must have the same answers on every machine.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// A handle without a pending request.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// Stops the running query soon, with [`Resource::Time`](crate::Resource::Time). Later queries stop, too, until
    /// [`Interrupt::clear`] is called.
    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Lets queries run again; returns whether a stop had been requested.
    pub fn clear(&self) -> bool {
        self.requested.swap(false, Ordering::Relaxed)
    }

    /// Whether a stop is requested.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// The flag behind the handle, for a signal handler that can only set a flag.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.requested)
    }
}
