//! Trees in which all nodes of a level have the same number of children.

use mario_domain::{Capacity, Duration, NodeId};

use super::tiled::{NODES_MAX, expect_levels};
use super::{NodeDescription, ShapeError, Topology, TopologyBuilder};
use crate::index::NodeIndex;
use crate::position::{Area, Position};

/// A tree in which all nodes of a level have the same number of children.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    /// The number of children of the nodes of each level, from the cloud down; empty for a cloud alone.
    pub children: Vec<u32>,
    /// The hardware of the nodes of each level, from the cloud down: one entry more than `children`.
    pub capacities: Vec<Capacity>,
    /// The latency of the links from each level to the next: one entry for each entry of `children`.
    pub latencies: Vec<Duration>,
    /// The area of the tree; without it, nodes have no positions. The cloud is in its middle. Children divide the area
    /// of their parent into stripes across its longer side, and each is in the middle of its stripe.
    pub area: Option<Area>,
}

/// Builds the tree. Its nodes `n{level}i{number}` are in the order of level and number, and the children of a node have
/// consecutive numbers. The deepest nodes are the access points.
pub fn tree(shape: &Tree) -> Result<Topology, ShapeError> {
    let levels = shape.children.len() + 1;
    expect_levels("capacities", levels, shape.capacities.len())?;
    expect_levels("latencies", levels - 1, shape.latencies.len())?;
    check_size(&shape.children)?;
    let mut builder = TopologyBuilder::default();
    let mut parents: Vec<(NodeIndex, Option<Area>)> = Vec::new();
    for (level, capacity) in shape.capacities.iter().enumerate() {
        let mut nodes = Vec::new();
        let mut add = |builder: &mut TopologyBuilder, area: Option<Area>| {
            let node = builder.node(NodeDescription {
                id: NodeId::name(&format!("n{level}i{}", nodes.len())).expect("neither empty nor `self`"),
                capacity: *capacity,
                tier: level as u16,
                position: area.map(|area| area.at(0.5, 0.5)),
                is_access_point: level + 1 == levels,
                facts: Vec::new(),
            })?;
            nodes.push((node, area));
            Ok::<NodeIndex, ShapeError>(node)
        };
        if level == 0 {
            add(&mut builder, shape.area)?;
        }
        for (parent, area) in parents {
            let children = shape.children[level - 1];
            for child in 0..children {
                let node = add(&mut builder, area.map(|area| stripe(area, child, children)))?;
                builder.link(parent, node, shape.latencies[level - 1], None)?;
            }
        }
        parents = nodes;
    }
    Ok(builder.build()?)
}

fn check_size(children: &[u32]) -> Result<(), ShapeError> {
    let (mut all, mut level) = (1_u64, 1_u64);
    for children in children {
        if *children == 0 {
            return Err(ShapeError::Value { what: "the number of children", expected: "at least 1" });
        }
        level = level.saturating_mul(u64::from(*children));
        all = all.saturating_add(level);
    }
    // The depth has a separate limit, because tiers have 16 bits: with one child per node, even a small tree is deep.
    if all > NODES_MAX || children.len() >= usize::from(u16::MAX) { Err(ShapeError::TooLarge) } else { Ok(()) }
}

/// One of `count` equal stripes across the longer side of an area.
fn stripe(area: Area, number: u32, count: u32) -> Area {
    let (from, to) = (f64::from(number) / f64::from(count), f64::from(number + 1) / f64::from(count));
    let corner = |share: f64, other: f64| -> Position {
        if area.height_m() >= area.width_m() { area.at(share, other) } else { area.at(other, share) }
    };
    Area { south_west: corner(from, 0.0), north_east: corner(to, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(children: &[u32]) -> Tree {
        Tree {
            children: children.to_vec(),
            capacities: vec![Capacity::units(3); children.len() + 1],
            latencies: vec![Duration::of(2.0); children.len()],
            area: Area::around(Position { latitude: 41.9, longitude: 12.5 }, 2_000.0, 1_000.0),
        }
    }

    #[test]
    fn levels_have_the_configured_numbers_of_children() {
        let tree = tree(&shape(&[3, 2])).expect("a tree");
        let names: Vec<String> = tree.nodes().map(|(_, node)| node.id.to_string()).collect();
        let expected = ["n0i0", "n1i0", "n1i1", "n1i2", "n2i0", "n2i1", "n2i2", "n2i3", "n2i4", "n2i5"];
        assert_eq!(names, expected);
        let neighbours = |node| tree.links_from(NodeIndex(node)).map(|(_, link)| link.to.0).collect::<Vec<u32>>();
        assert_eq!(neighbours(0), [1, 2, 3]);
        assert_eq!(neighbours(2), [0, 6, 7]);
        assert_eq!(neighbours(9), [3]);
        assert_eq!(tree.access_points().map(|node| node.0).collect::<Vec<u32>>(), [4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn children_divide_the_area_of_their_parent() {
        let shape = shape(&[2, 2]);
        let area = shape.area.expect("an area");
        let tree = tree(&shape).expect("a tree");
        let place = |node| tree.node(NodeIndex(node)).position.expect("on the map");
        assert!(place(0).distance_m(area.at(0.5, 0.5)) < 0.01);
        // Two stripes from south to north, each of which is halved again.
        assert!(place(1).distance_m(area.at(0.25, 0.5)) < 0.01);
        assert!(place(2).distance_m(area.at(0.75, 0.5)) < 0.01);
        assert!((3..7).all(|node| area.contains(place(node))));
        let middle = place(3).distance_m(place(1)) - place(4).distance_m(place(1));
        assert!(middle.abs() < 0.01, "{middle}");
    }

    #[test]
    fn a_single_node_is_a_tree_and_an_empty_level_is_rejected() {
        assert_eq!(tree(&shape(&[])).expect("a tree").node_count(), 1);
        assert!(matches!(tree(&shape(&[2, 0])), Err(ShapeError::Value { .. })));
        assert_eq!(tree(&shape(&[u32::MAX, u32::MAX, u32::MAX])).expect_err("too large"), ShapeError::TooLarge);
        assert_eq!(tree(&shape(&vec![1; 70_000])).expect_err("too deep"), ShapeError::TooLarge);
        assert_eq!(tree(&shape(&vec![1; 1_000])).expect("a path").node_count(), 1_001);
    }
}
