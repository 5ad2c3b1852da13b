//! What of a colony changes while it lives, to be written down and taken up again.

use serde::{Deserialize, Serialize};

use crate::agent::{Agent, AgentState};
use crate::colony::Colony;
use crate::index::{AgentIndex, LinksVersion};
use crate::manager::Manager;
use crate::rest::Resting;
use crate::rooms::Rooms;
use crate::rules::Numbers;
use crate::waiting::Waiting;

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
            resting,
            resting_count: _,
            roused,
            opened: _,
        } = self;
        (numbers, managers, agents, instances, waiting, links_version, resting, roused)
    }

    /// Becomes the colony that was saved. Whoever calls this has founded it with what that one was founded with.
    pub fn restore(&mut self, saved: SavedColony) {
        let SavedColony { numbers, managers, agents, instances, waiting, links_version, resting, roused } = saved;
        let founded = std::mem::replace(&mut self.managers, managers);
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
    }
}
