//! What is asked for, in the short form of the tables.

use mario_domain::{AgentOperation, Capacity, FlavourId, Inhibition, NodeId};
use mario_scenario::{ApplicationIndex, Deploy, NodeIndex, PolicyIndex};
use serde::{Deserialize, Serialize};

use crate::population::index::AgentIndex;

/// What an agent asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Proposal {
    /// Which operation.
    pub operation: AgentOperation,
    /// Where to, as the policy wrote it, or to which flavour. The own node for an operation without a target.
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

/// What became of one agent, or of one operator's proposal, in a cycle.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The agent proposed nothing.
    Nop(AgentIndex),
    /// The agent proposed something.
    Judged(Judged),
    /// An operator asked for an instance.
    Deployed(Deployed),
}

/// What an operator asked for and what became of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Deployed {
    /// What was asked for.
    pub deployment: Deployment,
    /// What the manager of the node said.
    pub verdict: CompactVerdict,
    /// The new agent, if it was accepted.
    pub created: Option<AgentIndex>,
}

/// A proposal and what became of it.
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
    /// The agent that appeared, if one did: a replica, or the migrated instance where that is a new agent.
    pub created: Option<AgentIndex>,
}

/// What managers said. Nearly all inhibitions are for want of room, and there may be one for each agent in each cycle, so
/// that one has a short form; [`Population::verdict`](crate::population::Population::verdict) returns the long form of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CompactVerdict {
    /// It may be done.
    Accepted,
    /// A node has too little free hardware.
    NoRoom {
        /// The node.
        node: NodeIndex,
        /// What it had free when it was asked.
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
    /// The node that it means for an instance on `own`, if it means one.
    pub fn resolve(&self, own: NodeIndex) -> Option<NodeIndex> {
        match self {
            Target::Own => Some(own),
            Target::Node(node) => Some(*node),
            Target::Unknown(_) | Target::Flavour(_) => None,
        }
    }
}
