//! For links of different lengths: the nearest node is visited first (Dijkstra).

use std::collections::BinaryHeap;

use mario_scenario::NodeIndex;

use super::{Ground, Onward, Spot};
use crate::paths::Candidate;
use crate::routing::CellIndex;

/// The queue of nodes to visit.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    candidates: BinaryHeap<Candidate>,
    round: u32,
    /// The search in which a node was last visited.
    visited: Vec<u32>,
}

impl Heap {
    fn begin(&mut self, nodes: usize, node: NodeIndex) {
        self.visited.resize(nodes, 0);
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.visited.fill(0);
            self.round = 1;
        }
        self.candidates.clear();
        self.candidates.push(Candidate::at(node, 0.0));
    }

    /// Marks a node as visited. Returns whether this is the first visit.
    fn visit(&mut self, node: NodeIndex) -> bool {
        std::mem::replace(&mut self.visited[node.position()], self.round) != self.round
    }

    fn was_visited(&self, node: NodeIndex) -> bool {
        self.visited[node.position()] == self.round
    }
}

pub(super) fn add(
    spots: &mut [Spot],
    ground: Ground<'_>,
    node: NodeIndex,
    heap: &mut Heap,
    stale: &mut Vec<CellIndex>,
) {
    heap.begin(spots.len(), node);
    while let Some(Candidate { distance, node }) = heap.candidates.pop() {
        let spot = &mut spots[node.position()];
        if distance > spot.distance || !heap.visit(node) {
            continue;
        }
        (spot.distance, spot.onward) = (distance, Onward::UNKNOWN);
        spot.forget(stale);
        for (next, length) in ground.before(node) {
            if distance + length <= spots[next.position()].distance && !heap.was_visited(next) {
                heap.candidates.push(Candidate::at(next, distance + length));
            }
        }
    }
}

/// The nodes that have a node among their nearest instances, the nearest first, then in the order of nodes.
pub(super) fn region(
    spots: &[Spot],
    ground: Ground<'_>,
    node: NodeIndex,
    heap: &mut Heap,
    region: &mut Vec<NodeIndex>,
) {
    heap.begin(spots.len(), node);
    while let Some(Candidate { distance, node }) = heap.candidates.pop() {
        if !heap.visit(node) {
            continue;
        }
        region.push(node);
        for (next, length) in ground.before(node) {
            let known = spots[next.position()].distance;
            if (distance + length).to_bits() == known.to_bits() && !heap.was_visited(next) {
                heap.candidates.push(Candidate::at(next, distance + length));
            }
        }
    }
}

/// Computes the distances in a region, where they are infinite, from its border and from the instances in it.
pub(super) fn fill(spots: &mut [Spot], ground: Ground<'_>, seeds: &[NodeIndex], region: &[NodeIndex], heap: &mut Heap) {
    heap.candidates.clear();
    let seeds = seeds.iter().filter(|node| ground.paths.is_node_up(**node));
    heap.candidates.extend(seeds.map(|node| Candidate::at(*node, 0.0)));
    for node in region {
        let distances = ground.before(*node).map(|(next, length)| spots[next.position()].distance + length);
        let nearest = distances.fold(f64::INFINITY, f64::min);
        if nearest.is_finite() {
            heap.candidates.push(Candidate::at(*node, nearest));
        }
    }
    while let Some(Candidate { distance, node }) = heap.candidates.pop() {
        if distance >= spots[node.position()].distance {
            continue;
        }
        spots[node.position()].distance = distance;
        for (next, length) in ground.before(node) {
            if distance + length < spots[next.position()].distance {
                heap.candidates.push(Candidate::at(next, distance + length));
            }
        }
    }
}
