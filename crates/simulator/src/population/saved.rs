//! What of a colony changes while it lives, to be written down and taken up again.

use mario_scenario::NodeIndex;
use serde::{Deserialize, Serialize};

use crate::population::agent::{Agent, AgentState};
use crate::population::colony::Colony;
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::numbers::Numbers;
use crate::population::rest::Resting;
use crate::population::rooms::Rooms;
use crate::population::simulated_node::SimulatedNode;
use crate::population::waiting::Waiting;

/// What [`Colony::saved`] wrote, read again.
#[derive(Deserialize)]
pub struct SavedColony {
    numbers: Numbers,
    nodes: Vec<SimulatedNode>,
    agents: Vec<Agent>,
    instances: Vec<i64>,
    waiting: Vec<Waiting>,
    links_version: LinksVersion,
    resting: Vec<Resting>,
    roused: Vec<AgentIndex>,
}

impl Colony {
    /// All that changes while the colony lives. What it was founded with is not part of it.
    pub fn saved(&self) -> impl Serialize + '_ {
        // Whoever adds a field decides here whether it changes.
        let Colony {
            arbitration: _,
            memory: _,
            numbers,
            applications: _,
            application_facts: _,
            node_facts: _,
            has_node_facts: _,
            policies: _,
            nodes,
            agents,
            instances,
            waiting,
            names: _,
            links_version,
            rooms: _,
            remembers_nothing: _,
            has_acceptances: _,
            resting,
            resting_count: _,
            roused,
            opened: _,
        } = self;
        (numbers, nodes, agents, instances, waiting, links_version, resting, roused)
    }

    /// Restores the colony that was saved; `self` must be founded as that one was. Returns whether
    /// what was saved can be the state of such a colony.
    #[must_use]
    pub fn restore(&mut self, saved: SavedColony) -> bool {
        let SavedColony { numbers, nodes, agents, instances, waiting, links_version, resting, roused } = saved;
        let founded = std::mem::replace(&mut self.nodes, nodes);
        let are_founded = self.nodes.len() == founded.len()
            && self.nodes.iter().zip(&founded).all(|(node, founded)| node.is_same(founded));
        if !are_founded || agents.len() != instances.len() || ![0, self.applications.len()].contains(&resting.len()) {
            return false;
        }
        for (node, founded) in self.nodes.iter_mut().zip(founded) {
            node.acceptance = founded.acceptance;
        }
        self.rooms = Rooms::new(&self.nodes);
        self.numbers = numbers;
        self.resting_count = agents.iter().filter(|agent| agent.state == AgentState::Resting).count() as u64;
        (self.agents, self.instances) = (agents, instances);
        (self.resting, self.roused) = (resting, roused);
        self.waiting = waiting;
        self.links_version = links_version;
        self.holds_together()
    }

    /// Whether agents and nodes agree: each living agent is on one node, and takes its hardware there.
    fn holds_together(&self) -> bool {
        let count = self.agents.len();
        if u32::try_from(count).is_err() {
            return false;
        }
        let has_all = |agent: &Agent| {
            agent.node.position() < self.nodes.len()
                && agent.application.position() < self.applications.len()
                && agent.policy.position() < self.policies.len()
                && agent.holds_together(self.nodes.len())
        };
        let mut places = vec![false; count];
        let are_there = self.agents.iter().all(has_all)
            && (0..).map(NodeIndex).zip(&self.nodes).all(|(node, manager)| {
                manager.agents().iter().all(|agent| {
                    let is_here = self.agents.get(agent.position()).is_some_and(|it| it.is_alive() && it.node == node);
                    is_here && !std::mem::replace(&mut places[agent.position()], true)
                })
            });
        let all_are_placed =
            || self.agents.iter().zip(&places).all(|(agent, is_placed)| agent.is_alive() == *is_placed);
        let needed =
            |agent: &AgentIndex| self.applications[self.agents[agent.position()].application.position()].hardware;
        are_there && all_are_placed() && self.nodes.iter().all(|node| node.holds_together(needed))
    }
}
