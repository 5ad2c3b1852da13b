//! Proposals and verdicts, in the compact form of the tables.

use mario_domain::{AgentOperation, Capacity, FlavourId, Inhibition, NodeId};
use mario_scenario::{ApplicationIndex, Deploy, NodeIndex, PolicyIndex};
use serde::{Deserialize, Serialize};

use crate::population::index::AgentIndex;

/// What an agent asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Proposal {
    /// Which operation.
    pub operation: AgentOperation,
    /// The target, as the policy wrote it, or the flavour. The own node for an operation without a target.
    pub target: Target,
}

/// Where an operation leads to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Target {
    /// The node that the instance is on, written `self`.
    Own,
    /// A node.
    Node(NodeIndex),
    /// A name that no node has.
    Unknown(Box<NodeId>),
    /// A flavour.
    Flavour(Box<FlavourId>),
}

/// What an operator asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Deployment {
    /// What to deploy.
    pub application: ApplicationIndex,
    /// Where.
    pub node: NodeIndex,
    /// The policy of the new agent.
    pub policy: PolicyIndex,
}

impl From<&Deploy> for Deployment {
    fn from(deploy: &Deploy) -> Deployment {
        Deployment { application: deploy.application, node: deploy.node, policy: deploy.policy }
    }
}

/// The outcome of one agent, or of one operator's proposal, in a cycle.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The agent proposed nothing.
    Nop(AgentIndex),
    /// The agent proposed something.
    Judged(Judged),
    /// An operator asked for an instance.
    Deployed(Deployed),
}

/// An operator's deployment and its outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Deployed {
    /// What was asked for.
    pub deployment: Deployment,
    /// The verdict of the node's manager.
    pub verdict: CompactVerdict,
    /// The new agent, if it was accepted.
    pub created: Option<AgentIndex>,
}

/// A proposal and its outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// Who proposed it.
    pub agent: AgentIndex,
    /// What was proposed.
    pub proposal: Proposal,
    /// Where the instance was.
    pub from: NodeIndex,
    /// What the managers concerned said.
    pub verdict: CompactVerdict,
    /// The agent that was created, if one was: a replica, or the migrated instance where that is a new agent.
    pub created: Option<AgentIndex>,
}

/// The verdict of managers. Nearly all inhibitions are for lack of hardware, and there may be one for each agent in
/// each cycle, so that one has a short form; [`Population::verdict`](crate::population::Population::verdict) returns
/// the long form of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CompactVerdict {
    /// It may be done.
    Accepted,
    /// A node has too little free hardware.
    NoRoom {
        /// The node.
        node: NodeIndex,
        /// Its free hardware at that moment.
        free: Capacity,
    },
    /// Any other rule speaks against it.
    Inhibited(Box<Inhibition>),
}

impl CompactVerdict {
    /// Whether it may be done.
    pub fn is_accepted(&self) -> bool {
        matches!(self, CompactVerdict::Accepted)
    }
}

impl Target {
    /// The node that it denotes for an instance on `own`, if any.
    pub fn resolve(&self, own: NodeIndex) -> Option<NodeIndex> {
        match self {
            Target::Own => Some(own),
            Target::Node(node) => Some(*node),
            Target::Unknown(_) | Target::Flavour(_) => None,
        }
    }
}
