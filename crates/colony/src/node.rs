//! One node: its agents, its manager, and the transfers it takes part in.
//!
//! | file | what happens |
//! |---|---|
//! | `agents` | agents evaluate, and the node's manager judges their proposals |
//! | `sleep` | instances fall asleep and wake |
//! | `source` | instances leave: prepare, custody, gone |
//! | `target` | instances arrive: judge, reserve, take |
//! | `operators`, `owner` | operators' commands; evictions and shrinks by the owner of the node |
//! | `timers` | expiry, resending, periodic evaluation |
//! | `restarts` | copies that ended or did not start are restarted, with backoff |
//! | `recovery` | a node starts from the ledger of its journal |
//! | `introductions` | neighbours introduce themselves; those with restored disks are rejected |
//! | `confirmation` | neighbours confirm the journal, or show that it is an old copy |
//! | `reasoner` | evaluates the policies of agents, and builds the facts that the manager sees |

mod agents;
mod config;
mod confirmation;
mod introductions;
mod operators;
mod owner;
mod reasoner;
mod recovery;
mod restarts;
mod sleep;
mod source;
mod target;
mod timers;

#[cfg(test)]
mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mario_domain::{Capacity, Duration, Fact, Hardware, Inhibition, InstanceId, NodeId, Target, Time};
use mario_policy::{Constant, KnowledgeBase};
use mario_prolog::Engine;

use crate::descriptor::Descriptor;
use crate::ids::{IdSource, JournalId, Token, TransferId, WorkloadId};
use crate::input::{Effect, Input, Proposal, RequestFact, TraceEvent};
use crate::journal::{JournalRecord, Ledger, Owned};
use crate::manager::Manager;
use crate::message::{AgentSnapshot, Message, Prepare, TransferKind};
use crate::rules::{EvictionNotice, History, RememberedOperation};
use config::ConfigRef;
use reasoner::Reasoner;

pub use config::{Config, NodeLimits, Timing, Unconfirmed};
pub use confirmation::Confirmation;
pub use restarts::Restart;

/// The inputs for starting a node.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its settings.
    pub config: Arc<Config>,
    /// The ledger of its journal; empty for a new one.
    pub ledger: Ledger,
    /// The identity of a new journal: 128 random bits, never used before. Not used if the ledger has one.
    pub new_journal: JournalId,
    /// Random bits that seed the tokens of reservations.
    pub seed: u64,
}

/// One node, driven by messages.
pub struct Node {
    state: State,
    reasoner: Reasoner,
}

/// The whole state of a node, as plain data: [`Ledger`] survives a crash, the rest does not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct State {
    config: ConfigRef,
    ledger: Ledger,
    ids: IdSource,
    manager: Manager<TransferId>,
    neighbours: Vec<NodeId>,
    /// The facts that neighbours sent about themselves.
    neighbour_facts: BTreeMap<NodeId, NeighbourFacts>,
    /// Neighbours that are rejected because their journals were restored from backups.
    refused: BTreeSet<NodeId>,
    agents: BTreeMap<InstanceId, Agent>,
    outgoing: BTreeMap<TransferId, Outgoing>,
    incoming: BTreeMap<TransferId, Incoming>,
    /// When to resend the open message of each transfer.
    retries: BTreeMap<TransferId, Retry>,
    /// Copies of dropped reservations that have not stopped yet, and their hardware.
    dropped: BTreeMap<WorkloadId, Hardware>,
    /// Copies of exclusive applications that are being stopped before their instances are handed over, even if the
    /// transfer was aborted since. So each is stopped only once.
    stopping: BTreeSet<WorkloadId>,
    /// Copies that ended or did not start, of instances that are owned or in custody, and when they are restarted.
    restarts: BTreeMap<WorkloadId, Restart>,
    /// Whether copies that were started before the last restart and are not in the ledger may still run. True from the
    /// start until [`Input::Swept`]; until then, no new instance is accepted.
    is_recovering: bool,
    /// Whether the node has restarted, and no neighbour has confirmed its journal yet.
    is_unconfirmed: bool,
}

#[derive(Clone, Debug, Default)]
struct NeighbourFacts(Arc<Vec<Fact>>);

/// The volatile state of an agent. After a crash, the agent continues from its snapshot in the ledger.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Agent {
    evaluations: u32,
    memory: Vec<RememberedOperation<Target>>,
    history: History<RequestFact, Target>,
    requests: Vec<RequestFact>,
    random: Option<u32>,
    /// The proposal of its last evaluation, until it is judged.
    proposal: Option<Proposal>,
    /// The transfer that is being prepared for it, if any. The agent does not evaluate until the preparation ends.
    frozen_by: Option<TransferId>,
    /// The announced eviction of its instance, if any. It is not durable: after a restart, the owner's policy may
    /// announce it again.
    notice: Option<EvictionNotice>,
    /// Why a client request could not wake its instance; `None` unless that happened since the agent's last evaluation.
    wake_refused: Option<Inhibition>,
    next_evaluation: Time,
}

/// A transfer that this node prepares as its source.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Outgoing {
    /// The instance whose agent asks.
    asked_by: InstanceId,
    proposal: Proposal,
    target: NodeId,
    receiver: JournalId,
    prepare: Arc<Prepare>,
    /// For exclusive applications: the token of the target's reservation, while the copy on this node stops.
    stopping: Option<Token>,
    deadline: Time,
}

/// A reservation of this node as a target.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Incoming {
    from: NodeId,
    sender: JournalId,
    prepare: Arc<Prepare>,
    workload: WorkloadId,
    /// `None` until this node is ready: until the copy is healthy, if one starts before the instance is taken.
    token: Option<Token>,
    expires: Time,
}

/// When a message is resent, and the current backoff.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Retry {
    at: Time,
    after: Duration,
}

/// Why a node cannot start from a journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartError {
    /// The journal belongs to another node.
    OtherNode(NodeId),
    /// The copies in the journal do not fit on the node.
    TooSmall {
        /// The hardware that is used according to the journal.
        used: Hardware,
        /// The hardware of the node.
        capacity: Capacity,
    },
}

/// The knowledge base of an agent, from which its decisions can be explained.
#[derive(Clone, Debug)]
pub struct Knowledge {
    /// The facts that it sees.
    pub facts: KnowledgeBase,
    /// The constant that denotes its instance in the facts.
    pub instance: Constant,
    /// Its application, with its policy.
    pub descriptor: Arc<Descriptor>,
}

impl Node {
    /// Starts a node, for the first time or again, from the ledger of its journal. The first effects record the boot,
    /// and recover the copies: those that are not in the ledger are killed, those of awake instances are resumed, and
    /// those that were to be adapted or stopped are adapted or stopped. No new instance is accepted before
    /// [`Input::Swept`].
    pub fn start(engine: &Engine, start: Start, now: Time, effects: &mut Vec<Effect>) -> Result<Node, StartError> {
        Ok(Node { state: State::start(start, now, effects)?, reasoner: Reasoner::new(engine) })
    }

    /// Handles an input, and appends its effects to `effects`.
    pub fn handle(&mut self, now: Time, input: Input, effects: &mut Vec<Effect>) {
        self.state.handle(&mut self.reasoner, now, input, effects);
    }

    /// When to call [`Node::handle`] with [`Input::Timeout`], if nothing happens before; `None` if no timer is set.
    pub fn next_timeout(&self) -> Option<Time> {
        self.state.next_timeout()
    }

    /// The state that survives a crash, provided that all effects so far were performed.
    pub fn ledger(&self) -> &Ledger {
        &self.state.ledger
    }

    /// Its journal.
    pub fn journal(&self) -> JournalId {
        self.state.ids.journal
    }

    /// Its manager.
    pub fn manager(&self) -> &Manager<TransferId> {
        &self.state.manager
    }

    /// Whether it knows that its journal is the latest one.
    pub fn confirmation(&self) -> Confirmation {
        self.state.confirmation()
    }

    /// Whether it rejects a neighbour, because the neighbour's journal is an old copy or was declared lost.
    pub fn rejects(&self, neighbour: &NodeId) -> bool {
        self.state.refused.contains(neighbour)
    }

    /// The instances that it owns, in the order of their ids.
    pub fn instances(&self) -> impl Iterator<Item = &InstanceId> {
        self.state.ledger.owned.keys()
    }

    /// The current snapshot of an instance's agent; `None` if the instance is not here.
    pub fn snapshot(&self, instance: &InstanceId) -> Option<AgentSnapshot> {
        self.state.agents.get(instance).map(Agent::snapshot)
    }

    /// The knowledge of an instance's agent; `None` if the instance is not here, or its policy cannot be loaded.
    pub fn knowledge(&mut self, instance: &InstanceId) -> Option<Knowledge> {
        let (owned, agent) = (self.state.ledger.owned.get(instance)?, self.state.agents.get(instance)?);
        self.reasoner.knowledge(&self.state, owned, agent)
    }

    /// Whether the agent of an instance here is frozen: it waits for a transfer, and does not evaluate.
    pub fn is_frozen(&self, instance: &InstanceId) -> bool {
        self.state.agents.get(instance).is_some_and(|agent| agent.frozen_by.is_some())
    }

    /// Whether an instance is here and sleeps.
    pub fn is_asleep(&self, instance: &InstanceId) -> bool {
        self.state.ledger.owned.get(instance).is_some_and(Owned::is_asleep)
    }

    /// Why the manager did not let an instance here wake for a client request; `None` unless that happened since its
    /// agent's last evaluation. The manager is not asked again until the next evaluation.
    pub fn wake_refused(&self, instance: &InstanceId) -> Option<&Inhibition> {
        self.state.agents.get(instance)?.wake_refused.as_ref()
    }

    /// Whether the copy of an instance here must not run, because its application is exclusive and no neighbour has
    /// confirmed the journal yet.
    pub fn is_held_back(&self, owned: &Owned) -> bool {
        self.state.is_held_back(owned)
    }

    /// Whether the node is quiescent: no transfer is open, no copy is stopping, shrinking or to be restarted, and its
    /// recovery is complete.
    pub fn is_quiet(&self) -> bool {
        self.state.is_quiet()
    }
}

/// One call of [`Node::handle`].
pub(crate) struct Step<'a> {
    state: &'a mut State,
    reasoner: &'a mut Reasoner,
    now: Time,
    effects: &'a mut Vec<Effect>,
}

impl State {
    fn new(config: Arc<Config>, ledger: Ledger, ids: IdSource) -> State {
        State {
            manager: Manager::new(config.node.clone(), config.capacity),
            config: ConfigRef(config),
            ledger,
            ids,
            neighbours: Vec::new(),
            neighbour_facts: BTreeMap::new(),
            refused: BTreeSet::new(),
            agents: BTreeMap::new(),
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            retries: BTreeMap::new(),
            dropped: BTreeMap::new(),
            stopping: BTreeSet::new(),
            restarts: BTreeMap::new(),
            is_recovering: false,
            is_unconfirmed: false,
        }
    }

    pub(crate) fn handle(&mut self, reasoner: &mut Reasoner, now: Time, input: Input, effects: &mut Vec<Effect>) {
        let mut step = Step { state: self, reasoner, now, effects };
        if step.state.ledger.outdated.is_some() {
            return step.handle_outdated(input);
        }
        match input {
            Input::Neighbours(neighbours) => step.set_neighbours(neighbours),
            Input::Observed(observation) => {
                if let Some(agent) = step.state.agents.get_mut(&observation.instance) {
                    (agent.requests, agent.random) = (observation.requests, observation.random);
                }
            }
            Input::Evaluate(instance) => step.evaluate(&instance),
            Input::Judge(instance) => step.judge_agent(&instance),
            Input::Received { from, sender, receiver, message } => step.receive(&from, sender, receiver, message),
            Input::Healthy(workload) => step.healthy(workload),
            Input::NotStarted { workload, cause } => step.not_started(workload, cause),
            Input::Stopped(workload) => step.stopped(workload),
            Input::Adapted(workload) => step.adapted(workload),
            Input::Requested(instance) => step.requested(&instance),
            Input::Evict => step.evict(),
            Input::Initiative => step.initiative(),
            Input::Swept => step.state.is_recovering = false,
            Input::Operator(command) => step.command(command),
            Input::Availability(availability) => {
                step.state.manager.set_availability(availability);
                step.report(TraceEvent::Availability(availability));
            }
            Input::Timeout => step.timeout(),
        }
    }

    fn is_quiet(&self) -> bool {
        let Ledger { custody, grants, draining, shrinking, .. } = &self.ledger;
        custody.is_empty()
            && grants.is_empty()
            && self.ledger.unforgotten().next().is_none()
            && draining.is_empty()
            && shrinking.is_empty()
            && self.outgoing.is_empty()
            && self.incoming.is_empty()
            && self.dropped.is_empty()
            && self.stopping.is_empty()
            && self.next_restart().is_none()
            && !self.is_recovering
    }
}

impl Step<'_> {
    /// Applies a record to the ledger, updates the manager's free hardware, and adds the effect that writes the record
    /// to disk.
    fn journal(&mut self, record: JournalRecord) {
        let State { ledger, manager, .. } = &mut *self.state;
        let before = ledger.used();
        ledger.apply(&record);
        let after = ledger.used();
        // After the record, more of one kind of hardware may be in use, and less of another.
        let given_back = manager.give_back(before.saturating_sub(after));
        let is_counted = given_back.and_then(|()| manager.take(after.saturating_sub(before)));
        debug_assert!(is_counted.is_ok(), "{record:?} does not fit");
        self.effects.push(Effect::Journal(record));
    }

    fn send(&mut self, to: &NodeId, receiver: JournalId, message: Message) {
        self.effects.push(Effect::Send { to: to.clone(), receiver: Some(receiver), message });
    }

    fn report(&mut self, report: TraceEvent) {
        self.effects.push(Effect::Trace(report));
    }

    /// Handles a message. Unless it is a hello, drops it if it is for another journal or from a rejected neighbour.
    /// Handlers detect duplicates.
    fn receive(&mut self, from: &NodeId, sender: JournalId, receiver: Option<JournalId>, message: Message) {
        if let Message::Hello(hello) = message {
            self.greeted(from, hello);
            return;
        }
        if receiver != Some(self.state.ids.journal) || self.state.refused.contains(from) {
            return;
        }
        match message {
            Message::Hello(_) => {}
            Message::Prepare(prepare) => self.prepare(from, sender, prepare),
            Message::Abort { transfer } => self.aborted(sender, transfer),
            Message::Transfer { transfer, token, snapshot, is_anchor, concerning } => {
                self.transfer(from, sender, (transfer, token), (&snapshot, is_anchor), concerning);
            }
            Message::Forget { transfer } => self.forget(sender, transfer),
            Message::Ready { transfer, token } => self.ready(from, sender, transfer, token),
            Message::Inhibit { transfer, inhibition } => self.inhibited(sender, transfer, inhibition),
            Message::Taken { transfer, concerning } => self.taken(from, sender, transfer, concerning),
            Message::NotTaken { transfer } => self.not_taken(sender, transfer),
        }
    }

    /// Handles the end of a copy.
    fn stopped(&mut self, workload: WorkloadId) {
        self.state.restarts.remove(&workload);
        if self.state.ledger.draining.contains_key(&workload) {
            self.state.stopping.remove(&workload);
            self.journal(JournalRecord::Stopped { workload });
        } else if let Some(needed) = self.state.dropped.remove(&workload) {
            let is_counted = self.state.manager.give_back(needed);
            debug_assert!(is_counted.is_ok(), "a dropped place was counted");
            self.report(TraceEvent::Freed(workload));
        } else {
            self.sleeping_copy_stopped(workload);
            self.own_copy_stopped(workload);
        }
    }
}

impl Agent {
    fn new(snapshot: &AgentSnapshot, next_evaluation: Time) -> Agent {
        let AgentSnapshot { evaluations, memory, history } = snapshot.clone();
        Agent { evaluations, memory, history, next_evaluation, ..Agent::default() }
    }

    fn snapshot(&self) -> AgentSnapshot {
        AgentSnapshot { evaluations: self.evaluations, memory: self.memory.clone(), history: self.history.clone() }
    }
}

impl TransferKind {
    fn snapshot(self, agent: &Agent) -> AgentSnapshot {
        match self {
            TransferKind::Migrate => agent.snapshot(),
            TransferKind::Replicate => AgentSnapshot::default(),
        }
    }
}

// Neighbours' facts are not hashed, because they may contain floats.
impl PartialEq for NeighbourFacts {
    fn eq(&self, other: &NeighbourFacts) -> bool {
        self.0 == other.0
    }
}

impl Eq for NeighbourFacts {}

impl std::hash::Hash for NeighbourFacts {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}
