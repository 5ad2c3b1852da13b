//! Trees over a grid of access points: on each level, every square of four nodes shares a parent, up to the cloud.

use std::error::Error;
use std::fmt;

use mario_domain::{Capacity, Duration, NodeId};

use super::mesh::LINKS_MAX;
use super::{NodeDescription, Topology, TopologyBuilder, TopologyError};
use crate::index::NodeIndex;
use crate::position::Area;

/// The maximum number of nodes of a generated infrastructure, which bounds the memory.
pub(crate) const NODES_MAX: u64 = 1 << 24;

/// A tree over a square grid of access points.
#[derive(Clone, PartialEq, Debug)]
pub struct TiledTree {
    /// The number of access points in each direction; a power of two.
    pub size: u32,
    /// The hardware of the nodes of each level, from the cloud down to the access points.
    pub capacities: Vec<Capacity>,
    /// The latency of the links from each level to the next, from the cloud down: one fewer than `capacities`.
    pub latencies: Vec<Duration>,
    /// The area of the grid. Access points are at the centres of its cells, every other node is at the centre of its
    /// children. Without it, nodes have no positions.
    pub area: Option<Area>,
}

/// Why an infrastructure of this shape cannot be built.
#[derive(Clone, PartialEq, Debug)]
pub enum ShapeError {
    /// The size of a tiled tree is not a power of two.
    NotPowerOfTwo(u32),
    /// The number of values does not match the number of levels.
    Levels {
        /// The kind of values.
        values: &'static str,
        /// The needed number.
        needed: usize,
        /// The given number.
        given: usize,
    },
    /// There would be too many nodes or links.
    TooLarge,
    /// A value is out of range.
    Value {
        /// The name of the value.
        what: &'static str,
        /// The valid values.
        expected: &'static str,
    },
    /// The nodes and links are not a valid infrastructure.
    Topology(TopologyError),
}

/// Builds the tree. The parent of node `n{level}lt{x}ln{y}` is (x div 2, y div 2) one level up. `x` counts from south
/// to north, `y` from west to east. Nodes are ordered by level, so `n0lt0ln0`, the cloud, is the first. Within a level
/// they are ordered by squares of 8 by 8 nodes, and within a square by x, then y. Squares are in the order of their
/// common ancestors three levels up, so nodes that are close in the tree are close in memory.
pub fn tiled_tree(shape: &TiledTree) -> Result<Topology, ShapeError> {
    if !shape.size.is_power_of_two() {
        return Err(ShapeError::NotPowerOfTwo(shape.size));
    }
    let levels = shape.size.trailing_zeros() as usize + 1;
    expect_levels("capacities", levels, shape.capacities.len())?;
    expect_levels("latencies", levels - 1, shape.latencies.len())?;
    let access_points = u64::from(shape.size) * u64::from(shape.size);
    if access_points > NODES_MAX || (access_points * 4 - 1) / 3 > NODES_MAX {
        return Err(ShapeError::TooLarge);
    }
    let nodes = (access_points as usize * 4 - 1) / 3;
    let mut builder = TopologyBuilder::with_capacity(nodes, nodes - 1);
    for (level, capacity) in shape.capacities.iter().enumerate() {
        let size = 1_u32 << level;
        let is_access_point = level + 1 == levels;
        for (x, y) in places(level) {
            let centre = |cell: u32| (f64::from(cell) + 0.5) / f64::from(size);
            builder.node(NodeDescription {
                id: NodeId::name(&format!("n{level}lt{x}ln{y}")).expect("neither empty nor `self`"),
                capacity: *capacity,
                tier: level as u16,
                position: shape.area.map(|area| area.at(centre(x), centre(y))),
                is_access_point,
                facts: Vec::new(),
            })?;
        }
    }
    for (level, latency) in shape.latencies.iter().enumerate() {
        for (x, y) in places(level + 1) {
            let parent = position(level, x / 2, y / 2);
            builder.link(parent, position(level + 1, x, y), *latency, None)?;
        }
    }
    Ok(builder.build()?)
}

pub(super) fn expect_levels(values: &'static str, needed: usize, given: usize) -> Result<(), ShapeError> {
    if needed == given { Ok(()) } else { Err(ShapeError::Levels { values, needed, given }) }
}

/// The index of a node: the levels above it have 1 + 4 + 16 + ... nodes.
fn position(level: usize, x: u32, y: u32) -> NodeIndex {
    let above = ((1_u32 << (2 * level)) - 1) / 3;
    NodeIndex(above + number(level, x, y))
}

/// The position of the access point of a cell among all access points of a tiled tree of this size.
pub(crate) fn access_point_position(size: u32, x: u32, y: u32) -> u32 {
    number(size.trailing_zeros() as usize, x, y)
}

/// The nodes of a square have a common ancestor this number of levels up; so a square has 8 by 8 nodes.
const SQUARE_LEVELS: usize = 3;

/// The position of a node in the order of its level.
fn number(level: usize, x: u32, y: u32) -> u32 {
    if level <= SQUARE_LEVELS {
        return x << level | y;
    }
    let within = |cell: u32| cell & ((1 << SQUARE_LEVELS) - 1);
    let square = number(level - SQUARE_LEVELS, x >> SQUARE_LEVELS, y >> SQUARE_LEVELS);
    square << (2 * SQUARE_LEVELS) | within(x) << SQUARE_LEVELS | within(y)
}

/// The coordinates of all nodes of a level, in the order of their positions.
fn places(level: usize) -> impl Iterator<Item = (u32, u32)> {
    (0..1_u32 << (2 * level)).map(move |number| place(level, number))
}

/// The coordinates of the node at a position of its level.
fn place(level: usize, number: u32) -> (u32, u32) {
    if level <= SQUARE_LEVELS {
        return (number >> level, number & ((1 << level) - 1));
    }
    let (x, y) = place(level - SQUARE_LEVELS, number >> (2 * SQUARE_LEVELS));
    let within = |number: u32| number & ((1 << SQUARE_LEVELS) - 1);
    (x << SQUARE_LEVELS | within(number >> SQUARE_LEVELS), y << SQUARE_LEVELS | within(number))
}

impl From<TopologyError> for ShapeError {
    fn from(error: TopologyError) -> Self {
        ShapeError::Topology(error)
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::NotPowerOfTwo(size) => write!(formatter, "the size {size} is not a power of two"),
            ShapeError::Levels { values, needed, given } => {
                write!(formatter, "{given} {values} are given where the shape needs {needed}: one for each level")
            }
            ShapeError::TooLarge => {
                write!(formatter, "the shape has more than {NODES_MAX} nodes, or more than {LINKS_MAX} links")
            }
            ShapeError::Value { what, expected } => write!(formatter, "{what} must be {expected}"),
            ShapeError::Topology(_) => formatter.write_str("the shape does not make an infrastructure"),
        }
    }
}

impl Error for ShapeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ShapeError::Topology(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Position;

    fn paper() -> TiledTree {
        let centre = Position { latitude: 41.9, longitude: 12.48 };
        TiledTree {
            size: 8,
            capacities: vec![Capacity::Unbounded, Capacity::units(9), Capacity::units(6), Capacity::units(1)],
            latencies: [3.0, 2.0, 3.0].map(Duration::of).to_vec(),
            area: Area::around(centre, 4_000.0, 4_000.0),
        }
    }

    #[test]
    fn the_tree_of_the_paper_has_85_nodes_in_the_order_of_level_x_y() {
        let tree = tiled_tree(&paper()).expect("a tree");
        assert_eq!(tree.node_count(), 85);
        assert_eq!(tree.link_count(), 2 * 84);
        assert_eq!(tree.access_points().count(), 64);
        let names: Vec<String> = tree.nodes().map(|(_, node)| node.id.to_string()).collect();
        assert_eq!(names[..6], ["n0lt0ln0", "n1lt0ln0", "n1lt0ln1", "n1lt1ln0", "n1lt1ln1", "n2lt0ln0"]);
        assert_eq!(names[84], "n3lt7ln7");
        for (level, latency) in [(1, 3.0), (2, 2.0), (3, 3.0)] {
            for (index, node) in tree.nodes().filter(|(_, node)| node.tier == level) {
                let cell = names[index.position()].split_once("lt").and_then(|(_, cell)| cell.split_once("ln"));
                let (x, y) = cell.expect("its place in the grid");
                let half = |number: &str| number.parse::<u32>().expect("a number") / 2;
                let parent = NodeId::name(&format!("n{}lt{}ln{}", level - 1, half(x), half(y))).expect("a name");
                let link = tree.link_between(index, tree.find(&parent).expect("there")).expect("linked");
                assert_eq!(tree.link(link).latency, Duration::of(latency), "{}", node.id);
            }
        }
    }

    #[test]
    fn access_points_are_at_the_centres_of_cells_and_others_at_those_of_their_children() {
        let tree = tiled_tree(&paper()).expect("a tree");
        let place = |name: &str| {
            let index = tree.find(&NodeId::name(name).expect("a name")).expect("there");
            tree.node(index).position.expect("it is on the map")
        };
        let apart = place("n3lt3ln3").distance_m(place("n3lt3ln4"));
        assert!((apart - 500.0).abs() < 1.0, "{apart}");
        assert!((place("n3lt3ln3").distance_m(place("n3lt4ln3")) - 500.0).abs() < 1.0);
        assert!(place("n3lt4ln3").latitude > place("n3lt3ln3").latitude);
        assert!(place("n3lt3ln4").longitude > place("n3lt3ln3").longitude);
        let middle = Position {
            latitude: f64::midpoint(place("n3lt2ln2").latitude, place("n3lt3ln2").latitude),
            longitude: f64::midpoint(place("n3lt2ln2").longitude, place("n3lt2ln3").longitude),
        };
        assert!(place("n2lt1ln1").distance_m(middle) < 0.01);
    }

    #[test]
    fn a_tree_over_512_by_512_access_points_has_349_525_nodes() {
        let shape = TiledTree {
            size: 512,
            capacities: vec![Capacity::units(1); 10],
            latencies: vec![Duration::of(1.0); 9],
            area: None,
        };
        let tree = tiled_tree(&shape).expect("a tree");
        assert_eq!((tree.node_count(), tree.link_count()), (349_525, 2 * 349_524));
        assert_eq!(tree.access_points().count(), 512 * 512);
    }

    #[test]
    fn the_descendants_of_a_node_are_contiguous() {
        for level in 0..8 {
            let all: Vec<(u32, u32)> = places(level).collect();
            let numbers = (0..).zip(&all);
            assert!(numbers.clone().all(|(here, (x, y))| number(level, *x, *y) == here), "level {level}");
            assert!(all.iter().all(|(x, y)| (*x).max(*y) < 1 << level), "level {level}");
            for ((x, y), below) in places(level.saturating_sub(SQUARE_LEVELS)).zip(all.chunks(64)) {
                let is_below = |(below_x, below_y): &(u32, u32)| (below_x >> 3, below_y >> 3) == (x, y);
                assert!(level < SQUARE_LEVELS || below.iter().all(is_below), "level {level}: {x} {y}");
                assert!(below.is_sorted(), "level {level}: {x} {y}");
            }
        }
    }

    #[test]
    fn rejects_impossible_trees() {
        let error = |change: fn(&mut TiledTree)| {
            let mut shape = paper();
            change(&mut shape);
            tiled_tree(&shape).expect_err("no such tree")
        };
        assert_eq!(error(|shape| shape.size = 6), ShapeError::NotPowerOfTwo(6));
        assert_eq!(error(|shape| shape.size = 0), ShapeError::NotPowerOfTwo(0));
        let levels = |values, needed, given| ShapeError::Levels { values, needed, given };
        assert_eq!(error(|shape| shape.size = 16), levels("capacities", 5, 4));
        assert_eq!(error(|shape| shape.latencies.truncate(1)), levels("latencies", 3, 1));
        assert!(matches!(
            error(|shape| shape.latencies[1] = Duration::of(-2.0)),
            ShapeError::Topology(TopologyError::Latency(..))
        ));
        let huge = TiledTree {
            size: 1 << 31,
            capacities: vec![Capacity::Unbounded; 32],
            latencies: vec![Duration::of(1.0); 31],
            area: None,
        };
        assert_eq!(tiled_tree(&huge).expect_err("too large"), ShapeError::TooLarge);
    }
}
