//! Admission of connections: which peers a listener of this node serves at once.
//!
//! A listener has a number of places, and each client address may have only some of them. A peer that has not sent
//! anything yet, or has not identified itself, holds its place only as long as nobody else needs it: when the places of
//! its address, or all places, are taken, the peer that has been silent for longest makes room for a new one. So silent
//! connections cannot shut out others, and a peer that speaks at once is always served.
//!
//! **Invariant:** the number of admitted connections never exceeds the limits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// How often a limit that keeps biting is reported.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Admits the connections of one listener. A clone is a handle to the same listener.
#[derive(Clone, Debug)]
pub struct Admission {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    listener: &'static str,
    connections_max: usize,
    per_address_max: usize,
    state: Mutex<State>,
    counts: Counts,
    is_reporting: AtomicBool,
    /// What happened last, and the counts of the last report.
    last: Mutex<(String, [u64; 5])>,
    report: OnceLock<Report>,
}

struct Report(Box<dyn Fn(LimitReport) + Send + Sync>);

/// How often the limits of a listener did something since its start.
#[derive(Debug, Default)]
struct Counts {
    /// Connections that were closed at once, because the places of their address were taken.
    refused: AtomicU64,
    /// Connections that were closed because they were silent and a new one needed the place.
    replaced: AtomicU64,
    /// Connections that were closed because they sent nothing in time.
    silent: AtomicU64,
    /// How often all places were taken, so that a new connection had to wait or was closed.
    full: AtomicU64,
    /// Connections that the system could not accept, e.g. for lack of file descriptors.
    failed: AtomicU64,
}

/// One of the counts.
type Counter = fn(&Counts) -> &AtomicU64;

/// What the limits of a listener did since the last report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LimitReport {
    pub(crate) listener: &'static str,
    pub(crate) refused: u64,
    pub(crate) replaced: u64,
    pub(crate) silent: u64,
    pub(crate) full: u64,
    pub(crate) failed: u64,
    /// What happened last: the address concerned, or the error of the system.
    pub(crate) last: String,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    open: BTreeMap<u64, Open>,
    addresses: BTreeMap<IpAddr, Address>,
}

/// An admitted connection.
#[derive(Debug)]
struct Open {
    address: IpAddr,
    replaced: Arc<Notify>,
}

/// The connections of one client address.
#[derive(Debug, Default)]
struct Address {
    count: usize,
    /// Those that were silent so far, the oldest first.
    silent: BTreeSet<u64>,
}

/// The place of an admitted connection; free again when this value is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    admission: Admission,
    number: u64,
    replaced: Arc<Notify>,
}

/// Why a connection is not admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Full {
    /// The places of its address are taken by connections that are not silent.
    Address,
    /// All places are taken by connections that are not silent.
    Listener,
}

impl Admission {
    pub(crate) fn new(listener: &'static str, connections_max: usize, per_address_max: usize) -> Admission {
        let shared = Shared {
            listener,
            connections_max,
            per_address_max,
            state: Mutex::default(),
            counts: Counts::default(),
            is_reporting: AtomicBool::new(false),
            last: Mutex::default(),
            report: OnceLock::new(),
        };
        Admission { shared: Arc::new(shared) }
    }

    /// Sets the function that is called when a limit bites, at most once in [`REPORT_EVERY`]. Only the first call has an
    /// effect.
    pub(crate) fn report_to(&self, report: impl Fn(LimitReport) + Send + Sync + 'static) {
        let _ = self.shared.report.set(Report(Box::new(report)));
    }

    /// Admits a connection of a client as a silent one, or says which places are taken.
    pub(crate) fn admit(&self, client: IpAddr) -> Result<Place, Full> {
        let address = origin(client);
        let mut state = self.state();
        let of_address = state.addresses.get(&address).map_or(0, |known| known.count);
        let makes_room = if of_address >= self.shared.per_address_max {
            match state.oldest_silent(&address) {
                Some(number) => Some(number),
                None => return Err(self.count(&self.shared.counts.refused, &client, Full::Address)),
            }
        } else if state.open.len() >= self.shared.connections_max {
            match state.oldest_of_most_silent() {
                Some(number) => Some(number),
                None => return Err(self.count(&self.shared.counts.full, &client, Full::Listener)),
            }
        } else {
            None
        };
        if let Some(number) = makes_room
            && let Some(open) = state.remove(number)
        {
            open.replaced.notify_one();
            self.count(&self.shared.counts.replaced, &open.address, ());
        }
        let number = state.next;
        let replaced = Arc::new(Notify::new());
        state.next += 1;
        state.open.insert(number, Open { address, replaced: Arc::clone(&replaced) });
        let known = state.addresses.entry(address).or_default();
        known.count += 1;
        known.silent.insert(number);
        Ok(Place { admission: self.clone(), number, replaced })
    }

    /// Counts a connection that the system could not accept.
    pub(crate) fn not_accepted(&self, error: &io::Error) {
        self.count(&self.shared.counts.failed, &error, ());
    }

    /// Counts a connection that was closed because it sent nothing in time.
    pub(crate) fn was_silent(&self, client: IpAddr) {
        self.count(&self.shared.counts.silent, &client, ());
    }

    fn count<T>(&self, counter: &AtomicU64, last: &dyn ToString, result: T) -> T {
        counter.fetch_add(1, Ordering::Relaxed);
        self.shared.last.lock().unwrap_or_else(PoisonError::into_inner).0 = last.to_string();
        if self.shared.report.get().is_some() && !self.shared.is_reporting.swap(true, Ordering::AcqRel) {
            tokio::spawn(self.clone().report());
        }
        result
    }

    /// Reports what has been counted, at once and then every [`REPORT_EVERY`] until nothing more happens.
    async fn report(self) {
        let counts = &self.shared.counts;
        let counters = [&counts.refused, &counts.replaced, &counts.silent, &counts.full, &counts.failed];
        let now = || counters.map(|counter| counter.load(Ordering::Relaxed));
        loop {
            let counted = now();
            let (last, before) = {
                let mut told = self.shared.last.lock().unwrap_or_else(PoisonError::into_inner);
                (told.0.clone(), std::mem::replace(&mut told.1, counted))
            };
            if counted == before {
                break;
            }
            let [refused, replaced, silent, full, failed] = std::array::from_fn(|index| counted[index] - before[index]);
            if let Some(report) = self.shared.report.get() {
                let listener = self.shared.listener;
                (report.0)(LimitReport { listener, refused, replaced, silent, full, failed, last });
            }
            tokio::time::sleep(REPORT_EVERY).await;
        }
        self.shared.is_reporting.store(false, Ordering::Release);
    }

    /// Appends the metrics of several listeners.
    pub(crate) fn metrics(listeners: &[Admission], text: &mut String) {
        let mut family = |name: &str, kind: &str, help: &str, value: &dyn Fn(&Shared) -> u64| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for listener in listeners {
                let Shared { listener: label, .. } = &*listener.shared;
                let _ = writeln!(text, "{name}{{listener=\"{label}\"}} {}", value(&listener.shared));
            }
        };
        family("mario_connections", "gauge", "Admitted connections.", &|shared| shared.state().open.len() as u64);
        let limit = "The maximum number of admitted connections.";
        family("mario_connections_max", "gauge", limit, &|shared| shared.connections_max as u64);
        let counters: [(&str, &str, Counter); 5] = [
            ("refused", "Connections closed at once because their address had too many.", |counts| &counts.refused),
            ("replaced", "Silent connections closed because a new one needed the place.", |counts| &counts.replaced),
            ("silent", "Connections closed because they sent nothing in time.", |counts| &counts.silent),
            ("full", "How often all places were taken.", |counts| &counts.full),
            ("failed", "Connections that the system could not accept.", |counts| &counts.failed),
        ];
        for (name, help, counter) in counters {
            let name = format!("mario_connections_{name}_total");
            family(&name, "counter", help, &|shared| counter(&shared.counts).load(Ordering::Relaxed));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn oldest_silent(&self, address: &IpAddr) -> Option<u64> {
        self.addresses.get(address)?.silent.first().copied()
    }

    /// The connection that has been silent for longest, of the address with the most silent ones.
    fn oldest_of_most_silent(&self) -> Option<u64> {
        let most = self.addresses.values().max_by_key(|address| (address.silent.len(), address.silent.last()))?;
        most.silent.first().copied()
    }

    fn remove(&mut self, number: u64) -> Option<Open> {
        let open = self.open.remove(&number)?;
        if let Some(known) = self.addresses.get_mut(&open.address) {
            known.silent.remove(&number);
            known.count -= 1;
            if known.count == 0 {
                self.addresses.remove(&open.address);
            }
        }
        Some(open)
    }
}

impl Place {
    /// Completes when another connection needs this place, which it then has.
    pub(crate) async fn replaced(&self) {
        self.replaced.notified().await;
    }

    /// The peer is not silent any more, so it keeps its place.
    pub(crate) fn has_spoken(&self) {
        let mut state = self.admission.state();
        let Some(address) = state.open.get(&self.number).map(|open| open.address) else { return };
        if let Some(known) = state.addresses.get_mut(&address) {
            known.silent.remove(&self.number);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.admission.state().remove(self.number);
    }
}

/// What counts as one client address: an address of IPv4, or a network of 64 bits of IPv6, which is what one host
/// usually gets.
fn origin(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address @ IpAddr::V4(_) => address,
    }
}

impl std::fmt::Debug for Report {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Report")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// Whether the connection of this place has been replaced.
    async fn is_replaced(place: &Place) -> bool {
        tokio::time::timeout(Duration::from_millis(1), place.replaced()).await.is_ok()
    }

    #[tokio::test]
    async fn the_longest_silent_connection_of_an_address_makes_room_for_its_next_one() {
        let admission = Admission::new("test", 10, 2);
        let first = admission.admit(address(1)).unwrap();
        let second = admission.admit(address(1)).unwrap();
        first.has_spoken();
        let third = admission.admit(address(1)).unwrap();
        assert_eq!((is_replaced(&first).await, is_replaced(&second).await), (false, true));
        third.has_spoken();
        assert_eq!(admission.admit(address(1)).err(), Some(Full::Address));
        // Other addresses are not concerned.
        assert!(admission.admit(address(2)).is_ok());
        drop((first, second));
        assert!(admission.admit(address(1)).is_ok(), "a place is free again, once");
    }

    #[tokio::test]
    async fn when_all_places_are_taken_the_address_with_the_most_silent_connections_loses_one() {
        let admission = Admission::new("test", 4, 3);
        let crowd: Vec<Place> = (0..3).map(|_| admission.admit(address(1)).unwrap()).collect();
        let single = admission.admit(address(2)).unwrap();
        let new = admission.admit(address(3)).unwrap();
        assert!(is_replaced(&crowd[0]).await && !is_replaced(&single).await && !is_replaced(&crowd[1]).await);
        for place in crowd.iter().chain([&single, &new]) {
            place.has_spoken();
        }
        assert_eq!(admission.admit(address(4)).err(), Some(Full::Listener));
        drop(single);
        assert!(admission.admit(address(4)).is_ok());
        let mut text = String::new();
        Admission::metrics(&[admission], &mut text);
        assert!(text.contains("mario_connections_replaced_total{listener=\"test\"} 1\n"), "{text}");
        assert!(text.contains("mario_connections{listener=\"test\"} 3\n"), "{text}");
    }

    #[test]
    fn one_client_is_an_address_of_version_4_or_a_network_of_version_6() {
        let parse = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(origin(parse("::ffff:10.0.0.7")), parse("10.0.0.7"));
        assert_eq!(origin(parse("2001:db8:1:2:3:4:5:6")), origin(parse("2001:db8:1:2::1")));
        assert_ne!(origin(parse("2001:db8:1:2::1")), origin(parse("2001:db8:1:3::1")));
    }
}
