//! Checks traffic that was restored from a checkpoint.

use mario_scenario::{ApplicationIndex, Scenario};

use super::{Flow, Mode};
use crate::population::AgentIndex;

impl Flow {
    /// Whether restored traffic is valid for this scenario and this number of instances.
    pub(crate) fn is_consistent(
        &self,
        scenario: &Scenario,
        instances: usize,
        application_of: impl Fn(AgentIndex) -> ApplicationIndex,
    ) -> bool {
        let users = scenario.users.len();
        let are_tables = self.window == scenario.agents.period
            && self.cell_of_user.len() == users
            && self.is_cleared.len() == instances
            && self.accounts.are_of(users)
            && self.load.is_of(&scenario.topology, scenario.network, instances)
            && self.waiting.is_consistent(users, &self.load)
            && self.calls.as_ref().is_none_or(|calls| calls.is_waiting_valid(&self.load));
        are_tables
            && self.round_robins.are_consistent()
            && self.inflows.are_consistent(instances, &self.round_robins)
            && self.cells_agree()
            && self.calls.is_some() == scenario.has_calls()
            && self.calls.as_ref().is_none_or(|calls| calls.is_consistent(scenario, application_of))
    }

    /// Whether the members of all cells agree with `cell_of_user`, and each cell has as many routes as its mode needs.
    fn cells_agree(&self) -> bool {
        let mut members = vec![false; self.cell_of_user.len()];
        let mut is_sound = |index: usize| {
            let cell = &self.cells[index];
            let has_routes = match cell.mode {
                Mode::Idle => true,
                Mode::Plain => cell.routes.len() == 1,
                Mode::RoundRobin(round_robin) => self.round_robins.get(round_robin).is_among(cell.routes.len()),
            };
            has_routes
                && cell.cohort.users() as usize <= cell.members.len()
                && cell.members.iter().all(|member| {
                    let is_here = self.cell_of_user[member.position()].is_some_and(|cell| cell.position() == index);
                    is_here && !std::mem::replace(&mut members[member.position()], true)
                })
        };
        (0..self.cells.len()).all(&mut is_sound)
    }
}
