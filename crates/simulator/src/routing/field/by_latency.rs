//! The searches if the metric is latency: Dijkstra's algorithm.

use std::collections::BinaryHeap;

use mario_scenario::NodeIndex;

use super::{FieldEntry, MetricGraph, NextHop};
use crate::paths::Candidate;
use crate::routing::CellIndex;

/// The priority queue of nodes to visit, and the nodes visited.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    candidates: BinaryHeap<Candidate>,
    round: u32,
    /// For each node, the round in which it was last visited.
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
    entries: &mut [FieldEntry],
    graph: MetricGraph<'_>,
    node: NodeIndex,
    heap: &mut Heap,
    stale: &mut Vec<CellIndex>,
) {
    heap.begin(entries.len(), node);
    while let Some(Candidate { distance, node }) = heap.candidates.pop() {
        let entry = &mut entries[node.position()];
        if distance > entry.distance || !heap.visit(node) {
            continue;
        }
        (entry.distance, entry.next_hop) = (distance, NextHop::UNKNOWN);
        entry.forget(stale);
        for (next, length) in graph.before(node) {
            if distance + length <= entries[next.position()].distance && !heap.was_visited(next) {
                heap.candidates.push(Candidate::at(next, distance + length));
            }
        }
    }
}

/// Appends to `region` the nodes for which an instance on `node` is among the nearest, ordered by distance.
pub(super) fn region(
    entries: &[FieldEntry],
    graph: MetricGraph<'_>,
    node: NodeIndex,
    heap: &mut Heap,
    region: &mut Vec<NodeIndex>,
) {
    heap.begin(entries.len(), node);
    while let Some(Candidate { distance, node }) = heap.candidates.pop() {
        if !heap.visit(node) {
            continue;
        }
        region.push(node);
        for (next, length) in graph.before(node) {
            let known = entries[next.position()].distance;
            if (distance + length).to_bits() == known.to_bits() && !heap.was_visited(next) {
                heap.candidates.push(Candidate::at(next, distance + length));
            }
        }
    }
}

/// Computes the distances in a region, in which they have been reset to infinity, from its border and from `seeds`, the
/// nodes in it with an instance. If the distances of all nodes have been reset, the region has no border, and `region`
/// may be empty.
pub(super) fn fill(
    entries: &mut [FieldEntry],
    graph: MetricGraph<'_>,
    seeds: &[NodeIndex],
    region: &[NodeIndex],
    heap: &mut Heap,
) {
    heap.candidates.clear();
    let seeds = seeds.iter().filter(|node| graph.paths.is_node_up(**node));
    heap.candidates.extend(seeds.map(|node| Candidate::at(*node, 0.0)));
    for node in region {
        let distances = graph.before(*node).map(|(next, length)| entries[next.position()].distance + length);
        let nearest = distances.fold(f64::INFINITY, f64::min);
        if nearest.is_finite() {
            heap.candidates.push(Candidate::at(*node, nearest));
        }
    }
    while let Some(Candidate { distance, node }) = heap.candidates.pop() {
        if distance >= entries[node.position()].distance {
            continue;
        }
        entries[node.position()].distance = distance;
        for (next, length) in graph.before(node) {
            if distance + length < entries[next.position()].distance {
                heap.candidates.push(Candidate::at(next, distance + length));
            }
        }
    }
}
