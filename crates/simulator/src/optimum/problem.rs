//! A snapshot of a world, and the objective.

use std::sync::Arc;

use mario_domain::Capacity;
use mario_scenario::{NodeIndex, Scenario, Workload};
use rustc_hash::FxHashMap;

use super::{Allocation, Distances, NodeDistance, PlacementValue};
use crate::paths::Paths;

/// Relative tolerance for rounding errors: only a larger excess over the capacity of an instance is an overload.
const TOLERANCE: f64 = 1e-9;

/// The hardware units of a node; `None` is unbounded.
pub(crate) type Room = Option<u64>;

/// A snapshot of a world: the users' access points and requests, and the hardware of the nodes.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    /// For each node, its hardware for instances.
    pub(crate) rooms: Vec<Room>,
    pub(crate) applications: Vec<Demand>,
}

/// The demand for an application.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub(crate) hardware: u64,
    pub(crate) max_rate: f64,
    pub(crate) max_latency: f64,
    /// Users by access point.
    pub(crate) groups: Vec<Group>,
    /// The maximum number of useful instances on one node: as many as handle all requests of the application, at least
    /// 1. It is 1 if an instance handles no requests at all.
    pub(crate) on_one_node_max: u32,
}

/// The users of one application at one access point.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) users: u32,
    /// The client requests of all of them per evaluation period.
    pub(crate) rate: f64,
    /// The distance of each node from the access point.
    pub(crate) distances: Arc<[NodeDistance]>,
}

impl Problem {
    /// The problem for users at these access points. `None` is a user who is not connected.
    pub(crate) fn new(
        scenario: &Scenario,
        access_points: impl Iterator<Item = Option<NodeIndex>>,
        rooms: Vec<Room>,
        distances: &mut Distances,
        paths: &Paths,
    ) -> Problem {
        let demand = scenario.applications.iter().map(|plan| Demand {
            hardware: plan.application.hardware.as_units(),
            max_rate: plan.application.max_rate.value(),
            max_latency: plan.application.max_latency.value(),
            groups: Vec::new(),
            on_one_node_max: 1,
        });
        let mut problem = Problem { rooms, applications: demand.collect() };
        let mut places: FxHashMap<(u32, NodeIndex), usize> = FxHashMap::default();
        for (user, access_point) in scenario.users.iter().zip(access_points) {
            let Some(access_point) = access_point else { continue };
            let demand = &mut problem.applications[user.application.position()];
            let place = *places.entry((user.application.0, access_point)).or_insert_with(|| {
                let distances = distances.from(access_point, scenario, paths);
                demand.groups.push(Group { users: 0, rate: 0.0, distances });
                demand.groups.len() - 1
            });
            demand.groups[place].users += 1;
            demand.groups[place].rate += demand_rate(user.workload, scenario);
        }
        for demand in &mut problem.applications {
            let rate: f64 = demand.groups.iter().map(|group| group.rate).sum();
            demand.on_one_node_max = needed_for(rate, demand.max_rate);
        }
        problem
    }

    /// The value of allocations, one for each application: the objective.
    pub(crate) fn value(&self, allocations: &[Allocation]) -> PlacementValue {
        self.applications.iter().zip(allocations).map(|(demand, allocation)| demand.value(allocation)).sum()
    }

    /// Whether the allocations fit on the nodes.
    pub(crate) fn fits(&self, allocations: &[Allocation]) -> bool {
        (0..).zip(&self.rooms).all(|(node, room)| {
            let of_application = |(demand, allocation): (&Demand, &Allocation)| {
                demand.hardware.saturating_mul(u64::from(allocation.on(node)))
            };
            let taken = self.applications.iter().zip(allocations).map(of_application).fold(0, u64::saturating_add);
            room.is_none_or(|room| taken <= room)
        })
    }

    /// The number of connected users.
    pub(crate) fn users(&self) -> u64 {
        self.applications.iter().flat_map(|demand| &demand.groups).map(|group| u64::from(group.users)).sum()
    }
}

impl Demand {
    /// The value of an allocation of the application.
    ///
    /// Client requests go to the nearest instances, round robin between equally near ones, as with the default routing
    /// of a run. Queueing is ignored.
    pub(crate) fn value(&self, allocation: &Allocation) -> PlacementValue {
        let places = allocation.nodes();
        let mut value = PlacementValue {
            present: i64::from(!places.is_empty()),
            instances: allocation.count() as i64,
            ..PlacementValue::ZERO
        };
        let mut loads = vec![0.0; places.len()];
        let nearest: Vec<Option<Nearest>> = self.groups.iter().map(|group| group.nearest(places)).collect();
        for (group, near) in self.groups.iter().zip(&nearest) {
            let Some(near) = near else { continue };
            value.served += i64::from(group.users);
            value.latency_millionths += i64::from(group.users) * (near.latency * 1e6).round() as i64;
            for (load, (node, _)) in loads.iter_mut().zip(places) {
                if group.is_at(*node, near.distance) {
                    *load += group.rate / near.instances;
                }
            }
        }
        for (group, near) in self.groups.iter().zip(&nearest) {
            let Some(near) = near else { continue };
            let is_satisfied = loads.iter().zip(places).all(|(load, (node, _))| {
                !group.is_at(*node, near.distance)
                    || (group.distances[*node as usize].latency <= self.max_latency
                        && *load <= self.max_rate * (1.0 + TOLERANCE))
            });
            if is_satisfied {
                value.satisfied += i64::from(group.users);
            }
        }
        value
    }
}

/// The instances nearest to a group of users.
struct Nearest {
    distance: f64,
    /// Their number.
    instances: f64,
    /// Their mean latency.
    latency: f64,
}

impl Group {
    fn is_at(&self, node: u32, distance: f64) -> bool {
        self.distances[node as usize].distance <= distance
    }

    fn nearest(&self, places: &[(u32, u32)]) -> Option<Nearest> {
        let distance =
            places.iter().map(|(node, _)| self.distances[*node as usize].distance).fold(f64::INFINITY, f64::min);
        if distance.is_infinite() {
            return None;
        }
        let (mut instances, mut latency) = (0.0, 0.0);
        for (node, count) in places.iter().filter(|(node, _)| self.is_at(*node, distance)) {
            instances += f64::from(*count);
            latency += f64::from(*count) * self.distances[*node as usize].latency;
        }
        Some(Nearest { distance, instances, latency: latency / instances })
    }
}

/// The expected number of client requests of a user per evaluation period.
pub(crate) fn demand_rate(workload: Workload, scenario: &Scenario) -> f64 {
    let period = scenario.agents.period;
    match workload {
        Workload::Periodic { period: every, .. } => period / every,
        Workload::Poisson { mean_period } => period / mean_period,
        Workload::OnOff { period: every, mean_on, mean_off } => {
            period / every * mean_on.units() / (mean_on + mean_off).units()
        }
    }
}

/// The number of instances needed for a rate, at least 1. It is 1 if an instance handles no requests at all, because
/// further instances do not help.
pub(super) fn needed_for(rate: f64, max_rate: f64) -> u32 {
    if max_rate > 0.0 { (rate / max_rate * (1.0 - TOLERANCE)).ceil().clamp(1.0, f64::from(u32::MAX)) as u32 } else { 1 }
}

/// The hardware units that a node has for instances.
pub(crate) fn room(capacity: Capacity) -> Room {
    match capacity {
        Capacity::Bounded(hardware) => Some(hardware.as_units()),
        Capacity::Unbounded => None,
    }
}
