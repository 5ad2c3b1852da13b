//! Node owners who evict or shrink the instances on their nodes.

use mario_colony::Availability;
use mario_colony::rules::{self, EvictionNotice, HostedInstance};
use mario_domain::{FlavourIndex, InstanceId};
use mario_policy::AcceptanceFailure;
use mario_scenario::{Arbitration, NodeIndex};

use crate::population::acceptance::{AcceptanceContext, AcceptanceQuery};
use crate::population::agent::Body;
use crate::population::index::AgentIndex;
use crate::population::simulated_node::SimulatedNode;
use crate::population::state::Population;

/// The nodes whose owners have acceptance policies that may evict or shrink instances, and the notice period.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    /// Sorted by index.
    pub(crate) nodes: Vec<NodeIndex>,
    /// The number of evaluations that an agent has left after the announcement of its eviction.
    pub(crate) notice: u32,
}

/// The actions of a node's owner at one activation of the managers, in this order: evictions whose notice has expired,
/// shrinks, announcements of evictions.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnerActs {
    /// The node.
    pub node: NodeIndex,
    /// Never empty.
    pub acts: Vec<OwnerAct>,
}

/// The action of a node's owner on an instance.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnerAct {
    /// The agent of the instance.
    pub agent: AgentIndex,
    /// The action.
    pub kind: OwnerActKind,
    /// The reason, as stated by the owner's policy. For an eviction, the reason given in its announcement.
    pub reason: String,
}

/// The kind of an owner's action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnerActKind {
    /// The instance was evicted.
    Evicted,
    /// The instance was switched to this flavour, which needs no more hardware of any kind than the previous one.
    Shrunk(FlavourIndex),
    /// The instance will be evicted after this many further evaluations of its agent, unless it leaves before.
    Announced(u32),
}

impl Population {
    /// Whether any node has an owner whose policy may evict or shrink instances. Always false if a planner manages.
    pub fn has_owners(&self) -> bool {
        !self.owners.nodes.is_empty()
    }

    /// Lets the owners of nodes act, after all accepted operations of a cycle are enacted. On each node with such an
    /// owner that is not down, in the order of nodes, evicts the instances whose notice has expired, then evaluates the
    /// owner's policy and enacts its actions.
    pub fn initiative(&mut self, context: &mut AcceptanceContext) -> Vec<OwnerActs> {
        let nodes = std::mem::take(&mut self.owners.nodes);
        let acts = nodes.iter().filter_map(|node| {
            let acts = self.acts_of(*node, context);
            (!acts.is_empty()).then_some(OwnerActs { node: *node, acts })
        });
        let acts = acts.collect();
        self.owners.nodes = nodes;
        self.unpark_around_freed_nodes();
        acts
    }

    fn acts_of(&mut self, node: NodeIndex, context: &mut AcceptanceContext) -> Vec<OwnerAct> {
        if self.node(node).manager().availability() == Availability::Down {
            return Vec::new();
        }
        let mut acts = self.evict_due(node);
        match self.wants_of(node, context) {
            Ok(wanted) => acts.extend(wanted.into_iter().map(|act| self.enact_of_owner(act))),
            Err(failure) => context.count_failure(node, AcceptanceQuery::Initiative, failure),
        }
        acts
    }

    /// Evicts the instances on a node whose notice has expired, in the order of their arrival.
    fn evict_due(&mut self, node: NodeIndex) -> Vec<OwnerAct> {
        let mut acts = Vec::new();
        let notices = self.node(node).agents().iter().map(|agent| (*agent, self.agent(*agent).notice()));
        for (agent, notice) in notices {
            if let Some(EvictionNotice { reason, .. }) = notice.filter(|notice| notice.is_due()) {
                acts.push(OwnerAct { agent, kind: OwnerActKind::Evicted, reason: reason.clone() });
            }
        }
        for act in &acts {
            self.remove(act.agent);
        }
        acts
    }

    fn wants_of(
        &self,
        node: NodeIndex,
        context: &mut AcceptanceContext,
    ) -> Result<Vec<rules::OwnerAct<AgentIndex>>, AcceptanceFailure> {
        let Some(acceptance) = self.node(node).acceptance() else { return Ok(Vec::new()) };
        let (view, machine) = (self.manager_view(node, context.symbols()), context.asked());
        let agents = self.node(node).agents();
        rules::initiative(acceptance, machine, view, |named: &InstanceId| {
            let index = agents.iter().copied().find(|agent| self.instance(*agent) == *named)?;
            let agent = self.agent(index);
            Some(HostedInstance {
                instance: index,
                application: self.application(agent.application),
                flavour: agent.flavour(),
                wakefulness: agent.body().wakefulness,
                held: self.held(agent),
                is_leaving: agent.notice().is_some(),
            })
        })
    }

    fn enact_of_owner(&mut self, act: rules::OwnerAct<AgentIndex>) -> OwnerAct {
        match act {
            rules::OwnerAct::Shrink { instance: agent, flavour, change, reason } => {
                let body = Body { flavour, ..self.agent(agent).body() };
                self.run_as(agent, body, change);
                OwnerAct { agent, kind: OwnerActKind::Shrunk(flavour), reason }
            }
            rules::OwnerAct::Announce { instance: agent, reason } => {
                let left = self.owners.notice;
                self.unpark_later(agent);
                self.agents[agent.position()].give_notice(EvictionNotice { left, reason: reason.clone() });
                OwnerAct { agent, kind: OwnerActKind::Announced(left), reason }
            }
        }
    }
}

impl Owners {
    /// Collects the nodes whose acceptance policies may evict or shrink instances; none if a planner manages, because
    /// it does not ask managers.
    pub(crate) fn of(nodes: &[SimulatedNode], arbitration: Arbitration, notice: u32) -> Owners {
        let has_initiative = |node: &SimulatedNode| {
            arbitration != Arbitration::Central
                && node.acceptance().is_some_and(|acceptance| acceptance.has_initiative())
        };
        let nodes = (0..).map(NodeIndex).zip(nodes).filter(|(_, node)| has_initiative(node));
        Owners { nodes: nodes.map(|(index, _)| index).collect(), notice }
    }
}
