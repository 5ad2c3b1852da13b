//! Decisions: what an agent saw and remembered, and what its policy proposed.

use mario_domain::{AgentOperation, Id, Quantity};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The facts that an agent saw and remembered, and the decision of its policy. To be written, `requests`, `inhibited`
/// and `solutions` may be any iterators; to be read, they are lists.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FactsAndDecision<R = Vec<RequestFact>, M = Vec<Proposal>, S = Vec<Solution>> {
    /// The client requests, as [`RequestFact`]s in the order seen.
    pub requests: R,
    /// The inhibited operations that it remembers, as [`Proposal`]s.
    pub inhibited: M,
    /// The [`Solution`]s of its policy that were asked for and found, in order; on a live node, only the first.
    pub solutions: S,
    /// Why the evaluation ended early, such as an exhausted budget; `None` if it was complete.
    pub ending: Option<String>,
    /// The random number drawn for it; `None` if none was drawn.
    pub random: Option<u32>,
}

/// As [`FactsAndDecision`], in lists, where `N` identifies nodes and `T` targets.
pub type Seen<N, T> = FactsAndDecision<Vec<RequestFact<N>>, Vec<Proposal<T>>, Vec<Solution<T>>>;

/// Client requests as an agent sees them. `N` identifies nodes: by index in a trace, by id in a part.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(bound = "Neighbour<N>: Deserialize<'de>", expecting = "a fact about requests: neighbour, rate, latency")]
pub struct RequestFact<N = u32> {
    /// The last hop.
    pub neighbour: Neighbour<N>,
    /// The number of requests in the last evaluation period.
    pub rate: Quantity,
    /// The latency of their path, without queueing.
    pub latency: Quantity,
}

/// The last hop of client requests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Neighbour<N = u32> {
    /// Clients on the same node.
    Own,
    /// This node.
    Node(N),
}

/// An operation of an agent and its target: a [`Target`] in a trace. A part has a [`mario_domain::Target`], because its
/// node does not know which names denote nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal<T = Target> {
    /// The operation.
    pub operation: AgentOperation,
    /// The target as written by the policy; `Own` if the operation has none. In a cycle of sequential arbitration,
    /// `self` is resolved to the node.
    pub target: T,
}

/// The target of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target<N = u32> {
    /// The node of the instance, written `self`.
    Own,
    /// This node.
    Node(N),
    /// A name that denotes no node or, in an adapt, is not a valid id of a flavour.
    Unknown(Id),
    /// A flavour.
    Flavour(Id),
}

/// One solution of a policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solution<T = Target> {
    /// An operation.
    Proposal {
        /// The proposal.
        proposal: Proposal<T>,
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

/// A target of operations, in a trace or in a part.
pub trait OperationTarget: DeserializeOwned {
    /// The target of an operation that has none.
    const OWN: Self;

    /// Whether the target may be that of the operation: an adapt has a flavour as its target, and no other operation
    /// does.
    fn suits(&self, operation: AgentOperation) -> bool;
}

impl OperationTarget for Target {
    const OWN: Target = Target::Own;

    fn suits(&self, operation: AgentOperation) -> bool {
        match self {
            Target::Flavour(_) => operation.asks_for_flavour(),
            Target::Own | Target::Node(_) => !operation.asks_for_flavour(),
            // Valid also for an adapt: its policy may propose a name that is not a valid id of a flavour, such as the
            // empty name.
            Target::Unknown(_) => true,
        }
    }
}

impl OperationTarget for mario_domain::Target {
    const OWN: mario_domain::Target = mario_domain::Target::Own;

    fn suits(&self, operation: AgentOperation) -> bool {
        matches!(self, mario_domain::Target::Flavour(_)) == operation.asks_for_flavour()
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

impl<N> RequestFact<N> {
    /// Requests as an agent saw them. Agents see no negative and no infinite numbers; if one did, it would count as 0.
    pub fn new(neighbour: Neighbour<N>, rate: f64, latency: f64) -> RequestFact<N> {
        let quantity = |number| Quantity::fraction(number).unwrap_or(Quantity::ZERO);
        RequestFact { neighbour, rate: quantity(rate), latency: quantity(latency) }
    }
}

impl<T> Proposal<T> {
    /// The same proposal, with its target converted.
    pub fn map<U>(self, target: impl FnOnce(T) -> U) -> Proposal<U> {
        Proposal { operation: self.operation, target: target(self.target) }
    }
}

impl<T> Solution<T> {
    /// The same solution, with the target of a proposal converted.
    pub fn map<U>(self, target: impl FnOnce(T) -> U) -> Solution<U> {
        match self {
            Solution::Proposal { proposal, clause } => Solution::Proposal { proposal: proposal.map(target), clause },
            Solution::Invalid { why, clause } => Solution::Invalid { why, clause },
        }
    }
}
