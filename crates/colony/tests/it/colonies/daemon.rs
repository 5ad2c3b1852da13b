//! One simulated daemon: a node, its disk, its stream of effects, and its machine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use mario_colony::{Config, Effect, JournalId, Ledger, Node, Token, TransferId, WorkloadId};
use mario_domain::{NodeId, Time};

use super::book::{Book, Numbers};
use super::machine::Machine;

/// A daemon, up or down.
pub struct Daemon {
    pub id: NodeId,
    pub capacity: u64,
    pub config: Arc<Config>,
    /// `None` while it is down.
    pub node: Option<Node>,
    /// Counts the starts of the process. Answers to an earlier process are dropped.
    pub life: u32,
    /// Its clock minus true time.
    pub clock_offset: i64,
    /// The id of its journal. If the disk is empty, a start creates a journal with this id.
    pub journal: JournalId,
    /// The ledger of the records on disk.
    pub ledger: Ledger,
    /// The checker's replay of the records on disk.
    pub durable: Book,
    /// The checker's replay of all records that the node has written, on disk or not.
    pub memory: Book,
    pub stream: VecDeque<Queued>,
    /// When the newest record is on disk.
    pub synced_at: u64,
    pub machine: Machine,
    /// If set, the daemon crashes soon after its next record of a transfer, and is down for this long.
    pub ambush: Option<u64>,
    /// When its next wake-up is scheduled; `None` if none is.
    pub wakes_at: Option<u64>,
    /// Incoming transfers of exclusive applications, whose reservations have no copy.
    pub without_copy: BTreeSet<TransferId>,
    /// For each incoming transfer, the token of the last `Ready` sent.
    pub promised: BTreeMap<TransferId, Token>,
}

/// An effect that waits until all records before it are on disk.
pub struct Queued {
    pub effect: Effect,
    /// For a record: when it is on disk. 0 for other effects.
    pub synced_at: u64,
}

impl Daemon {
    pub fn new(number: usize, config: Config, capacity: u64) -> Daemon {
        Daemon {
            id: config.node.clone(),
            capacity,
            config: Arc::new(config),
            node: None,
            life: 0,
            clock_offset: 1_000_000,
            journal: JournalId(number as u128),
            ledger: Ledger::default(),
            durable: Book::default(),
            memory: Book::default(),
            stream: VecDeque::new(),
            synced_at: 0,
            machine: Machine::default(),
            ambush: None,
            wakes_at: None,
            without_copy: BTreeSet::new(),
            promised: BTreeMap::new(),
        }
    }

    /// The time that its clock shows.
    pub fn clock(&self, now: u64) -> Time {
        Time::at((now as i64 + self.clock_offset) as f64)
    }

    /// For each reservation, whether a copy is started for it, and its hardware.
    pub fn reservations(&self) -> impl Iterator<Item = (bool, u64)> {
        let reservations = self.node.iter().flat_map(|node| node.manager().reservations());
        reservations.map(|one| (!self.without_copy.contains(&one.key), one.needed.as_units()))
    }

    /// Copies whose start is queued behind records that are not on disk yet, with their hardware.
    pub fn starting(&self) -> impl Iterator<Item = (WorkloadId, u64)> {
        self.stream.iter().filter_map(|queued| match &queued.effect {
            Effect::Start { workload, descriptor, .. } | Effect::Resume { workload, descriptor, .. } => {
                Some((*workload, descriptor.application.hardware.as_units()))
            }
            _ => None,
        })
    }

    /// Kills the daemon. Of its pending records, the first `kept` are on disk; returns each with the state before it.
    pub fn die(&mut self, kept: usize, numbers: &mut Numbers) -> Vec<(Book, mario_colony::JournalRecord)> {
        let mut written = Vec::new();
        let pending = std::mem::take(&mut self.stream);
        let records = pending.into_iter().filter_map(|queued| match queued.effect {
            Effect::Journal(record) => Some(record),
            _ => None,
        });
        for record in records.take(kept) {
            self.ledger.apply(&record);
            let before = self.durable.clone();
            self.durable.apply(&record, numbers);
            written.push((before, record));
        }
        self.node = None;
        self.wakes_at = None;
        self.memory = self.durable.clone();
        self.without_copy.clear();
        written
    }

    /// The number of records that are not on disk yet.
    pub fn pending_records(&self) -> usize {
        self.stream.iter().filter(|queued| matches!(queued.effect, Effect::Journal(_))).count()
    }
}
