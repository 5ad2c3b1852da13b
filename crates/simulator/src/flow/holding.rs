//! Checks whether restored traffic is consistent.

use mario_scenario::{ApplicationIndex, Scenario};

use super::{Flow, Mode};
use crate::population::AgentIndex;

impl Flow {
    /// The numbers of cells and of round robins.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.cells.len(), self.turns.len())
    }

    /// Whether restored traffic is valid for this scenario and this number of instances.
    pub(crate) fn holds_together(
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
            && self.load.is_of(&scenario.topology, scenario.network, instances);
        are_tables
            && self.turns.hold_together()
            && self.inflows.hold_together(instances, &self.turns)
            && self.cells_agree()
            && self.calls.is_some() == scenario.has_calls()
            && self.calls.as_ref().is_none_or(|calls| calls.holds_together(scenario, application_of))
    }

    /// Whether each user is in one cell, and each cell has as many routes as its mode needs.
    fn cells_agree(&self) -> bool {
        let mut members = vec![false; self.cell_of_user.len()];
        let mut is_sound = |index: usize| {
            let cell = &self.cells[index];
            let has_routes = match cell.mode {
                Mode::Idle => true,
                Mode::Plain => cell.routes.len() == 1,
                Mode::Turns(turns) => self.turns.get(turns).is_among(cell.routes.len()),
            };
            has_routes
                && cell.crowd.users() as usize <= cell.members.len()
                && cell.members.iter().all(|member| {
                    let is_here = self.cell_of_user[member.position()].is_some_and(|cell| cell.position() == index);
                    is_here && !std::mem::replace(&mut members[member.position()], true)
                })
        };
        (0..self.cells.len()).all(&mut is_sound)
    }
}
