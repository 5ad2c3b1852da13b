//! How far every node is from the nearest instance of one application.
//!
//! Kept up to date as instances come and go: what it costs is the region in which an instance is, or was, among the nearest.

use std::collections::BinaryHeap;

use mario_colony::NodeIndex;
use serde::{Deserialize, Serialize};

use crate::paths::{Candidate, Paths};
use crate::scenario::Metric;
use crate::topology::Topology;

/// Distances to the nearest instance; infinite where none can be reached.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Field {
    distance: Vec<f64>,
}

/// What distances are measured on.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) paths: &'a Paths,
    pub(crate) metric: Metric,
}

/// Memory for the searches of all fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frontier {
    heap: BinaryHeap<Candidate>,
    round: u32,
    /// The round in which a node was last in the region.
    reached: Vec<u32>,
}

impl Frontier {
    fn begin(&mut self, nodes: usize) {
        self.reached.resize(nodes, 0);
        self.heap.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.reached.fill(0);
            self.round = 1;
        }
    }

    /// Whether the node was not in the region before.
    fn enter(&mut self, node: NodeIndex) -> bool {
        let is_new = self.reached[node.position()] != self.round;
        self.reached[node.position()] = self.round;
        is_new
    }

    fn has(&self, node: NodeIndex) -> bool {
        self.reached[node.position()] == self.round
    }
}

impl Ground<'_> {
    /// The nodes that a message can come from in one hop, and how far they are. Links are as long in both directions.
    fn before(&self, node: NodeIndex) -> impl Iterator<Item = (NodeIndex, f64)> {
        let links = self.topology.links_from(node).filter(|(link, _)| self.paths.carries(*link));
        links.map(|(_, link)| (link.to, self.metric.length(link.latency)))
    }
}

impl Field {
    pub(crate) fn new(nodes: usize) -> Field {
        Field { distance: vec![f64::INFINITY; nodes] }
    }

    /// Whether there never was an instance.
    pub(crate) fn is_empty(&self) -> bool {
        self.distance.is_empty()
    }

    pub(crate) fn distance(&self, node: NodeIndex) -> f64 {
        self.distance[node.position()]
    }

    /// An instance came to a node. `region` becomes the nodes that have it among their nearest.
    pub(crate) fn add(
        &mut self,
        ground: Ground<'_>,
        node: NodeIndex,
        frontier: &mut Frontier,
        region: &mut Vec<NodeIndex>,
    ) {
        region.clear();
        frontier.begin(self.distance.len());
        if !ground.paths.is_node_up(node) {
            return;
        }
        frontier.heap.push(Candidate { distance: 0.0, node });
        while let Some(Candidate { distance, node }) = frontier.heap.pop() {
            if distance > self.distance(node) || !frontier.enter(node) {
                continue;
            }
            self.distance[node.position()] = distance;
            region.push(node);
            for (next, length) in ground.before(node) {
                if distance + length <= self.distance(next) && !frontier.has(next) {
                    frontier.heap.push(Candidate { distance: distance + length, node: next });
                }
            }
        }
    }

    /// An instance left a node. `region` becomes the nodes that had it among their nearest; `hosts` tells the nodes that
    /// still have an instance.
    pub(crate) fn remove(
        &mut self,
        ground: Ground<'_>,
        node: NodeIndex,
        hosts: impl Fn(NodeIndex) -> bool,
        frontier: &mut Frontier,
        region: &mut Vec<NodeIndex>,
    ) {
        region.clear();
        frontier.begin(self.distance.len());
        frontier.heap.push(Candidate { distance: 0.0, node });
        while let Some(Candidate { distance, node }) = frontier.heap.pop() {
            if !frontier.enter(node) {
                continue;
            }
            region.push(node);
            for (next, length) in ground.before(node) {
                if (distance + length).to_bits() == self.distance(next).to_bits() && !frontier.has(next) {
                    frontier.heap.push(Candidate { distance: distance + length, node: next });
                }
            }
        }
        self.fill(ground, hosts, frontier, region);
    }

    /// Nodes or links went or came.
    pub(crate) fn rebuild(&mut self, ground: Ground<'_>, hosts: impl Fn(NodeIndex) -> bool, frontier: &mut Frontier) {
        frontier.begin(self.distance.len());
        let all: Vec<NodeIndex> = (0..self.distance.len()).map(NodeIndex::at).collect();
        for node in &all {
            frontier.enter(*node);
        }
        self.fill(ground, hosts, frontier, &all);
    }

    /// Finds the distances in a region anew, from its border and from the instances in it.
    fn fill(
        &mut self,
        ground: Ground<'_>,
        hosts: impl Fn(NodeIndex) -> bool,
        frontier: &mut Frontier,
        region: &[NodeIndex],
    ) {
        for node in region {
            self.distance[node.position()] = f64::INFINITY;
        }
        for node in region.iter().filter(|node| ground.paths.is_node_up(**node)) {
            let border = ground.before(*node).filter(|(next, _)| !frontier.has(*next));
            let nearest = border.map(|(next, length)| self.distance(next) + length).fold(f64::INFINITY, f64::min);
            let distance = if hosts(*node) { 0.0 } else { nearest };
            if distance.is_finite() {
                frontier.heap.push(Candidate { distance, node: *node });
            }
        }
        while let Some(Candidate { distance, node }) = frontier.heap.pop() {
            if distance >= self.distance(node) {
                continue;
            }
            self.distance[node.position()] = distance;
            for (next, length) in ground.before(node) {
                if distance + length < self.distance(next) {
                    frontier.heap.push(Candidate { distance: distance + length, node: next });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{NodeDescription, TopologyBuilder};
    use mario_domain::{Capacity, NodeId};

    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    fn graph(state: &mut u64, nodes: u64) -> Topology {
        let mut builder = TopologyBuilder::default();
        for number in 0..nodes {
            let node = NodeDescription {
                id: NodeId::number(number as i64),
                capacity: Capacity::units(1),
                tier: 0,
                position: None,
                is_access_point: true,
                facts: Vec::new(),
            };
            let node = builder.node(node).expect("a new id");
            if number > 0 {
                let other = NodeIndex((random(state) % number) as u32);
                builder.link(node, other, (random(state) % 4) as f64, None).expect("a link");
            }
        }
        builder.build().expect("a graph")
    }

    #[test]
    fn distances_stay_right_as_instances_come_and_go() {
        let mut state = 4_101_842_887_655_102_017;
        for metric in [Metric::Hops, Metric::Latency] {
            for _ in 0..40 {
                let topology = graph(&mut state, 40);
                let mut paths = Paths::new(&topology);
                if random(&mut state).is_multiple_of(2) {
                    paths.set_node(&topology, NodeIndex((random(&mut state) % 40) as u32), false);
                }
                let ground = Ground { topology: &topology, paths: &paths, metric };
                let (mut field, mut frontier, mut region) = (Field::new(40), Frontier::default(), Vec::new());
                let mut hosts = [false; 40];
                for _ in 0..60 {
                    let node = (random(&mut state) % 40) as usize;
                    let before = field.clone();
                    hosts[node] = !hosts[node];
                    if hosts[node] {
                        field.add(ground, NodeIndex::at(node), &mut frontier, &mut region);
                    } else {
                        field.remove(
                            ground,
                            NodeIndex::at(node),
                            |at| hosts[at.position()],
                            &mut frontier,
                            &mut region,
                        );
                    }
                    let mut fresh = Field::new(40);
                    fresh.rebuild(ground, |at| hosts[at.position()], &mut Frontier::default());
                    assert_eq!(field.distance, fresh.distance);
                    let is_changed = |at: &NodeIndex| before.distance(*at).to_bits() != field.distance(*at).to_bits();
                    assert!((0..40).map(NodeIndex::at).filter(is_changed).all(|at| region.contains(&at)));
                }
            }
        }
    }
}
