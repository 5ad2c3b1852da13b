//! Central planning: searches for the best allocation whenever the inputs of the search have changed.

use mario_scenario::{ApplicationIndex, NodeIndex, Search};

use super::{Answers, Planner, View};
use crate::optimum::{Allocation, Distances, Problem, Room, best, changes};
use crate::population::Plan;

/// A planner that searches for the best allocation, and plans all changes for a single cycle.
pub(super) struct Central {
    search: Search,
    distances: Distances,
    /// The last inputs, the problem that they define, and its solution.
    last: Option<(PlanningInputs, Problem, Vec<Allocation>)>,
}

/// The inputs that determine the best allocation.
#[derive(PartialEq)]
struct PlanningInputs {
    access_points: Vec<Option<NodeIndex>>,
    rooms: Vec<Room>,
    infrastructure: u32,
}

impl Central {
    pub(super) fn new(search: Search) -> Central {
        Central { search, distances: Distances::default(), last: None }
    }
}

impl Planner for Central {
    fn plan(&mut self, view: &View<'_>) -> Plan {
        let moment = PlanningInputs {
            access_points: view.access_points().collect(),
            rooms: view.rooms(),
            infrastructure: view.paths.version(),
        };
        // The result is a pure function of the inputs, so it is reused while they stay the same.
        let is_known = self.last.as_ref().is_some_and(|(last, ..)| *last == moment);
        if !is_known {
            let problem = Problem::new(
                view.scenario,
                moment.access_points.iter().copied(),
                moment.rooms.clone(),
                &mut self.distances,
                view.paths,
            );
            let best = best(&problem, self.search);
            self.last = Some((moment, problem, best));
        }
        let Some((moment, problem, best)) = &self.last else { return Plan::default() };
        let applications = (0..view.scenario.applications.len()).map(ApplicationIndex::at);
        let current: Vec<Allocation> =
            applications.map(|application| Allocation::current(view.placement, application, view.population)).collect();
        // Keeps the current placement if it fits, unless the best one has a higher value.
        if problem.fits(&current) && problem.value(&current) >= problem.value(best) {
            return Plan::default();
        }
        changes(view.scenario, best, view.placement, view.population, &moment.rooms)
    }

    fn memory(&self) -> Option<Answers> {
        None
    }

    fn remember(&mut self, _memory: Answers) {}
}
