//! What records are made of.

use std::borrow::Cow;

use mario_domain::{AgentOperation, Capacity, Duration, FlavourId, InstanceId, NodeId, Verdict};
use serde::{Deserialize, Serialize};

use crate::place::{ApplicationPlace, NodePlace, PolicyPlace};

/// How much a trace holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// Everything.
    Full,
    /// No evaluations.
    Operations,
    /// Counts, and neither instances nor users one by one.
    Summary,
}

impl Detail {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Detail::Full => "full",
            Detail::Operations => "operations",
            Detail::Summary => "summary",
        }
    }
}

/// Where an operation leads to, as a policy wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target<'a> {
    /// The node that the instance is on, written `self`.
    Own,
    /// A node.
    Node(NodePlace),
    /// A name that no node has.
    Unknown(Cow<'a, NodeId>),
    /// A flavour.
    Flavour(Cow<'a, FlavourId>),
}

/// An agent that evaluated its policy, and where.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The agent's instance.
    pub instance: &'a InstanceId,
    /// What it is an instance of.
    pub application: ApplicationPlace,
    /// Where it is.
    pub node: NodePlace,
    /// The free hardware that the agent saw.
    pub free: Capacity,
    /// The sum of the rates that the agent saw.
    pub rate: f64,
    /// What its instance handles, if it runs in another flavour than the default.
    pub max_rate: Option<f64>,
}

/// What an agent saw and remembered, and the decision of its policy. The lists are iterators, so that nothing is copied
/// for a record.
#[derive(Clone, Debug)]
pub struct Decided<R, M, S> {
    /// [`RequestsSeen`], in the order seen.
    pub requests: R,
    /// Operations and [`Target`]s that the agent remembers as inhibited.
    pub inhibited: M,
    /// Each [`Solution`] of the policy, in order.
    pub solutions: S,
    /// What stopped the policy before it returned all its solutions.
    pub ending: Option<String>,
    /// The number drawn for this evaluation, if the policy uses randomness.
    pub random: Option<u32>,
}

/// Client requests as an agent sees them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RequestsSeen {
    /// The last hop; `None` for clients on the instance's own node.
    pub neighbour: Option<NodePlace>,
    /// How many came in the last evaluation period.
    pub rate: f64,
    /// The latency of the path, without queueing.
    pub latency: f64,
}

/// A solution of a policy, with the clause of `operation/3` that it is from, counted from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solution<'a> {
    /// An operation.
    Proposal {
        /// Which.
        operation: AgentOperation,
        /// Where it leads to.
        target: Target<'a>,
        /// From where in the policy.
        clause: usize,
    },
    /// No operation.
    Invalid {
        /// Why not.
        fault: &'a str,
        /// From where in the policy.
        clause: usize,
    },
}

/// An agent's proposal and its outcome.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The agent's instance.
    pub instance: &'a InstanceId,
    /// What it asked for.
    pub operation: AgentOperation,
    /// Where that leads to.
    pub target: Target<'a>,
    /// What the managers concerned said.
    pub verdict: &'a Verdict,
    /// The instance that appeared, if one did.
    pub created: Option<InstanceId>,
}

/// An operator's deployment and its outcome.
#[derive(Clone, Debug)]
pub struct Deployed<'a> {
    /// What to deploy.
    pub application: ApplicationPlace,
    /// Where.
    pub node: NodePlace,
    /// The policy of the new agent.
    pub policy: PolicyPlace,
    /// The verdict of the node's manager.
    pub verdict: &'a Verdict,
    /// The new instance, if it was accepted.
    pub created: Option<InstanceId>,
}

/// The action of a node's owner on an instance there, and the reason.
#[derive(Clone, Debug)]
pub struct OwnerAct<'a> {
    /// The instance.
    pub instance: InstanceId,
    /// What it is an instance of.
    pub application: ApplicationPlace,
    /// What was done.
    pub kind: OwnerActKind<'a>,
    /// Why, as the owner's policy said it.
    pub reason: &'a str,
}

/// An action of a node's owner on an instance there.
#[derive(Clone, Debug)]
pub enum OwnerActKind<'a> {
    /// It is gone.
    Evicted,
    /// It runs in this smaller flavour.
    Shrunk(&'a FlavourId),
    /// It will be evicted, after this many more evaluations of its agent.
    Announced(u32),
}

/// Why a node went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It crashed.
    Crash,
    /// It left.
    Leave,
    /// It has not come yet.
    Absent,
}

impl Cause {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Crash => "crash",
            Cause::Leave => "leave",
            Cause::Absent => "absent",
        }
    }
}

/// A placement and the best one of the same moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Regret<'a> {
    /// How the best was searched for.
    pub search: &'a str,
    /// Connected users.
    pub users: u64,
    /// What the placement is worth.
    pub actual: Worth,
    /// What the best is worth.
    pub best: Worth,
}

/// What a placement is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Worth {
    /// Applications with an instance.
    pub present: i64,
    /// Satisfied users.
    pub satisfied: i64,
    /// Users who reach an instance.
    pub served: i64,
    /// The latency of those users, summed up, in millionths.
    pub latency_millionths: i64,
    /// Instances.
    pub instances: i64,
}

/// The results of the client requests of a user.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sent {
    /// How many were served.
    pub served: u64,
    /// How many were lost.
    pub lost: u64,
    /// The total response time of the served ones.
    pub response: Duration,
}

/// What became of the requests of a call.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SentCalls {
    /// How many were sent.
    pub sent: u64,
    /// How many were served.
    pub served: u64,
    /// How many were lost.
    pub lost: u64,
    /// How long those that were served took, all together.
    pub response: Duration,
}
