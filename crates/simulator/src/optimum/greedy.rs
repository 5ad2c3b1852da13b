//! Greedy search with local improvement: adds the most valuable instances first, then adds several at once, moves,
//! drops and exchanges instances while the value improves, in at most `PASSES_MAX` passes.

use super::{Allocation, Demand, PlacementValue, Problem, Room};

/// The maximum number of improvement passes.
const PASSES_MAX: usize = 8;

/// A good allocation of every application. The search is deterministic.
pub(super) fn search(problem: &Problem) -> Vec<Allocation> {
    let mut search = Greedy::new(problem);
    search.construct();
    for _ in 0..PASSES_MAX {
        let stacked = search.stack();
        let moved = search.relocate();
        let exchanged = search.exchange();
        if !stacked && !moved && !exchanged {
            break;
        }
    }
    search.allocations
}

struct Greedy<'a> {
    problem: &'a Problem,
    allocations: Vec<Allocation>,
    values: Vec<PlacementValue>,
    free: Vec<Room>,
}

/// An additional instance: the gain in value, and its node.
type Addition = (PlacementValue, u32);

impl<'a> Greedy<'a> {
    fn new(problem: &'a Problem) -> Greedy<'a> {
        let allocations = vec![Allocation::default(); problem.applications.len()];
        let values = problem.applications.iter().map(|demand| demand.value(&Allocation::default())).collect();
        Greedy { problem, allocations, values, free: problem.rooms.clone() }
    }

    fn demand(&self, application: usize) -> &'a Demand {
        &self.problem.applications[application]
    }

    /// Whether a node has room for one more instance of an application.
    fn has_room(&self, application: usize, node: u32) -> bool {
        self.free[node as usize].is_none_or(|free| free >= self.demand(application).hardware)
    }

    fn take(&mut self, application: usize, node: u32) {
        let hardware = self.demand(application).hardware;
        if let Some(free) = &mut self.free[node as usize] {
            *free -= hardware;
        }
    }

    fn give_back(&mut self, application: usize, node: u32) {
        let hardware = self.demand(application).hardware;
        if let Some(free) = &mut self.free[node as usize] {
            *free += hardware;
        }
    }

    fn set(&mut self, application: usize, allocation: Allocation) {
        self.values[application] = self.demand(application).value(&allocation);
        self.allocations[application] = allocation;
    }

    /// The best node for one more instance in addition to `allocation`, and the gain, which may be negative. Ties go to
    /// the first node. `None` if no node other than `without` has room and can use another instance.
    fn best_addition(&self, application: usize, allocation: &Allocation, without: Option<u32>) -> Option<Addition> {
        let demand = self.demand(application);
        let before = demand.value(allocation);
        let mut best: Option<Addition> = None;
        let mut tried = allocation.clone();
        for node in 0..self.free.len() as u32 {
            let is_possible = self.has_room(application, node)
                && allocation.on(node) < demand.on_one_node_max
                && without != Some(node);
            if !is_possible {
                continue;
            }
            tried.add(node);
            let gain = demand.value(&tried) - before;
            tried.remove(node);
            if best.is_none_or(|(known, _)| gain > known) {
                best = Some((gain, node));
            }
        }
        best
    }

    /// Repeatedly adds the most valuable instance, until none improves the value.
    fn construct(&mut self) {
        let count = self.allocations.len();
        let mut additions: Vec<Option<Addition>> = (0..count)
            .map(|application| self.best_addition(application, &self.allocations[application], None))
            .collect();
        loop {
            let mut best: Option<(PlacementValue, u32, usize)> = None;
            for (application, addition) in additions.iter().enumerate() {
                let Some((gain, node)) = *addition else { continue };
                if gain > PlacementValue::ZERO && best.is_none_or(|(known, ..)| gain > known) {
                    best = Some((gain, node, application));
                }
            }
            let Some((_, node, application)) = best else { return };
            self.take(application, node);
            let mut allocation = self.allocations[application].clone();
            allocation.add(node);
            self.set(application, allocation);
            for (other, addition) in additions.iter_mut().enumerate() {
                let has_lost_its_place =
                    addition.is_some_and(|(_, wanted)| wanted == node) && !self.has_room(other, node);
                if other == application || has_lost_its_place {
                    *addition = self.best_addition(other, &self.allocations[other], None);
                }
            }
        }
    }

    /// For each application, adds one or more instances to one node and drops instances that become superfluous, if
    /// that improves the value. One instance alone may not help, because users are satisfied only if enough instances
    /// share the load. Returns whether the value improved.
    fn stack(&mut self) -> bool {
        let mut has_helped = false;
        for application in 0..self.allocations.len() {
            let demand = self.demand(application);
            let before = self.values[application];
            let mut best: Option<(PlacementValue, Allocation)> = None;
            for node in 0..self.free.len() as u32 {
                let present = self.allocations[application].on(node);
                let mut stacked = self.allocations[application].clone();
                for count in 1..=demand.on_one_node_max.saturating_sub(present) {
                    let has_room = self.free[node as usize]
                        .is_none_or(|free| free >= demand.hardware.saturating_mul(u64::from(count)));
                    if !has_room {
                        break;
                    }
                    stacked.add(node);
                    let pruned = without_superfluous(demand, &stacked);
                    let value = demand.value(&pruned);
                    if value > best.as_ref().map_or(before, |(known, _)| *known) {
                        best = Some((value, pruned));
                    }
                }
            }
            if let Some((_, allocation)) = best {
                self.replace(application, allocation);
                has_helped = true;
            }
        }
        has_helped
    }

    /// Replaces the allocation of an application by another that fits.
    fn replace(&mut self, application: usize, allocation: Allocation) {
        for (node, count) in self.allocations[application].nodes().to_vec() {
            (0..count).for_each(|_| self.give_back(application, node));
        }
        for (node, count) in allocation.nodes() {
            (0..*count).for_each(|_| self.take(application, *node));
        }
        self.set(application, allocation);
    }

    /// Drops or moves single instances if that improves the value, then adds instances while that does. Returns whether
    /// the value improved.
    fn relocate(&mut self) -> bool {
        let mut has_helped = false;
        for application in 0..self.allocations.len() {
            let nodes: Vec<u32> = self.allocations[application].nodes().iter().map(|(node, _)| *node).collect();
            for node in nodes {
                let before = self.values[application];
                let mut without = self.allocations[application].clone();
                without.remove(node);
                let dropped = self.demand(application).value(&without);
                self.give_back(application, node);
                let moved = self.best_addition(application, &without, None).map(|(gain, to)| (dropped + gain, to));
                let drop_helps = dropped > before;
                match moved {
                    Some((value, to)) if value > before && value > dropped => {
                        self.take(application, to);
                        without.add(to);
                        self.set(application, without);
                        has_helped = true;
                    }
                    _ if drop_helps => {
                        self.set(application, without);
                        has_helped = true;
                    }
                    _ => self.take(application, node),
                }
            }
            while let Some((gain, node)) = self.best_addition(application, &self.allocations[application], None)
                && gain > PlacementValue::ZERO
            {
                self.take(application, node);
                let mut allocation = self.allocations[application].clone();
                allocation.add(node);
                self.set(application, allocation);
                has_helped = true;
            }
        }
        has_helped
    }

    /// Replaces instances by those of other applications, if the total value improves. Returns whether it did.
    fn exchange(&mut self) -> bool {
        let mut has_helped = false;
        for evicted in 0..self.allocations.len() {
            let nodes: Vec<u32> = self.allocations[evicted].nodes().iter().map(|(node, _)| *node).collect();
            for node in nodes {
                has_helped |= self.make_way(evicted, node);
            }
        }
        has_helped
    }

    /// Replaces an instance on a node by one of another application for which the node had no room, if the total value
    /// improves. The replaced instance moves to another node if it is still useful there. Returns whether an instance
    /// was replaced.
    fn make_way(&mut self, evicted: usize, node: u32) -> bool {
        let mut without = self.allocations[evicted].clone();
        without.remove(node);
        let dropped = self.demand(evicted).value(&without);
        let elsewhere =
            self.best_addition(evicted, &without, Some(node)).filter(|(gain, _)| *gain > PlacementValue::ZERO);
        let loss = self.values[evicted] - dropped - elsewhere.map_or(PlacementValue::ZERO, |(gain, _)| gain);
        let had_room: Vec<bool> =
            (0..self.allocations.len()).map(|application| self.has_room(application, node)).collect();
        self.give_back(evicted, node);
        for (coming, had_room) in had_room.into_iter().enumerate() {
            let is_possible = coming != evicted && !had_room && self.has_room(coming, node);
            if !is_possible || self.allocations[coming].on(node) >= self.demand(coming).on_one_node_max {
                continue;
            }
            let Some((allocation, from)) = self.best_arrival(coming, node, loss) else { continue };
            self.take(coming, node);
            if let Some(from) = from {
                self.give_back(coming, from);
            }
            self.set(coming, allocation);
            if let Some((_, to)) = elsewhere {
                self.take(evicted, to);
                without.add(to);
            }
            self.set(evicted, without);
            return true;
        }
        self.take(evicted, node);
        false
    }

    /// The best allocation of an application with one more instance on a node. The instance is new, or moved from
    /// another node, which is then returned too. `None` if the gain is not larger than `loss`.
    fn best_arrival(&self, coming: usize, node: u32, loss: PlacementValue) -> Option<(Allocation, Option<u32>)> {
        let mut with = self.allocations[coming].clone();
        with.add(node);
        let demand = self.demand(coming);
        let mut best = (demand.value(&with), with.clone(), None);
        for (from, _) in self.allocations[coming].nodes() {
            if *from == node {
                continue;
            }
            let mut moved = with.clone();
            moved.remove(*from);
            let value = demand.value(&moved);
            if value > best.0 {
                best = (value, moved, Some(*from));
            }
        }
        (best.0 - self.values[coming] > loss).then_some((best.1, best.2))
    }
}

/// The allocation without instances whose removal improves the value. Instances on later nodes are dropped first.
fn without_superfluous(demand: &Demand, allocation: &Allocation) -> Allocation {
    let mut pruned = allocation.clone();
    let mut value = demand.value(&pruned);
    for (node, count) in allocation.nodes().iter().rev() {
        for _ in 0..*count {
            let mut fewer = pruned.clone();
            fewer.remove(*node);
            let fewer_value = demand.value(&fewer);
            if fewer_value <= value {
                break;
            }
            (pruned, value) = (fewer, fewer_value);
        }
    }
    pruned
}
