//! What only live nodes record, in parts and in the trace that they are joined to: events on a node.

mod older;
mod part;
mod state;

use std::io::Write;

use mario_domain::{AgentOperation, Capacity, Hardware, Inhibition, InstanceId, Time};
use serde::{Deserialize, Serialize};

use crate::json::natural;
use crate::record::value;
use crate::reference::NodeRef;
use crate::writer::TraceWriter;

pub(crate) use part::PART_VERSION_OF_ANCHORS;
pub use part::{
    PART_VERSION, PartApplication, PartEvaluation, PartFacts, PartHeader, PartLine, PartOutcome, PartRecord, Stamp,
};
pub use state::{CustodyState, NodeState, OfferState, OwnedState, ReservedState};

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
        value(&mut self.line, event);
        self.line.push(b']');
        self.end_line();
    }
}
