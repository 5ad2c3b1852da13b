//! Finds and stores paths, and tracks which nodes and links are up.

mod restored;
#[cfg(test)]
mod tests;

use std::collections::{BinaryHeap, VecDeque};

use mario_domain::Duration;
use mario_scenario::{LinkIndex, Metric, NodeIndex, Topology};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::population::Neighbour;
use crate::routing::Field;

/// The index of a path. Paths are never removed, because messages in transit refer to them. Only paths stored by
/// `Paths::renew` are overwritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PathIndex(u32);

/// All paths found so far, and the state of nodes and links.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Paths {
    all: Vec<Path>,
    /// The links of long paths.
    links: Vec<LinkIndex>,
    /// For each pair of nodes, the last path found between them. Valid only if the path has the current version.
    last_found: FxHashMap<(NodeIndex, NodeIndex), PathIndex>,
    node_is_up: Vec<bool>,
    link_is_up: Vec<bool>,
    /// Incremented whenever a node or a link goes up or down.
    version: u32,
    /// For each link, whether it can carry messages: the link and the nodes at both ends are up.
    link_carries: Vec<bool>,
    /// The number of links that cannot carry messages.
    idle_links: u32,
    /// Scratch memory for searches.
    #[serde(skip)]
    search: Search,
}

/// The maximum number of links of a short path, which are stored inline.
const SHORT: usize = 5;

/// A path, in one cache line. The links of a long path are stored in `Paths::links`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
struct Path {
    link_count: u32,
    /// The links of a short path.
    short: [LinkIndex; SHORT],
    /// The position of a long path's links in `Paths::links`, and the number of links that fit there.
    first_link: u32,
    room: u32,
    latency: Duration,
    last_hop: Neighbour,
    origin: NodeIndex,
    end: NodeIndex,
    /// The version of the infrastructure in which the path was last found by `Paths::path`. `Paths::renew` sets it only
    /// for a new slot, and does not read it.
    version: u32,
    /// The next path in a circular list of paths between the same nodes. A path stored by `Paths::renew` is alone in
    /// its list.
    variant: PathIndex,
}

const _: () = assert!(size_of::<Path>() == 64, "one line");

/// A path under construction from one node to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PathBuilder {
    origin: NodeIndex,
    /// The links, and the nodes at which they start.
    links: Vec<LinkIndex>,
    nodes: Vec<NodeIndex>,
}

impl Default for PathBuilder {
    fn default() -> PathBuilder {
        PathBuilder { origin: NodeIndex(0), links: Vec::new(), nodes: Vec::new() }
    }
}

impl PathBuilder {
    /// Starts a path at `origin`. The previous path is kept, for [`PathBuilder::passes`].
    pub(crate) fn begin(&mut self, origin: NodeIndex) {
        self.origin = origin;
    }

    /// Whether the previous path passed this node after `position` links.
    #[inline]
    pub(crate) fn passes(&self, node: NodeIndex, position: usize) -> bool {
        self.nodes.get(position) == Some(&node)
    }

    /// Sets the link at `position`, which starts at `node`.
    #[inline]
    pub(crate) fn go(&mut self, position: usize, node: NodeIndex, link: LinkIndex) {
        if position < self.links.len() {
            (self.nodes[position], self.links[position]) = (node, link);
        } else {
            self.nodes.push(node);
            self.links.push(link);
        }
    }

    /// Ends the path after `position` links.
    #[inline]
    pub(crate) fn end(&mut self, position: usize) {
        self.links.truncate(position);
        self.nodes.truncate(position);
    }

    fn last_hop(&self) -> Neighbour {
        self.nodes.last().map_or(Neighbour::Own, |last| Neighbour::Node(*last))
    }
}

/// Reusable memory for a search.
#[derive(Clone, Debug, Default)]
struct Search {
    round: u32,
    /// For each node, the round in which it was last reached.
    reached: Vec<u32>,
    /// For each node, its distance from the start, if it was reached in this round; not used by `Paths::descend`.
    /// `from` has the node and the link from which it was reached.
    distance: Vec<f64>,
    from: Vec<(NodeIndex, LinkIndex)>,
    queue: VecDeque<NodeIndex>,
}

impl Search {
    fn new(nodes: usize) -> Search {
        Search {
            round: 0,
            reached: vec![0; nodes],
            distance: vec![0.0; nodes],
            from: vec![(NodeIndex(0), LinkIndex(0)); nodes],
            queue: VecDeque::new(),
        }
    }
}

/// A candidate of the search, for a max-heap: the nearest candidate is the greatest; of two at the same distance, the
/// one with the lower node index.
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
            all: Vec::new(),
            links: Vec::new(),
            last_found: FxHashMap::default(),
            node_is_up: vec![true; nodes],
            link_is_up: vec![true; topology.link_count()],
            version: 1,
            link_carries: vec![true; topology.link_count()],
            idle_links: 0,
            search: Search::new(nodes),
        }
    }

    /// Reserves memory for `count` more paths.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.all.reserve_exact(count);
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

    /// Sets both directions of a link up or down. Returns whether that changed anything.
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

    /// Whether a message can be sent over a link: the link and the nodes at both ends are up.
    #[inline]
    pub(crate) fn carries(&self, link: LinkIndex) -> bool {
        // The common case, in which all links can carry messages, needs no lookup.
        self.idle_links == 0 || self.link_carries[link.0 as usize]
    }

    /// The nodes that a node can reach over one link.
    pub(crate) fn neighbours<'a>(
        &'a self,
        topology: &'a Topology,
        node: NodeIndex,
    ) -> impl Iterator<Item = NodeIndex> + 'a {
        topology.links_from(node).filter(|(link, _)| self.carries(*link)).map(|(_, link)| link.to)
    }

    /// The link at `position`, or `None` at the end of the path.
    #[inline]
    pub(crate) fn link(&self, path: PathIndex, position: u32) -> Option<LinkIndex> {
        self.links(path).get(position as usize).copied()
    }

    /// All links of a path.
    #[inline]
    pub(crate) fn links(&self, path: PathIndex) -> &[LinkIndex] {
        let path = &self.all[path.0 as usize];
        let count = path.link_count as usize;
        if count <= SHORT { &path.short[..count] } else { &self.links[path.first_link as usize..][..count] }
    }

    pub(crate) fn latency(&self, path: PathIndex) -> Duration {
        self.all[path.0 as usize].latency
    }

    pub(crate) fn last_hop(&self, path: PathIndex) -> Neighbour {
        self.all[path.0 as usize].last_hop
    }

    /// The first node of a path.
    pub(crate) fn origin(&self, path: PathIndex) -> NodeIndex {
        self.all[path.0 as usize].origin
    }

    /// The last node of a path.
    pub(crate) fn end(&self, path: PathIndex) -> NodeIndex {
        self.all[path.0 as usize].end
    }

    /// Replaces `found` by the wanted nodes that are the fewest hops away from `from`, sorted; empty if none is
    /// reachable, or if `from` is down.
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

    /// Replaces `found` by the nodes with distance 0 in a distance field that are nearest to `from`, sorted; empty if
    /// none is reachable. Follows the gradient of the field: from each node to those neighbours whose distance is
    /// smaller by exactly the length of the link.
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

    /// Incremented whenever a node or a link goes up or down.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// Writes the path between two nodes to `builder`. The last search must have started at `from` and reached `to`.
    pub(crate) fn trace(&self, from: NodeIndex, to: NodeIndex, builder: &mut PathBuilder) {
        builder.begin(from);
        builder.end(0);
        let mut node = to;
        while node != from {
            let (before, link) = self.search.from[node.position()];
            builder.links.push(link);
            builder.nodes.push(before);
            node = before;
        }
        builder.links.reverse();
        builder.nodes.reverse();
    }

    /// Returns the index of the path in `builder`, which is stored if it is new. If another path between the same nodes
    /// was found since the last change of the infrastructure, returns the index of that one instead.
    pub(crate) fn path(&mut self, topology: &Topology, end: NodeIndex, builder: &PathBuilder) -> PathIndex {
        let last = self.last_found.get(&(builder.origin, end)).copied();
        if let Some(last) = last
            && self.all[last.0 as usize].version == self.version
        {
            return last;
        }
        let index = match last.and_then(|last| self.variant(last, &builder.links)) {
            Some(known) => {
                self.all[known.0 as usize].version = self.version;
                known
            }
            None => self.keep(topology, end, builder, last),
        };
        if last != Some(index) {
            self.last_found.insert((builder.origin, end), index);
        }
        index
    }

    /// Stores an unshared path, in the slot of `old` if given.
    pub(crate) fn renew(
        &mut self,
        topology: &Topology,
        old: Option<PathIndex>,
        end: NodeIndex,
        builder: &PathBuilder,
    ) -> PathIndex {
        let Some(index) = old else { return self.keep(topology, end, builder, None) };
        self.put_links(index, &builder.links);
        let path = &mut self.all[index.0 as usize];
        path.latency = latency(topology, &builder.links);
        (path.last_hop, path.origin, path.end) = (builder.last_hop(), builder.origin, end);
        index
    }

    /// Sets the links of a path.
    fn put_links(&mut self, path: PathIndex, links: &[LinkIndex]) {
        let path = &mut self.all[path.0 as usize];
        path.link_count = links.len() as u32;
        if links.len() <= SHORT {
            path.short[..links.len()].copy_from_slice(links);
            return;
        }
        if path.room < path.link_count {
            // At least doubled, so that the space that a path has abandoned in total is never more than what it has
            // now.
            path.room = path.link_count.max(2 * path.room);
            path.first_link = u32::try_from(self.links.len()).expect("fewer than 2^32 links of paths");
            self.links.resize(self.links.len() + path.room as usize, LinkIndex(0));
        }
        self.links[path.first_link as usize..][..links.len()].copy_from_slice(links);
    }

    /// The variant of a path that has exactly these links; `None` if there is none.
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

    /// Stores a new path, and adds it to the variants of `like`, if given.
    fn keep(&mut self, topology: &Topology, end: NodeIndex, new: &PathBuilder, like: Option<PathIndex>) -> PathIndex {
        let index = PathIndex(u32::try_from(self.all.len()).expect("fewer than 2^32 paths"));
        let variant = match like {
            Some(like) => std::mem::replace(&mut self.all[like.0 as usize].variant, index),
            None => index,
        };
        self.all.push(Path {
            link_count: 0,
            short: [LinkIndex(0); SHORT],
            first_link: 0,
            room: 0,
            latency: latency(topology, &new.links),
            last_hop: new.last_hop(),
            origin: new.origin,
            end,
            version: self.version,
            variant,
        });
        self.put_links(index, &new.links);
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

    /// Finds the nearest node for which `is_wanted` is true, and the path to it. Ties are broken by the order of nodes.
    /// `None` if no such node is reachable.
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
                let mut builder = PathBuilder::default();
                self.trace(from, node, &mut builder);
                return Some((node, self.path(topology, node, &builder)));
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

    /// The number of paths.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }
}

fn latency(topology: &Topology, links: &[LinkIndex]) -> Duration {
    links.iter().map(|link| topology.latency_of_link(*link)).sum()
}
