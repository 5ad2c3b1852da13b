//! The lines of trace parts, which daemons write. The joined trace contains the [`LiveEvent`]s of all parts.

mod state;

use std::io::Write;

use mario_domain::{AgentOperation, Application, Capacity, Fact, Hardware, Inhibition, InstanceId, NodeId, Time};
use serde::{Deserialize, Serialize};

use crate::json::natural;
use crate::reference::NodeRef;
use crate::writer::TraceWriter;

pub use state::{CustodyState, NodeState, OfferState, OwnedState, ReservedState};

/// The version of the format of parts. Version 2 adds the actions of owners, version 3 anchors and the records of
/// drains; older ones can still be read.
pub const PART_VERSION: u32 = 3;

/// The first version that has anchors.
pub(crate) const PART_VERSION_OF_ANCHORS: u32 = 3;

/// A timestamp of a hybrid logical clock: later than the timestamps of all messages that its node has accepted before,
/// and close to wall-clock time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Stamp(
    /// Milliseconds since 1970.
    pub u64,
    /// A counter that orders timestamps within one millisecond.
    pub u32,
);

/// The first line of a part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartHeader {
    /// The version of the format.
    pub mario_trace_part: u32,
    /// The program that wrote it.
    pub program: String,
    /// The colony of the node.
    pub colony: String,
    /// The node.
    pub node: NodeId,
    /// The id of its journal: 32 hexadecimal digits.
    pub journal: String,
    /// The number of the part in its data directory, from 1.
    pub part: u64,
    /// The hardware of the node.
    pub capacity: Capacity,
    /// The neighbours of the node, in the order in which its agents see them.
    pub neighbours: Vec<NodeId>,
    /// Facts about the node.
    pub facts: Vec<Fact>,
    /// Whether the node has an acceptance policy.
    pub has_acceptance: bool,
    /// The time between two evaluations of an agent, in milliseconds.
    pub evaluation_ms: u64,
    /// The budget of one decision, in inferences.
    pub decision_budget: u64,
}

/// A line after the first: its timestamp, the number of its journal record (from 1), and its content.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartRecord(
    /// The timestamp.
    pub Stamp,
    /// The number of the journal record; `None` for lines that have none.
    pub Option<u64>,
    /// The content.
    pub PartLine,
);

/// The content of a line of a part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartLine {
    /// An application. Later lines of the part refer to it by its index among these lines, from 0.
    Application(Box<PartApplication>),
    /// An agent evaluated its policy.
    Evaluation(Box<PartEvaluation>),
    /// A proposal of an agent, or an operator's command to migrate its instance, was inhibited.
    Inhibited(Box<PartInhibited>),
    /// The owner of the node acted on an instance. The resulting journal records, if any, follow.
    Owner(Box<PartOwnerAct>),
    /// Any other event.
    #[serde(untagged)]
    Event(LiveEvent<NodeId>),
}

/// An application that the node knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartApplication {
    /// Its descriptor.
    pub application: Application,
    /// Facts about it.
    pub facts: Vec<Fact>,
    /// The name of its policy.
    pub policy: String,
    /// The number of evaluations for which its agents remember an inhibition.
    pub memory: u32,
    /// The names and texts of the policy's files. The first is the policy itself.
    pub files: Vec<(String, String)>,
}

/// An evaluation: the facts and the decision of an agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartEvaluation {
    /// Its instance.
    pub instance: InstanceId,
    /// The index of its application.
    pub application: u32,
    /// The free hardware that it saw.
    pub free: Capacity,
    /// Client requests: the last hop (`None` for clients on the node itself), the rate and the latency.
    pub requests: Vec<(Option<NodeId>, f64, f64)>,
    /// The inhibited operations that the agent remembers, with their targets: `None` for `self`; a flavour is stored as
    /// the id of a node.
    pub inhibited: Vec<(AgentOperation, Option<NodeId>)>,
    /// The first solution of the policy; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<PartSolution>,
    /// Why the evaluation was stopped; `None` if it was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// The random number drawn for the evaluation; `None` if none was drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<u32>,
}

/// A solution of a policy, with its clause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartSolution {
    /// An operation, its target as written by the policy (`None` for `self`), and the clause.
    Proposal(AgentOperation, Option<NodeId>, usize),
    /// The error, and the clause.
    Invalid(String, usize),
}

/// An inhibited proposal of an agent, or an operator's inhibited command to migrate its instance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartInhibited {
    /// The instance of the agent.
    pub instance: InstanceId,
    /// The operation.
    pub operation: AgentOperation,
    /// The target; `None` for `self`.
    pub target: Option<NodeId>,
    /// The node and the rule that inhibited it.
    pub inhibition: Inhibition,
}

/// An action of a node's owner on an instance on that node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartOwnerAct {
    /// The instance.
    pub instance: InstanceId,
    /// The action.
    pub act: PartOwnerActKind,
    /// The reason stated by the owner's policy.
    pub reason: String,
}

/// The kind of an owner's action.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartOwnerActKind {
    /// The instance was evicted.
    Evicted,
    /// The instance now runs in the smaller flavour with this index.
    Shrunk(u32),
    /// The instance will be evicted after this many more evaluations of its agent.
    Leave(u32),
}

/// An event on a live node. `N` identifies nodes: by id in a part, by index in a trace.
///
/// Transfers are named `JOURNAL.BOOT.COUNTER`, workloads `BOOT.COUNTER`. Applications are indices. "In the journal"
/// means that the event is also a record in the node's journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LiveEvent<N> {
    /// The daemon started. In the journal.
    Boot {
        /// Its journal.
        journal: String,
        /// How often the journal was opened before.
        boot: u32,
        /// The hardware of the node.
        capacity: Capacity,
    },
    /// The state of the node that concerns instances, workloads and transfers: from the ledger of its journal, and its
    /// reservations and transfers in preparation.
    State(Box<NodeState<N>>),
    /// The node became the owner of an instance. In the journal.
    Own {
        /// The instance and its workload.
        #[serde(flatten)]
        owned: OwnedState,
        /// How the node came to own it.
        cause: Cause<N>,
    },
    /// An instance is being handed over, and stays in custody until the target has answered. In the journal.
    Custody {
        /// The instance.
        instance: InstanceId,
        /// Its epoch on this node.
        epoch: u32,
        /// The transfer.
        transfer: String,
        /// The target.
        target: N,
        /// Whether its workload is to run until the target has answered.
        is_running: bool,
    },
    /// An operator ended an instance that is in custody. In the journal.
    CustodyEnded {
        /// The instance.
        instance: InstanceId,
    },
    /// A new instance is offered to a target. In the journal.
    Offer(OfferState<N>),
    /// The target has taken the instance that was handed over or offered, or an operator declared the target of an
    /// offer lost. In the journal.
    Taken {
        /// The transfer.
        transfer: String,
    },
    /// The transfer of an instance that was offered, or ended in custody, is closed: the target will never take it or,
    /// in the second case, was declared lost. In the journal.
    NotTaken {
        /// The transfer.
        transfer: String,
    },
    /// An instance ended on this node. In the journal.
    Undeployed {
        /// The instance.
        instance: InstanceId,
    },
    /// A workload that was stopping has stopped. In the journal.
    Stopped {
        /// The workload.
        workload: String,
    },
    /// The source will not ask about this transfer again. In the journal.
    Forgotten {
        /// The transfer.
        transfer: String,
    },
    /// An operator pinned or unpinned an instance. In the journal.
    Pinned {
        /// The instance.
        instance: InstanceId,
        /// Whether it is pinned.
        is_pinned: bool,
    },
    /// An operator made an instance an anchor, or ended that. In the journal.
    Anchored {
        /// The instance.
        instance: InstanceId,
        /// Whether it is an anchor.
        is_anchor: bool,
    },
    /// An operator undeploys an instance that the node owns. [`LiveEvent::Undeployed`] follows.
    Undeploying {
        /// The instance.
        instance: InstanceId,
    },
    /// An operator updated an instance to another description of its application. In the journal.
    Updated {
        /// The instance.
        instance: InstanceId,
        /// The index of the new description of its application.
        application: u32,
        /// The hardware of its workload after the update.
        needed: Hardware,
        /// The index of its flavour.
        #[serde(default, skip_serializing_if = "state::is_default")]
        flavour: u32,
    },
    /// An instance is to run in another flavour. In the journal.
    Adapted {
        /// The instance.
        instance: InstanceId,
        /// The index of the flavour in its application.
        flavour: u32,
    },
    /// An instance fell asleep. In the journal.
    Slept {
        /// The instance.
        instance: InstanceId,
    },
    /// An instance woke. In the journal.
    Woke {
        /// The instance.
        instance: InstanceId,
    },
    /// A client request reached a sleeping instance, but the node's manager inhibited the wake.
    WakeRefused {
        /// The instance.
        instance: InstanceId,
        /// The reason.
        inhibition: Inhibition,
    },
    /// A workload no longer uses its surplus hardware: it no longer runs with its larger flavour or description, or it
    /// stopped because its instance sleeps. In the journal.
    Shrunk {
        /// The workload.
        workload: String,
    },
    /// An operator started or ended draining the node. In the journal; older versions recorded it as
    /// [`LiveEvent::Draining`], which is not in the journal.
    Drained {
        /// Whether the node is draining.
        is_draining: bool,
    },
    /// An operator declared that a journal will never return. In the journal.
    Lost {
        /// The journal.
        journal: String,
    },
    /// A neighbour showed that the node's journal is an old copy: the node stops all workloads. In the journal.
    Outdated {
        /// The neighbour.
        by: N,
        /// How it shows.
        evidence: String,
    },
    /// A neighbour introduced itself. In the journal.
    Peer {
        /// The neighbour.
        node: N,
        /// Its journal.
        journal: String,
    },
    /// The target of a migration or replication is asked whether it accepts the instance. Until the answer, the agent
    /// is frozen.
    Prepare {
        /// The transfer.
        transfer: String,
        /// The instance that migrates or replicates.
        instance: InstanceId,
        /// Migrate or replicate.
        operation: AgentOperation,
        /// The target.
        target: N,
    },
    /// The preparation of a transfer was aborted, and the agent is no longer frozen.
    #[serde(rename = "gave-up")]
    Aborted {
        /// The transfer.
        transfer: String,
    },
    /// Hardware is reserved for an instance that may arrive.
    Reserved(ReservedState),
    /// A reservation was dropped, because the instance did not arrive. If a workload was started for it, the hardware
    /// stays in use until [`LiveEvent::Freed`].
    Released {
        /// The transfer.
        transfer: String,
        /// Whether a workload was started for it.
        is_started: bool,
    },
    /// The workload of a dropped reservation has stopped.
    Freed {
        /// The workload.
        workload: String,
    },
    /// The reachable neighbours were set, or the facts of one became known.
    Neighbours {
        /// The reachable neighbours, in the order in which agents see them.
        up: Vec<N>,
        /// The reachable neighbours whose facts are known.
        told: Vec<N>,
    },
    /// The availability of the node was set.
    Draining {
        /// Whether it is draining, i.e. not fully available.
        is_draining: bool,
    },
}

/// How a node came to own an instance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause<N> {
    /// An operator deployed it.
    Deployed,
    /// A neighbour handed it over, or offered it as a new instance.
    Taken {
        /// The transfer.
        transfer: String,
        /// The neighbour.
        from: N,
    },
    /// An agent on the same node created it as a replica.
    Replicated {
        /// The instance of the replicating agent.
        parent: InstanceId,
    },
    /// It was in custody, and the target will never take it.
    NotTaken {
        /// The transfer.
        transfer: String,
    },
    /// The instance replaces one that was handed over to a node whose journal an operator declared lost. It has a new
    /// id.
    Adopted {
        /// The transfer.
        transfer: String,
    },
}

impl<N> LiveEvent<N> {
    /// Converts the identifiers of nodes and the indices of applications.
    pub fn map<M>(self, node: &mut impl FnMut(N) -> M, application: &mut impl FnMut(u32) -> u32) -> LiveEvent<M> {
        match self {
            LiveEvent::Boot { journal, boot, capacity } => LiveEvent::Boot { journal, boot, capacity },
            LiveEvent::State(state) => LiveEvent::State(Box::new(state.map(node, application))),
            LiveEvent::Own { owned, cause } => LiveEvent::Own { owned: owned.map(application), cause: cause.map(node) },
            LiveEvent::Custody { instance, epoch, transfer, target, is_running } => {
                LiveEvent::Custody { instance, epoch, transfer, target: node(target), is_running }
            }
            LiveEvent::CustodyEnded { instance } => LiveEvent::CustodyEnded { instance },
            LiveEvent::Offer(offer) => LiveEvent::Offer(offer.map(node)),
            LiveEvent::Taken { transfer } => LiveEvent::Taken { transfer },
            LiveEvent::NotTaken { transfer } => LiveEvent::NotTaken { transfer },
            LiveEvent::Undeployed { instance } => LiveEvent::Undeployed { instance },
            LiveEvent::Stopped { workload } => LiveEvent::Stopped { workload },
            LiveEvent::Forgotten { transfer } => LiveEvent::Forgotten { transfer },
            LiveEvent::Pinned { instance, is_pinned } => LiveEvent::Pinned { instance, is_pinned },
            LiveEvent::Anchored { instance, is_anchor } => LiveEvent::Anchored { instance, is_anchor },
            LiveEvent::Undeploying { instance } => LiveEvent::Undeploying { instance },
            LiveEvent::Updated { instance, application: place, needed, flavour } => {
                LiveEvent::Updated { instance, application: application(place), needed, flavour }
            }
            LiveEvent::Adapted { instance, flavour } => LiveEvent::Adapted { instance, flavour },
            LiveEvent::Slept { instance } => LiveEvent::Slept { instance },
            LiveEvent::Woke { instance } => LiveEvent::Woke { instance },
            LiveEvent::WakeRefused { instance, inhibition } => LiveEvent::WakeRefused { instance, inhibition },
            LiveEvent::Shrunk { workload } => LiveEvent::Shrunk { workload },
            LiveEvent::Drained { is_draining } => LiveEvent::Drained { is_draining },
            LiveEvent::Lost { journal } => LiveEvent::Lost { journal },
            LiveEvent::Outdated { by, evidence } => LiveEvent::Outdated { by: node(by), evidence },
            LiveEvent::Peer { node: peer, journal } => LiveEvent::Peer { node: node(peer), journal },
            LiveEvent::Prepare { transfer, instance, operation, target } => {
                LiveEvent::Prepare { transfer, instance, operation, target: node(target) }
            }
            LiveEvent::Aborted { transfer } => LiveEvent::Aborted { transfer },
            LiveEvent::Reserved(reserved) => LiveEvent::Reserved(reserved.map(application)),
            LiveEvent::Released { transfer, is_started } => LiveEvent::Released { transfer, is_started },
            LiveEvent::Freed { workload } => LiveEvent::Freed { workload },
            LiveEvent::Neighbours { up, told } => LiveEvent::Neighbours {
                up: up.into_iter().map(&mut *node).collect(),
                told: told.into_iter().map(node).collect(),
            },
            LiveEvent::Draining { is_draining } => LiveEvent::Draining { is_draining },
        }
    }
}

impl<N> Cause<N> {
    fn map<M>(self, node: &mut impl FnMut(N) -> M) -> Cause<M> {
        match self {
            Cause::Deployed => Cause::Deployed,
            Cause::Taken { transfer, from } => Cause::Taken { transfer, from: node(from) },
            Cause::Replicated { parent } => Cause::Replicated { parent },
            Cause::NotTaken { transfer } => Cause::NotTaken { transfer },
            Cause::Adopted { transfer } => Cause::Adopted { transfer },
        }
    }
}

impl<W: Write> TraceWriter<W> {
    /// Records an event on a live node. `number` is the number of its journal record, if it is in the journal.
    pub fn live(&mut self, time: Time, node: NodeRef, number: Option<u64>, event: &LiveEvent<NodeRef>) {
        self.begin("live", time);
        self.comma_node(Some(node));
        self.line.push(b',');
        match number {
            Some(number) => natural(&mut self.line, number),
            None => self.line.extend_from_slice(b"null"),
        }
        self.line.push(b',');
        serde_json::to_writer(&mut self.line, event).expect("writing to memory does not fail");
        self.line.push(b']');
        self.end_line();
    }
}
