//! What is asked for, in the short form of the tables.

use std::ops::Deref;

use mario_domain::{Capacity, Inhibition, NodeId, OperationName, Verdict};
use serde::{Deserialize, Serialize};

use crate::index::{AgentIndex, ApplicationIndex, NodeIndex, PolicyIndex};

/// What an agent asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wish {
    /// Undeploy, migrate or replicate.
    pub operation: OperationName,
    /// Where to, as the policy wrote it. The own node for an undeploy.
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

/// What somebody with a view of the whole infrastructure wants done in one cycle, in this order: first what happens to
/// instances that are there, then what is deployed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Undeploys, and migrations to any node.
    pub orders: Vec<(AgentIndex, Wish)>,
    /// New instances.
    pub deployments: Vec<Deployment>,
}

/// What became of one agent, or of one operator's wish, in a cycle.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The agent proposed nothing.
    Nop(AgentIndex),
    /// The agent proposed something.
    Judged(Judged),
    /// An operator asked for an instance.
    Deployed {
        /// What was asked for.
        deployment: Deployment,
        /// What the manager of the node said.
        ruling: Ruling,
        /// The new agent, if it was accepted.
        created: Option<AgentIndex>,
    },
}

/// A proposal and what became of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// Who proposed it.
    pub agent: AgentIndex,
    /// What was proposed.
    pub wish: Wish,
    /// Where the instance was.
    pub from: NodeIndex,
    /// What the managers concerned said.
    pub ruling: Ruling,
    /// The agent that appeared, if one did: a replica, or the migrated instance where that is a new agent.
    pub created: Option<AgentIndex>,
}

/// What managers said. Nearly all inhibitions are for want of room, and there may be one for each agent in each cycle, so
/// that one has a short form; [`Colony::verdict`](crate::Colony::verdict) gives the whole of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ruling {
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

impl Ruling {
    /// Whether it may be done.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Ruling::Accepted)
    }
}

impl From<Verdict> for Ruling {
    fn from(verdict: Verdict) -> Ruling {
        match verdict {
            Verdict::Accepted => Ruling::Accepted,
            Verdict::Inhibited(inhibition) => Ruling::Inhibited(Box::new(inhibition)),
        }
    }
}

/// The label of one cycle: what was judged, in the order judged. Everything accepted has been enacted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Label {
    outcomes: Vec<Outcome>,
    /// Where those are that changed something: few, when nearly all agents go on as they are.
    accepted: Vec<u32>,
}

impl Label {
    /// Of a cycle in which nothing was judged.
    pub fn new() -> Label {
        Label::default()
    }

    /// What was accepted, in the order judged.
    pub fn accepted(&self) -> impl Iterator<Item = &Outcome> {
        self.accepted.iter().map(|position| &self.outcomes[*position as usize])
    }

    pub(crate) fn clear(&mut self) {
        self.outcomes.clear();
        self.accepted.clear();
    }

    pub(crate) fn push(&mut self, outcome: Outcome) {
        if outcome.is_accepted() {
            self.accepted.push(self.outcomes.len() as u32);
        }
        self.outcomes.push(outcome);
    }

    pub(crate) fn outcomes_mut(&mut self) -> &mut [Outcome] {
        &mut self.outcomes
    }

    /// Does something with everything that was accepted, in the order judged.
    pub(crate) fn for_accepted(&mut self, mut action: impl FnMut(&mut Outcome)) {
        for position in &self.accepted {
            action(&mut self.outcomes[*position as usize]);
        }
    }
}

impl Deref for Label {
    type Target = [Outcome];

    fn deref(&self) -> &[Outcome] {
        &self.outcomes
    }
}

impl<'a> IntoIterator for &'a Label {
    type Item = &'a Outcome;
    type IntoIter = std::slice::Iter<'a, Outcome>;

    fn into_iter(self) -> Self::IntoIter {
        self.outcomes.iter()
    }
}

impl Outcome {
    /// Whether something was asked for, and may be done.
    pub fn is_accepted(&self) -> bool {
        match self {
            Outcome::Nop(_) => false,
            Outcome::Judged(judged) => judged.ruling.is_accepted(),
            Outcome::Deployed { ruling, .. } => ruling.is_accepted(),
        }
    }
}

impl Target {
    /// The node that it means for an instance on `own`.
    pub fn resolve(&self, own: NodeIndex) -> Option<NodeIndex> {
        match self {
            Target::Own => Some(own),
            Target::Node(node) => Some(*node),
            Target::Unknown(_) => None,
        }
    }
}
