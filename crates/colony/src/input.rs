//! The inputs and effects of a node.

use std::sync::Arc;

use mario_domain::{
    AgentOperation, Capacity, FlavourId, FlavourIndex, Hardware, Inhibition, InstanceId, NodeId, Request, Target,
    Verdict, Wakefulness,
};
use mario_policy::AcceptanceFailure;
use serde::{Deserialize, Serialize};

use crate::descriptor::Descriptor;
use crate::ids::{DeployKey, Epoch, JournalId, TransferId, WorkloadId};
use crate::journal::Record;
use crate::manager::Availability;
use crate::message::{Message, TransferKind};

/// Something that happens to a node.
#[derive(Clone, PartialEq, Debug)]
pub enum Input {
    /// The links that work now, in the order in which agents see the neighbours.
    Neighbours(Vec<NodeId>),
    /// The client requests that reached an instance in the last evaluation period.
    Observed(Observation),
    /// An agent evaluates its policy. A node with an evaluation period does this by itself.
    Evaluate(InstanceId),
    /// The node's manager judges what an agent proposed. A node with an evaluation period does this by itself.
    Judge(InstanceId),
    /// A client request reached a sleeping instance. Its manager is asked whether it may wake, unless it inhibited that
    /// since the last evaluation of the agent: [`Node::is_asleep`](crate::Node::is_asleep) returns the result.
    Requested(InstanceId),
    /// Evicts the instances under notice whose agents have had their last evaluation.
    Evict,
    /// Asks the owner of the node which instances to evict or to shrink.
    Initiative,
    /// A message came.
    Received {
        /// The neighbour, as the link knows it.
        from: NodeId,
        /// The journal of the neighbour.
        sender: JournalId,
        /// The receiver's journal as far as the neighbour knows; `None` in a hello.
        receiver: Option<JournalId>,
        /// The message.
        message: Message,
    },
    /// A starting copy is healthy.
    Healthy(WorkloadId),
    /// A starting copy failed to start.
    NotStarted {
        /// The copy.
        workload: WorkloadId,
        /// What happened to it.
        cause: String,
    },
    /// A stopping copy has stopped.
    Stopped(WorkloadId),
    /// An adapting copy runs in its flavour.
    Adapted(WorkloadId),
    /// Nothing runs on the node but what the last [`Effect::Sweep`] listed.
    Swept,
    /// An operator wants something.
    Operator(Command),
    /// The node accepts new instances, or not: it is about to leave, or has changed its mind.
    Availability(Availability),
    /// The time of [`Node::next_timeout`](crate::Node::next_timeout) has come, or passed.
    Timeout,
}

/// The client requests of one evaluation period, as an instance's node counted them.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    /// The instance.
    pub instance: InstanceId,
    /// One fact for each last hop and latency, in standard order.
    pub requests: Vec<RequestFact>,
    /// A number drawn for the next evaluation, if the policy uses randomness.
    pub random: Option<u32>,
}

/// Client requests that came by one last hop with one latency: `requests/4`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RequestFact {
    /// The last hop; the own node for clients on it.
    pub neighbour: Target,
    /// How many came in the evaluation period.
    pub rate: f64,
    /// The latency of the path.
    pub latency: f64,
}

/// What an operator wants.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// A new instance here.
    Deploy {
        /// The idempotency key.
        key: DeployKey,
        /// What to run.
        descriptor: Arc<Descriptor>,
    },
    /// The end of an instance.
    Undeploy(InstanceId),
    /// Updates an instance to another description of its application, with a higher version. Its agent keeps its
    /// memory.
    Update {
        /// The instance.
        instance: InstanceId,
        /// What to run from now on.
        descriptor: Arc<Descriptor>,
    },
    /// Restores the previous description of an instance that was updated here.
    Rollback(InstanceId),
    /// Pins an instance until it is unpinned: its agent can neither end nor move it.
    Pin(InstanceId),
    /// The agent of an instance decides again.
    Unpin(InstanceId),
    /// Migrates an instance to a neighbour, as if its agent had proposed it: managers accept or inhibit it as usual.
    Migrate {
        /// The instance.
        instance: InstanceId,
        /// The neighbour.
        target: NodeId,
    },
    /// A neighbour with this journal will never come back: instances in custody for it are adopted under a fresh id.
    Lost(JournalId),
}

/// Something that a node wants done.
///
/// Effects are one stream, over all calls: none is performed before every [`Effect::Journal`] ahead of it is on disk.
/// That is the shell's only obligation for nothing to be lost or duplicated.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Write a record down.
    Journal(Record),
    /// Send a message to a neighbour. It may be lost.
    Send {
        /// The neighbour.
        to: NodeId,
        /// The neighbour's journal; `None` in a hello.
        receiver: Option<JournalId>,
        /// The message.
        message: Message,
    },
    /// Start a copy, and report when it is healthy.
    Start {
        /// The copy.
        workload: WorkloadId,
        /// The instance.
        instance: InstanceId,
        /// What to run.
        descriptor: Arc<Descriptor>,
        /// The flavour to run it in; `None` for an application without flavours.
        flavour: Option<FlavourId>,
    },
    /// Adopt a copy that survived a restart of the node, or start it, including that of an instance that wakes; one
    /// that is being stopped starts once it has stopped. Report when it is healthy, or that it did not start.
    Resume {
        /// The copy.
        workload: WorkloadId,
        /// The instance.
        instance: InstanceId,
        /// What to run.
        descriptor: Arc<Descriptor>,
        /// The flavour to run it in; `None` for an application without flavours.
        flavour: Option<FlavourId>,
    },
    /// Run a copy in another flavour, or by another description, and report when it no longer runs as before. Hardware
    /// that it no longer needs counts as used until then. A copy that already runs like that is left alone, and
    /// reported at once.
    Adapt {
        /// The copy.
        workload: WorkloadId,
        /// The instance.
        instance: InstanceId,
        /// What to run.
        descriptor: Arc<Descriptor>,
        /// The flavour to run it in; `None` for an application without flavours.
        flavour: Option<FlavourId>,
    },
    /// Let a copy finish its requests, stop it, and report when it has stopped, even if it never ran. The copy of an
    /// instance that falls asleep is drained like that, and resumed when the instance wakes.
    Drain(WorkloadId),
    /// Stop a copy at once, and report when it has stopped, even if it never ran.
    Stop(WorkloadId),
    /// Kill all of this node's copies that are not listed, and report when that is done.
    Sweep {
        /// The copies to keep.
        keep: Vec<WorkloadId>,
    },
    /// Something for the trace.
    Report(Report),
}

/// An event for the trace.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// An agent evaluated its policy.
    Evaluated {
        /// Its instance.
        instance: InstanceId,
        /// What it proposes.
        proposal: Option<Proposal>,
        /// Whether the policy failed to give a valid answer.
        has_failed: bool,
        /// What it decided by.
        seen: Box<Seen>,
    },
    /// The working links have changed, or a neighbour introduced itself.
    Neighbours {
        /// The neighbours that are reached, in the order in which agents see them.
        up: Vec<NodeId>,
        /// Those of them whose facts are known.
        told: Vec<NodeId>,
    },
    /// The node accepts new instances, or not.
    Availability(Availability),
    /// An agent's own manager has accepted: the target is asked, and the agent is frozen.
    Preparing {
        /// By which transfer.
        transfer: TransferId,
        /// The instance whose agent asks.
        instance: InstanceId,
        /// Migrate or replicate.
        kind: TransferKind,
        /// Whom.
        target: NodeId,
    },
    /// A transfer that was being prepared was aborted.
    GaveUp {
        /// Which transfer.
        transfer: TransferId,
    },
    /// Hardware is reserved for an instance that may come.
    Reserved {
        /// By which transfer.
        transfer: TransferId,
        /// Who asks.
        from: NodeId,
        /// The instance.
        instance: InstanceId,
        /// Its copy.
        workload: WorkloadId,
        /// What is run.
        descriptor: Arc<Descriptor>,
        /// The reserved hardware.
        needed: Hardware,
    },
    /// A reservation ended.
    Released {
        /// Which transfer.
        transfer: TransferId,
        /// The copy in it.
        workload: WorkloadId,
        /// Whether a copy was started, so that it counts as hardware until it is [`Report::Freed`].
        is_started: bool,
    },
    /// The copy of a dropped reservation has stopped.
    Freed(WorkloadId),
    /// A request was accepted and enacted, or inhibited: a label of rule r1.
    Judged {
        /// The request.
        request: Request,
        /// What the managers concerned said.
        verdict: Verdict,
        /// The instance that appeared by it.
        created: Option<InstanceId>,
    },
    /// An instance came from a neighbour.
    Arrived {
        /// The instance.
        instance: InstanceId,
        /// Its epoch here.
        epoch: Epoch,
        /// From where.
        from: NodeId,
        /// By which transfer.
        transfer: TransferId,
    },
    /// An operator's update of an instance, or its rejection.
    Updated {
        /// The instance.
        instance: InstanceId,
        /// The version that it ran before, and still runs if that was rejected; `None` if it is not here.
        from: Option<u64>,
        /// The version of the update.
        to: Option<u64>,
        /// Why not.
        refused: Option<Inhibition>,
    },
    /// An instance that an operator undeployed has ended.
    Undeployed(InstanceId),
    /// An instance that an operator undeployed is on another node, which took it before.
    LivesOn {
        /// The instance.
        instance: InstanceId,
        /// The node.
        node: NodeId,
    },
    /// The node's acceptance policy failed to answer.
    AcceptanceFailed {
        /// What it was asked.
        request: Request,
        /// What happened.
        failure: Failure,
    },
    /// A client request reached a sleeping instance, and the manager was asked whether it may wake. If accepted, it
    /// does.
    Woken {
        /// The instance.
        instance: InstanceId,
        /// What the manager said.
        verdict: Verdict,
    },
    /// The owner of the node evicted an instance.
    Evicted {
        /// The instance.
        instance: InstanceId,
        /// The reason, as stated by the owner's policy when it was announced.
        reason: String,
        /// Whether an operator had pinned it.
        is_pinned: bool,
    },
    /// The owner of the node has an instance run in a smaller flavour.
    Shrunk {
        /// The instance.
        instance: InstanceId,
        /// The flavour.
        flavour: FlavourIndex,
        /// Why, as the owner's policy said.
        reason: String,
    },
    /// The owner of the node will evict an instance.
    Announced {
        /// The instance.
        instance: InstanceId,
        /// How many evaluations its agent has left.
        evaluations: u32,
        /// Why, as the owner's policy said.
        reason: String,
    },
    /// The node's policy failed when its owner was asked, so the owner does nothing.
    InitiativeFailed {
        /// What happened.
        failure: Failure,
    },
    /// A neighbour's journal has fewer records than before; it is ignored until it is replaced.
    RefusedPeer(NodeId),
}

/// The facts and the decision of an agent.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// What it is an instance of.
    pub descriptor: Arc<Descriptor>,
    /// Whether its instance is awake.
    pub wakefulness: Wakefulness,
    /// The free hardware of its node.
    pub free: Capacity,
    /// The client requests of the last evaluation period.
    pub requests: Vec<RequestFact>,
    /// Its remembered inhibitions, in the order seen.
    pub inhibited: Vec<(AgentOperation, Target)>,
    /// The first solution of its policy.
    pub solution: Option<FirstSolution>,
    /// What stopped the policy before it returned a solution.
    pub ending: Option<String>,
    /// What was drawn for this evaluation.
    pub random: Option<u32>,
}

/// The first solution of a policy, with its clause of `operation/3`, counted from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FirstSolution {
    /// An operation.
    Proposal {
        /// Which.
        operation: AgentOperation,
        /// Where it leads to, as the policy wrote it.
        target: Target,
        /// From where in the policy.
        clause: usize,
    },
    /// No operation.
    Invalid {
        /// Why not.
        fault: String,
        /// From where in the policy.
        clause: usize,
    },
}

/// Why an acceptance policy failed.
#[derive(Clone, Debug)]
pub struct Failure(pub Box<AcceptanceFailure>);

impl PartialEq for Failure {
    fn eq(&self, other: &Failure) -> bool {
        self.0.cause == other.0.cause
    }
}

/// The proposal of an agent: operation and target.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Proposal {
    /// Which operation.
    pub operation: AgentOperation,
    /// As the policy wrote it; the own node for an operation without a target.
    pub target: Target,
}

// Rates and latencies are finite, so that equality is total.
impl Eq for RequestFact {}

impl std::hash::Hash for RequestFact {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        (&self.neighbour, self.rate.to_bits(), self.latency.to_bits()).hash(hasher);
    }
}
