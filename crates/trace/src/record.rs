//! The contents of records.

use std::borrow::Cow;

use mario_domain::{AgentOperation, Capacity, Duration, FlavourId, InstanceId, NodeId, Verdict};
use serde::{Deserialize, Serialize};

use crate::reference::{ApplicationRef, NodeRef, PolicyRef};

/// The level of detail of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// All records.
    Full,
    /// All records except evaluations.
    Operations,
    /// Counts instead of records of individual instances and users, except for the instances at the start.
    Summary,
}

impl Detail {
    /// The name of the level of detail, as in the header of a trace.
    pub const fn as_str(self) -> &'static str {
        match self {
            Detail::Full => "full",
            Detail::Operations => "operations",
            Detail::Summary => "summary",
        }
    }
}

/// The target of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target<'a> {
    /// The node of the instance, written `self`.
    Own,
    /// A node.
    Node(NodeRef),
    /// An id that no node has.
    Unknown(Cow<'a, NodeId>),
    /// A flavour.
    Flavour(Cow<'a, FlavourId>),
}

/// An evaluation of an agent.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The agent's instance.
    pub instance: &'a InstanceId,
    /// Its application.
    pub application: ApplicationRef,
    /// Its node.
    pub node: NodeRef,
    /// The free hardware that the agent saw.
    pub free: Capacity,
    /// The sum of the rates that the agent saw.
    pub rate: f64,
    /// The rate that its instance handles in its flavour; `None` for the default flavour, and for live nodes.
    pub max_rate: Option<f64>,
}

/// The facts that an agent saw and remembered, and the decision of its policy. `R`, `M` and `S` are iterators.
#[derive(Clone, Debug)]
pub struct FactsAndDecision<R, M, S> {
    /// [`RequestsSeen`], in the order seen.
    pub requests: R,
    /// Operations and [`Target`]s that the agent remembers as inhibited.
    pub inhibited: M,
    /// The [`Solution`]s that were asked for and found, in order.
    pub solutions: S,
    /// Why the policy was stopped before all solutions asked for were found; `None` if it was not.
    pub ending: Option<String>,
    /// The number drawn for this evaluation, if the policy uses randomness.
    pub random: Option<u32>,
}

/// Client requests as an agent sees them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RequestsSeen {
    /// The last hop; `None` for clients on the instance's own node.
    pub neighbour: Option<NodeRef>,
    /// The number of requests in the last evaluation period.
    pub rate: f64,
    /// The latency of the path, without queueing.
    pub latency: f64,
}

/// A solution of a policy, with the index of its clause of `operation/3`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solution<'a> {
    /// An operation.
    Proposal {
        /// The operation.
        operation: AgentOperation,
        /// The target.
        target: Target<'a>,
        /// The clause.
        clause: usize,
    },
    /// An invalid solution.
    Invalid {
        /// The error.
        fault: &'a str,
        /// The clause.
        clause: usize,
    },
}

/// An agent's proposal and its outcome.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The agent's instance.
    pub instance: &'a InstanceId,
    /// The proposed operation.
    pub operation: AgentOperation,
    /// The target.
    pub target: Target<'a>,
    /// The verdict of the managers concerned.
    pub verdict: &'a Verdict,
    /// The created instance, if any.
    pub created: Option<InstanceId>,
}

/// An operator's deployment and its outcome.
#[derive(Clone, Debug)]
pub struct Deployed<'a> {
    /// The application.
    pub application: ApplicationRef,
    /// The node.
    pub node: NodeRef,
    /// The policy of the new agent.
    pub policy: PolicyRef,
    /// The verdict of the node's manager.
    pub verdict: &'a Verdict,
    /// The new instance, if it was accepted.
    pub created: Option<InstanceId>,
}

/// The action of a node's owner on an instance, with the reason.
#[derive(Clone, Debug)]
pub struct OwnerAct<'a> {
    /// The instance.
    pub instance: InstanceId,
    /// Its application.
    pub application: ApplicationRef,
    /// The action.
    pub kind: OwnerActKind<'a>,
    /// The reason stated by the owner's policy.
    pub reason: &'a str,
}

/// The kind of an owner's action.
#[derive(Clone, Debug)]
pub enum OwnerActKind<'a> {
    /// The instance was evicted.
    Evicted,
    /// The instance runs in this smaller flavour.
    Shrunk(&'a FlavourId),
    /// The instance will be evicted after this many more evaluations of its agent.
    Announced(u32),
}

/// Why a node is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It crashed.
    Crash,
    /// It left as announced.
    Leave,
    /// It has not joined yet.
    Absent,
}

impl Cause {
    /// The name of the cause in traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Crash => "crash",
            Cause::Leave => "leave",
            Cause::Absent => "absent",
        }
    }
}

/// A comparison of the current placement with the best placement found for the same users.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Regret<'a> {
    /// How the best placement was searched for.
    pub search: &'a str,
    /// Connected users.
    pub users: u64,
    /// The value of the placement.
    pub actual: PlacementValue,
    /// The value of the best placement found.
    pub best: PlacementValue,
}

/// The value of a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlacementValue {
    /// Applications with an instance.
    pub present: i64,
    /// Satisfied users.
    pub satisfied: i64,
    /// Users who reach an instance.
    pub served: i64,
    /// The total latency of the users who reach an instance, in millionths of a millisecond.
    pub latency_millionths: i64,
    /// Instances.
    pub instances: i64,
}

/// The results of client requests.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct UserResults {
    /// The number served.
    pub served: u64,
    /// The number lost.
    pub lost: u64,
    /// The total response time of the served requests.
    pub response: Duration,
}

/// The results of the requests of a call.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CallResults {
    /// The number sent.
    pub sent: u64,
    /// The number served.
    pub served: u64,
    /// The number lost.
    pub lost: u64,
    /// The total response time of the served requests.
    pub response: Duration,
}
