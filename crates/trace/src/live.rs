//! Events on a live node, as in the parts of a trace that daemons write, and in the joined trace.

mod state;

use std::io::Write;

use mario_domain::{AgentOperation, Application, Capacity, Fact, Hardware, Inhibition, InstanceId, NodeId, Time};
use serde::{Deserialize, Serialize};

use crate::json::natural;
use crate::place::NodePlace;
use crate::writer::TraceWriter;

pub use state::{CustodyState, NodeState, OfferState, OwnedState, ReservedState};

/// The version of the format of parts. Version 2 has the actions of owners; version 1 is read, too.
pub const PART_VERSION: u32 = 2;

/// A timestamp of a hybrid logical clock: no earlier than anything that its node knew of, and close to wall-clock time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Stamp(
    /// Milliseconds since 1970.
    pub u64,
    /// Distinguishes timestamps of one millisecond.
    pub u32,
);

/// The first line of a part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartHeader {
    /// The version of the format.
    pub mario_trace_part: u32,
    /// What wrote it.
    pub program: String,
    /// The colony that the node is of.
    pub colony: String,
    /// The node.
    pub node: NodeId,
    /// Its journal: 32 hexadecimal digits.
    pub journal: String,
    /// Counts the parts of a data directory, from 1.
    pub part: u64,
    /// Its hardware.
    pub capacity: Capacity,
    /// Its neighbours, in the order in which its agents see them.
    pub neighbours: Vec<NodeId>,
    /// Facts about it.
    pub facts: Vec<Fact>,
    /// Whether it has an acceptance policy of its own.
    pub has_acceptance: bool,
    /// The time between two evaluations of an agent, in milliseconds.
    pub evaluation_ms: u64,
    /// The budget of one decision, in inferences.
    pub decision_budget: u64,
}

/// A line after the first: its timestamp, the number of the journal's record, counted from 1, and the event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartRecord(
    /// When.
    pub Stamp,
    /// The number of the record; `None` for what is not in the journal.
    pub Option<u64>,
    /// What.
    pub PartLine,
);

/// The content of a line of a part.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartLine {
    /// An application that later lines of the part name by its place among these lines, from 0.
    Application(Box<PartApplication>),
    /// An agent evaluated its policy.
    Evaluation(Box<PartEvaluation>),
    /// An agent's proposal was inhibited.
    Inhibited(Box<PartInhibited>),
    /// The owner of the node acted on an instance there. The consequences in the journal come after it.
    Owner(Box<PartOwnerAct>),
    /// Anything else.
    #[serde(untagged)]
    Happened(Happened<NodeId>),
}

/// An application that is described on the node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartApplication {
    /// What is run.
    pub application: Application,
    /// Facts about it.
    pub facts: Vec<Fact>,
    /// What people call its policy.
    pub policy: String,
    /// For how many evaluations its agents remember what was inhibited.
    pub memory: u32,
    /// Names and texts of the policy's files, the policy first.
    pub files: Vec<(String, String)>,
}

/// The facts and the decision of an agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PartEvaluation {
    /// Its instance.
    pub instance: InstanceId,
    /// The place of its application.
    pub application: u32,
    /// The free hardware that it saw.
    pub free: Capacity,
    /// Last hop, rate and latency of client requests; no hop for clients on the node itself.
    pub requests: Vec<(Option<NodeId>, f64, f64)>,
    /// What it remembers as inhibited; no node for `self`.
    pub inhibited: Vec<(AgentOperation, Option<NodeId>)>,
    /// The first solution of its policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<PartSolution>,
    /// What stopped the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// What was drawn for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<u32>,
}

/// A solution of a policy and its clause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartSolution {
    /// An operation, its target as the policy wrote it, and the clause; no node for `self`.
    Proposal(AgentOperation, Option<NodeId>, usize),
    /// What is wrong with it, and the clause.
    Invalid(String, usize),
}

/// Something that was inhibited.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartInhibited {
    /// The instance whose agent asked.
    pub instance: InstanceId,
    /// What was asked for.
    pub operation: AgentOperation,
    /// Where to; `None` for `self`.
    pub target: Option<NodeId>,
    /// Who inhibited it, and why.
    pub inhibition: Inhibition,
}

/// The action of a node's owner on an instance there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartOwnerAct {
    /// Which instance.
    pub instance: InstanceId,
    /// What was done.
    pub act: PartOwnerActKind,
    /// Why, as the owner's policy said it.
    pub reason: String,
}

/// What an owner can do to an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartOwnerActKind {
    /// It is undeployed.
    Evicted,
    /// It runs in the smaller flavour that has this place in its application.
    Shrunk(u32),
    /// It will be evicted, after this many more evaluations of its agent.
    Leave(u32),
}

/// An event on a live node. `N` is the name of nodes: an id in a part, an index in a trace.
///
/// Transfers are named `JOURNAL.BOOT.COUNTER`, copies `BOOT.COUNTER`, and applications by place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Happened<N> {
    /// The daemon started. In the journal.
    Boot {
        /// Its journal.
        journal: String,
        /// How often that was opened before.
        boot: u32,
        /// The hardware of the node.
        capacity: Capacity,
    },
    /// The whole state of the node: the ledger of its journal, and its reservations.
    State(Box<NodeState<N>>),
    /// An instance is the node's. In the journal.
    Own {
        /// The instance and its copy.
        #[serde(flatten)]
        owned: OwnedState,
        /// How it became so.
        cause: Cause<N>,
    },
    /// An instance is handed over and kept in custody until the target has answered. In the journal.
    Custody {
        /// The instance.
        instance: InstanceId,
        /// Its epoch here.
        epoch: u32,
        /// By which transfer.
        transfer: String,
        /// To whom.
        target: N,
        /// Whether its copy runs on meanwhile.
        is_running: bool,
    },
    /// An operator ended an instance that is handed over. In the journal.
    CustodyEnded {
        /// The instance.
        instance: InstanceId,
    },
    /// A new instance is offered to a target. In the journal.
    Offer(OfferState<N>),
    /// The target has confirmed that it took what was handed over or offered. In the journal.
    Taken {
        /// Which transfer.
        transfer: String,
    },
    /// The target will never take what was offered, or what an operator ended in the meantime. In the journal.
    NotTaken {
        /// Which transfer.
        transfer: String,
    },
    /// An instance ended here. In the journal.
    Undeployed {
        /// The instance.
        instance: InstanceId,
    },
    /// A copy that was to stop has stopped. In the journal.
    Stopped {
        /// The copy.
        workload: String,
    },
    /// The source has said that it needs no more answers. In the journal.
    Forgotten {
        /// Which transfer.
        transfer: String,
    },
    /// An operator pinned an instance, or let it go. In the journal.
    Pinned {
        /// The instance.
        instance: InstanceId,
        /// Whether it is pinned now.
        is_pinned: bool,
    },
    /// An operator updated an instance to another description of its application. In the journal.
    Updated {
        /// The instance.
        instance: InstanceId,
        /// The place of its application, as it is described now.
        application: u32,
        /// What its copy uses, once it runs like that.
        needed: Hardware,
        /// The place of the flavour that it runs in.
        #[serde(default, skip_serializing_if = "state::is_default")]
        flavour: u32,
    },
    /// An instance runs in another flavour. In the journal.
    Adapted {
        /// The instance.
        instance: InstanceId,
        /// The place of the flavour in its application.
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
    /// A client request reached a sleeping instance, and its manager did not let it wake.
    WakeRefused {
        /// The instance.
        instance: InstanceId,
        /// Why not.
        inhibition: Inhibition,
    },
    /// A copy that was to run in a smaller flavour does, or one that was to stop for a sleep has stopped. In the journal.
    Shrunk {
        /// The copy.
        workload: String,
    },
    /// An operator declared that a journal will never come back. In the journal.
    Lost {
        /// Which journal.
        journal: String,
    },
    /// A neighbour introduced itself. In the journal.
    Peer {
        /// The neighbour.
        node: N,
        /// Its journal.
        journal: String,
    },
    /// An agent's proposal is sent to a target, and the agent is frozen.
    Prepare {
        /// By which transfer.
        transfer: String,
        /// The instance whose agent asks.
        instance: InstanceId,
        /// Migrate or replicate.
        operation: AgentOperation,
        /// Whom.
        target: N,
    },
    /// A transfer that was being prepared was aborted.
    GaveUp {
        /// Which transfer.
        transfer: String,
    },
    /// Hardware is reserved for an instance that may come.
    Reserved(ReservedState),
    /// A reservation ended. A copy that was started for it counts as hardware until it is freed.
    Released {
        /// Which transfer.
        transfer: String,
        /// Whether a copy was started in it.
        is_started: bool,
    },
    /// The copy of a dropped reservation has stopped.
    Freed {
        /// The copy.
        workload: String,
    },
    /// The reachable neighbours have changed, or the facts of one became known.
    Neighbours {
        /// Those that are reached, in the order in which agents see them.
        up: Vec<N>,
        /// Those of them whose facts are known.
        told: Vec<N>,
    },
    /// An operator drains the node, or lets it accept instances again.
    Draining {
        /// Whether it is drained now.
        is_draining: bool,
    },
}

/// How an instance became a node's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause<N> {
    /// An operator deployed it.
    Deployed,
    /// A neighbour handed it over.
    Taken {
        /// By which transfer.
        transfer: String,
        /// Who.
        from: N,
    },
    /// An agent on the node replicated onto it.
    Replicated {
        /// That agent's instance.
        parent: InstanceId,
    },
    /// It was handed over, and the target will never take it.
    NotTaken {
        /// Which transfer.
        transfer: String,
    },
    /// It is the copy of an instance that was handed over to a node that an operator declared lost, under a fresh id.
    Adopted {
        /// Which transfer.
        transfer: String,
    },
}

impl<N> Happened<N> {
    /// The same with other names for nodes and other places of applications.
    pub fn map<M>(self, node: &mut impl FnMut(N) -> M, application: &mut impl FnMut(u32) -> u32) -> Happened<M> {
        match self {
            Happened::Boot { journal, boot, capacity } => Happened::Boot { journal, boot, capacity },
            Happened::State(state) => Happened::State(Box::new(state.map(node, application))),
            Happened::Own { owned, cause } => Happened::Own { owned: owned.map(application), cause: cause.map(node) },
            Happened::Custody { instance, epoch, transfer, target, is_running } => {
                Happened::Custody { instance, epoch, transfer, target: node(target), is_running }
            }
            Happened::CustodyEnded { instance } => Happened::CustodyEnded { instance },
            Happened::Offer(offer) => Happened::Offer(offer.map(node)),
            Happened::Taken { transfer } => Happened::Taken { transfer },
            Happened::NotTaken { transfer } => Happened::NotTaken { transfer },
            Happened::Undeployed { instance } => Happened::Undeployed { instance },
            Happened::Stopped { workload } => Happened::Stopped { workload },
            Happened::Forgotten { transfer } => Happened::Forgotten { transfer },
            Happened::Pinned { instance, is_pinned } => Happened::Pinned { instance, is_pinned },
            Happened::Updated { instance, application: place, needed, flavour } => {
                Happened::Updated { instance, application: application(place), needed, flavour }
            }
            Happened::Adapted { instance, flavour } => Happened::Adapted { instance, flavour },
            Happened::Slept { instance } => Happened::Slept { instance },
            Happened::Woke { instance } => Happened::Woke { instance },
            Happened::WakeRefused { instance, inhibition } => Happened::WakeRefused { instance, inhibition },
            Happened::Shrunk { workload } => Happened::Shrunk { workload },
            Happened::Lost { journal } => Happened::Lost { journal },
            Happened::Peer { node: peer, journal } => Happened::Peer { node: node(peer), journal },
            Happened::Prepare { transfer, instance, operation, target } => {
                Happened::Prepare { transfer, instance, operation, target: node(target) }
            }
            Happened::GaveUp { transfer } => Happened::GaveUp { transfer },
            Happened::Reserved(reserved) => Happened::Reserved(reserved.map(application)),
            Happened::Released { transfer, is_started } => Happened::Released { transfer, is_started },
            Happened::Freed { workload } => Happened::Freed { workload },
            Happened::Neighbours { up, told } => Happened::Neighbours {
                up: up.into_iter().map(&mut *node).collect(),
                told: told.into_iter().map(node).collect(),
            },
            Happened::Draining { is_draining } => Happened::Draining { is_draining },
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
    /// Something happened on a live node; `number` is that of the record of its journal, if it is in there.
    pub fn live(&mut self, time: Time, node: NodePlace, number: Option<u64>, happened: &Happened<NodePlace>) {
        self.begin("live", time);
        self.comma_node(Some(node));
        self.line.push(b',');
        match number {
            Some(number) => natural(&mut self.line, number),
            None => self.line.extend_from_slice(b"null"),
        }
        self.line.push(b',');
        serde_json::to_writer(&mut self.line, happened).expect("writing to memory does not fail");
        self.line.push(b']');
        self.end_line();
    }
}
