//! The open connections. When there are too many, the oldest idle one is closed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::task::{AbortHandle, JoinSet};

/// What a connection is doing.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity(Arc<AtomicU8>);

const IDLE: u8 = 0;
const ANSWERING: u8 = 1;
const WRITING: u8 = 2;

impl Activity {
    /// Records that a request was read.
    pub(super) fn answering(&self) {
        self.0.store(ANSWERING, Ordering::Relaxed);
    }

    /// Records that the answer is now being written.
    pub(super) fn writing(&self) {
        self.0.store(WRITING, Ordering::Relaxed);
    }

    /// Records that all available bytes were written: unless a request is still being answered, the connection then
    /// counts as idle. A streamed answer thus counts as idle after its first bytes.
    pub(super) fn flushed(&self) {
        let _ = self.0.compare_exchange(WRITING, IDLE, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn is_idle(&self) -> bool {
        self.0.load(Ordering::Relaxed) == IDLE
    }
}

/// The open connections, oldest first. They are closed when this is dropped.
#[derive(Default)]
pub(super) struct Connections {
    tasks: JoinSet<()>,
    open: VecDeque<(AbortHandle, Activity)>,
}

impl Connections {
    /// Whether another connection can be accepted, possibly by closing an idle one.
    pub(super) fn has_room(&mut self, max: usize) -> bool {
        while self.tasks.try_join_next().is_some() {}
        self.open.retain(|(task, _)| !task.is_finished());
        self.open.len() < max || self.open.iter().any(|(_, activity)| activity.is_idle())
    }

    /// Adds a connection; if there are too many, closes the oldest idle one.
    pub(super) fn add(&mut self, talking: impl Future<Output = ()> + Send + 'static, activity: Activity, max: usize) {
        if self.open.len() >= max
            && let Some(position) = self.open.iter().position(|(_, activity)| activity.is_idle())
            && let Some((idle, _)) = self.open.remove(position)
        {
            idle.abort();
        }
        let task = self.tasks.spawn(talking);
        self.open.push_back((task, activity));
    }
}
