//! One node of a world, its possible actions, and their results.

use std::collections::BTreeSet;
use std::sync::Arc;

use mario_domain::{
    AgentOperation, Application, ApplicationId, Capacity, Duration, Hardware, InstanceId, NodeId, Quantity, Target,
    Time,
};
use mario_policy::{PolicySettings, PolicyText};
use mario_prolog::Engine;
use rustc_hash::FxHashMap;

use super::shortcuts::Shortcut;
use super::{Bounds, World};
use crate::descriptor::{Copies, Descriptor};
use crate::ids::{Epoch, JournalId, TransferId, WorkloadId};
use crate::input::{Command, Effect, Input, Proposal};
use crate::journal::{JournalRecord, Ledger, OwnCause};
use crate::message::{Hello, Message};
use crate::node::reasoner::Reasoner;
use crate::node::{Config, NodeLimits, Retry, Start, State, Step, Timing, Unconfirmed};

/// A node, its disk, and the copies on its machine that are being stopped.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Member {
    pub(super) state: State,
    pub(super) disk: Ledger,
    pub(super) stopping: BTreeSet<WorkloadId>,
}

/// A message in transit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Envelope {
    from: usize,
    sender: JournalId,
    pub(super) to: usize,
    receiver: JournalId,
    pub(super) message: Message,
}

/// An action of a node, or an event that happens to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Action {
    Propose(InstanceId, AgentOperation, usize),
    Undeploy(InstanceId),
    GiveUp(TransferId),
    SendAgain(TransferId),
    DropReservation(TransferId),
    Stopped(WorkloadId),
    Deliver(u32),
    /// An operator declares a journal lost.
    DeclareLost(JournalId),
    /// A neighbour introduces itself: the node, its journal, its open transfers.
    Greet(usize, JournalId, Vec<TransferId>),
    Crash,
    Wipe,
    Lose,
    /// The node breaks the protocol.
    Cheat(Cheat),
}

/// An action with which a node breaks the protocol.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Cheat {
    /// The node answers the message with this index before the records of its step are durable, and then crashes.
    SendFirst(u32),
    Forged(usize, Message),
}

/// The result of a step of a node: its new state, the messages that it sent, and what happened to instances.
#[derive(Clone, Default)]
pub(super) struct Outcome {
    pub(super) member: u32,
    pub(super) sent: Vec<u32>,
    pub(super) promises: u8,
    pub(super) ended: Vec<u16>,
    pub(super) excused: Vec<u16>,
    /// Instances that this node took by a transfer, with their epochs.
    pub(super) taken: Vec<(u16, Epoch)>,
}

/// All states of nodes and all messages that occur, interned, and a cache of the results of actions.
pub(super) struct Members {
    pub(super) bounds: Bounds,
    reasoner: Reasoner,
    configs: Vec<Arc<Config>>,
    pub(super) table: Vec<Member>,
    positions: FxHashMap<Member, u32>,
    pub(super) messages: Vec<Envelope>,
    message_positions: FxHashMap<Envelope, u32>,
    instances: FxHashMap<InstanceId, u16>,
    steps: FxHashMap<(u32, Action), Option<Outcome>>,
}

const NOW: Time = Time::ZERO;

impl Members {
    pub(super) fn new(bounds: Bounds) -> Members {
        let engine = Engine::new();
        let config = |(node, capacity): (usize, &u64)| {
            Arc::new(Config {
                node: node_id(node),
                capacity: Capacity::units(*capacity),
                facts: Vec::new(),
                acceptance: None,
                catalogue: Vec::new(),
                budget: PolicySettings::default().budget,
                timing: Timing { evaluation_period: None, ..Timing::default() },
                limits: NodeLimits::default(),
                unconfirmed: Unconfirmed::NotAsked,
            })
        };
        Members {
            bounds,
            reasoner: Reasoner::new(&engine),
            configs: bounds.capacities.iter().enumerate().map(config).collect(),
            table: Vec::new(),
            positions: FxHashMap::default(),
            messages: Vec::new(),
            message_positions: FxHashMap::default(),
            instances: FxHashMap::default(),
            steps: FxHashMap::default(),
        }
    }

    /// The initial world: all nodes know each other, and the first instances are deployed.
    pub(super) fn first_world(&mut self) -> World {
        let count = self.configs.len();
        let mut members: Vec<Member> = (0..count).map(|node| self.started(node, Ledger::default(), 0)).collect();
        for (key, owner) in (0..).zip(self.bounds.owners) {
            let descriptor = Arc::new(descriptor(self.bounds.is_exclusive));
            let command = Command::Deploy { key: crate::ids::DeployKey(key), descriptor, is_anchor: true };
            self.handle(&mut members[*owner], Input::Operator(command), &mut Outcome::default());
        }
        for (node, member) in members.iter_mut().enumerate() {
            for other in (0..count).filter(|other| *other != node) {
                self.greet(member, other, journal(other, 0), Vec::new());
            }
        }
        let members: Vec<u32> = members.into_iter().map(|member| self.intern(member)).collect();
        let epochs = vec![Epoch(1); self.instances.len()];
        World {
            members,
            network: Vec::new(),
            lives: vec![0; count],
            is_lost: vec![false; count],
            transfers: 0,
            crashes: 0,
            promises: 0,
            ended: Vec::new(),
            excused: Vec::new(),
            epochs,
        }
    }

    pub(super) fn instance(&mut self, instance: &InstanceId) -> u16 {
        let next = self.instances.len() as u16;
        *self.instances.entry(instance.clone()).or_insert(next)
    }

    /// A node that has started from its disk, swept its machine, and been given its neighbours.
    fn started(&mut self, node: usize, disk: Ledger, life: u8) -> Member {
        let boot = disk.boot.as_ref().map_or(0, |(.., boot)| boot + 1);
        let start = Start {
            config: Arc::clone(&self.configs[node]),
            ledger: disk.clone(),
            new_journal: journal(node, life),
            seed: (node as u64 + 1) << 32 | u64::from(life) << 16 | u64::from(boot),
        };
        let mut effects = Vec::new();
        let state = State::start(start, NOW, &mut effects).expect("its own journal");
        let mut member = Member { state, disk, stopping: BTreeSet::new() };
        let others = (0..self.configs.len()).filter(|other| *other != node).map(node_id).collect();
        self.perform(&mut member, effects, &mut Outcome::default());
        self.handle(&mut member, Input::Neighbours(others), &mut Outcome::default());
        member
    }

    fn greet(&mut self, member: &mut Member, other: usize, journal: JournalId, open: Vec<TransferId>) {
        let (facts, held) = (Vec::new(), Vec::new());
        let hello = Hello { journal, sequence: 0, concerning: 0, open, facts, knows: None, held };
        let hello = Message::Hello(hello);
        let input = Input::Received { from: node_id(other), sender: journal, receiver: None, message: hello };
        self.handle(member, input, &mut Outcome::default());
    }

    fn handle(&mut self, member: &mut Member, input: Input, outcome: &mut Outcome) {
        let mut effects = Vec::new();
        member.state.handle(&mut self.reasoner, NOW, input, &mut effects);
        self.perform(member, effects, outcome);
    }

    /// Performs effects immediately and in order. Copies start immediately, and stop in a separate step.
    fn perform(&mut self, member: &mut Member, effects: Vec<Effect>, outcome: &mut Outcome) {
        for effect in effects {
            match effect {
                Effect::Journal(record) => self.write(member, &record, outcome),
                Effect::Send { to, receiver: Some(receiver), message } => {
                    outcome.promises += u8::from(matches!(message, Message::Ready { .. }));
                    let envelope = self.envelope(member, &to, receiver, message);
                    outcome.sent.push(self.intern_message(envelope));
                }
                Effect::Start { workload, .. } => self.handle(member, Input::Healthy(workload), outcome),
                Effect::Drain(workload) | Effect::Stop(workload) => {
                    member.stopping.insert(workload);
                }
                Effect::Resume { workload, .. } => {
                    member.stopping.remove(&workload);
                }
                Effect::Sweep { .. } => self.handle(member, Input::Swept, outcome),
                Effect::Adapt { workload, .. } => self.handle(member, Input::Adapted(workload), outcome),
                Effect::Send { receiver: None, .. } | Effect::Trace(_) => {}
            }
        }
    }

    fn write(&mut self, member: &mut Member, record: &JournalRecord, outcome: &mut Outcome) {
        let ended = match record {
            JournalRecord::Undeployed { instance } => Some(instance.clone()),
            JournalRecord::NotTaken { transfer } => {
                member.disk.custody_of(*transfer).map(|custody| custody.owned.instance.clone())
            }
            _ => None,
        };
        if let Some(instance) = ended {
            outcome.ended.push(self.instance(&instance));
        }
        if let JournalRecord::Own { owned, cause } = record {
            let number = self.instance(&owned.instance);
            if matches!(cause, OwnCause::Taken { .. }) {
                outcome.taken.push((number, owned.epoch));
            }
            if let OwnCause::Adopted { transfer } = cause
                && let Some(custody) = member.disk.custody_of(*transfer)
            {
                let left = custody.owned.instance.clone();
                outcome.excused.push(self.instance(&left));
            }
        }
        member.disk.apply(record);
    }

    fn envelope(&self, member: &Member, to: &NodeId, receiver: JournalId, mut message: Message) -> Envelope {
        // The number of records depends on how a state was reached, so it is set to 0.
        if let Message::Transfer { concerning, .. } | Message::Taken { concerning, .. } = &mut message {
            *concerning = 0;
        }
        let position = |id: &NodeId| self.configs.iter().position(|config| config.node == *id).expect("a node");
        let from = position(&member.state.config.node);
        Envelope { from, sender: member.state.ids.journal, to: position(to), receiver, message }
    }

    pub(super) fn intern_message(&mut self, envelope: Envelope) -> u32 {
        let next = self.messages.len() as u32;
        *self.message_positions.entry(envelope).or_insert_with_key(|envelope| {
            self.messages.push(envelope.clone());
            next
        })
    }

    /// Interns the state of a node, without the fields that depend only on how it was reached.
    fn intern(&mut self, mut member: Member) -> u32 {
        for ledger in [&mut member.state.ledger, &mut member.disk] {
            ledger.sequence = 0;
            ledger.peers.values_mut().for_each(|peer| (peer.sequence, peer.concerning) = (0, 0));
            ledger.concerning.clear();
        }
        for retry in member.state.retries.values_mut() {
            *retry = Retry { at: NOW, after: Duration::ZERO };
        }
        let next = self.table.len() as u32;
        *self.positions.entry(member).or_insert_with_key(|member| {
            self.table.push(member.clone());
            next
        })
    }

    /// The result of an action on a node; `None` if it changes nothing and sends nothing.
    pub(super) fn step(&mut self, node: usize, position: u32, life: u8, action: &Action) -> Option<Outcome> {
        let key = (position, action.clone());
        if let Some(known) = self.steps.get(&key) {
            return known.clone();
        }
        let outcome = self.compute(node, position, life, action);
        self.steps.insert(key, outcome.clone());
        outcome
    }

    fn compute(&mut self, node: usize, position: u32, life: u8, action: &Action) -> Option<Outcome> {
        let mut member = self.table[position as usize].clone();
        let mut outcome = Outcome::default();
        match action {
            Action::Propose(instance, operation, target) => {
                let proposal = Proposal { operation: *operation, target: Target::Node(node_id(*target)) };
                member.state.agents.get_mut(instance)?.proposal = Some(proposal);
                self.handle(&mut member, Input::Judge(instance.clone()), &mut outcome);
            }
            Action::Undeploy(instance) => {
                self.handle(&mut member, Input::Operator(Command::Undeploy(instance.clone())), &mut outcome);
            }
            Action::DeclareLost(journal) => {
                self.handle(&mut member, Input::Operator(Command::Lost(*journal)), &mut outcome);
            }
            Action::GiveUp(transfer) => {
                self.within(&mut member, &mut outcome, |step| step.prepare_timed_out(*transfer));
            }
            Action::SendAgain(transfer) => self.within(&mut member, &mut outcome, |step| step.send_again(*transfer)),
            Action::DropReservation(transfer) => {
                self.within(&mut member, &mut outcome, |step| step.drop_reservation(*transfer));
            }
            Action::Stopped(workload) => {
                member.stopping.remove(workload);
                self.handle(&mut member, Input::Stopped(*workload), &mut outcome);
            }
            Action::Deliver(message) => self.deliver(&mut member, *message, &mut outcome),
            Action::Greet(other, journal, open) => self.greet(&mut member, *other, *journal, open.clone()),
            Action::Crash => member = self.started(node, member.disk.clone(), life),
            Action::Wipe => {
                let life = if self.bounds.shortcut == Some(Shortcut::WipedKeepsIdentity) { 0 } else { life + 1 };
                let on_disk: Vec<InstanceId> =
                    member.disk.owned.keys().chain(member.disk.custody.keys()).cloned().collect();
                outcome.excused = on_disk.iter().map(|instance| self.instance(instance)).collect();
                member = self.started(node, Ledger::default(), life);
            }
            Action::Lose => {
                let on_disk: Vec<InstanceId> =
                    member.disk.owned.keys().chain(member.disk.custody.keys()).cloned().collect();
                outcome.excused = on_disk.iter().map(|instance| self.instance(instance)).collect();
            }
            Action::Cheat(cheat) => self.cheat(node, life, &mut member, cheat, &mut outcome),
        }
        outcome.member = self.intern(member);
        let is_idle = outcome.member == position && outcome.sent.is_empty() && outcome.excused.is_empty();
        (!is_idle).then_some(outcome)
    }

    fn within(&mut self, member: &mut Member, outcome: &mut Outcome, act: impl FnOnce(&mut Step<'_>)) {
        let mut effects = Vec::new();
        let mut step = Step { state: &mut member.state, reasoner: &mut self.reasoner, now: NOW, effects: &mut effects };
        act(&mut step);
        self.perform(member, effects, outcome);
    }

    fn deliver(&mut self, member: &mut Member, message: u32, outcome: &mut Outcome) {
        let input = self.received(member, message);
        self.handle(member, input, outcome);
    }

    fn received(&self, member: &mut Member, message: u32) -> Input {
        let Envelope { from, sender, receiver, message, .. } = self.messages[message as usize].clone();
        let message = self.bounds.shortcut.map_or(message.clone(), |shortcut| shortcut.distort(member, message));
        Input::Received { from: node_id(from), sender, receiver: Some(receiver), message }
    }

    fn cheat(&mut self, node: usize, life: u8, member: &mut Member, cheat: &Cheat, outcome: &mut Outcome) {
        match cheat {
            Cheat::SendFirst(message) => {
                let disk = member.disk.clone();
                let input = self.received(member, *message);
                self.handle(member, input, outcome);
                // The records are lost in the crash, but the messages were sent.
                outcome.taken.clear();
                outcome.ended.clear();
                *member = self.started(node, disk, life);
            }
            Cheat::Forged(from, message) => {
                let (sender, receiver) = (journal(*from, 0), Some(member.state.ids.journal));
                let input = Input::Received { from: node_id(*from), sender, receiver, message: message.clone() };
                self.handle(member, input, outcome);
            }
        }
    }

    pub(super) fn describe(&self, action: &Action) -> String {
        match action {
            Action::Deliver(message) => format!("receives {:?}", self.messages[*message as usize].message),
            Action::Cheat(Cheat::SendFirst(message)) => {
                let message = &self.messages[*message as usize].message;
                format!("answers {message:?} before its record is durable, and crashes")
            }
            other => format!("{other:?}"),
        }
    }
}

impl Action {
    pub(super) fn is_fault(&self) -> bool {
        matches!(self, Action::Crash | Action::Wipe | Action::Lose | Action::Cheat(_))
    }
}

pub(super) fn node_id(node: usize) -> NodeId {
    NodeId::number(node as i64)
}

/// The journal of a node after it has lost its disk `life` times.
pub(super) fn journal(node: usize, life: u8) -> JournalId {
    JournalId(node as u128 + 1 + 100 * u128::from(life))
}

fn descriptor(is_exclusive: bool) -> Descriptor {
    let files = vec![("idle.pl".to_owned(), "operation(undeploy, _, self) :- fail.\n".to_owned())];
    Descriptor {
        version: 1,
        application: Application {
            id: ApplicationId::name("app").expect("a name"),
            owner: None,
            hardware: Hardware::units(1),
            max_rate: Quantity::whole(1),
            max_latency: Quantity::whole(1),
            flavours: Vec::new(),
            sleep: None,
        },
        policy: PolicyText { name: "idle".to_owned(), files, memory: 0 },
        facts: Vec::new(),
        replications_max: None,
        copies: if is_exclusive { Copies::Exclusive } else { Copies::MayOverlap },
        document: Arc::default(),
    }
}
