//! Where all links are as long as each other: nodes are visited level by level, and what is at one distance is sorted at once.

use mario_colony::NodeIndex;

use super::{Ground, Onward, Spot};
use crate::routing::CellIndex;

/// The nodes at one distance, and those one hop further.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    level: Vec<NodeIndex>,
    next: Vec<NodeIndex>,
    /// Nodes that are reached from the border of a region, and how far they are; the furthest first.
    border: Vec<(f64, NodeIndex)>,
}

impl Levels {
    fn begin(&mut self, node: NodeIndex) {
        self.level.clear();
        self.next.clear();
        self.level.push(node);
    }

    /// One hop further: each node once, in the order of nodes.
    fn advance(&mut self) {
        self.next.sort_unstable();
        self.next.dedup();
        self.level.clear();
        std::mem::swap(&mut self.level, &mut self.next);
    }
}

pub(super) fn add(
    spots: &mut [Spot],
    ground: Ground<'_>,
    node: NodeIndex,
    levels: &mut Levels,
    stale: &mut Vec<CellIndex>,
) {
    let spot = &mut spots[node.position()];
    (spot.distance, spot.onward) = (0.0, Onward::UNKNOWN);
    levels.begin(node);
    let mut distance = 0.0;
    while !levels.level.is_empty() {
        distance += 1.0;
        for node in &levels.level {
            spots[node.position()].forget(stale);
            for next in ground.around(*node) {
                let spot = &mut spots[next.position()];
                if distance <= spot.distance {
                    (spot.distance, spot.onward) = (distance, Onward::UNKNOWN);
                    levels.next.push(next);
                }
            }
        }
        levels.advance();
    }
}

/// The nodes that have a node among their nearest instances, the nearest first, then in the order of nodes.
pub(super) fn region(
    spots: &[Spot],
    ground: Ground<'_>,
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
            let further = |next: &NodeIndex| spots[next.position()].distance.to_bits() == distance.to_bits();
            levels.next.extend(ground.around(*node).filter(further));
        }
        levels.advance();
    }
}

/// Finds the distances in a region, where they are infinite, from its border and from the instances in it.
pub(super) fn fill(
    spots: &mut [Spot],
    ground: Ground<'_>,
    seeds: &[NodeIndex],
    region: &[NodeIndex],
    levels: &mut Levels,
) {
    let Levels { level, next, border } = levels;
    border.clear();
    level.clear();
    level.extend(seeds.iter().filter(|node| ground.paths.is_node_up(**node)));
    for node in region {
        let distances = ground.around(*node).map(|next| spots[next.position()].distance);
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
            let spot = &mut spots[node.position()];
            if distance < spot.distance {
                spot.distance = distance;
                next.extend(ground.around(*node).filter(|next| distance + 1.0 < spots[next.position()].distance));
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
