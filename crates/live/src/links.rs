//! The links of a node: for each neighbour a control connection, for messages, and data connections, for client
//! requests, all with mutual TLS.
//!
//! | connection | who connects | what it carries |
//! |---|---|---|
//! | control | the node with the smaller id | frames of `mario-wire`, both ways |
//! | data | both, one connection each | HTTP/2 requests of the node that connected |
//!
//! A node has links only to configured neighbours, whose certificates must prove their identity. A link is up while its
//! control connection is. Pings serve as heartbeats: the link goes down when nothing was received for more than
//! `silence_ms` (in `node.toml`), three seconds by default.
//!
//! **Invariant:** input from neighbours is bounded: frames in size and rate, unidentified connections in number and
//! duration. A neighbour that violates the protocol is disconnected, and may reconnect.

mod control;
mod data;
mod listen;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mario_domain::NodeId;
use mario_wire::{Envelope, encode_frame};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use crate::admission::Admission;
use crate::api::{self, NodeEvent};
use crate::config::{Neighbour, NodeConfig};
use crate::daemon::{Event, Events};
use crate::error::LiveError;
use crate::identity::Identity;
use crate::seams::{DataLink, Forward};

/// The capacity of a link's send queue, in frames. When it is full, frames are dropped, as if the network had lost
/// them.
const OUTBOX_FRAMES: usize = 512;

/// A connection that lasted at least this long was a success, even if it has ended since.
const LASTING: Duration = Duration::from_secs(3);

/// How long the attempt of a second node with the id of a neighbour is shown: longer than it waits between two attempts.
const TWIN_LASTS: Duration = Duration::from_mins(1);

/// The timeout of the TLS handshake, including the TCP connect if this node opens the connection.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// An event of links.
#[derive(Debug)]
pub(crate) enum LinkEvent {
    /// A control connection was established.
    Up { neighbour: NodeId, session: u64 },
    /// A control connection ended.
    Down { neighbour: NodeId, session: u64 },
    /// A message arrived over a control connection.
    Received { neighbour: NodeId, session: u64, envelope: Box<Envelope> },
    /// A data connection was established or ended, or the latency of a link in quanta has changed.
    Changed,
}

/// The links of a node. A clone is a handle to the same set.
#[derive(Clone)]
pub(crate) struct Links {
    shared: Arc<Shared>,
}

struct Shared {
    node: NodeId,
    identity: Arc<Identity>,
    neighbours: Vec<Neighbour>,
    silence: Duration,
    quantum_us: f64,
    table: Mutex<BTreeMap<NodeId, Link>>,
    next_session: AtomicU64,
    core: mpsc::Sender<Event>,
    events: Events,
    /// Which connections may identify themselves.
    strangers: Admission,
}

/// The state of the link to one neighbour.
#[derive(Default)]
struct Link {
    session: Option<Session>,
    data: Option<DataLink>,
    round_trip_us: Option<f64>,
    /// The one-way latency in quanta: half the smoothed round-trip time, rounded with hysteresis.
    quanta: u32,
    counts: LinkCounts,
    /// Why the link is down; `None` while it is up, and before the first attempt.
    fault: Option<String>,
    /// When another node with the id of the neighbour last tried to connect, although the neighbour was connected.
    twin_at: Option<Instant>,
    /// When the neighbour last rejected this node, because another node with its id is connected; `None` after a
    /// connection.
    rejected_as_twin_at: Option<Instant>,
    /// Wakes the tasks that wait to reconnect to the neighbour, indexed by [`Connection`]. If this node has the greater
    /// id, it does not open the control connection, but asks the neighbour why that does not open it.
    dials: [Arc<Notify>; 2],
}

/// The kinds of connections of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Connection {
    Control,
    Data,
}

struct Session {
    number: u64,
    outbox: mpsc::Sender<Vec<u8>>,
    /// Whether the neighbour has answered a [probe](Links::answers) in this session.
    has_answered: bool,
}

/// Counters of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounts {
    /// Messages queued for sending, without pings and pongs.
    pub sent: u64,
    /// Messages received, including pings and pongs, but not those of a kind that only newer versions know.
    pub received: u64,
    /// Messages that were not sent, because the link was down, its queue was full, or they could not be encoded.
    pub dropped: u64,
    /// How often the link came up.
    pub sessions: u64,
}

impl Links {
    pub(crate) fn new(
        config: &NodeConfig,
        identity: Arc<Identity>,
        core: mpsc::Sender<Event>,
        events: Events,
        strangers: Admission,
    ) -> Links {
        let table = config.neighbours.iter().map(|neighbour| (neighbour.id.clone(), Link::default())).collect();
        let shared = Shared {
            node: config.node.clone(),
            identity,
            neighbours: config.neighbours.clone(),
            silence: config.silence(),
            quantum_us: config.timing.latency_quantum_ms * 1_000.0,
            table: Mutex::new(table),
            next_session: AtomicU64::new(1),
            core,
            events,
            strangers,
        };
        Links { shared: Arc::new(shared) }
    }

    /// Spawns the tasks that accept and open connections, until `tasks` is dropped.
    pub(crate) fn run(
        &self,
        listener: TcpListener,
        forward: &Arc<dyn Forward>,
        tasks: &mut JoinSet<()>,
    ) -> Result<(), LiveError> {
        listen::spawn(self, listener, forward, tasks)?;
        for neighbour in &self.shared.neighbours {
            if self.shared.node < neighbour.id {
                control::dial(self, neighbour, tasks)?;
            } else {
                control::ask(self, neighbour, tasks)?;
            }
            data::dial(self, neighbour, tasks)?;
        }
        Ok(())
    }

    /// Sends an envelope to a neighbour. Drops it if the link is down or its queue is full, or if the envelope cannot
    /// be encoded, which is also reported as a fault.
    pub(crate) fn send(&self, to: &NodeId, envelope: &Envelope) {
        let mut frame = Vec::new();
        let encoded = encode_frame(envelope, &mut frame);
        let mut table = self.table();
        let Some(link) = table.get_mut(to) else { return };
        let sent =
            encoded.is_ok() && link.session.as_ref().is_some_and(|session| session.outbox.try_send(frame).is_ok());
        if sent {
            link.counts.sent += 1;
        } else {
            link.counts.dropped += 1;
        }
        drop(table);
        if let Err(error) = encoded {
            self.shared
                .events
                .publish(NodeEvent::Fault { message: format!("a message to {to} cannot be written: {error}") });
        }
    }

    /// Ends a session, if it is still the current one of the neighbour.
    pub(crate) fn close(&self, neighbour: &NodeId, session: u64) {
        let mut table = self.table();
        if let Some(link) = table.get_mut(neighbour)
            && link.session.as_ref().is_some_and(|known| known.number == session)
        {
            link.session = None;
        }
    }

    /// Whether this is the current session of the neighbour.
    pub(crate) fn is_current(&self, neighbour: &NodeId, session: u64) -> bool {
        let table = self.table();
        table.get(neighbour).and_then(|link| link.session.as_ref()).is_some_and(|known| known.number == session)
    }

    /// The data link to a neighbour, if it is up, and the latency that the link adds, in quanta.
    pub(crate) fn data(&self, neighbour: &NodeId) -> Option<(DataLink, u32)> {
        let table = self.table();
        let link = table.get(neighbour)?;
        let data = link.data.clone().filter(DataLink::is_open)?;
        Some((data, link.quanta))
    }

    /// The latency that a link adds, in quanta; 0 before the first measurement.
    pub(crate) fn quanta(&self, neighbour: &NodeId) -> u32 {
        self.table().get(neighbour).map_or(0, |link| link.quanta)
    }

    /// The state of all links, in the order of the configuration.
    pub(crate) fn status(&self) -> Vec<api::Link> {
        let table = self.table();
        let status = |neighbour: &Neighbour| {
            let link = table.get(&neighbour.id)?;
            Some(api::Link {
                neighbour: neighbour.id.clone(),
                address: neighbour.address.clone(),
                is_up: link.session.is_some(),
                has_data: link.data.as_ref().is_some_and(DataLink::is_open),
                round_trip_ms: link.round_trip_us.map(|round_trip| round_trip / 1_000.0),
                fault: link.fault.clone().or_else(|| link.has_twin().then(|| control::another(&neighbour.id))),
                sent: link.counts.sent,
                received: link.counts.received,
                dropped: link.counts.dropped,
                sessions: link.counts.sessions,
                is_rejected: false,
            })
        };
        self.shared.neighbours.iter().filter_map(status).collect()
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<NodeId, Link>> {
        self.shared.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The backoff of reconnections to a neighbour.
    fn backoff(&self, neighbour: &NodeId, connection: Connection) -> Backoff {
        Backoff::new(Arc::clone(&self.table().entry(neighbour.clone()).or_default().dials[connection as usize]))
    }

    /// Notes why the link to a neighbour is down, unless it is up. Publishes an event if the cause is new.
    fn failed(&self, neighbour: &NodeId, cause: &str) {
        let mut table = self.table();
        let Some(link) = table.get_mut(neighbour).filter(|link| link.session.is_none()) else { return };
        if link.fault.replace(cause.to_owned()).as_deref() == Some(cause) {
            return;
        }
        drop(table);
        self.shared.events.publish(NodeEvent::LinkFailed { neighbour: neighbour.clone(), cause: cause.to_owned() });
    }

    /// Why another node seems to have the id of this one; `None` if no neighbour has said so recently.
    pub(crate) fn id_fault(&self) -> Option<String> {
        let table = self.table();
        let is_recent = |link: &Link| link.rejected_as_twin_at.is_some_and(|at| at.elapsed() < TWIN_LASTS);
        let (neighbour, _) = table.iter().find(|(_, link)| is_recent(link))?;
        Some(control::is_twin(&self.shared.node, neighbour))
    }

    /// Called when another node with the id of a connected neighbour tries to connect.
    fn met_twin(&self, neighbour: &NodeId) {
        if let Some(link) = self.table().get_mut(neighbour) {
            link.twin_at = Some(Instant::now());
        }
    }

    /// Called when a neighbour has connected: wakes the tasks that wait to reconnect to it.
    fn heard_from(&self, neighbour: &NodeId) {
        if let Some(link) = self.table().get(neighbour) {
            link.dials.iter().for_each(|dial| dial.notify_waiters());
        }
    }

    /// Starts a session for a new control connection. Returns its number, the receiver of its send queue, and the
    /// number of the session that it replaces, if there was one.
    fn begin_session(&self, neighbour: &NodeId) -> (u64, mpsc::Receiver<Vec<u8>>, Option<u64>) {
        let number = self.shared.next_session.fetch_add(1, Ordering::Relaxed);
        let (outbox, frames) = mpsc::channel(OUTBOX_FRAMES);
        let mut table = self.table();
        let link = table.entry(neighbour.clone()).or_default();
        let session = Session { number, outbox, has_answered: false };
        let before = link.session.replace(session).map(|session| session.number);
        link.counts.sessions += 1;
        link.fault = None;
        link.rejected_as_twin_at = None;
        (number, frames, before)
    }

    /// Updates the smoothed round-trip time with a measurement. Returns whether the latency in quanta has changed.
    fn measured(&self, neighbour: &NodeId, round_trip_us: u64) -> bool {
        let mut table = self.table();
        let Some(link) = table.get_mut(neighbour) else { return false };
        let new = round_trip_us as f64;
        let smoothed = link.round_trip_us.map_or(new, |old| old + (new - old) / 8.0);
        link.round_trip_us = Some(smoothed);
        let quanta = smoothed / 2.0 / self.shared.quantum_us;
        // The hysteresis of a little more than half a quantum prevents oscillation between two values.
        let has_changed = (quanta - f64::from(link.quanta)).abs() > 0.6;
        if has_changed {
            link.quanta = quanta.round().clamp(0.0, f64::from(u32::MAX)) as u32;
        }
        has_changed
    }
}

impl Link {
    /// Whether another node with the id of the neighbour has tried to connect recently.
    fn has_twin(&self) -> bool {
        self.twin_at.is_some_and(|at| at.elapsed() < TWIN_LASTS)
    }
}

/// How an attempt to connect ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Attempt {
    /// There was no connection.
    Failed,
    /// The neighbour closed the connection at once: it does not want it, and more attempts will not change that.
    Refused,
    /// There was a connection that lasted.
    Lasted,
}

impl Attempt {
    /// The attempt that led to a connection which was open since then.
    fn since(begun: Instant) -> Attempt {
        if begun.elapsed() >= LASTING { Attempt::Lasted } else { Attempt::Refused }
    }
}

/// Exponential backoff with jitter, so that disconnected nodes do not all reconnect at once.
///
/// Only a connection that lasted resets it: with TLS 1.3, a node that connects learns only afterwards that it is
/// rejected. The wait ends early if the neighbour connects first, because it is then reachable again.
struct Backoff {
    next: Duration,
    heard_from: Arc<Notify>,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(50);
    /// A node that does not answer may be back at any time.
    const LONGEST: Duration = Duration::from_secs(1);
    /// A node that rejects connections has to be restarted with another configuration, and then connects first.
    const LONGEST_REFUSED: Duration = Duration::from_secs(30);

    /// `heard_from` is notified when the neighbour connects.
    fn new(heard_from: Arc<Notify>) -> Backoff {
        Backoff { next: Backoff::FIRST, heard_from }
    }

    async fn wait(&mut self, attempt: Attempt) {
        let delay = self.delay(attempt);
        let chance = f64::from(crate::random::number() as u32) / f64::from(u32::MAX);
        tokio::select! {
            () = tokio::time::sleep(delay.mul_f64(0.5 + chance)) => {}
            () = self.heard_from.notified() => self.next = Backoff::FIRST,
        }
    }

    /// The delay after an attempt, without jitter; the next one is longer.
    fn delay(&mut self, attempt: Attempt) -> Duration {
        let longest = match attempt {
            Attempt::Failed | Attempt::Lasted => Backoff::LONGEST,
            Attempt::Refused => Backoff::LONGEST_REFUSED,
        };
        if attempt == Attempt::Lasted {
            self.next = Backoff::FIRST;
        }
        let delay = self.next.min(longest);
        self.next = (delay * 2).min(longest);
        delay
    }
}

/// Whether an error only means that the other side closed the connection.
pub(crate) fn is_closed(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

/// An error of a connection in words. Errors of the TLS library refer to its documentation.
pub(crate) fn in_words(error: &std::io::Error) -> String {
    if is_closed(error) {
        return "the other side closed the connection".to_owned();
    }
    let text = error.to_string();
    let end = text.find("http").unwrap_or(text.len());
    text[..end].trim_end_matches([' ', ':']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_ends_at_once_does_not_reset_the_backoff() {
        let mut backoff = Backoff::new(Arc::new(Notify::new()));
        let delays: Vec<u128> = (0..12).map(|_| backoff.delay(Attempt::Refused).as_millis()).collect();
        assert_eq!(delays, [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
        assert_eq!(backoff.delay(Attempt::Failed), Backoff::LONGEST, "the node is away: it may come back");
        assert_eq!(backoff.delay(Attempt::Lasted), Backoff::FIRST);
        let lasting = Instant::now().checked_sub(LASTING).expect("the machine runs longer than that");
        assert_eq!([Attempt::since(lasting), Attempt::since(Instant::now())], [Attempt::Lasted, Attempt::Refused]);
    }

    #[test]
    fn errors_of_connections_are_words_without_addresses_of_documents() {
        let eof = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "peer closed: https://docs.rs/rustls/x");
        assert_eq!(in_words(&eof), "the other side closed the connection");
        let other = std::io::Error::other("invalid peer certificate: see https://docs.rs/rustls/x");
        assert_eq!(in_words(&other), "invalid peer certificate: see");
    }
}
