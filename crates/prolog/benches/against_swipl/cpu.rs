//! CPU time of this thread.

use std::time::{Duration, Instant};

/// The CPU time that `work` took, which changes little on a busy machine, unlike wall-clock time. If the system does
/// not report CPU time, wall-clock time is used.
pub fn time(work: impl FnOnce()) -> Duration {
    let (before, started) = (on_processor(), Instant::now());
    work();
    match (before, on_processor()) {
        (Some(before), Some(after)) => Duration::from_nanos(after - before),
        _ => started.elapsed(),
    }
}

fn on_processor() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
