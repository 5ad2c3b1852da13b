//! Checks the invariants of `docs/transfer.md` over all nodes at once, except invariant 6, which `World::run` checks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mario_colony::{AgentSnapshot, Copies, DeployKey, JournalId, JournalRecord, Message, OwnCause, Owned, TransferId};
use mario_domain::InstanceId;

use super::book::{Book, Numbers};
use super::daemon::Daemon;
use super::tally::Tally;

/// The history of the colony as the checker knows it, and the first violation.
#[derive(Default)]
pub struct Checker {
    pub numbers: Numbers,
    pub tally: Tally,
    pub violation: Option<String>,
    lives: Vec<Life>,
    lineages: Vec<Lineage>,
    /// The parents of the replicas that were offered, by transfer.
    offered: BTreeMap<TransferId, usize>,
    /// The instances that were handed over, and their agents' snapshots, by transfer.
    snapshot: BTreeMap<TransferId, (InstanceId, Arc<AgentSnapshot>)>,
    /// The transfers that handed over an anchor.
    anchors_sent: BTreeSet<TransferId>,
    /// The anchors that have ended.
    anchors_ended: BTreeSet<InstanceId>,
    /// The transfer that is being prepared for each agent, by node and instance.
    proposed: BTreeMap<(usize, InstanceId), TransferId>,
    /// The keys of deploys that a node has enacted since it last lost its disk.
    deployed: BTreeSet<(usize, DeployKey)>,
    /// Journals that an operator declared lost, each with the node that received the declaration.
    pub declared: BTreeSet<(usize, JournalId)>,
    holders: Vec<Option<usize>>,
    is_held: Vec<bool>,
}

/// The history of an instance according to the records on disk.
#[derive(Clone, Default)]
struct Life {
    lineage: Option<usize>,
    epoch: u32,
    owner: usize,
    is_ended: bool,
    /// Whether it may be missing: a node lost its disk while holding it, or its custody ended without an owner, e.g.
    /// because an operator declared the target lost.
    is_excused: bool,
}

/// An instance that an operator deployed, and all its descendants by replication.
struct Lineage {
    replications_max: Option<u32>,
    replicas: u32,
    /// Whether an adoption may have duplicated an instance with its remaining replications. If so, the limit on
    /// replications is not checked.
    is_forked: bool,
}

impl Checker {
    pub fn violate(&mut self, violation: String) {
        self.violation.get_or_insert(violation);
    }

    fn life(&mut self, instance: usize) -> &mut Life {
        if self.lives.len() <= instance {
            self.lives.resize_with(instance + 1, Life::default);
        }
        &mut self.lives[instance]
    }

    /// Handles a record that is now on a node's disk. `book` is the state before it.
    pub fn durable(&mut self, node: usize, book: &Book, record: &JournalRecord) {
        match record {
            JournalRecord::Own { owned, cause } => {
                let instance = self.numbers.of(&owned.instance);
                self.owned(node, instance, owned.epoch.0, cause);
                if matches!(cause, OwnCause::NotTaken { .. })
                    && book.custody.get(&instance).is_some_and(|kept| kept.is_ended)
                {
                    self.violate(format!(
                        "invariant 5: an operator ended instance {instance}, and n{node} owns it again"
                    ));
                }
                self.check_anchor(node, book, owned, cause);
                self.count_birth(node, book, owned, cause);
            }
            JournalRecord::Grant(grant) => {
                self.tally.count("grants");
                let parent = self.numbers.of(&grant.parent);
                self.offered.insert(grant.transfer, parent);
            }
            JournalRecord::Undeployed { instance } => {
                self.tally.count("undeployed");
                let instance = self.numbers.of(instance);
                self.life(instance).is_ended = true;
            }
            JournalRecord::NotTaken { transfer } => {
                self.tally.count("not taken");
                if let Some(instance) = book.kept_by(*transfer) {
                    let is_answered = !self.declared.contains(&(node, book.custody[&instance].receiver));
                    let life = self.life(instance);
                    life.is_ended |= is_answered;
                    life.is_excused = true;
                }
            }
            JournalRecord::Custody(custody) => {
                let handed = (custody.owned.instance.clone(), Arc::clone(&custody.owned.snapshot));
                self.snapshot.insert(custody.transfer, handed);
                if custody.owned.is_anchor {
                    self.anchors_sent.insert(custody.transfer);
                }
            }
            // No disk is restored from a backup in these worlds.
            JournalRecord::Outdated(outdated) => self.violate(format!("a good journal is stopped: {outdated}")),
            JournalRecord::CustodyEnded { .. } => self.tally.count("ended in custody"),
            JournalRecord::Gone { .. }
            | JournalRecord::Boot { .. }
            | JournalRecord::Stopped { .. }
            | JournalRecord::Forgotten { .. }
            | JournalRecord::Pinned { .. }
            | JournalRecord::Anchored { .. }
            | JournalRecord::Drained { .. }
            | JournalRecord::Adapted { .. }
            | JournalRecord::Slept { .. }
            | JournalRecord::Woke { .. }
            | JournalRecord::Updated { .. }
            | JournalRecord::Shrunk { .. }
            | JournalRecord::Lost { .. }
            | JournalRecord::Peer { .. } => {}
        }
    }

    fn owned(&mut self, node: usize, instance: usize, epoch: u32, cause: &OwnCause) {
        let is_back = matches!(cause, OwnCause::NotTaken { .. });
        let life = self.life(instance);
        let grows = epoch > life.epoch || is_back && epoch == life.epoch && life.owner == node;
        let (before, is_ended) = (life.epoch, life.is_ended);
        (life.epoch, life.owner) = (epoch, node);
        if !grows {
            self.violate(format!("invariant 8: instance {instance} has epoch {epoch} on n{node} after {before}"));
        }
        if is_ended {
            self.violate(format!("invariant 5: instance {instance} was undeployed, and n{node} owns it"));
        }
    }

    /// Checks that an anchor stays one when it is handed over, comes back or is adopted, and that no replica is one.
    fn check_anchor(&mut self, node: usize, book: &Book, owned: &Owned, cause: &OwnCause) {
        let expected = match cause {
            OwnCause::Deployed { .. } => return,
            OwnCause::Replicated { .. } => false,
            OwnCause::Taken { transfer, .. } => self.anchors_sent.contains(transfer),
            OwnCause::NotTaken { transfer } | OwnCause::Adopted { transfer } => {
                book.kept_by(*transfer).is_some_and(|kept| book.custody[&kept].held.is_anchor)
            }
        };
        if owned.is_anchor != expected {
            let instance = &owned.instance;
            self.violate(format!("{instance} is an anchor on n{node}: {}, expected {expected}", owned.is_anchor));
        }
        if expected && matches!(cause, OwnCause::Taken { .. }) {
            self.tally.count("anchors migrated");
        }
    }

    /// Notes that a node ends an instance.
    pub fn ends(&mut self, memory: &Book, instance: &InstanceId) {
        if memory.owned.get(&self.numbers.of(instance)).is_some_and(|held| held.is_anchor) {
            self.anchors_ended.insert(instance.clone());
        }
    }

    /// Checks an accepted undeploy of an agent: its instance was no anchor.
    pub fn undeployed_itself(&mut self, instance: &InstanceId) {
        if self.anchors_ended.contains(instance) {
            self.violate(format!("the anchor {instance} undeployed itself"));
        }
    }

    fn count_birth(&mut self, node: usize, book: &Book, owned: &Owned, cause: &OwnCause) {
        let instance = self.numbers.of(&owned.instance);
        let lineage = match cause {
            OwnCause::Deployed { key } => {
                self.tally.count("deployed");
                if !self.deployed.insert((node, *key)) {
                    self.violate(format!("{key:?} deployed two instances on n{node}"));
                }
                self.lineages.push(Lineage {
                    replications_max: owned.descriptor.replications_max,
                    replicas: 0,
                    is_forked: false,
                });
                Some(self.lineages.len() - 1)
            }
            OwnCause::Replicated { parent, .. } => {
                self.tally.count("replicated here");
                let parent = self.numbers.of(parent);
                self.replica_of(parent)
            }
            OwnCause::Taken { transfer, .. } => {
                if book.custody.contains_key(&instance) {
                    self.tally.count("return trips");
                }
                if let Some(parent) = self.offered.get(transfer).copied() {
                    self.tally.count("replicas taken");
                    self.replica_of(parent)
                } else {
                    self.tally.count("migrations");
                    let handed = self.snapshot.get(transfer);
                    if !handed.is_some_and(|(id, snapshot)| *id == owned.instance && *snapshot == owned.snapshot) {
                        self.violate(format!("what n{node} took by {transfer:?} is not what was handed over"));
                    }
                    if owned.descriptor.copies == Copies::Exclusive {
                        self.tally.count("exclusive migrations");
                    }
                    return;
                }
            }
            OwnCause::NotTaken { .. } => {
                self.tally.count("not taken");
                return;
            }
            OwnCause::Adopted { transfer } => {
                self.tally.count("adopted");
                let Some(kept) = book.kept_by(*transfer) else {
                    return self.violate(format!("n{node} adopts what it does not have in custody"));
                };
                let life = self.life(kept);
                life.is_excused = true;
                let lineage = life.lineage;
                if let Some(lineage) = lineage {
                    self.lineages[lineage].is_forked = true;
                }
                lineage
            }
        };
        if self.life(instance).lineage.is_some() {
            self.violate(format!("instance {instance} was born twice"));
        }
        self.life(instance).lineage = lineage;
    }

    fn replica_of(&mut self, parent: usize) -> Option<usize> {
        let lineage = self.life(parent).lineage?;
        let Lineage { replications_max, replicas, is_forked } = &mut self.lineages[lineage];
        *replicas += 1;
        if let Some(replications_max) = *replications_max
            && !*is_forked
            && *replicas > replications_max
        {
            let violation = format!("{replicas} replicas of one instance, and {replications_max} were granted");
            self.violate(violation);
        }
        Some(lineage)
    }

    /// Handles the loss of a node's disk: the instances on it may be lost.
    pub fn disk_lost(&mut self, node: usize, book: &Book) {
        self.deployed.retain(|(at, _)| *at != node);
        let held: Vec<usize> = book.owned.keys().chain(book.custody.keys()).copied().collect();
        for instance in held {
            self.life(instance).is_excused = true;
        }
    }

    /// Checks invariant 7 for a message that a node is about to send, and records which transfer is being prepared for
    /// an agent, or no longer is.
    pub fn sends(&mut self, node: usize, memory: &Book, message: &Message) {
        match message {
            Message::Prepare(prepare) => {
                let asked_by = self.numbers.of(&prepare.asked_by);
                if !memory.owned.contains_key(&asked_by) {
                    self.violate(format!("invariant 7: n{node} prepares for an instance that it does not own"));
                }
                let open = self.proposed.insert((node, prepare.asked_by.clone()), prepare.transfer);
                if open.is_some_and(|open| open != prepare.transfer) {
                    self.violate(format!("invariant 7: an agent on n{node} has two transfers open"));
                }
            }
            Message::Abort { transfer } => self.close(*transfer),
            _ => {}
        }
    }

    /// Checks invariant 7 for an evaluation of an agent.
    pub fn evaluated(&mut self, node: usize, memory: &Book, instance: &InstanceId) {
        self.tally.count("evaluations");
        if !memory.owned.contains_key(&self.numbers.of(instance)) {
            self.violate(format!("invariant 7: an agent of {instance} acts on n{node}, which does not own it"));
        }
    }

    /// Records that a transfer is no longer being prepared.
    pub fn close(&mut self, transfer: TransferId) {
        self.proposed.retain(|_, open| *open != transfer);
    }

    /// Records that a node lost all transfers that it was preparing.
    pub fn crashed(&mut self, node: usize) {
        self.proposed.retain(|(at, _), _| *at != node);
    }

    /// Checks the invariants after an event on `node`. Over all nodes: no instance has two owners or, in one epoch, two
    /// custodians; none is missing; no instance of an exclusive application has two copies. On `node`: hardware, and
    /// at most one open grant for each application and target.
    pub fn check(&mut self, daemons: &[Daemon], node: usize) {
        self.check_owners(daemons);
        self.check_custodians(daemons);
        self.check_held(daemons);
        self.check_exclusive(daemons);
        self.check_hardware(node, &daemons[node]);
        let mut offers: Vec<_> = daemons[node].memory.grants.values().collect();
        offers.sort();
        if offers.windows(2).any(|pair| pair[0] == pair[1]) {
            self.violate(format!("n{node} has two grants of one application open to one target"));
        }
    }

    fn check_owners(&mut self, daemons: &[Daemon]) {
        self.holders.clear();
        self.holders.resize(self.lives.len() + 64, None);
        for (node, daemon) in daemons.iter().enumerate() {
            for instance in daemon.durable.owned.keys().chain(daemon.memory.owned.keys()).copied() {
                if self.holders.len() <= instance {
                    self.holders.resize(instance + 1, None);
                }
                let other = self.holders[instance].replace(node);
                if let Some(other) = other.filter(|other| *other != node) {
                    self.violate(format!("invariant 1: n{other} and n{node} own instance {instance}"));
                }
                if self.lives.get(instance).is_some_and(|life| life.is_ended)
                    && daemon.durable.owned.contains_key(&instance)
                {
                    self.violate(format!("invariant 5: instance {instance} was undeployed, and n{node} owns it"));
                }
            }
        }
    }

    fn check_custodians(&mut self, daemons: &[Daemon]) {
        for (node, daemon) in daemons.iter().enumerate() {
            for (instance, kept) in &daemon.memory.custody {
                let same = |other: &Daemon| {
                    other.memory.custody.get(instance).is_some_and(|known| known.held.epoch == kept.held.epoch)
                };
                if let Some(other) = daemons[node + 1..].iter().position(same) {
                    let other = node + 1 + other;
                    self.violate(format!("invariant 4: n{node} and n{other} keep instance {instance} of one epoch"));
                }
            }
        }
    }

    fn check_held(&mut self, daemons: &[Daemon]) {
        self.is_held.clear();
        self.is_held.resize(self.lives.len(), false);
        for daemon in daemons {
            for instance in daemon.durable.owned.keys().chain(daemon.durable.custody.keys()) {
                if let Some(is_held) = self.is_held.get_mut(*instance) {
                    *is_held = true;
                }
            }
        }
        let missing = self
            .lives
            .iter()
            .zip(&self.is_held)
            .position(|(life, is_held)| life.epoch > 0 && !is_held && !life.is_ended && !life.is_excused);
        if let Some(instance) = missing {
            self.violate(format!("invariant 3: no node owns or keeps instance {instance}"));
        }
    }

    /// Checks that neither of two sums exceeds a node's hardware. The first is of journalled copies and all
    /// reservations. The second is of copies that are journalled, exist or are queued to start, and of reservations
    /// without a copy.
    fn check_hardware(&mut self, node: usize, daemon: &Daemon) {
        let mut copies: BTreeMap<_, u64> = daemon.memory.copies().collect();
        let promised: u64 = daemon.reservations().map(|(_, hardware)| hardware).sum();
        let counted = copies.values().sum::<u64>() + promised;
        if counted > daemon.capacity {
            self.violate(format!("invariant 2: n{node} has {} and promises {counted}", daemon.capacity));
        }
        copies.extend(daemon.machine.copies());
        copies.extend(daemon.starting());
        let without_copy = daemon.reservations().filter(|(has_copy, _)| !has_copy);
        let used = copies.values().sum::<u64>() + without_copy.map(|(_, hardware)| hardware).sum::<u64>();
        if used > daemon.capacity {
            self.violate(format!("invariant 2: n{node} has {} and uses {used}", daemon.capacity));
        }
    }

    fn check_exclusive(&mut self, daemons: &[Daemon]) {
        let mut running: BTreeSet<&InstanceId> = BTreeSet::new();
        for instance in daemons.iter().flat_map(|daemon| daemon.machine.exclusive()) {
            if !running.insert(instance) {
                self.violation.get_or_insert_with(|| format!("two copies of {instance} run, which is exclusive"));
            }
        }
    }
}
