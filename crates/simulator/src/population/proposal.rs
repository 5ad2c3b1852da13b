//! Proposals and verdicts, in the compact form that the simulator stores.

use mario_domain::{AgentOperation, Capacity, FlavourId, Inhibition, NodeId};
use mario_scenario::{ApplicationIndex, Deploy, NodeIndex, PolicyIndex};
use serde::{Deserialize, Serialize};

use crate::population::index::AgentIndex;

/// The proposal of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Proposal {
    /// The operation.
    pub operation: AgentOperation,
    /// The target node or flavour, as written by the policy. [`Target::Own`] for an operation without a target.
    pub target: Target,
}

/// The target of an operation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Target {
    /// The node that the instance is on, written `self`.
    Own,
    /// A node.
    Node(NodeIndex),
    /// Not a node: an id that no node has, or an invalid id of a node or a flavour, which is stored as 0.
    Unknown(Box<NodeId>),
    /// A flavour.
    Flavour(Box<FlavourId>),
}

/// The proposal of an operator or a central planner to deploy an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Deployment {
    /// The application.
    pub application: ApplicationIndex,
    /// The node.
    pub node: NodeIndex,
    /// The policy of the new agent.
    pub policy: PolicyIndex,
}

impl From<&Deploy> for Deployment {
    fn from(deploy: &Deploy) -> Deployment {
        Deployment { application: deploy.application, node: deploy.node, policy: deploy.policy }
    }
}

/// The outcome of one agent, or of one deployment, in a cycle.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The agent proposed nothing, or a central planner manages and ordered nothing for it.
    Nop(AgentIndex),
    /// The agent proposed an operation, or a central planner ordered one for it.
    Judged(Judged),
    /// An operator or a central planner proposed a deployment.
    Deployed(Deployed),
}

/// A proposed deployment and its outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Deployed {
    /// The proposal.
    pub deployment: Deployment,
    /// The verdict of the node's manager.
    pub verdict: CompactVerdict,
    /// The new agent, if the proposal was accepted.
    pub created: Option<AgentIndex>,
}

/// The proposal of an agent, or the order of a central planner, and its outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// The agent that proposed the operation, or for which it was ordered.
    pub agent: AgentIndex,
    /// The proposal.
    pub proposal: Proposal,
    /// The node of the instance when the proposal was judged.
    pub from: NodeIndex,
    /// The verdict of the managers concerned.
    pub verdict: CompactVerdict,
    /// The agent that was created, if any: a replica, or the migrated instance if it counts as a new agent.
    pub created: Option<AgentIndex>,
}

/// The verdict of managers. Nearly all inhibitions are for lack of hardware, and there may be one for each agent in
/// each cycle, so lack of hardware has a short form. [`Population::verdict`](crate::population::Population::verdict)
/// converts a compact verdict to the long form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CompactVerdict {
    /// The operation may be enacted.
    Accepted,
    /// A node has too little free hardware for a new instance of the application.
    NoRoom {
        /// The node.
        node: NodeIndex,
        /// The hardware that was neither used nor reserved there at the time of judging.
        free: Capacity,
    },
    /// Any other inhibition, including lack of hardware if the needed amount is not that of a new instance.
    Inhibited(Box<Inhibition>),
}

impl CompactVerdict {
    /// Whether the operation may be enacted.
    pub fn is_accepted(&self) -> bool {
        matches!(self, CompactVerdict::Accepted)
    }
}

impl Target {
    /// The target node for an instance on `own`, if the target is a node.
    pub fn resolve(&self, own: NodeIndex) -> Option<NodeIndex> {
        match self {
            Target::Own => Some(own),
            Target::Node(node) => Some(*node),
            Target::Unknown(_) | Target::Flavour(_) => None,
        }
    }
}
