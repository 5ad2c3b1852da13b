//! Management by a planner that sees the whole infrastructure, as a baseline for agents.
//!
//! A [`Planner`] is called at each activation of the managers, and its plan replaces the proposals of agents. There is
//! no planner if agents manage.

use mario_scenario::{Management, NodeIndex, Scenario};

mod central;
mod edge;
#[cfg(test)]
mod tests;

use super::{Simulation, User};
use crate::optimum::{Room, room};
use crate::paths::Paths;
use crate::placement::Placement;
use crate::population::{Plan, Population};
use mario_colony::Availability;

pub(super) use edge::Answers;

/// Plans the operations on instances, with global knowledge.
pub(super) trait Planner: Send {
    /// Returns the plan for this activation of the managers.
    fn plan(&mut self, view: &View<'_>) -> Plan;

    /// The state that must be stored in a checkpoint; `None` if a plan depends on the view alone.
    fn memory(&self) -> Option<Answers>;

    /// Restores the state of a planner.
    fn remember(&mut self, memory: Answers);

    /// Whether its restored state is consistent with a scenario.
    fn is_consistent(&self, _scenario: &Scenario) -> bool {
        true
    }
}

/// The world as seen by a planner.
pub(super) struct View<'a> {
    scenario: &'a Scenario,
    population: &'a Population,
    placement: &'a Placement,
    users: &'a [User],
    paths: &'a Paths,
}

impl View<'_> {
    /// The access point of each user.
    fn access_points(&self) -> impl Iterator<Item = Option<NodeIndex>> {
        self.users.iter().map(|user| user.access_point)
    }

    /// The capacity of each node, used or not: zero for a node that is leaving or down, `None` for an unbounded one.
    fn rooms(&self) -> Vec<Room> {
        let nodes = (0..self.scenario.topology.node_count()).map(NodeIndex::at);
        nodes
            .map(|node| match self.population.node(node).manager().availability() {
                Availability::Up => room(self.population.node(node).manager().capacity()),
                Availability::Leaving | Availability::Down => Some(0),
            })
            .collect()
    }
}

/// The planner of a scenario; `None` if agents manage.
pub(super) fn planner(scenario: &Scenario) -> Option<Box<dyn Planner>> {
    match scenario.management {
        Management::Agents => None,
        Management::EdgeFirstFit => Some(Box::new(edge::FirstFit::new(scenario))),
        Management::Central(search) => Some(Box::new(central::Central::new(search))),
    }
}

impl Simulation<'_> {
    /// The plan for this activation of the managers. Its list of deployments begins with those that operators have
    /// requested since the last activation; those of the planner follow. Without a planner, the plan has only the
    /// operators' deployments.
    pub(super) fn plan(&mut self) -> Plan {
        let mut plan = Plan::default();
        if let Some(planner) = &mut self.planner {
            plan = planner.plan(&View {
                scenario: self.scenario,
                population: &self.population,
                placement: &self.placement,
                users: &self.users,
                paths: &self.paths,
            });
        }
        if !self.deployments.is_empty() {
            plan.deployments.splice(0..0, self.deployments.drain(..));
        }
        plan
    }
}
