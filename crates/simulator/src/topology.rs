//! The infrastructure: nodes and the links between them.
//!
//! A [`Topology`] comes from a [`TopologyBuilder`], or is made by one of the generators:
//! [`tiled_tree`], [`tree`], [`grid`], [`random_geometric`] and [`barabasi_albert`], or read from a
//! graph file by [`read_graph`].

mod geometric;
mod mesh;
mod read;
mod tiled;
mod tree;

use std::error::Error;
use std::fmt;

use mario_colony::NodeIndex;
use mario_domain::{Capacity, Fact, NodeId};
use rustc_hash::FxHashMap;

use crate::position::Position;

pub use mesh::{AccessPoints, Connected, Latency, Mesh, barabasi_albert, grid, random_geometric};
pub use read::{GraphDefaults, GraphError, GraphFormat, GraphProblem, Unmarked, XmlProblem, read_graph};
pub use tiled::{ShapeError, TiledTree, tiled_tree};
pub use tree::{Tree, tree};

/// The infrastructure. Nodes keep the order in which they were added; each link has two directions.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    nodes: Vec<NodeDescription>,
    by_id: FxHashMap<NodeId, NodeIndex>,
    /// The links from node `n` are at `first_link[n]..first_link[n + 1]`, in the order of the nodes that they lead to.
    first_link: Vec<u32>,
    links: Vec<Link>,
}

/// A node as it is before anything runs.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeDescription {
    /// Which node.
    pub id: NodeId,
    /// All the hardware it has.
    pub capacity: Capacity,
    /// How far it is from the top, where the infrastructure has one: 0 is the cloud.
    pub tier: u16,
    /// Where it is on the map, if it is anywhere.
    pub position: Option<Position>,
    /// Whether users can be connected to it.
    pub is_access_point: bool,
    /// What else is known about it.
    pub facts: Vec<Fact>,
}

/// One direction of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Link {
    /// The node that it leads to.
    pub to: NodeIndex,
    /// How long a message takes, in milliseconds.
    pub latency: f64,
    /// Size units per millisecond, when that is limited.
    pub bandwidth: Option<f64>,
}

/// Which direction of which link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkIndex(pub u32);

/// Why something is no infrastructure.
#[derive(Clone, PartialEq, Debug)]
pub enum TopologyError {
    /// There is no node at all.
    Empty,
    /// Two nodes have the same id.
    NodeTwice(NodeId),
    /// A link leads from a node to itself.
    LinkToItself(NodeId),
    /// Two nodes are linked twice.
    LinkTwice(NodeId, NodeId),
    /// A latency is negative or no number.
    Latency(NodeId, NodeId, f64),
    /// A bandwidth is not positive.
    Bandwidth(NodeId, NodeId, f64),
}

impl Topology {
    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes, by index.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (NodeIndex, &NodeDescription)> {
        self.nodes.iter().enumerate().map(|(position, node)| (NodeIndex::at(position), node))
    }

    /// One node.
    pub fn node(&self, node: NodeIndex) -> &NodeDescription {
        &self.nodes[node.position()]
    }

    /// The node with this id.
    pub fn find(&self, id: &NodeId) -> Option<NodeIndex> {
        self.by_id.get(id).copied()
    }

    /// How many directions of links there are.
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// The links from a node, in the order of the nodes that they lead to.
    pub fn links_from(&self, node: NodeIndex) -> impl ExactSizeIterator<Item = (LinkIndex, &Link)> {
        let (first, end) = (self.first_link[node.position()], self.first_link[node.position() + 1]);
        (first..end).map(LinkIndex).zip(&self.links[first as usize..end as usize])
    }

    /// One direction of a link.
    pub fn link(&self, link: LinkIndex) -> &Link {
        &self.links[link.0 as usize]
    }

    /// The link between two neighbours, in this direction.
    pub fn link_between(&self, from: NodeIndex, to: NodeIndex) -> Option<LinkIndex> {
        let first = self.first_link[from.position()] as usize;
        let end = self.first_link[from.position() + 1] as usize;
        let links = &self.links[first..end];
        links.binary_search_by_key(&to, |link| link.to).ok().map(|offset| LinkIndex((first + offset) as u32))
    }

    /// Gives a node this hardware.
    pub fn set_capacity(&mut self, node: NodeIndex, capacity: Capacity) {
        self.nodes[node.position()].capacity = capacity;
    }

    /// Adds to what is known about a node.
    pub fn add_facts(&mut self, node: NodeIndex, facts: impl IntoIterator<Item = Fact>) {
        self.nodes[node.position()].facts.extend(facts);
    }

    /// Limits the bandwidth of all links that have no limit yet.
    pub fn limit_bandwidth(&mut self, bandwidth: f64) {
        for link in &mut self.links {
            link.bandwidth.get_or_insert(bandwidth);
        }
    }

    /// The nodes that users can be connected to.
    pub fn access_points(&self) -> impl Iterator<Item = NodeIndex> {
        self.nodes().filter(|(_, node)| node.is_access_point).map(|(index, _)| index)
    }
}

/// Puts an infrastructure together.
#[derive(Clone, Debug, Default)]
pub struct TopologyBuilder {
    nodes: Vec<NodeDescription>,
    by_id: FxHashMap<NodeId, NodeIndex>,
    links: Vec<(NodeIndex, Link)>,
}

impl TopologyBuilder {
    /// Adds a node.
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

    /// How far apart two nodes are, if both are on the map.
    pub(crate) fn distance_m(&self, one: NodeIndex, other: NodeIndex) -> Option<f64> {
        let position = |node: NodeIndex| self.nodes[node.position()].position;
        Some(position(one)?.distance_m(position(other)?))
    }

    /// Links two nodes, in both directions.
    pub fn link(
        &mut self,
        one: NodeIndex,
        other: NodeIndex,
        latency: f64,
        bandwidth: Option<f64>,
    ) -> Result<(), TopologyError> {
        let ids = || (self.nodes[one.position()].id.clone(), self.nodes[other.position()].id.clone());
        if one == other {
            return Err(TopologyError::LinkToItself(ids().0));
        }
        if !latency.is_finite() || latency < 0.0 {
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

    /// The infrastructure.
    pub fn build(mut self) -> Result<Topology, TopologyError> {
        if self.nodes.is_empty() {
            return Err(TopologyError::Empty);
        }
        self.links.sort_by_key(|(from, link)| (*from, link.to));
        for pair in self.links.windows(2) {
            if pair[0].0 == pair[1].0 && pair[0].1.to == pair[1].1.to {
                let id = |node: NodeIndex| self.nodes[node.position()].id.clone();
                return Err(TopologyError::LinkTwice(id(pair[0].0), id(pair[0].1.to)));
            }
        }
        let mut first_link = vec![0; self.nodes.len() + 1];
        for (from, _) in &self.links {
            first_link[from.position() + 1] += 1;
        }
        for node in 1..first_link.len() {
            first_link[node] += first_link[node - 1];
        }
        let links = self.links.into_iter().map(|(_, link)| link).collect();
        Ok(Topology { nodes: self.nodes, by_id: self.by_id, first_link, links })
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
