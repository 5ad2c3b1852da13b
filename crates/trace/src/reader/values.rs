//! What records consist of: decisions, outcomes, and rows of counts.

use mario_domain::{AgentOperation, Capacity, Id, Inhibition, InstanceId, Quantity};
use serde::Deserialize;

use super::rule::RuleName;

/// See [`TraceRecord::Evaluation`](super::TraceRecord::Evaluation).
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluation {
    /// The time of the record.
    pub time: f64,
    /// The instance of the agent.
    pub instance: InstanceId,
    /// The node of the instance.
    pub node: u32,
    /// The free hardware that the agent saw.
    pub free: Capacity,
    /// The other facts that it saw, and its decision; `None` if both are the same as at its last evaluation.
    pub seen: Option<FactsAndDecision>,
}

/// The facts and the decision of an agent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FactsAndDecision {
    /// The client requests.
    pub requests: Vec<RequestFact>,
    /// The inhibited operations that it remembers.
    pub inhibited: Vec<Proposal>,
    /// The solutions of its policy, in order; on a live node, only the first.
    pub solutions: Vec<Solution>,
    /// Why the evaluation ended early, such as an exhausted budget; `None` if it was complete.
    pub ending: Option<String>,
    /// The random number drawn for it, if its policy uses randomness.
    pub random: Option<u32>,
}

/// Client requests as an agent sees them.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(expecting = "a fact about requests: neighbour, rate, latency")]
pub struct RequestFact {
    /// The last hop.
    pub neighbour: Neighbour,
    /// The number of requests in the last evaluation period.
    pub rate: Quantity,
    /// The latency of their path.
    pub latency: Quantity,
}

/// The last hop of client requests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Neighbour {
    /// Clients on the same node.
    Own,
    /// This node.
    Node(u32),
}

/// An operation of an agent and its target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// The operation.
    pub operation: AgentOperation,
    /// The target as written by the policy; `Own` if the operation has none. In a cycle of sequential arbitration,
    /// `self` is resolved to the node.
    pub target: Target,
}

/// The target of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// `self`.
    Own,
    /// This node.
    Node(u32),
    /// A name that denotes no node or, in an adapt, is not a valid id of a flavour.
    Unknown(Id),
    /// A flavour.
    Flavour(Id),
}

/// One solution of a policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solution {
    /// An operation.
    Proposal {
        /// The proposal.
        proposal: Proposal,
        /// The index of the clause of `operation/3` that proposed it, from 0.
        clause: u64,
    },
    /// A solution that is not a valid operation.
    Invalid {
        /// The error.
        why: String,
        /// The index of the clause of `operation/3` that it comes from, from 0.
        clause: u64,
    },
}

/// The outcome of one agent, or of one operator's deployment, in a cycle.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The agent proposed nothing.
    Nop(InstanceId),
    /// The proposal of the agent was judged.
    Judged {
        /// The instance of the agent.
        instance: InstanceId,
        /// The proposal.
        proposal: Proposal,
        /// The verdict of the managers.
        verdict: Verdict,
    },
    /// The deployment of an operator was judged.
    Deploy {
        /// The node.
        node: u32,
        /// The application.
        application: u32,
        /// The policy of the new agent; `None` if the deployment was inhibited.
        policy: Option<u32>,
        /// The verdict of the manager.
        verdict: Verdict,
    },
}

/// The verdict of managers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Accepted, with the id of the created instance, if any.
    Accepted(Option<InstanceId>),
    /// Inhibited, for this reason.
    Inhibited(Inhibition),
}

/// Why a node is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// It was absent at the start of the run.
    Absent,
    /// It crashed.
    Crash,
    /// It left as announced.
    Leave,
}

/// The action of an owner on an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnerAct {
    /// The instance.
    pub instance: InstanceId,
    /// The action.
    pub kind: OwnerActKind,
    /// The reason, as stated by the owner's policy.
    pub reason: String,
}

/// The kind of an owner's action on an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OwnerActKind {
    /// The instance was evicted.
    Evicted,
    /// The instance now runs in this flavour, which needs no more hardware than the previous one.
    Shrunk(Target),
    /// The instance will be evicted after this many further evaluations of its agent.
    Announced(u64),
}

/// The numbers of actions of a node's owner on the instances of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct OwnerCounts {
    /// The application.
    pub application: u32,
    /// The tier of the node.
    pub tier: u32,
    /// Evictions.
    pub evicted: u64,
    /// Shrinks.
    pub shrunk: u64,
    /// Announced evictions.
    pub announced: u64,
}

/// See [`TraceRecord::Woken`](super::TraceRecord::Woken).
#[derive(Clone, PartialEq, Debug)]
pub struct Woken {
    /// The time of the record.
    pub time: f64,
    /// The instance.
    pub instance: InstanceId,
    /// Why its manager inhibited the wake; `None` if it was accepted.
    pub inhibited: Option<Inhibition>,
}

/// See [`TraceRecord::Wakings`](super::TraceRecord::Wakings).
#[derive(Clone, PartialEq, Debug)]
pub struct Wakings {
    /// The time of the record.
    pub time: f64,
    /// The application.
    pub application: u32,
    /// The rule that inhibited the wake; `None` if it was accepted.
    pub inhibited_by: Option<RuleName>,
}

/// How the best placement was searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Greedily: a better placement may exist.
    Greedy,
    /// Exactly: no better placement exists.
    Exact,
}

/// The value of a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct PlacementValue {
    /// Applications with at least one instance.
    pub present: u64,
    /// Users whose nearest instances are all within the tolerated latency and not overloaded.
    pub satisfied: u64,
    /// Users who reach an instance.
    pub served: u64,
    /// The total latency of the served users, in millionths of a millisecond.
    pub latency_millionths: u64,
    /// Instances.
    pub instances: u64,
}

/// The numbers of outcomes of an application in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct OutcomeCounts {
    /// The application.
    pub application: u32,
    /// Agents that proposed nothing.
    pub nop: u64,
    /// Accepted undeploys.
    pub undeploy: u64,
    /// Accepted migrations.
    pub migrate: u64,
    /// Accepted replications.
    pub replicate: u64,
    /// Inhibited proposals of agents.
    pub inhibited: u64,
    /// Accepted deployments of operators.
    pub deployed: u64,
    /// Inhibited deployments of operators.
    pub not_deployed: u64,
    /// Accepted adapts; `None` in a trace without this column.
    #[serde(default)]
    pub adapt: Option<u64>,
    /// Accepted sleeps; `None` in a trace without this column.
    #[serde(default)]
    pub sleep: Option<u64>,
    /// Accepted wakes; `None` in a trace without this column.
    #[serde(default)]
    pub wake: Option<u64>,
}

/// The number of instances of an application in a tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct Placed {
    /// The application.
    pub application: u32,
    /// The tier.
    pub tier: u32,
    /// The number of instances.
    pub instances: u64,
}

/// The totals of a run, including evaluations that are not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Totals {
    /// Evaluations of agents.
    pub evaluations: u64,
    /// Accepted operations.
    pub operations: u64,
    /// Inhibited operations.
    pub inhibited: u64,
    /// Handovers.
    pub handovers: u64,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// Instances at the end.
    pub instances: u64,
}

impl Search {
    /// The name of the search in a trace.
    pub const fn as_str(self) -> &'static str {
        match self {
            Search::Greedy => "greedy",
            Search::Exact => "exact",
        }
    }
}

impl Target {
    /// The node that the target denotes for an instance on `own`; `None` for an unknown name and for a flavour.
    pub fn node(&self, own: u32) -> Option<u32> {
        match self {
            Target::Own => Some(own),
            Target::Node(node) => Some(*node),
            Target::Unknown(_) | Target::Flavour(_) => None,
        }
    }
}
