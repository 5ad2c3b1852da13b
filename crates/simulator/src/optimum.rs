//! The value of an allocation of instances, and the search for the best one, with global knowledge.
//!
//! A [`Problem`] is a snapshot of a world: the users' access points and requests, and the hardware of the nodes.
//! An [`Allocation`] says how many instances of an application are on which nodes. [`Problem::value`] is the objective,
//! for the actual placement and for alternatives alike. It is a [`PlacementValue`], whose order is the order of
//! preference.
//!
//! | file | content |
//! |---|---|
//! | `problem` | a snapshot of a world, and the objective |
//! | `value` | the value of an allocation, and the order of preference |
//! | `distances` | how far nodes are from access points |
//! | `greedy` | a good allocation, for worlds of any size |
//! | `exact` | the best allocation, for small worlds |
//! | `changes` | the operations that lead from the current placement to given allocations |

use mario_scenario::{ApplicationIndex, Scenario, Search};

mod changes;
mod distances;
mod exact;
mod greedy;
mod problem;
#[cfg(test)]
mod tests;
mod value;

use crate::placement::Placement;
use crate::population::Population;

pub(crate) use changes::changes;
pub(crate) use distances::{Distances, NodeDistance};
pub use exact::TooLarge;
pub(crate) use problem::{Demand, Problem, Room, demand_rate, room};
pub use value::PlacementValue;

/// The number of instances of one application on each node. Sorted by node, without duplicates and without zeros.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Allocation(Vec<(u32, u32)>);

impl Allocation {
    /// The current allocation of an application.
    pub(crate) fn current(placement: &Placement, application: ApplicationIndex, population: &Population) -> Allocation {
        let mut allocation = Allocation::default();
        for agent in placement.agents(application).iter() {
            allocation.add(population.agent(agent).node().0);
        }
        allocation
    }

    pub(crate) fn nodes(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// The number of instances on a node.
    pub(crate) fn on(&self, node: u32) -> u32 {
        self.0.binary_search_by_key(&node, |(node, _)| *node).map_or(0, |place| self.0[place].1)
    }

    pub(crate) fn add(&mut self, node: u32) {
        match self.0.binary_search_by_key(&node, |(node, _)| *node) {
            Ok(place) => self.0[place].1 += 1,
            Err(place) => self.0.insert(place, (node, 1)),
        }
    }

    /// Removes one instance from a node. Does nothing if the node has none.
    pub(crate) fn remove(&mut self, node: u32) {
        if let Ok(place) = self.0.binary_search_by_key(&node, |(node, _)| *node) {
            self.0[place].1 -= 1;
            if self.0[place].1 == 0 {
                self.0.remove(place);
            }
        }
    }

    /// The number of instances.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| u64::from(*count)).sum()
    }
}

/// The exact search if the world is small enough for it, wherever its users move; otherwise the greedy search.
pub(crate) fn search_for(scenario: &Scenario) -> Search {
    if exact::check(scenario).is_ok() { Search::Exact } else { Search::Greedy }
}

/// Checks that a world is small enough for a search.
pub(crate) fn check_size(scenario: &Scenario, search: Search) -> Result<(), TooLarge> {
    match search {
        Search::Greedy => Ok(()),
        Search::Exact => exact::check(scenario),
    }
}

/// The best allocations that a search finds, one for each application.
pub(crate) fn best(problem: &Problem, search: Search) -> Vec<Allocation> {
    let found = greedy::search(problem);
    match search {
        Search::Greedy => found,
        Search::Exact => exact::search(problem, found),
    }
}
