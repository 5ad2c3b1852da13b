//! The inputs and effects of a node, and the events that it adds to the trace.

use std::sync::Arc;

use mario_domain::{
    AgentOperation, Capacity, FlavourId, FlavourIndex, Hardware, Inhibition, InstanceId, NodeId, Request, Target,
    Verdict, Wakefulness,
};
use mario_policy::AcceptanceFailure;
use serde::{Deserialize, Serialize};

use crate::descriptor::Descriptor;
use crate::ids::{DeployKey, Epoch, JournalId, TransferId, WorkloadId};
use crate::journal::{JournalRecord, Outdated};
use crate::manager::Availability;
use crate::message::{Message, TransferKind};

/// An event for a node.
#[derive(Clone, PartialEq, Debug)]
pub enum Input {
    /// The neighbours whose links work now, in the order in which agents see them.
    Neighbours(Vec<NodeId>),
    /// The client requests that reached an instance in the last evaluation period.
    Observed(Observation),
    /// The agent of this instance evaluates its policy, unless it waits for a transfer. Only needed without a
    /// [`Timing::evaluation_period`](crate::Timing::evaluation_period).
    Evaluate(InstanceId),
    /// The node's manager judges the last proposal of this instance's agent, if it has not been judged yet. Only needed
    /// without a [`Timing::evaluation_period`](crate::Timing::evaluation_period).
    Judge(InstanceId),
    /// A client request reached a sleeping instance. The manager judges whether the instance may wake, unless the
    /// manager already inhibited that since the agent's last evaluation. If the instance wakes,
    /// [`Node::is_asleep`](crate::Node::is_asleep) is false afterwards, and a migration that was being prepared for it
    /// is aborted.
    Requested(InstanceId),
    /// Evicts the instances under notice whose agents have had their last evaluation, except those whose agents wait
    /// for a transfer.
    Evict,
    /// Evaluates the policy of the node's owner: enacts its shrinks, and announces its evictions.
    Initiative,
    /// A message arrived.
    Received {
        /// The neighbour, as authenticated by the link.
        from: NodeId,
        /// The journal of the neighbour.
        sender: JournalId,
        /// The journal of this node that the neighbour expects; `None` in a hello.
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
        /// The error.
        cause: String,
    },
    /// A stopping copy has stopped.
    Stopped(WorkloadId),
    /// The last [`Effect::Adapt`] of this copy is done: the copy no longer runs with its old flavour or description, so
    /// its surplus hardware is free.
    Adapted(WorkloadId),
    /// The last [`Effect::Sweep`] is done: all copies that it did not list have been killed.
    Swept,
    /// A command of an operator.
    Operator(Command),
    /// Sets the availability of the node. Only a node that is up and not about to leave accepts new instances.
    Availability(Availability),
    /// The time of [`Node::next_timeout`](crate::Node::next_timeout) has been reached.
    Timeout,
}

/// The client requests of one evaluation period, as an instance's node counted them.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    /// The instance.
    pub instance: InstanceId,
    /// One fact for each last hop and latency, in standard order.
    pub requests: Vec<RequestFact>,
    /// A random number that the next evaluation may use; `None` if none was drawn.
    pub random: Option<u32>,
}

/// Client requests that arrived by one last hop with one latency: `requests/4`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RequestFact {
    /// The last hop; [`Target::Own`] for clients on the same node.
    pub neighbour: Target,
    /// How many arrived in the evaluation period.
    pub rate: f64,
    /// The latency of the path from the client, in the scenario's time units; in milliseconds on a live node.
    pub latency: f64,
}

/// A command of an operator.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Deploys a new instance on this node.
    Deploy {
        /// The idempotency key.
        key: DeployKey,
        /// The description of the application.
        descriptor: Arc<Descriptor>,
        /// Whether the instance becomes an anchor: its agent cannot undeploy it.
        is_anchor: bool,
    },
    /// Ends an instance.
    Undeploy(InstanceId),
    /// Updates an instance to another description of its application, with a higher version. The agent keeps its
    /// memory; its proposal that was not judged yet is dropped, and a transfer that is being prepared is aborted.
    Update {
        /// The instance.
        instance: InstanceId,
        /// The new description of the application.
        descriptor: Arc<Descriptor>,
    },
    /// Restores the description of an owned instance before its last update, if it was updated since this node last
    /// became its owner. A rollback cannot itself be rolled back.
    Rollback(InstanceId),
    /// Pins an instance until it is unpinned: its agent can neither end nor move it, and [`Command::Migrate`] is
    /// inhibited. A transfer that is being prepared for it is aborted. An operator can still undeploy it, and the owner
    /// of the node can still evict it.
    Pin(InstanceId),
    /// Ends the pinning of an instance.
    Unpin(InstanceId),
    /// Makes an instance an anchor, or ends that. An anchor migrates with this property; a replica does not have it. An
    /// operator can still undeploy it, and the owner of the node can still evict it.
    Anchor {
        /// The instance.
        instance: InstanceId,
        /// Whether it is an anchor from now on.
        is_anchor: bool,
    },
    /// Migrates an instance to a neighbour, as if its agent had proposed it: managers accept or inhibit it as usual.
    /// It replaces a proposal of the agent that was not judged yet. Ignored while the agent waits for a transfer, and
    /// if this node does not own the instance.
    Migrate {
        /// The instance.
        instance: InstanceId,
        /// The neighbour.
        target: NodeId,
    },
    /// Starts to drain this node (`true`): it accepts no new instances, also after a restart; or ends that (`false`).
    Drain(bool),
    /// The neighbour with this journal will never come back. Each instance in custody for it is adopted under a fresh
    /// id, unless an operator ended the instance. Transfers to it that are being prepared are aborted, replicas offered
    /// to it are given up, and reservations for its transfers are dropped.
    Lost(JournalId),
}

/// An action that a node requests of the shell.
///
/// The effects of all calls form one stream: the shell must perform an effect only after every [`Effect::Journal`]
/// before it is on disk. Then a crash neither loses nor duplicates an instance.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Write a record to the journal.
    Journal(JournalRecord),
    /// Send a message to a neighbour. It may be lost.
    Send {
        /// The neighbour.
        to: NodeId,
        /// The neighbour's journal; `None` in a hello.
        receiver: Option<JournalId>,
        /// The message.
        message: Message,
    },
    /// Start a copy, and report when it is healthy, or that it did not start.
    Start {
        /// The copy.
        workload: WorkloadId,
        /// The instance.
        instance: InstanceId,
        /// The description of the application.
        descriptor: Arc<Descriptor>,
        /// The flavour to run it in; `None` for an application without flavours.
        flavour: Option<FlavourId>,
    },
    /// Make a copy run: adopt it if it survived a restart of the node, or else start it, e.g. when its instance wakes.
    /// A copy that is being stopped starts once it has stopped. Report when the copy is healthy, or that it did not
    /// start.
    Resume {
        /// The copy.
        workload: WorkloadId,
        /// The instance.
        instance: InstanceId,
        /// The description of the application.
        descriptor: Arc<Descriptor>,
        /// The flavour to run it in; `None` for an application without flavours.
        flavour: Option<FlavourId>,
    },
    /// Run a copy in another flavour, or according to another description, and report when it no longer runs as before.
    /// Hardware that it no longer needs counts as used until then. A copy that already runs as required is left
    /// unchanged, and reported at once.
    Adapt {
        /// The copy.
        workload: WorkloadId,
        /// The instance.
        instance: InstanceId,
        /// The description of the application.
        descriptor: Arc<Descriptor>,
        /// The flavour to run it in; `None` for an application without flavours.
        flavour: Option<FlavourId>,
    },
    /// Let a copy finish its requests, stop it, and report when it has stopped, even if it never ran. The copy of an
    /// instance that falls asleep is drained too, and resumed when the instance wakes.
    Drain(WorkloadId),
    /// Stop a copy at once, and report when it has stopped, even if it never ran.
    Stop(WorkloadId),
    /// Kill all of this node's copies that are not listed, and report when that is done.
    Sweep {
        /// The copies to keep.
        keep: Vec<WorkloadId>,
    },
    /// Add an event to the trace.
    Trace(TraceEvent),
}

/// An event for the trace.
#[derive(Clone, PartialEq, Debug)]
pub enum TraceEvent {
    /// An agent evaluated its policy.
    Evaluated {
        /// Its instance.
        instance: InstanceId,
        /// The agent's proposal; `None` if its policy proposes nothing, or has no valid answer.
        proposal: Option<Proposal>,
        /// Whether the policy failed to return a valid answer.
        has_failed: bool,
        /// The facts and the decision.
        seen: Box<FactsAndDecision>,
    },
    /// The working links were set, or a neighbour introduced itself for the first time since the node started.
    Neighbours {
        /// The reachable neighbours, in the order in which agents see them.
        up: Vec<NodeId>,
        /// The reachable neighbours that have introduced themselves, so that their facts are known.
        introduced: Vec<NodeId>,
    },
    /// The availability of the node was set.
    Availability(Availability),
    /// This node's manager has accepted a migration or replication to a neighbour, proposed by an agent or commanded by
    /// an operator: the target is asked, and the agent is frozen.
    Preparing {
        /// The transfer.
        transfer: TransferId,
        /// The instance of the proposing agent.
        instance: InstanceId,
        /// Migrate or replicate.
        kind: TransferKind,
        /// The target.
        target: NodeId,
    },
    /// A transfer that was being prepared was aborted.
    Aborted {
        /// The transfer.
        transfer: TransferId,
    },
    /// Hardware is reserved for an instance that may arrive.
    Reserved {
        /// The transfer.
        transfer: TransferId,
        /// The source.
        from: NodeId,
        /// The instance.
        instance: InstanceId,
        /// The copy on this node.
        workload: WorkloadId,
        /// The description of the application.
        descriptor: Arc<Descriptor>,
        /// The reserved hardware.
        needed: Hardware,
    },
    /// A reservation was dropped: the instance did not arrive.
    Released {
        /// The transfer.
        transfer: TransferId,
        /// The copy for which hardware was reserved.
        workload: WorkloadId,
        /// Whether a copy was started: its hardware then counts as used until [`TraceEvent::Freed`].
        is_started: bool,
    },
    /// The copy of a dropped reservation has stopped, so its hardware is free.
    Freed(WorkloadId),
    /// A request was accepted and enacted, or inhibited: an element of the label of a step (r1) of the semantics. Also
    /// reported when an accepted deploy is repeated with the same key, which enacts nothing.
    Judged {
        /// The request.
        request: Request,
        /// The verdict of the managers concerned.
        verdict: Verdict,
        /// The instance that the operation created; `None` if it created none.
        created: Option<InstanceId>,
    },
    /// An instance arrived from a neighbour.
    Arrived {
        /// The instance.
        instance: InstanceId,
        /// Its epoch here.
        epoch: Epoch,
        /// The neighbour.
        from: NodeId,
        /// The transfer.
        transfer: TransferId,
    },
    /// An operator's update or rollback of an instance was accepted or rejected.
    Updated {
        /// The instance.
        instance: InstanceId,
        /// The version before the command, which stays in use if the command was rejected; `None` if this node does not
        /// own the instance.
        from: Option<u64>,
        /// The version that the command asks for; `None` for a rollback without a previous version.
        to: Option<u64>,
        /// Why the command was rejected; `None` if it was accepted.
        refused: Option<Inhibition>,
    },
    /// An operator undeploys an instance that this node owns. The record of its end follows.
    Undeploying(InstanceId),
    /// An instance that an operator undeployed has ended.
    Undeployed(InstanceId),
    /// An instance that an operator undeployed while it was in custody is alive, because the target took it without
    /// having received an abort. The instance may have returned to this node since.
    LivesOn {
        /// The instance.
        instance: InstanceId,
        /// The node that it is on.
        node: NodeId,
    },
    /// The node's acceptance policy failed to answer.
    AcceptanceFailed {
        /// The request that it had to judge.
        request: Request,
        /// The failure.
        failure: Failure,
    },
    /// A client request reached a sleeping instance, and the manager judged whether the instance may wake. It wakes if
    /// the verdict is [`Verdict::Accepted`].
    Woken {
        /// The instance.
        instance: InstanceId,
        /// The verdict of the manager.
        verdict: Verdict,
    },
    /// The owner of the node evicted an instance.
    Evicted {
        /// The instance.
        instance: InstanceId,
        /// The reason that the owner's policy stated when the eviction was announced.
        reason: String,
        /// Whether an operator had pinned the instance.
        is_pinned: bool,
    },
    /// The owner of the node shrank an instance to another flavour, which needs no more hardware.
    Shrunk {
        /// The instance.
        instance: InstanceId,
        /// The flavour.
        flavour: FlavourIndex,
        /// The reason, as stated by the owner's policy.
        reason: String,
    },
    /// The owner of the node announced the eviction of an instance.
    Announced {
        /// The instance.
        instance: InstanceId,
        /// How many evaluations the agent has left.
        evaluations: u32,
        /// The reason, as stated by the owner's policy.
        reason: String,
    },
    /// The owner's policy failed or had an invalid answer, so no instance is shrunk and no eviction is announced.
    InitiativeFailed {
        /// The failure.
        failure: Failure,
    },
    /// A neighbour's journal lacks records that it had before, so its disk was restored from a backup, or the journal
    /// was replaced and declared lost. The neighbour is ignored until it has another journal.
    RefusedPeer(NodeId),
    /// A neighbour has confirmed this node's journal, for the first time since the node started.
    Confirmed {
        /// The neighbour.
        by: NodeId,
    },
    /// This node's journal is an old copy: all copies are stopped.
    Outdated(Outdated),
}

/// The facts that an agent saw in one evaluation, and its decision.
#[derive(Clone, PartialEq, Debug)]
pub struct FactsAndDecision {
    /// The description of its application.
    pub descriptor: Arc<Descriptor>,
    /// Whether its instance is awake.
    pub wakefulness: Wakefulness,
    /// The free hardware of its node.
    pub free: Capacity,
    /// The client requests of the last evaluation period.
    pub requests: Vec<RequestFact>,
    /// The inhibited operations that the agent remembers, in the order in which its policy sees them.
    pub inhibited: Vec<(AgentOperation, Target)>,
    /// The first solution of its policy; `None` if the evaluation found none, or the policy could not be loaded.
    pub solution: Option<FirstSolution>,
    /// Why the evaluation was stopped, e.g. because its budget was spent or the policy could not be loaded; `None` if
    /// it was complete.
    pub ending: Option<String>,
    /// The random number drawn for this evaluation; `None` if none was drawn.
    pub random: Option<u32>,
}

/// The first solution of a policy, with the clause that produced it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FirstSolution {
    /// An operation.
    Proposal {
        /// The operation.
        operation: AgentOperation,
        /// The target, as the policy wrote it.
        target: Target,
        /// The index of the clause of `operation/3`, from 0.
        clause: usize,
    },
    /// A solution that is not an operation.
    Invalid {
        /// Why the solution is not an operation.
        fault: String,
        /// The index of the clause of `operation/3`, from 0.
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

/// An operation and its target, as proposed by an agent, or as commanded by an operator with [`Command::Migrate`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Proposal {
    /// The operation.
    pub operation: AgentOperation,
    /// The target, as the policy or the operator wrote it; [`Target::Own`] for an operation without a target.
    pub target: Target,
}

// Rates and latencies are finite, so equality is total.
impl Eq for RequestFact {}

impl std::hash::Hash for RequestFact {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        (&self.neighbour, self.rate.to_bits(), self.latency.to_bits()).hash(hasher);
    }
}
