//! Ways through the infrastructure as it is now.

use std::collections::VecDeque;

use mario_colony::{Neighbour, NodeIndex};
use rustc_hash::FxHashMap;

use crate::routing::Field;
use crate::scenario::Metric;
use crate::topology::{LinkIndex, Topology};

/// Which path. Paths are kept for good: messages on their way remember them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathIndex(u32);

/// All paths that were ever needed, and what is up.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    links: Vec<LinkIndex>,
    all: Vec<Path>,
    known: FxHashMap<(NodeIndex, NodeIndex), PathIndex>,
    node_is_up: Vec<bool>,
    link_is_up: Vec<bool>,
    /// Changes whenever a node or a link goes or comes.
    version: u64,
    search: Search,
}

#[derive(Clone, Copy, Debug)]
struct Path {
    first_link: u32,
    link_count: u32,
    latency: f64,
    last_hop: Neighbour,
    origin: NodeIndex,
    end: NodeIndex,
}

/// Memory for a search, used again and again.
#[derive(Clone, Debug)]
struct Search {
    round: u32,
    /// The round in which a node was last reached.
    reached: Vec<u32>,
    /// How far it is, and by which link it was reached from where.
    distance: Vec<f64>,
    from: Vec<(NodeIndex, LinkIndex)>,
    queue: VecDeque<NodeIndex>,
}

/// A node that may be next, the nearest first, then the first in the order of nodes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Candidate {
    pub(crate) distance: f64,
    pub(crate) node: NodeIndex,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.distance.total_cmp(&self.distance).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Paths {
    pub(crate) fn new(topology: &Topology) -> Paths {
        let nodes = topology.node_count();
        Paths {
            links: Vec::new(),
            all: Vec::new(),
            known: FxHashMap::default(),
            node_is_up: vec![true; nodes],
            link_is_up: vec![true; topology.link_count()],
            version: 1,
            search: Search {
                round: 0,
                reached: vec![0; nodes],
                distance: vec![0.0; nodes],
                from: vec![(NodeIndex(0), LinkIndex(0)); nodes],
                queue: VecDeque::new(),
            },
        }
    }

    pub(crate) fn is_node_up(&self, node: NodeIndex) -> bool {
        self.node_is_up[node.position()]
    }

    pub(crate) fn set_node(&mut self, node: NodeIndex, is_up: bool) {
        self.node_is_up[node.position()] = is_up;
        self.known.clear();
        self.version += 1;
    }

    pub(crate) fn set_link(&mut self, topology: &Topology, one: NodeIndex, other: NodeIndex, is_up: bool) {
        for link in [topology.link_between(one, other), topology.link_between(other, one)].into_iter().flatten() {
            self.link_is_up[link.0 as usize] = is_up;
        }
        self.known.clear();
        self.version += 1;
    }

    /// Whether a message can be sent over a link.
    pub(crate) fn carries(&self, topology: &Topology, link: LinkIndex) -> bool {
        self.link_is_up[link.0 as usize] && self.is_node_up(topology.link(link).to)
    }

    /// The nodes that a node can reach by one link.
    pub(crate) fn neighbours<'a>(
        &'a self,
        topology: &'a Topology,
        node: NodeIndex,
    ) -> impl Iterator<Item = NodeIndex> + 'a {
        topology.links_from(node).filter(|(link, _)| self.carries(topology, *link)).map(|(_, link)| link.to)
    }

    /// The link after so many, or `None` at the end of the path.
    #[inline]
    pub(crate) fn link(&self, path: PathIndex, position: u32) -> Option<LinkIndex> {
        let path = &self.all[path.0 as usize];
        (position < path.link_count).then(|| self.links[(path.first_link + position) as usize])
    }

    pub(crate) fn latency(&self, path: PathIndex) -> f64 {
        self.all[path.0 as usize].latency
    }

    pub(crate) fn last_hop(&self, path: PathIndex) -> Neighbour {
        self.all[path.0 as usize].last_hop
    }

    /// The node that a path begins at.
    pub(crate) fn origin(&self, path: PathIndex) -> NodeIndex {
        self.all[path.0 as usize].origin
    }

    /// The node that a path leads to.
    pub(crate) fn end(&self, path: PathIndex) -> NodeIndex {
        self.all[path.0 as usize].end
    }

    /// Finds the nodes with the fewest hops that `is_wanted`, in the order of nodes.
    pub(crate) fn nearest(
        &mut self,
        topology: &Topology,
        from: NodeIndex,
        is_wanted: impl Fn(NodeIndex) -> bool,
        found: &mut Vec<NodeIndex>,
    ) {
        found.clear();
        if self.is_node_up(from) {
            self.search_hops(topology, from, is_wanted, found);
        }
        found.sort_unstable();
    }

    /// Finds the nearest nodes of a field, all that are equally near, in the order of nodes: from each node on to those that
    /// are nearer by just the link in between.
    pub(crate) fn descend(
        &mut self,
        topology: &Topology,
        from: NodeIndex,
        metric: Metric,
        field: &Field,
        found: &mut Vec<NodeIndex>,
    ) {
        found.clear();
        if field.is_empty() || !self.is_node_up(from) || field.distance(from).is_infinite() {
            return;
        }
        self.begin(from);
        self.search.queue.push_back(from);
        while let Some(node) = self.search.queue.pop_front() {
            let distance = field.distance(node);
            if distance <= 0.0 {
                found.push(node);
            }
            for (link, edge) in topology.links_from(node) {
                let nearer = field.distance(edge.to) + metric.length(edge.latency);
                if nearer.to_bits() == distance.to_bits()
                    && self.search.reached[edge.to.position()] != self.search.round
                    && self.carries(topology, link)
                {
                    self.reach(edge.to, distance, (node, link));
                    self.search.queue.push_back(edge.to);
                }
            }
        }
        found.sort_unstable();
    }

    /// Changes whenever a node or a link goes or comes.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The path to a node that the last search from `from` found.
    pub(crate) fn path_found(&mut self, topology: &Topology, from: NodeIndex, to: NodeIndex) -> PathIndex {
        if let Some(known) = self.known.get(&(from, to)) {
            return *known;
        }
        let first_link = self.links.len();
        let mut node = to;
        while node != from {
            let (before, link) = self.search.from[node.position()];
            self.links.push(link);
            node = before;
        }
        self.links[first_link..].reverse();
        let links = &self.links[first_link..];
        let latency = links.iter().map(|link| topology.link(*link).latency).sum();
        let last_hop = if to == from { Neighbour::Own } else { Neighbour::Node(self.search.from[to.position()].0) };
        let index = PathIndex(u32::try_from(self.all.len()).expect("fewer than 2^32 paths"));
        self.all.push(Path {
            first_link: first_link as u32,
            link_count: links.len() as u32,
            latency,
            last_hop,
            origin: from,
            end: to,
        });
        self.known.insert((from, to), index);
        index
    }

    fn search_hops(
        &mut self,
        topology: &Topology,
        from: NodeIndex,
        is_wanted: impl Fn(NodeIndex) -> bool,
        found: &mut Vec<NodeIndex>,
    ) {
        self.begin(from);
        let mut limit = f64::INFINITY;
        self.search.queue.push_back(from);
        while let Some(node) = self.search.queue.pop_front() {
            let distance = self.search.distance[node.position()];
            if distance > limit {
                break;
            }
            if is_wanted(node) {
                found.push(node);
                limit = distance;
            }
            if distance + 1.0 > limit {
                continue;
            }
            for (link, to) in topology.links_from(node).map(|(index, link)| (index, link.to)) {
                if self.search.reached[to.position()] != self.search.round && self.carries(topology, link) {
                    self.reach(to, distance + 1.0, (node, link));
                    self.search.queue.push_back(to);
                }
            }
        }
    }

    fn begin(&mut self, from: NodeIndex) {
        self.search.round = self.search.round.wrapping_add(1);
        if self.search.round == 0 {
            self.search.reached.fill(0);
            self.search.round = 1;
        }
        self.search.queue.clear();
        self.reach(from, 0.0, (from, LinkIndex(0)));
    }

    fn reach(&mut self, node: NodeIndex, distance: f64, from: (NodeIndex, LinkIndex)) {
        self.search.reached[node.position()] = self.search.round;
        self.search.distance[node.position()] = distance;
        self.search.from[node.position()] = from;
    }
}
