//! What of a colony changes while it lives, to be written down and taken up again.

use mario_scenario::NodeIndex;
use serde::{Deserialize, Serialize};

use crate::population::agent::{Agent, AgentState};
use crate::population::colony::Colony;
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::manager::Manager;
use crate::population::numbers::Numbers;
use crate::population::rest::Resting;
use crate::population::rooms::Rooms;
use crate::population::waiting::Waiting;

/// What [`Colony::saved`] wrote, read again.
#[derive(Deserialize)]
pub struct SavedColony {
    numbers: Numbers,
    managers: Vec<Manager>,
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
            managers,
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
        (numbers, managers, agents, instances, waiting, links_version, resting, roused)
    }

    /// Restores the colony that was saved; `self` must be founded as that one was. Returns whether
    /// what was saved can be the state of such a colony.
    #[must_use]
    pub fn restore(&mut self, saved: SavedColony) -> bool {
        let SavedColony { numbers, managers, agents, instances, waiting, links_version, resting, roused } = saved;
        let founded = std::mem::replace(&mut self.managers, managers);
        let are_founded = self.managers.len() == founded.len()
            && self.managers.iter().zip(&founded).all(|(manager, founded)| manager.is_of(founded));
        if !are_founded || agents.len() != instances.len() || ![0, self.applications.len()].contains(&resting.len()) {
            return false;
        }
        for (manager, founded) in self.managers.iter_mut().zip(founded) {
            manager.own_policy = founded.own_policy;
        }
        self.rooms = Rooms::new(&self.managers);
        self.numbers = numbers;
        self.resting_count = agents.iter().filter(|agent| agent.state == AgentState::Resting).count() as u64;
        (self.agents, self.instances) = (agents, instances);
        (self.resting, self.roused) = (resting, roused);
        self.waiting = waiting;
        self.links_version = links_version;
        self.holds_together()
    }

    /// Whether agents and managers agree: each living agent is on one node, and takes its hardware there.
    fn holds_together(&self) -> bool {
        let count = self.agents.len();
        if u32::try_from(count).is_err() {
            return false;
        }
        let has_all = |agent: &Agent| {
            agent.node.position() < self.managers.len()
                && agent.application.position() < self.applications.len()
                && agent.policy.position() < self.policies.len()
                && agent.holds_together(self.managers.len())
        };
        let mut places = vec![false; count];
        let are_there = self.agents.iter().all(has_all)
            && (0..).map(NodeIndex).zip(&self.managers).all(|(node, manager)| {
                manager.agents().iter().all(|agent| {
                    let is_here = self.agents.get(agent.position()).is_some_and(|it| it.is_alive() && it.node == node);
                    is_here && !std::mem::replace(&mut places[agent.position()], true)
                })
            });
        let all_are_placed =
            || self.agents.iter().zip(&places).all(|(agent, is_placed)| agent.is_alive() == *is_placed);
        let needed =
            |agent: &AgentIndex| self.applications[self.agents[agent.position()].application.position()].hardware;
        are_there && all_are_placed() && self.managers.iter().all(|manager| manager.has_taken(needed))
    }
}
