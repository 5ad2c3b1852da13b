//! The distances of nodes from access points, along the paths of client requests.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use mario_scenario::{Metric, NodeIndex, Routing, Scenario, Topology};
use rustc_hash::FxHashMap;

use crate::paths::Paths;

/// The distance of a node from an access point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct NodeDistance {
    /// In the metric of the routing; infinite for an unreachable node.
    pub(crate) distance: f64,
    /// The latency of the path; infinite for an unreachable node.
    pub(crate) latency: f64,
}

/// Caches the distances of nodes from access points, until the infrastructure changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distances {
    version: u32,
    known: FxHashMap<NodeIndex, Arc<[NodeDistance]>>,
}

impl Distances {
    /// The distance of each node from an access point.
    pub(crate) fn from(&mut self, origin: NodeIndex, scenario: &Scenario, paths: &Paths) -> Arc<[NodeDistance]> {
        if self.version != paths.version() {
            self.version = paths.version();
            self.known.clear();
        }
        let metric = match scenario.routing {
            Routing::Nearest(metric) => metric,
            Routing::LeastUsed => Metric::Hops,
        };
        let known = self.known.entry(origin);
        Arc::clone(known.or_insert_with(|| search(&scenario.topology, paths, origin, metric).into()))
    }
}

/// A candidate of the search, ordered by distance. Ties go to the one discovered first, so the search is breadth-first
/// if the metric is hops.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Candidate {
    distance: f64,
    sequence: u64,
    node: NodeIndex,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.sequence.cmp(&other.sequence))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn search(topology: &Topology, paths: &Paths, origin: NodeIndex, metric: Metric) -> Vec<NodeDistance> {
    let mut distances = vec![NodeDistance { distance: f64::INFINITY, latency: f64::INFINITY }; topology.node_count()];
    if !paths.is_node_up(origin) {
        return distances;
    }
    distances[origin.position()] = NodeDistance { distance: 0.0, latency: 0.0 };
    let mut next = BinaryHeap::from([Reverse(Candidate { distance: 0.0, sequence: 0, node: origin })]);
    let mut sequence = 0;
    while let Some(Reverse(Candidate { distance, node, .. })) = next.pop() {
        let here = distances[node.position()];
        if distance > here.distance {
            continue;
        }
        for (index, link) in topology.links_from(node) {
            let further = distance + metric.length(link.latency);
            if further < distances[link.to.position()].distance && paths.carries(index) {
                distances[link.to.position()] =
                    NodeDistance { distance: further, latency: here.latency + link.latency.units() };
                sequence += 1;
                next.push(Reverse(Candidate { distance: further, sequence, node: link.to }));
            }
        }
    }
    distances
}
