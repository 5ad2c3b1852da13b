//! Exact search for the best allocations, for small worlds.
//!
//! The objective is a sum over applications, which interact only through shared hardware. So first, all allocations of
//! each application are enumerated separately. An allocation is dropped if another is at least as good and needs no
//! more hardware on any bounded node. Then applications are combined one after another, and only the best combination
//! for each use of the hardware is kept (dynamic programming). A combination is pruned if it cannot reach the value of
//! a greedy allocation, even with the best choices for all remaining applications.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use mario_domain::ApplicationId;
use mario_scenario::Scenario;

use super::problem::needed_for;
use super::{Allocation, Demand, PlacementValue, Problem, demand_rate, room};

/// A world is too large if the upper bound on the number of allocations of an application is greater than this.
const ALLOCATIONS_MAX: u64 = 4_096;

/// A world is too large if the upper bound on the number of hardware uses is greater than this. A hardware use says how
/// much hardware is taken on each bounded node.
const USES_MAX: u64 = 65_536;

/// Why a world is too large for an exact search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TooLarge {
    /// There are too many ways to allocate an application.
    Allocations {
        /// The application.
        application: ApplicationId,
        /// An upper bound on their number; `u64::MAX` if it overflows.
        ways: u64,
    },
    /// There are too many different hardware uses.
    Uses {
        /// An upper bound on their number; `u64::MAX` if it overflows.
        ways: u64,
    },
}

/// Checks that a world is small enough, wherever its users move.
pub(super) fn check(scenario: &Scenario) -> Result<(), TooLarge> {
    let topology = &scenario.topology;
    for (plan, application) in scenario.applications.iter().zip(0..) {
        let users = scenario.users.iter().filter(|user| user.application.0 == application);
        let rate: f64 = users.map(|user| demand_rate(user.workload, scenario)).sum();
        let on_one_node_max = u64::from(needed_for(rate, plan.application.max_rate.value()));
        let ways = topology.nodes().fold(1_u64, |ways, (_, node)| {
            let fitting = fitting(room(node.capacity), plan.application.hardware.as_units(), on_one_node_max);
            ways.saturating_mul(fitting + 1)
        });
        if ways > ALLOCATIONS_MAX {
            return Err(TooLarge::Allocations { application: plan.application.id.clone(), ways });
        }
    }
    let needed = scenario.applications.iter().map(|plan| plan.application.hardware.as_units());
    let portion = needed.fold(0, greatest_common_divisor).max(1);
    let ways = topology
        .nodes()
        .fold(1_u64, |ways, (_, node)| ways.saturating_mul(room(node.capacity).map_or(1, |units| units / portion + 1)));
    if ways > USES_MAX { Err(TooLarge::Uses { ways }) } else { Ok(()) }
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// How many instances fit on a node with this room, at most `on_one_node_max`.
fn fitting(room: Option<u64>, hardware: u64, on_one_node_max: u64) -> u64 {
    match room {
        Some(units) if hardware > 0 => (units / hardware).min(on_one_node_max),
        _ => on_one_node_max,
    }
}

/// An allocation of one application that may be part of the best combination.
struct Choice {
    value: PlacementValue,
    /// The hardware that the allocation uses on each bounded node.
    taken: Vec<u64>,
    allocation: Allocation,
}

/// The best known combination for one use of the hardware.
struct Known {
    value: PlacementValue,
    /// For each application combined so far, the index of its choice.
    choices: Vec<u32>,
}

/// The best combination of allocations, one for each application. The value of `greedy` is a lower bound for pruning.
/// Returns `greedy` if nothing is better.
pub(super) fn search(problem: &Problem, greedy: Vec<Allocation>) -> Vec<Allocation> {
    let target = problem.value(&greedy);
    let choices: Vec<Vec<Choice>> = problem.applications.iter().map(|demand| all_choices(problem, demand)).collect();
    // For each index, an upper bound on the total value of the applications from there on.
    let mut still_possible = vec![PlacementValue::ZERO; choices.len() + 1];
    for application in (0..choices.len()).rev() {
        let best = choices[application].iter().map(|choice| choice.value).max().unwrap_or(PlacementValue::ZERO);
        still_possible[application] = still_possible[application + 1] + best;
    }
    let bounds: Vec<u64> = problem.rooms.iter().copied().flatten().collect();
    let mut known =
        BTreeMap::from([(vec![0; bounds.len()], Known { value: PlacementValue::ZERO, choices: Vec::new() })]);
    for (application, of_application) in choices.iter().enumerate() {
        let mut next: BTreeMap<Vec<u64>, Known> = BTreeMap::new();
        for (taken, before) in &known {
            for (place, choice) in (0..).zip(of_application) {
                let value = before.value + choice.value;
                let sum: Vec<u64> = taken.iter().zip(&choice.taken).map(|(one, other)| one + other).collect();
                let fits = sum.iter().zip(&bounds).all(|(taken, bound)| taken <= bound);
                if !fits || value + still_possible[application + 1] < target {
                    continue;
                }
                if next.get(&sum).is_none_or(|best| value > best.value) {
                    let mut choices = before.choices.clone();
                    choices.push(place);
                    next.insert(sum, Known { value, choices });
                }
            }
        }
        known = next;
    }
    let mut best: Option<&Known> = None;
    for candidate in known.values() {
        if best.is_none_or(|best| candidate.value > best.value) {
            best = Some(candidate);
        }
    }
    match best {
        Some(best) if best.value > target => {
            let chosen = best.choices.iter().zip(&choices);
            chosen.map(|(place, choices)| choices[*place as usize].allocation.clone()).collect()
        }
        _ => greedy,
    }
}

/// All non-dominated allocations of an application, the best first.
fn all_choices(problem: &Problem, demand: &Demand) -> Vec<Choice> {
    let mut all = Vec::new();
    enumerate(problem, demand, 0, &mut Allocation::default(), &mut all);
    // The sort is stable, so equal choices stay in order.
    all.sort_by_key(|choice| std::cmp::Reverse(choice.value));
    let mut kept: Vec<Choice> = Vec::new();
    for choice in all {
        let is_beaten = |other: &Choice| other.taken.iter().zip(&choice.taken).all(|(other, own)| other <= own);
        if !kept.iter().any(is_beaten) {
            kept.push(choice);
        }
    }
    kept
}

fn enumerate(problem: &Problem, demand: &Demand, node: usize, allocation: &mut Allocation, all: &mut Vec<Choice>) {
    if node == problem.rooms.len() {
        let bounded = problem.rooms.iter().zip(0..).filter(|(room, _)| room.is_some());
        let taken = bounded.map(|(_, node)| u64::from(allocation.on(node)) * demand.hardware).collect();
        all.push(Choice { value: demand.value(allocation), taken, allocation: allocation.clone() });
        return;
    }
    let fitting = fitting(problem.rooms[node], demand.hardware, u64::from(demand.on_one_node_max));
    enumerate(problem, demand, node + 1, allocation, all);
    for _ in 0..fitting {
        allocation.add(node as u32);
        enumerate(problem, demand, node + 1, allocation, all);
    }
    for _ in 0..fitting {
        allocation.remove(node as u32);
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooLarge::Allocations { application, ways: u64::MAX } => write!(
                formatter,
                "there are more than 10^19 ways to allocate application `{application}`, and an exact search takes {ALLOCATIONS_MAX}"
            ),
            TooLarge::Allocations { application, ways } => write!(
                formatter,
                "there are up to {ways} ways to allocate application `{application}`, and an exact search takes {ALLOCATIONS_MAX}"
            ),
            TooLarge::Uses { ways } => {
                write!(
                    formatter,
                    "there are up to {ways} ways to use the hardware, and an exact search takes {USES_MAX}"
                )
            }
        }
    }
}

impl Error for TooLarge {}
