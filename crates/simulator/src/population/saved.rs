//! The part of a population that is stored in a checkpoint, and restored from it.

use mario_scenario::NodeIndex;
use serde::{Deserialize, Serialize};

use crate::population::agent::{Activity, Agent};
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::layers::full_nodes::FullNodes;
use crate::population::layers::parking::ParkedCounts;
use crate::population::layers::pending::PendingRequest;
use crate::population::numbers::InstanceNumbers;
use crate::population::simulated_node::SimulatedNode;
use crate::population::state::Population;

/// The decoded form of [`Population::saved`].
#[derive(Deserialize)]
pub struct SavedPopulation {
    numbers: InstanceNumbers,
    nodes: Vec<SimulatedNode>,
    agents: Vec<Agent>,
    instances: Vec<i64>,
    pending: Vec<PendingRequest>,
    links_version: LinksVersion,
    parked: Vec<ParkedCounts>,
    to_unpark: Vec<AgentIndex>,
}

impl Population {
    /// The state that changes during a run, without the configuration of the population.
    pub fn saved(&self) -> impl Serialize + '_ {
        // Destructured, so that a new field does not compile until it is decided here whether to save it.
        let Population {
            arbitration: _,
            memory: _,
            numbers,
            applications: _,
            application_facts: _,
            node_facts: _,
            has_node_facts: _,
            anchors: _,
            policies: _,
            nodes,
            agents,
            instances,
            pending,
            names: _,
            links_version,
            full_nodes: _,
            remembers_nothing: _,
            past: _,
            body_use: _,
            has_acceptances: _,
            owners: _,
            parked,
            parked_count: _,
            to_unpark,
            freed: _,
        } = self;
        (numbers, nodes, agents, instances, pending, links_version, parked, to_unpark)
    }

    /// Restores a stored population; `self` must have the same configuration. Returns false if the stored state is
    /// found to be inconsistent; then `self` must not be used.
    #[must_use]
    pub fn restore(&mut self, saved: SavedPopulation) -> bool {
        let SavedPopulation { numbers, nodes, agents, instances, pending, links_version, parked, to_unpark } = saved;
        let made = std::mem::replace(&mut self.nodes, nodes);
        let are_same =
            self.nodes.len() == made.len() && self.nodes.iter().zip(&made).all(|(node, made)| node.is_same(made));
        if !are_same || agents.len() != instances.len() || ![0, self.applications.len()].contains(&parked.len()) {
            return false;
        }
        for (node, made) in self.nodes.iter_mut().zip(made) {
            node.acceptance = made.acceptance;
        }
        self.full_nodes = FullNodes::new(&self.nodes);
        self.numbers = numbers;
        self.parked_count = agents.iter().filter(|agent| agent.activity == Activity::Parked).count() as u64;
        (self.agents, self.instances) = (agents, instances);
        (self.parked, self.to_unpark) = (parked, to_unpark);
        self.pending = pending;
        self.links_version = links_version;
        self.is_consistent()
    }

    /// Whether the indices in agents are valid, each living agent is on exactly one node and holds its hardware there,
    /// and no hardware is reserved. Does not check `pending`, `to_unpark` and the neighbours of nodes.
    fn is_consistent(&self) -> bool {
        let count = self.agents.len();
        if u32::try_from(count).is_err() {
            return false;
        }
        let has_all = |agent: &Agent| {
            agent.node.position() < self.nodes.len()
                && agent.application.position() < self.applications.len()
                && agent.policy.position() < self.policies.len()
                && agent.is_consistent(self.nodes.len())
                && usize::from(agent.flavour().0)
                    <= self.applications[agent.application.position()].flavours.len().saturating_sub(1)
        };
        let mut places = vec![false; count];
        let are_there = self.agents.iter().all(has_all)
            && (0..).map(NodeIndex).zip(&self.nodes).all(|(index, node)| {
                node.agents().iter().all(|agent| {
                    let is_here = self.agents.get(agent.position()).is_some_and(|it| it.is_alive() && it.node == index);
                    is_here && !std::mem::replace(&mut places[agent.position()], true)
                })
            });
        let all_are_placed =
            || self.agents.iter().zip(&places).all(|(agent, is_placed)| agent.is_alive() == *is_placed);
        let needed = |agent: &AgentIndex| self.held(self.agent(*agent));
        are_there && all_are_placed() && self.nodes.iter().all(|node| node.is_consistent(needed))
    }
}
