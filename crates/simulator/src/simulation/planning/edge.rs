//! The planner `edge-first-fit`: places instances first-fit at the edge, and never moves them.

use mario_scenario::{NodeIndex, Scenario};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{Planner, View};
use crate::optimum::{Distances, demand_rate};
use crate::population::{Deployment, Plan};

/// Assigns capacity to each user once, at the first arrival: on the nearest node whose instances have enough to spare,
/// or that has room for a new one. Without such a node, the user gets none. Assignments never end.
pub(super) struct FirstFit {
    distances: Distances,
    answers: Answers,
}

/// Which users were handled, and the capacity that is left on the planned instances.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::simulation) struct Answers {
    /// For each user, whether the user was handled: capacity was assigned, or no reachable node had enough.
    is_answered: Vec<bool>,
    /// For each application and node, the request rate that its instances there can handle in addition to what was
    /// assigned.
    spare: FxHashMap<(u32, NodeIndex), f64>,
}

impl FirstFit {
    pub(super) fn new(scenario: &Scenario) -> FirstFit {
        FirstFit {
            distances: Distances::default(),
            answers: Answers { is_answered: vec![false; scenario.users.len()], spare: FxHashMap::default() },
        }
    }
}

impl Planner for FirstFit {
    fn plan(&mut self, view: &View<'_>) -> Plan {
        let mut plan = Plan::default();
        let new: Vec<usize> = (0..view.users.len())
            .filter(|user| !self.answers.is_answered[*user] && view.users[*user].access_point.is_some())
            .collect();
        if new.is_empty() {
            return plan;
        }
        let mut rooms: Vec<Option<u64>> = view.rooms();
        for (room, node) in rooms.iter_mut().zip((0..).map(NodeIndex)) {
            if let Some(room) = room {
                let agents = view.population.node(node).agents().iter();
                let taken = agents
                    .map(|agent| view.population.application(view.population.agent(*agent).application()).hardware);
                *room = taken.fold(*room, |room, hardware| room.saturating_sub(hardware.as_units()));
            }
        }
        for user in new {
            self.answers.is_answered[user] = true;
            let Some(access_point) = view.users[user].access_point else { continue };
            let user = &view.scenario.users[user];
            let plan_of = &view.scenario.applications[user.application.position()];
            let (needed, handles) = (plan_of.application.hardware.as_units(), plan_of.application.max_rate.value());
            let rate = demand_rate(user.workload, view.scenario);
            let distances = self.distances.from(access_point, view.scenario, view.paths);
            let mut nodes: Vec<NodeIndex> = (0..distances.len()).map(NodeIndex::at).collect();
            nodes.retain(|node| distances[node.position()].distance.is_finite());
            nodes.sort_by(|one, other| {
                distances[one.position()].distance.total_cmp(&distances[other.position()].distance)
            });
            for node in nodes {
                let spare = self.answers.spare.entry((user.application.0, node)).or_insert(0.0);
                let room = &mut rooms[node.position()];
                if *spare >= rate {
                    *spare -= rate;
                    break;
                }
                if room.is_none_or(|room| room >= needed) {
                    *room = room.map(|room| room - needed);
                    *spare += handles - rate;
                    let (application, policy) = (user.application, plan_of.policy);
                    plan.deployments.push(Deployment { application, node, policy });
                    break;
                }
            }
        }
        plan
    }

    fn memory(&self) -> Option<Answers> {
        Some(self.answers.clone())
    }

    fn remember(&mut self, memory: Answers) {
        self.answers = memory;
    }

    fn is_consistent(&self, scenario: &Scenario) -> bool {
        self.answers.is_answered.len() == scenario.users.len()
    }
}
