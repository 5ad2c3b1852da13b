//! Events on a node, for its log and for operators.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mario_colony::WorkloadId;
use tokio::sync::broadcast;

use super::repeats::Repeats;
use crate::api::{Event, Happening, NodeEvent};

/// How many of the latest events are kept for later readers.
const KEPT: usize = 1_000;

/// The sink of events. A clone is a handle to the same sink.
#[derive(Clone)]
pub(crate) struct Events {
    kept: Arc<Mutex<Kept>>,
    news: broadcast::Sender<Arc<Event>>,
}

struct Kept {
    next: u64,
    events: VecDeque<Arc<Event>>,
    repeats: Repeats,
}

impl Events {
    pub(crate) fn new() -> Events {
        let kept = Kept { next: 1, events: VecDeque::new(), repeats: Repeats::default() };
        Events { kept: Arc::new(Mutex::new(kept)), news: broadcast::channel(256).0 }
    }

    /// Keeps an event for later readers, logs it to standard error, and sends it to all subscribers. An event that
    /// repeats is only counted, see [`Repeats`].
    pub(crate) fn publish(&self, event: NodeEvent) {
        if self.kept().repeats.admit(&event, Instant::now()) {
            self.write(event, None);
        }
    }

    /// Publishes the events that were counted and whose intervals have ended.
    pub(crate) fn publish_repeated(&self) {
        let due = self.kept().repeats.due(Instant::now());
        for (event, repeated) in due {
            self.write(event, Some(repeated));
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, event: NodeEvent, repeated: Option<u64>) {
        let time_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let mut kept = self.kept();
        let stamped = Arc::new(Event { number: kept.next, time_ms, event: Happening::Known(event), repeated });
        kept.next += 1;
        if kept.events.len() == KEPT {
            kept.events.pop_front();
        }
        kept.events.push_back(Arc::clone(&stamped));
        drop(kept);
        if let Ok(line) = serde_json::to_string(&*stamped) {
            // A node keeps running if its log is closed.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        let _ = self.news.send(stamped);
    }

    /// The kept events with numbers above this one, and a receiver for later events. An event that is being published
    /// may be among both.
    pub(crate) fn since(&self, number: u64) -> (Vec<Arc<Event>>, broadcast::Receiver<Arc<Event>>) {
        let kept = self.kept();
        let news = self.news.subscribe();
        (kept.events.iter().filter(|event| event.number > number).cloned().collect(), news)
    }
}

/// The id of a copy as text: `BOOT.COUNTER`.
pub(crate) fn workload_text(workload: WorkloadId) -> String {
    format!("{}.{}", workload.boot, workload.counter)
}
