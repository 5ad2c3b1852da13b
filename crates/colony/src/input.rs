//! What goes into a node, and what comes out.

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
    /// A client request reached an instance that sleeps. Its manager is asked whether it may wake, unless it said no since the last
    /// evaluation of the agent: [`Node::is_asleep`](crate::Node::is_asleep) tells what came of it.
    Requested(InstanceId),
    /// Those who were told to leave and have had their last evaluation are evicted.
    Evict,
    /// The owner of the node is asked what it wants of what runs there.
    Initiative,
    /// A message came.
    Received {
        /// The neighbour, as the link knows it.
        from: NodeId,
        /// The journal of the neighbour.
        sender: JournalId,
        /// The journal that the neighbour takes this node to have; `None` in a hello.
        receiver: Option<JournalId>,
        /// The message.
        message: Message,
    },
    /// A copy that was to start is healthy.
    Healthy(WorkloadId),
    /// A copy that was to start did not.
    NotStarted {
        /// The copy.
        workload: WorkloadId,
        /// What happened to it.
        cause: String,
    },
    /// A copy that was to stop has stopped.
    Stopped(WorkloadId),
    /// A copy that was to adapt runs in its flavour.
    Adapted(WorkloadId),
    /// Nothing runs on the node but what the last [`Effect::Sweep`] listed.
    Swept,
    /// An operator wants something.
    Operator(Command),
    /// The node takes new instances, or not: it is about to leave, or has changed its mind.
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
    /// A number drawn for the next evaluation, if the policy asks for randomness.
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
        /// Makes a repeated command the same deploy.
        key: DeployKey,
        /// What to run.
        descriptor: Arc<Descriptor>,
    },
    /// The end of an instance.
    Undeploy(InstanceId),
    /// An instance gets another description of its application, with a higher version. Its agent keeps its memory.
    Update {
        /// The instance.
        instance: InstanceId,
        /// What to run from now on.
        descriptor: Arc<Descriptor>,
    },
    /// An instance that was updated here runs what it ran before.
    Rollback(InstanceId),
    /// An instance is to stay until it is unpinned: its agent can neither end nor move it.
    Pin(InstanceId),
    /// The agent of an instance decides again.
    Unpin(InstanceId),
    /// An instance is to move to a neighbour, as if its agent had asked: managers accept or inhibit it as ever.
    Migrate {
        /// The instance.
        instance: InstanceId,
        /// The neighbour.
        target: NodeId,
    },
    /// A neighbour with this journal will never come back: what is in custody for it is adopted under a fresh id.
    Lost(JournalId),
}

/// Something that a node wants done.
///
/// Effects are one stream, over all calls: none is performed before every [`Effect::Journal`] ahead of it is on disk. That is
/// all the shell has to do for nothing to be lost or doubled.
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
    /// Start a copy, and tell when it is healthy.
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
    /// Adopt a copy that survived a restart of the node, or start it, also that of an instance that wakes; one that is being stopped starts once it has stopped. Tell
    /// when it is healthy, or that it did not start.
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
    /// Run a copy in another flavour, or by another description, and tell when it no longer runs as before. What it needs less
    /// counts as used until then. A copy that runs like that already is left alone, and told at once.
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
    /// Let a copy finish its requests, stop it, and tell when it has stopped, also if it never ran. The copy of an instance that falls
    /// asleep is drained like that, and resumed when the instance wakes.
    Drain(WorkloadId),
    /// Stop a copy at once, and tell when it has stopped, also if it never ran.
    Stop(WorkloadId),
    /// Kill whatever of this node's copies still runs and is not listed, and tell when that is done.
    Sweep {
        /// What is to stay.
        keep: Vec<WorkloadId>,
    },
    /// Something for the trace.
    Report(Report),
}

/// Something that a trace tells of.
#[derive(Clone, PartialEq, Debug)]
pub enum Report {
    /// An agent evaluated its policy.
    Evaluated {
        /// Its instance.
        instance: InstanceId,
        /// What it proposes.
        proposal: Option<Proposal>,
        /// Whether the policy gave no valid answer.
        has_failed: bool,
        /// What it decided by.
        seen: Box<Seen>,
    },
    /// The links that work have changed, or a neighbour introduced itself.
    Neighbours {
        /// The neighbours that are reached, in the order in which agents see them.
        up: Vec<NodeId>,
        /// Those of them whose facts are known.
        told: Vec<NodeId>,
    },
    /// The node takes new instances, or not.
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
    /// A transfer that was being prepared was given up.
    GaveUp {
        /// Which transfer.
        transfer: TransferId,
    },
    /// A place is kept for an instance that may come.
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
        /// What is kept for it.
        needed: Hardware,
    },
    /// A place is no longer kept.
    Released {
        /// Which transfer.
        transfer: TransferId,
        /// The copy in it.
        workload: WorkloadId,
        /// Whether that was started, so that it counts as hardware until it is [`Report::Freed`].
        is_started: bool,
    },
    /// The copy of a place that was released has stopped.
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
    /// An operator gave an instance another description of its application, or was refused.
    Updated {
        /// The instance.
        instance: InstanceId,
        /// The version that it ran before and runs still if that was refused; `None` if it is not here.
        from: Option<u64>,
        /// The version that it was to run.
        to: Option<u64>,
        /// Why not.
        refused: Option<Inhibition>,
    },
    /// An instance that an operator ended has ended.
    Undeployed(InstanceId),
    /// An instance that an operator ended is on another node: it was taken before.
    LivesOn {
        /// The instance.
        instance: InstanceId,
        /// The node.
        node: NodeId,
    },
    /// The node's acceptance policy gave no answer.
    AcceptanceFailed {
        /// What it was asked.
        request: Request,
        /// What happened.
        failure: Failure,
    },
    /// A client request reached a sleeping instance, and the manager was asked whether it may wake. Accepted, it does.
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
        /// Why, as the owner's policy said when it was announced.
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
    /// The node's policy gave no answer when its owner was asked, who wants nothing therefore.
    InitiativeFailed {
        /// What happened.
        failure: Failure,
    },
    /// A neighbour's journal has fewer records than before; nothing from it is believed until it is replaced.
    RefusedPeer(NodeId),
}

/// What an agent decided by, and how.
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
    /// What it remembers as inhibited, in the order seen.
    pub inhibited: Vec<(AgentOperation, Target)>,
    /// The first solution of its policy.
    pub solution: Option<FirstSolution>,
    /// What stopped the policy before it gave a solution.
    pub ending: Option<String>,
    /// What was drawn for this evaluation.
    pub random: Option<u32>,
}

/// The first solution of a policy, with the clause of `operation/3` that it is from, counted from 0.
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

/// Why an acceptance policy gave no answer.
#[derive(Clone, Debug)]
pub struct Failure(pub Box<AcceptanceFailure>);

impl PartialEq for Failure {
    fn eq(&self, other: &Failure) -> bool {
        self.0.cause == other.0.cause
    }
}

/// What an agent proposes: what it asks for, and where to.
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
