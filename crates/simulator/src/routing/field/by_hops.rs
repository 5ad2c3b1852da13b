//! The searches if the metric is hops: breadth-first.

use mario_scenario::NodeIndex;

use super::{FieldEntry, MetricGraph, NextHop};
use crate::routing::CellIndex;

/// The nodes at one distance, and those one hop farther.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    level: Vec<NodeIndex>,
    next: Vec<NodeIndex>,
    /// Used instead of `level` and `next` while an instance is added.
    reached: Vec<Reached>,
    further: Vec<Reached>,
    /// The nodes of a region that have a neighbour with a known distance, each with its distance over the nearest such
    /// neighbour, the farthest first.
    border: Vec<(f64, NodeIndex)>,
}

impl Levels {
    fn begin(&mut self, node: NodeIndex) {
        self.level.clear();
        self.next.clear();
        self.level.push(node);
    }

    /// Advances one hop. The new level is sorted and without duplicates.
    fn advance(&mut self) {
        self.next.sort_unstable();
        self.next.dedup();
        self.level.clear();
        std::mem::swap(&mut self.level, &mut self.next);
    }
}

/// A node that has the new instance among its nearest, and whether another instance is equally near. Packed into one
/// number for sorting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Reached(u32);

impl Reached {
    fn new(node: NodeIndex, is_tied: bool) -> Reached {
        Reached(node.0 << 1 | u32::from(is_tied))
    }

    fn node(self) -> NodeIndex {
        NodeIndex(self.0 >> 1)
    }

    fn is_tied(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Updates distance and next hop in one breadth-first search. A node whose distance shrank takes the link it was
/// reached by, or `SEVERAL` if two links tie. A node at equal distance keeps its next hop unless it is reached from a
/// node whose distance shrank: then there are several.
pub(super) fn add(
    entries: &mut [FieldEntry],
    graph: MetricGraph<'_>,
    node: NodeIndex,
    levels: &mut Levels,
    stale: &mut Vec<CellIndex>,
) {
    let Levels { reached, further, .. } = levels;
    let entry = &mut entries[node.position()];
    reached.clear();
    further.clear();
    reached.push(Reached::new(node, entry.distance <= 0.0));
    (entry.distance, entry.next_hop) = (0.0, NextHop::UNKNOWN);
    let mut distance = 0.0;
    while !reached.is_empty() {
        distance += 1.0;
        for from in reached.drain(..) {
            entries[from.node().position()].forget(stale);
            for (link, node) in graph.links_around(from.node()) {
                let entry = &mut entries[node.position()];
                if distance < entry.distance {
                    (entry.distance, entry.next_hop) = (distance, NextHop(graph.topology.back(link).0));
                    further.push(Reached::new(node, false));
                } else if distance <= entry.distance {
                    if !from.is_tied() {
                        entry.next_hop = NextHop::SEVERAL;
                    }
                    further.push(Reached::new(node, true));
                }
            }
        }
        // If a node was reached twice, the entry with the shrunk distance comes first.
        further.sort_unstable();
        further.dedup_by_key(|reached| reached.node());
        std::mem::swap(reached, further);
    }
}

/// Appends to `region` the nodes for which an instance on `node` is among the nearest, ordered by distance, then by
/// index.
pub(super) fn region(
    entries: &[FieldEntry],
    graph: MetricGraph<'_>,
    node: NodeIndex,
    levels: &mut Levels,
    region: &mut Vec<NodeIndex>,
) {
    levels.begin(node);
    let mut distance = 0.0_f64;
    while !levels.level.is_empty() {
        region.extend_from_slice(&levels.level);
        distance += 1.0;
        for node in &levels.level {
            let further = |next: &NodeIndex| entries[next.position()].distance.to_bits() == distance.to_bits();
            levels.next.extend(graph.around(*node).filter(further));
        }
        levels.advance();
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
    levels: &mut Levels,
) {
    let Levels { level, next, border, .. } = levels;
    border.clear();
    level.clear();
    level.extend(seeds.iter().filter(|node| graph.paths.is_node_up(**node)));
    for node in region {
        let distances = graph.around(*node).map(|next| entries[next.position()].distance);
        let nearest = distances.fold(f64::INFINITY, f64::min);
        if nearest.is_finite() {
            border.push((nearest + 1.0, *node));
        }
    }
    border.sort_unstable_by(|one, other| other.0.total_cmp(&one.0));
    let mut distance = 0.0;
    loop {
        while let Some((_, node)) = border.pop_if(|(reached, _)| *reached <= distance) {
            level.push(node);
        }
        for node in level.iter() {
            let entry = &mut entries[node.position()];
            if distance < entry.distance {
                entry.distance = distance;
                next.extend(graph.around(*node).filter(|next| distance + 1.0 < entries[next.position()].distance));
            }
        }
        level.clear();
        std::mem::swap(level, next);
        distance = match (level.is_empty(), border.last()) {
            (false, _) => distance + 1.0,
            (true, Some((reached, _))) => *reached,
            (true, None) => return,
        };
    }
}
