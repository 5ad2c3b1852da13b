//! Ways through the infrastructure as it is now.

use std::collections::VecDeque;

use mario_colony::{Neighbour, NodeIndex};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::routing::Field;
use crate::scenario::Metric;
use crate::topology::{LinkIndex, Topology};

/// Which path. Paths are kept for good, for messages on their way remember them, unless they are renewed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PathIndex(u32);

/// All paths that were ever needed, and what is up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Paths {
    links: Vec<LinkIndex>,
    /// Where the links of each path are, apart from what is asked less often.
    spans: Vec<Span>,
    all: Vec<Path>,
    /// The path between two nodes that was found last. It holds if it is of the present version.
    last_found: FxHashMap<(NodeIndex, NodeIndex), PathIndex>,
    node_is_up: Vec<bool>,
    link_is_up: Vec<bool>,
    /// Changes whenever a node or a link goes or comes.
    version: u32,
    /// Whether a message can be sent over a link: it is up, and so are the nodes at both ends.
    link_carries: Vec<bool>,
    /// How many links carry nothing.
    idle_links: u32,
    search: Search,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Span {
    first_link: u32,
    link_count: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Path {
    latency: f64,
    last_hop: Neighbour,
    origin: NodeIndex,
    end: NodeIndex,
    /// The version of the infrastructure in which it was found last.
    version: u32,
    /// Another path between the same nodes; the last leads back to the first. What goes and comes again and again adds
    /// none.
    variant: PathIndex,
    /// How many links there is room for.
    room: u32,
}

/// A way from one node to another, as it is found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Trail {
    origin: NodeIndex,
    /// The last node but one.
    last: NodeIndex,
    links: Vec<LinkIndex>,
}

impl Default for Trail {
    fn default() -> Trail {
        Trail { origin: NodeIndex(0), last: NodeIndex(0), links: Vec::new() }
    }
}

impl Trail {
    pub(crate) fn begin(&mut self, origin: NodeIndex) {
        (self.origin, self.last) = (origin, origin);
        self.links.clear();
    }

    /// From a node on by a link.
    pub(crate) fn go(&mut self, node: NodeIndex, link: LinkIndex) {
        self.last = node;
        self.links.push(link);
    }

    fn last_hop(&self) -> Neighbour {
        if self.links.is_empty() { Neighbour::Own } else { Neighbour::Node(self.last) }
    }
}

/// Memory for a search, used again and again.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
            spans: Vec::new(),
            all: Vec::new(),
            last_found: FxHashMap::default(),
            node_is_up: vec![true; nodes],
            link_is_up: vec![true; topology.link_count()],
            version: 1,
            link_carries: vec![true; topology.link_count()],
            idle_links: 0,
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

    pub(crate) fn set_node(&mut self, topology: &Topology, node: NodeIndex, is_up: bool) {
        self.node_is_up[node.position()] = is_up;
        for (_, link) in topology.links_from(node) {
            self.update_link(topology, node, link.to);
        }
        self.version += 1;
    }

    /// Switches both directions of a link; gives whether that changed anything.
    pub(crate) fn set_link(&mut self, topology: &Topology, one: NodeIndex, other: NodeIndex, is_up: bool) -> bool {
        let mut has_changed = false;
        for link in [topology.link_between(one, other), topology.link_between(other, one)].into_iter().flatten() {
            has_changed |= std::mem::replace(&mut self.link_is_up[link.0 as usize], is_up) != is_up;
        }
        if has_changed {
            self.update_link(topology, one, other);
            self.version += 1;
        }
        has_changed
    }

    fn update_link(&mut self, topology: &Topology, one: NodeIndex, other: NodeIndex) {
        let are_up = self.is_node_up(one) && self.is_node_up(other);
        for link in [topology.link_between(one, other), topology.link_between(other, one)].into_iter().flatten() {
            let carries = are_up && self.link_is_up[link.0 as usize];
            let carried = std::mem::replace(&mut self.link_carries[link.0 as usize], carries);
            self.idle_links = self.idle_links + u32::from(carried) - u32::from(carries);
        }
    }

    /// Whether a message can be sent over a link: not from a node that is down, and not to one.
    #[inline]
    pub(crate) fn carries(&self, link: LinkIndex) -> bool {
        // As long as all are up, none is looked at.
        self.idle_links == 0 || self.link_carries[link.0 as usize]
    }

    /// The nodes that a node can reach by one link.
    pub(crate) fn neighbours<'a>(
        &'a self,
        topology: &'a Topology,
        node: NodeIndex,
    ) -> impl Iterator<Item = NodeIndex> + 'a {
        topology.links_from(node).filter(|(link, _)| self.carries(*link)).map(|(_, link)| link.to)
    }

    /// The link after so many, or `None` at the end of the path.
    #[inline]
    pub(crate) fn link(&self, path: PathIndex, position: u32) -> Option<LinkIndex> {
        let span = &self.spans[path.0 as usize];
        (position < span.link_count).then(|| self.links[(span.first_link + position) as usize])
    }

    /// All links of a path.
    #[inline]
    pub(crate) fn links(&self, path: PathIndex) -> &[LinkIndex] {
        let span = &self.spans[path.0 as usize];
        &self.links[span.first_link as usize..][..span.link_count as usize]
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
                    && self.carries(link)
                {
                    self.reach(edge.to, distance, (node, link));
                    self.search.queue.push_back(edge.to);
                }
            }
        }
        found.sort_unstable();
    }

    /// Changes whenever a node or a link goes or comes.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// Takes down the way to a node that the last search from `from` found.
    pub(crate) fn trace(&self, from: NodeIndex, to: NodeIndex, trail: &mut Trail) {
        trail.begin(from);
        let mut node = to;
        while node != from {
            let (before, link) = self.search.from[node.position()];
            trail.links.push(link);
            node = before;
        }
        trail.links.reverse();
        trail.last = self.search.from[to.position()].0;
    }

    /// The path along a way, kept for good. Of two nodes there is only one way until the next change of the infrastructure.
    pub(crate) fn path(&mut self, topology: &Topology, end: NodeIndex, trail: &Trail) -> PathIndex {
        let last = self.last_found.get(&(trail.origin, end)).copied();
        if let Some(last) = last
            && self.all[last.0 as usize].version == self.version
        {
            return last;
        }
        let index = match last.and_then(|last| self.variant(last, &trail.links)) {
            Some(known) => {
                self.all[known.0 as usize].version = self.version;
                known
            }
            None => self.keep(topology, end, trail, last),
        };
        if last != Some(index) {
            self.last_found.insert((trail.origin, end), index);
        }
        index
    }

    /// A path along a way that nobody else has, in the place of one that is no longer needed.
    pub(crate) fn renew(
        &mut self,
        topology: &Topology,
        old: Option<PathIndex>,
        end: NodeIndex,
        trail: &Trail,
    ) -> PathIndex {
        let Some(index) = old else { return self.keep(topology, end, trail, None) };
        let (span, path) = (&mut self.spans[index.0 as usize], &mut self.all[index.0 as usize]);
        span.link_count = trail.links.len() as u32;
        if path.room < span.link_count {
            // Twice as much at least, so that all that was left behind is never more than there is.
            path.room = span.link_count.max(2 * path.room);
            span.first_link = u32::try_from(self.links.len()).expect("fewer than 2^32 links of paths");
            self.links.resize(self.links.len() + path.room as usize, LinkIndex(0));
        }
        self.links[span.first_link as usize..][..trail.links.len()].copy_from_slice(&trail.links);
        path.latency = latency(topology, &trail.links);
        (path.last_hop, path.origin, path.end) = (trail.last_hop(), trail.origin, end);
        index
    }

    /// The variant of a path that has just these links.
    fn variant(&self, path: PathIndex, links: &[LinkIndex]) -> Option<PathIndex> {
        let mut index = path;
        loop {
            if self.links(index) == links {
                return Some(index);
            }
            index = self.all[index.0 as usize].variant;
            if index == path {
                return None;
            }
        }
    }

    /// Keeps a path along a way, beside its variants.
    fn keep(&mut self, topology: &Topology, end: NodeIndex, trail: &Trail, beside: Option<PathIndex>) -> PathIndex {
        let index = PathIndex(u32::try_from(self.all.len()).expect("fewer than 2^32 paths"));
        let first_link = u32::try_from(self.links.len()).expect("fewer than 2^32 links of paths");
        let link_count = trail.links.len() as u32;
        self.links.extend_from_slice(&trail.links);
        self.spans.push(Span { first_link, link_count });
        let variant = match beside {
            Some(beside) => std::mem::replace(&mut self.all[beside.0 as usize].variant, index),
            None => index,
        };
        self.all.push(Path {
            latency: latency(topology, &trail.links),
            last_hop: trail.last_hop(),
            origin: trail.origin,
            end,
            version: self.version,
            variant,
            room: link_count,
        });
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
                if self.search.reached[to.position()] != self.search.round && self.carries(link) {
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

fn latency(topology: &Topology, links: &[LinkIndex]) -> f64 {
    links.iter().map(|link| topology.latency_of_link(*link)).sum()
}

#[cfg(test)]
mod tests {
    use mario_domain::{Capacity, NodeId};

    use super::*;
    use crate::topology::{NodeDescription, TopologyBuilder};

    /// Three nodes, each linked to both others.
    fn triangle() -> Topology {
        let mut builder = TopologyBuilder::default();
        for number in 0..3 {
            let (id, capacity) = (NodeId::number(number), Capacity::Unbounded);
            let node =
                NodeDescription { id, capacity, tier: 0, position: None, is_access_point: true, facts: Vec::new() };
            builder.node(node).expect("a new node");
        }
        for (one, other, latency) in [(0, 1, 2.0), (1, 2, 3.0), (0, 2, 4.0)] {
            builder.link(NodeIndex(one), NodeIndex(other), latency, None).expect("a link");
        }
        builder.build().expect("an infrastructure")
    }

    fn way(paths: &mut Paths, topology: &Topology) -> Option<PathIndex> {
        let mut found = Vec::new();
        paths.nearest(topology, NodeIndex(0), |node| node == NodeIndex(2), &mut found);
        let mut trail = Trail::default();
        let end = *found.first()?;
        paths.trace(NodeIndex(0), end, &mut trail);
        Some(paths.path(topology, end, &trail))
    }

    #[test]
    fn a_link_that_comes_and_goes_a_thousand_times_leaves_two_paths() {
        let topology = triangle();
        let mut paths = Paths::new(&topology);
        let direct = way(&mut paths, &topology).expect("a way");
        for _ in 0..1_000 {
            assert!(paths.set_link(&topology, NodeIndex(2), NodeIndex(0), false));
            let round = way(&mut paths, &topology).expect("a way");
            assert!((paths.latency(round) - 5.0).abs() < f64::EPSILON);
            assert_eq!(paths.last_hop(round), Neighbour::Node(NodeIndex(1)));
            assert!(paths.set_link(&topology, NodeIndex(0), NodeIndex(2), true));
            assert_eq!(way(&mut paths, &topology), Some(direct));
        }
        assert_eq!((paths.all.len(), paths.links.len()), (2, 3));
    }

    #[test]
    fn a_path_that_is_renewed_takes_no_more_room_than_twice_the_longest() {
        let topology = triangle();
        let mut paths = Paths::new(&topology);
        let link = |from, to| topology.link_between(NodeIndex(from), NodeIndex(to)).expect("linked");
        let mut renew = |old, nodes: &[u32]| {
            let mut trail = Trail::default();
            trail.begin(NodeIndex(nodes[0]));
            for pair in nodes.windows(2) {
                trail.go(NodeIndex(pair[0]), link(pair[0], pair[1]));
            }
            let end = NodeIndex(nodes[nodes.len() - 1]);
            let path = paths.renew(&topology, old, end, &trail);
            let links: Vec<LinkIndex> = nodes.windows(2).map(|pair| link(pair[0], pair[1])).collect();
            assert_eq!(paths.links(path), links);
            assert_eq!((paths.origin(path), paths.end(path)), (NodeIndex(nodes[0]), end));
            (path, paths.latency(path), paths.last_hop(path), paths.links.len())
        };
        let (path, latency, last_hop, _) = renew(None, &[1]);
        assert!(latency.abs() < f64::EPSILON);
        assert_eq!(last_hop, Neighbour::Own);
        let (other, ..) = renew(None, &[2, 0]);
        assert_ne!(other, path);
        for _ in 0..100 {
            for nodes in [&[0, 1, 2][..], &[0, 2], &[0, 1, 2, 0, 1], &[2]] {
                let (same, latency, last_hop, links) = renew(Some(path), nodes);
                assert_eq!(same, path);
                let hops: f64 = nodes.windows(2).map(|pair| topology.link(link(pair[0], pair[1])).latency).sum();
                assert!((latency - hops).abs() < f64::EPSILON);
                let before =
                    nodes.len().checked_sub(2).map_or(Neighbour::Own, |last| Neighbour::Node(NodeIndex(nodes[last])));
                assert_eq!(last_hop, before);
                assert!(links <= 1 + 2 * 4, "{links}");
            }
        }
        assert_eq!(paths.links(other), [link(2, 0)], "which nobody renewed");
    }

    #[test]
    fn no_way_leads_through_a_node_that_is_down() {
        let topology = triangle();
        let mut paths = Paths::new(&topology);
        assert!(paths.set_link(&topology, NodeIndex(0), NodeIndex(2), false));
        paths.set_node(&topology, NodeIndex(1), false);
        assert_eq!(way(&mut paths, &topology), None);
        let neighbours = |paths: &Paths| [0, 1, 2].map(|node| paths.neighbours(&topology, NodeIndex(node)).count());
        assert_eq!(neighbours(&paths), [0, 0, 0]);
        paths.set_node(&topology, NodeIndex(1), true);
        assert_eq!(neighbours(&paths), [1, 2, 1]);
        assert!(!paths.set_link(&topology, NodeIndex(0), NodeIndex(2), false), "it is down already");
    }
}
