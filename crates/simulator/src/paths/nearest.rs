//! Finds the nearest node in any metric.

use std::collections::BinaryHeap;

use mario_scenario::{Metric, NodeIndex, Topology};

use super::{Candidate, PathIndex, Paths, Trail};

impl Paths {
    /// Finds the nearest node that `is_wanted`, the first in the order of nodes among equals, and the path to it.
    pub(crate) fn nearest_by(
        &mut self,
        topology: &Topology,
        from: NodeIndex,
        metric: Metric,
        is_wanted: impl Fn(NodeIndex) -> bool,
    ) -> Option<(NodeIndex, PathIndex)> {
        if !self.is_node_up(from) {
            return None;
        }
        self.begin(from);
        let mut candidates = BinaryHeap::from([Candidate { distance: 0.0, node: from }]);
        let mut is_settled = vec![false; self.search.reached.len()];
        while let Some(Candidate { distance, node }) = candidates.pop() {
            if std::mem::replace(&mut is_settled[node.position()], true) {
                continue;
            }
            if is_wanted(node) {
                let mut trail = Trail::default();
                self.trace(from, node, &mut trail);
                return Some((node, self.path(topology, node, &trail)));
            }
            for (link, edge) in topology.links_from(node) {
                if !self.carries(link) {
                    continue;
                }
                let to = edge.to;
                let further = distance + metric.length(edge.latency);
                let is_known = self.search.reached[to.position()] == self.search.round;
                if !is_known || further < self.search.distance[to.position()] {
                    self.reach(to, further, (node, link));
                    candidates.push(Candidate { distance: further, node: to });
                }
            }
        }
        None
    }
}
