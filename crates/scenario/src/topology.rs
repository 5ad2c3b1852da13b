//! The infrastructure: nodes and the links between them.
//!
//! A [`Topology`] comes from a [`TopologyBuilder`], or is made by one of the generators:
//! [`tiled_tree`], [`tree`], [`grid`], [`random_geometric`] and [`barabasi_albert`], or read from a
//! graph file by [`read_graph`].

mod geometric;
mod graphml;
mod mesh;
mod read;
mod tiled;
mod tree;

use std::error::Error;
use std::fmt;

use mario_domain::{Capacity, Duration, Fact, NodeId};
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};

use crate::index::NodeIndex;
use crate::position::{Area, Position};

pub use graphml::{ExportError, write_graphml};
pub(crate) use mesh::LINKS_MAX;
pub use mesh::{AccessPoints, Connected, Latency, Mesh, barabasi_albert, grid, random_geometric};
pub use read::{GraphDefaults, GraphError, GraphFormat, GraphProblem, Unmarked, XmlProblem, read_graph};
pub(crate) use tiled::{NODES_MAX, access_point_position};
pub use tiled::{ShapeError, TiledTree, tiled_tree};
pub use tree::{Tree, tree};

/// The infrastructure. Nodes keep the order in which they were added. A link between two nodes is stored as two
/// directed links.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "SavedTopology")]
pub struct Topology {
    nodes: Vec<NodeDescription>,
    #[serde(skip)]
    by_id: FxHashMap<NodeId, NodeIndex>,
    /// The links from node `n` are at `first_link[n]..first_link[n + 1]`, in the order of the nodes that they lead to.
    first_link: Vec<u32>,
    links: Vec<Link>,
    /// The node that each link leads to, and its latency, stored again in separate arrays, so that a caller that needs
    /// only one of them reads less memory.
    #[serde(skip)]
    ends: Vec<NodeIndex>,
    #[serde(skip)]
    latencies: Vec<Duration>,
    /// For each link, the link in the opposite direction.
    #[serde(skip)]
    backs: Vec<LinkIndex>,
    /// The names of the tiers, from the top down; empty if they have none.
    tier_names: Vec<String>,
}

/// A topology as serialized. The other fields are derived from nodes and links.
#[derive(Deserialize)]
struct SavedTopology {
    nodes: Vec<NodeDescription>,
    first_link: Vec<u32>,
    links: Vec<Link>,
    tier_names: Vec<String>,
}

impl TryFrom<SavedTopology> for Topology {
    type Error = &'static str;

    fn try_from(saved: SavedTopology) -> Result<Topology, &'static str> {
        if !saved.is_consistent() {
            return Err("links do not lead from node to node and back");
        }
        let SavedTopology { nodes, first_link, links, tier_names } = saved;
        let by_id = nodes.iter().enumerate().map(|(position, node)| (node.id.clone(), NodeIndex::at(position)));
        let (by_id, ends, latencies) = (by_id.collect(), ends(&links), latencies(&links));
        let backs = backs(&first_link, &ends);
        Ok(Topology { nodes, by_id, first_link, links, ends, latencies, backs, tier_names })
    }
}

impl SavedTopology {
    /// Whether the links from each node are sorted by the nodes that they lead to, lead to other existing nodes, have
    /// latencies that are not negative, and have a link in the opposite direction.
    fn is_consistent(&self) -> bool {
        let from = |node: usize| {
            let (first, end) = (self.first_link[node] as usize, self.first_link[node + 1] as usize);
            self.links.get(first..end)
        };
        let are_ranges = self.first_link.len() == self.nodes.len() + 1
            && self.first_link.first() == Some(&0)
            && self.first_link.last().is_some_and(|end| *end as usize == self.links.len())
            && self.first_link.is_sorted();
        let leads_back = |node: usize, link: &Link| {
            let back =
                (link.to.position() < self.nodes.len() && link.to.position() != node).then(|| from(link.to.position()));
            back.flatten().is_some_and(|links| links.binary_search_by_key(&node, |link| link.to.position()).is_ok())
        };
        are_ranges
            && (0..self.nodes.len()).all(|node| {
                from(node).is_some_and(|links| {
                    let is_sound = |link: &Link| link.latency.units() >= 0.0 && leads_back(node, link);
                    links.is_sorted_by(|one, other| one.to < other.to) && links.iter().all(is_sound)
                })
            })
    }
}

fn ends(links: &[Link]) -> Vec<NodeIndex> {
    links.iter().map(|link| link.to).collect()
}

fn latencies(links: &[Link]) -> Vec<Duration> {
    links.iter().map(|link| link.latency).collect()
}

/// For each link, the index of the link in the opposite direction. The links from a node are in the order of the nodes
/// that they lead to, so an iteration over all links visits the links *to* a node in the same order as the links *from*
/// it.
fn backs(first_link: &[u32], ends: &[NodeIndex]) -> Vec<LinkIndex> {
    let mut next = first_link.to_vec();
    let back = |end: &NodeIndex| {
        let back = LinkIndex(next[end.position()]);
        next[end.position()] += 1;
        back
    };
    ends.iter().map(back).collect()
}

/// A node as part of the infrastructure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NodeDescription {
    /// The id of the node.
    pub id: NodeId,
    /// The total hardware of the node.
    pub capacity: Capacity,
    /// Its tier: the distance from the top of the infrastructure. 0 is the cloud.
    pub tier: u16,
    /// Its position on the map, if it has one.
    pub position: Option<Position>,
    /// Whether users can be connected to it.
    pub is_access_point: bool,
    /// Further facts about it.
    pub facts: Vec<Fact>,
}

/// One direction of a link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Link {
    /// The node that it leads to.
    pub to: NodeIndex,
    /// The time that a message takes, in addition to its transmission time.
    pub latency: Duration,
    /// Size units per millisecond; `None` is unlimited.
    pub bandwidth: Option<f64>,
}

/// The index of a directed link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct LinkIndex(pub u32);

/// Why nodes and links are not a valid infrastructure.
#[derive(Clone, PartialEq, Debug)]
pub enum TopologyError {
    /// There are no nodes.
    Empty,
    /// Two nodes have the same id.
    NodeTwice(NodeId),
    /// A link leads from a node to itself.
    LinkToItself(NodeId),
    /// Two nodes are linked twice.
    LinkTwice(NodeId, NodeId),
    /// A latency is negative or not finite.
    Latency(NodeId, NodeId, Duration),
    /// A bandwidth is not positive and finite.
    Bandwidth(NodeId, NodeId, f64),
}

impl Topology {
    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes, by index.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (NodeIndex, &NodeDescription)> {
        self.nodes.iter().enumerate().map(|(position, node)| (NodeIndex::at(position), node))
    }

    /// The names of the tiers, from the top down; empty if they have none.
    pub fn tier_names(&self) -> &[String] {
        &self.tier_names
    }

    /// Names the tiers if there are as many names as tiers; otherwise does nothing.
    pub(crate) fn name_tiers(&mut self, names: &[String]) {
        let tier_count = self.nodes.iter().map(|node| usize::from(node.tier) + 1).max().unwrap_or(0);
        if names.len() == tier_count {
            self.tier_names = names.to_vec();
        }
    }

    /// One node.
    pub fn node(&self, node: NodeIndex) -> &NodeDescription {
        &self.nodes[node.position()]
    }

    /// The node with this id; `None` if there is none.
    pub fn find(&self, id: &NodeId) -> Option<NodeIndex> {
        self.by_id.get(id).copied()
    }

    /// The number of directed links.
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// The links from a node, in the order of the nodes that they lead to.
    pub fn links_from(&self, node: NodeIndex) -> impl ExactSizeIterator<Item = (LinkIndex, &Link)> {
        let (first, end) = (self.first_link[node.position()], self.first_link[node.position() + 1]);
        (first..end).map(LinkIndex).zip(&self.links[first as usize..end as usize])
    }

    /// The links from a node, each with the node that it leads to, in the order of these nodes.
    #[inline]
    pub fn ends_of_links(&self, node: NodeIndex) -> impl ExactSizeIterator<Item = (LinkIndex, NodeIndex)> {
        let (first, end) = (self.first_link[node.position()], self.first_link[node.position() + 1]);
        (first..end).map(LinkIndex).zip(self.ends[first as usize..end as usize].iter().copied())
    }

    /// The node that a link leads to.
    #[inline]
    pub fn end_of_link(&self, link: LinkIndex) -> NodeIndex {
        self.ends[link.0 as usize]
    }

    /// The link in the opposite direction.
    #[inline]
    pub fn back(&self, link: LinkIndex) -> LinkIndex {
        self.backs[link.0 as usize]
    }

    /// The latency of a link.
    #[inline]
    pub fn latency_of_link(&self, link: LinkIndex) -> Duration {
        self.latencies[link.0 as usize]
    }

    /// One direction of a link.
    pub fn link(&self, link: LinkIndex) -> &Link {
        &self.links[link.0 as usize]
    }

    /// The directed link between two nodes; `None` if they are not neighbours.
    pub fn link_between(&self, from: NodeIndex, to: NodeIndex) -> Option<LinkIndex> {
        let first = self.first_link[from.position()] as usize;
        let end = self.first_link[from.position() + 1] as usize;
        self.ends[first..end].binary_search(&to).ok().map(|offset| LinkIndex((first + offset) as u32))
    }

    /// Sets the hardware of a node.
    pub fn set_capacity(&mut self, node: NodeIndex, capacity: Capacity) {
        self.nodes[node.position()].capacity = capacity;
    }

    /// Adds facts about a node.
    pub fn add_facts(&mut self, node: NodeIndex, facts: impl IntoIterator<Item = Fact>) {
        self.nodes[node.position()].facts.extend(facts);
    }

    /// Sets a fact about a node, replacing one with the same key.
    pub(crate) fn set_fact(&mut self, node: NodeIndex, fact: Fact) {
        let facts = &mut self.nodes[node.position()].facts;
        facts.retain(|known| known.key != fact.key);
        facts.push(fact);
    }

    /// Limits the bandwidth of all links that have no limit yet.
    pub fn limit_bandwidth(&mut self, bandwidth: f64) {
        for link in &mut self.links {
            link.bandwidth.get_or_insert(bandwidth);
        }
    }

    /// The bounding box of all nodes with a position. `None` if no node has one, or if the box is a point or a line.
    pub fn extent(&self) -> Option<Area> {
        let mut positions = self.nodes.iter().filter_map(|node| node.position);
        let first = positions.next()?;
        let (south_west, north_east) = positions.fold((first, first), |(low, high), position| {
            let low = Position {
                latitude: low.latitude.min(position.latitude),
                longitude: low.longitude.min(position.longitude),
            };
            let high = Position {
                latitude: high.latitude.max(position.latitude),
                longitude: high.longitude.max(position.longitude),
            };
            (low, high)
        });
        Area::between(south_west, north_east)
    }

    /// The nodes that users can be connected to.
    pub fn access_points(&self) -> impl Iterator<Item = NodeIndex> {
        self.nodes().filter(|(_, node)| node.is_access_point).map(|(index, _)| index)
    }
}

/// Builds an infrastructure.
#[derive(Clone, Debug, Default)]
pub struct TopologyBuilder {
    nodes: Vec<NodeDescription>,
    by_id: FxHashMap<NodeId, NodeIndex>,
    links: Vec<(NodeIndex, Link)>,
}

impl TopologyBuilder {
    /// A builder with memory reserved for these numbers of nodes and links.
    pub fn with_capacity(nodes: usize, links: usize) -> TopologyBuilder {
        let by_id = FxHashMap::with_capacity_and_hasher(nodes, FxBuildHasher);
        TopologyBuilder { nodes: Vec::with_capacity(nodes), by_id, links: Vec::with_capacity(2 * links) }
    }

    /// Adds a node; an error if its id is taken.
    pub fn node(&mut self, node: NodeDescription) -> Result<NodeIndex, TopologyError> {
        let index = NodeIndex::at(self.nodes.len());
        if self.by_id.insert(node.id.clone(), index).is_some() {
            return Err(TopologyError::NodeTwice(node.id));
        }
        self.nodes.push(node);
        Ok(index)
    }

    /// The node with this id, if it was added.
    pub fn find(&self, id: &NodeId) -> Option<NodeIndex> {
        self.by_id.get(id).copied()
    }

    /// The distance between two nodes in metres; `None` if one of them has no position.
    pub(crate) fn distance_m(&self, one: NodeIndex, other: NodeIndex) -> Option<f64> {
        let position = |node: NodeIndex| self.nodes[node.position()].position;
        Some(position(one)?.distance_m(position(other)?))
    }

    /// Links two nodes, in both directions.
    pub fn link(
        &mut self,
        one: NodeIndex,
        other: NodeIndex,
        latency: Duration,
        bandwidth: Option<f64>,
    ) -> Result<(), TopologyError> {
        let ids = || (self.nodes[one.position()].id.clone(), self.nodes[other.position()].id.clone());
        if one == other {
            return Err(TopologyError::LinkToItself(ids().0));
        }
        if !latency.is_finite() || latency < Duration::ZERO {
            let (one, other) = ids();
            return Err(TopologyError::Latency(one, other, latency));
        }
        if let Some(bandwidth) = bandwidth
            && !(bandwidth.is_finite() && bandwidth > 0.0)
        {
            let (one, other) = ids();
            return Err(TopologyError::Bandwidth(one, other, bandwidth));
        }
        self.links.push((one, Link { to: other, latency, bandwidth }));
        self.links.push((other, Link { to: one, latency, bandwidth }));
        Ok(())
    }

    /// Builds the infrastructure.
    pub fn build(mut self) -> Result<Topology, TopologyError> {
        if self.nodes.is_empty() {
            return Err(TopologyError::Empty);
        }
        let mut first_link = vec![0; self.nodes.len() + 1];
        for (from, _) in &self.links {
            first_link[from.position() + 1] += 1;
        }
        for node in 1..first_link.len() {
            first_link[node] += first_link[node - 1];
        }
        // Counting sort: each link goes directly to the range of its node, and only these ranges need sorting.
        let mut next = first_link.clone();
        let mut links = vec![Link { to: NodeIndex(0), latency: Duration::ZERO, bandwidth: None }; self.links.len()];
        for (from, link) in self.links.drain(..) {
            links[next[from.position()] as usize] = link;
            next[from.position()] += 1;
        }
        for node in 0..self.nodes.len() {
            let part = &mut links[first_link[node] as usize..first_link[node + 1] as usize];
            part.sort_by_key(|link| link.to);
            if let Some(pair) = part.windows(2).find(|pair| pair[0].to == pair[1].to) {
                let (one, other) = (self.nodes[node].id.clone(), self.nodes[pair[0].to.position()].id.clone());
                return Err(TopologyError::LinkTwice(one, other));
            }
        }
        let (ends, latencies) = (ends(&links), latencies(&links));
        let backs = backs(&first_link, &ends);
        let (nodes, by_id) = (self.nodes, self.by_id);
        Ok(Topology { nodes, by_id, first_link, links, ends, latencies, backs, tier_names: Vec::new() })
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopologyError::Empty => formatter.write_str("an infrastructure has at least one node"),
            TopologyError::NodeTwice(node) => write!(formatter, "there are two nodes `{node}`"),
            TopologyError::LinkToItself(node) => write!(formatter, "node `{node}` is linked to itself"),
            TopologyError::LinkTwice(one, other) => write!(formatter, "nodes `{one}` and `{other}` are linked twice"),
            TopologyError::Latency(one, other, latency) => {
                write!(
                    formatter,
                    "the link between `{one}` and `{other}` has the latency {latency}: it must not be negative"
                )
            }
            TopologyError::Bandwidth(one, other, bandwidth) => {
                write!(
                    formatter,
                    "the link between `{one}` and `{other}` has the bandwidth {bandwidth}: it must be positive"
                )
            }
        }
    }
}

impl Error for TopologyError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_nodes() -> TopologyBuilder {
        let mut builder = TopologyBuilder::default();
        for number in 0..3 {
            let node = NodeDescription {
                id: NodeId::number(number),
                capacity: Capacity::units(1),
                tier: 0,
                position: None,
                is_access_point: true,
                facts: Vec::new(),
            };
            builder.node(node).expect("a new node");
        }
        builder
    }

    #[test]
    fn links_are_ordered_by_their_end_nodes() {
        let mut builder = three_nodes();
        builder.link(NodeIndex(2), NodeIndex(1), Duration::of(5.0), Some(2.0)).expect("a link");
        builder.link(NodeIndex(0), NodeIndex(2), Duration::of(3.0), None).expect("a link");
        let topology = builder.build().expect("an infrastructure");
        let links = |node| topology.links_from(NodeIndex(node)).map(|(_, link)| link.to.0).collect::<Vec<u32>>();
        assert_eq!([links(0), links(1), links(2)], [vec![2], vec![2], vec![0, 1]]);
        for (from, to) in [(1, 2), (2, 1)] {
            let link = topology.link(topology.link_between(NodeIndex(from), NodeIndex(to)).expect("linked"));
            assert_eq!((link.latency, link.bandwidth), (Duration::of(5.0), Some(2.0)));
        }
        assert_eq!(topology.link_between(NodeIndex(0), NodeIndex(1)), None);
    }

    #[test]
    fn rejects_invalid_nodes_and_links() {
        assert_eq!(TopologyBuilder::default().build().expect_err("no node"), TopologyError::Empty);
        let id = NodeId::number;
        let mut builder = three_nodes();
        let link = |builder: &mut TopologyBuilder, one, other, latency, bandwidth| {
            builder.link(NodeIndex(one), NodeIndex(other), Duration::of(latency), bandwidth).expect_err("no link")
        };
        assert_eq!(link(&mut builder, 1, 1, 1.0, None), TopologyError::LinkToItself(id(1)));
        assert!(matches!(link(&mut builder, 0, 1, f64::NAN, None), TopologyError::Latency(..)));
        assert_eq!(link(&mut builder, 0, 1, 1.0, Some(0.0)), TopologyError::Bandwidth(id(0), id(1), 0.0));
        builder.link(NodeIndex(0), NodeIndex(1), Duration::of(1.0), None).expect("a link");
        builder.link(NodeIndex(1), NodeIndex(0), Duration::of(1.0), None).expect("so far");
        assert_eq!(builder.build().expect_err("linked twice"), TopologyError::LinkTwice(id(0), id(1)));
        let mut builder = three_nodes();
        let again = NodeDescription {
            id: id(2),
            capacity: Capacity::Unbounded,
            tier: 0,
            position: None,
            is_access_point: false,
            facts: Vec::new(),
        };
        assert_eq!(builder.node(again).expect_err("two nodes"), TopologyError::NodeTwice(id(2)));
    }
}
