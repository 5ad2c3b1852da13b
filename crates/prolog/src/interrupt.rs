//! Stopping a query from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle that stops running queries from another thread, or from a signal handler.
///
/// A budget stops the same query at the same inference everywhere. An interrupt comes when it comes, so a program that
/// must answer alike on each machine is run without one.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// A handle that has not been used.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// Stops the running query soon, with [`Resource::Time`](crate::Resource::Time). Queries that come later stop too,
    /// until [`Interrupt::clear`].
    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Lets queries run again; says whether a stop had been asked for.
    pub fn clear(&self) -> bool {
        self.requested.swap(false, Ordering::Relaxed)
    }

    /// Whether a stop was asked for.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// The flag behind the handle, for signal handlers that can do no more than set one.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.requested)
    }
}
