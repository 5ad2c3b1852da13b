//! The state of a running dashboard, and its subscribers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use mario_live::api::{Event, Received, TestbedData};
use serde_json::{Value, json};
use tokio::sync::{Notify, broadcast, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::NodeSource;
use crate::picture::{Answer, ColonyEvent, Picture};

/// How long changes are batched before a new snapshot is sent to browsers. Events are sent at once.
const GATHERING: Duration = Duration::from_millis(250);

/// How often a point is added to the time series.
pub(crate) const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// How many frames a slow browser may lag behind; beyond that it has to reconnect.
const BEHIND_MAX: usize = 1_024;

pub(crate) struct Hub {
    picture: Mutex<Picture>,
    pub(crate) sources: Vec<NodeSource>,
    /// The data of the testbed; see [`Dashboard`](crate::Dashboard).
    extra: Option<watch::Receiver<TestbedData>>,
    has_news: Notify,
    news: broadcast::Sender<Message>,
    /// Distinguishes this dashboard from an earlier one on the same port.
    pub(crate) name: String,
}

/// A frame of server-sent events for all browsers.
pub(crate) type Message = Bytes;

impl Hub {
    pub(crate) fn new(
        picture: Picture,
        sources: Vec<NodeSource>,
        extra: Option<watch::Receiver<TestbedData>>,
    ) -> Arc<Hub> {
        Arc::new(Hub {
            picture: Mutex::new(picture),
            sources,
            extra,
            has_news: Notify::new(),
            news: broadcast::channel(BEHIND_MAX).0,
            name: format!("{:016x}", mario_live::random_id() as u64),
        })
    }

    pub(crate) fn picture(&self) -> MutexGuard<'_, Picture> {
        self.picture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the picture if the testbed has announced the end of the run. It does so before it stops the first daemon, so
    /// with this check before each change, a daemon that is stopped on purpose is never taken for a fault.
    fn end_if_over(&self, picture: &mut Picture) {
        let Some(extra) = &self.extra else { return };
        let told = extra.borrow();
        if !picture.is_over() && told.outcome.is_some() {
            picture.set_extra(told.clone(), now_ms());
        }
    }

    pub(crate) fn answered(&self, source: usize, answer: Answer) {
        self.picture().answered(source, now_ms(), answer);
        self.has_news.notify_one();
    }

    pub(crate) fn silent(&self, source: usize, cause: &str) {
        let mut picture = self.picture();
        self.end_if_over(&mut picture);
        picture.silent(source, now_ms(), cause);
        drop(picture);
        self.has_news.notify_one();
    }

    pub(crate) fn moved(&self, source: usize, address: &str) {
        self.picture().moved(source, address);
        self.has_news.notify_one();
    }

    pub(crate) fn extra_changed(&self) {
        let Some(extra) = &self.extra else { return };
        let told = extra.borrow().clone();
        let mut picture = self.picture();
        picture.set_extra(told, now_ms());
        // The last snapshot is not delayed: the process may end soon after the run.
        if picture.is_over() {
            let _ = self.news.send(frame("picture", None, &picture.snapshot(now_ms())));
        }
        drop(picture);
        self.has_news.notify_one();
    }

    /// Whether the node has told its id.
    pub(crate) fn knows_id(&self, source: usize) -> bool {
        self.picture().knows_id(source)
    }

    /// Adds an event to the picture and sends it to browsers. Returns `false`, and does neither, for a duplicate.
    pub(crate) fn happened(&self, source: usize, event: &Received<Event>) -> bool {
        let mut picture = self.picture();
        self.end_if_over(&mut picture);
        let Some(colony_event) = picture.happened(source, now_ms(), event) else { return false };
        // Sent under the lock, so that a connecting browser gets each event exactly once.
        let _ = self.news.send(self.event_frame(&colony_event));
        drop(picture);
        self.has_news.notify_one();
        true
    }

    fn event_frame(&self, colony_event: &ColonyEvent) -> Bytes {
        frame("happened", Some(&format!("{}-{}", self.name, colony_event.number)), &json!(colony_event))
    }

    /// Returns the first frames for a browser, and a receiver for later ones. The first frames are a greeting, a
    /// snapshot, and the kept events after number `last`: the last event that the browser has seen. `last` is `None` if
    /// the browser has seen no event of this dashboard; then all kept events are included.
    pub(crate) fn subscribe(&self, last: Option<u64>) -> (Vec<Bytes>, broadcast::Receiver<Message>) {
        let picture = self.picture();
        let news = self.news.subscribe();
        let mut first = vec![
            frame("hello", None, &json!({ "name": self.name, "is_resumed": last.is_some() })),
            frame("picture", None, &picture.snapshot(now_ms())),
        ];
        first.extend(picture.events(last).map(|colony_event| self.event_frame(colony_event)));
        (first, news)
    }

    /// The number of the last event that a browser has seen, from the id that the browser sends; `None` for an id of
    /// another dashboard or a malformed one.
    pub(crate) fn last_seen(&self, id: &str) -> Option<u64> {
        let (name, number) = id.split_once('-')?;
        if name == self.name { number.parse().ok() } else { None }
    }
}

/// Sends a snapshot when something has changed and a browser is connected. Adds a point to the time series every
/// [`SAMPLE_EVERY`], and announces it.
pub(crate) async fn publish(hub: Arc<Hub>) {
    let mut ticks = interval(SAMPLE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = hub.has_news.notified() => {
                sleep(GATHERING).await;
                if hub.news.receiver_count() > 0 {
                    let picture = hub.picture().snapshot(now_ms());
                    let _ = hub.news.send(frame("picture", None, &picture));
                }
            }
            _ = ticks.tick() => {
                let now_ms = now_ms();
                let mut picture = hub.picture();
                if !picture.is_over() {
                    picture.sample(now_ms);
                    // Only the time is sent: each page then requests charts drawn for its own width.
                    let _ = hub.news.send(frame("sample", None, &json!({ "time_ms": now_ms })));
                }
            }
        }
    }
}

fn frame(kind: &str, id: Option<&str>, data: &Value) -> Bytes {
    // JSON escapes line breaks within strings, so the data fits on one `data:` line.
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    Bytes::from(format!("event: {kind}\n{id}data: {data}\n\n"))
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
