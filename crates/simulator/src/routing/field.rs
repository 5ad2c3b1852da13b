//! The distance field of one application: for every node, the distance to the nearest instance, and the next hop.
//!
//! Updated incrementally as instances are added and removed: the cost depends on the size of the region in which the
//! instance is, or was, among the nearest. Cells in that region become stale: their routes must be recomputed.

mod by_hops;
mod by_latency;
#[cfg(test)]
mod tests;

use mario_scenario::{LinkIndex, Metric, NodeIndex, Topology};
use serde::{Deserialize, Serialize};

use super::CellIndex;
use crate::paths::{Candidate, PathBuilder, Paths};
use crate::population::AgentIndex;

/// The entries of all nodes for one application; empty before the first instance or cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Field {
    entries: Vec<FieldEntry>,
}

/// The entry of one node. Stored as one struct, because its fields are read together.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FieldEntry {
    /// The distance to the nearest instance; infinite if none is reachable.
    distance: f64,
    next_hop: NextHop,
    mark: CellMark,
}

/// The next hop to the nearest instance: the index of the only link that leads nearer, the index of the only instance
/// on this node, or one of the constants. It is set together with the distance if that is cheap, and otherwise computed
/// on demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct NextHop(u32);

impl NextHop {
    const UNKNOWN: NextHop = NextHop(u32::MAX);
    /// The next hop is not unique, or leads over a link of length zero.
    const SEVERAL: NextHop = NextHop(u32::MAX - 1);
    /// All nearest instances are on this node.
    const HERE: NextHop = NextHop(u32::MAX - 2);
}

/// The cell of a node, with the highest bit set while its routes are stale.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct CellMark(u32);

impl CellMark {
    const STALE: u32 = 1 << 31;
    /// The node has no cell.
    const NOBODY: CellMark = CellMark(u32::MAX);
}

/// The destination of the requests from a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Destination {
    /// No instance is reachable.
    Nowhere,
    /// A single node on a single path, with its instance if that is known to be the only one there.
    One(NodeIndex, Option<AgentIndex>),
    /// Several equally short paths, or a path over a link of length zero. The caller has to search for the nearest
    /// nodes.
    Several,
}

/// The graph and the metric in which distances are measured.
#[derive(Clone, Copy)]
pub(super) struct MetricGraph<'a> {
    pub(super) topology: &'a Topology,
    pub(super) paths: &'a Paths,
    pub(super) metric: Metric,
}

/// Scratch memory for the searches of all fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Frontier {
    by_hops: by_hops::Levels,
    by_latency: by_latency::Heap,
    region: Vec<NodeIndex>,
}

impl FieldEntry {
    const EMPTY: FieldEntry =
        FieldEntry { distance: f64::INFINITY, next_hop: NextHop::UNKNOWN, mark: CellMark::NOBODY };

    /// Marks the routes of the cell, if any, as stale, and adds the cell to `stale` unless it was already stale.
    #[inline]
    fn forget(&mut self, stale: &mut Vec<CellIndex>) {
        if self.mark.0 < CellMark::STALE {
            stale.push(CellIndex(self.mark.0));
            self.mark.0 |= CellMark::STALE;
        }
    }
}

impl MetricGraph<'_> {
    /// The nodes that are one hop away. All links exist in both directions.
    #[inline]
    fn around(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        self.links_around(node).map(|(_, to)| to)
    }

    /// The nodes that are one hop away, with the links that lead to them.
    #[inline]
    fn links_around(&self, node: NodeIndex) -> impl Iterator<Item = (LinkIndex, NodeIndex)> {
        self.topology.ends_of_links(node).filter(|(link, _)| self.paths.carries(*link))
    }

    /// The nodes that are one hop away, with the lengths of the links to them. Links have the same length in both
    /// directions.
    fn before(&self, node: NodeIndex) -> impl Iterator<Item = (NodeIndex, f64)> {
        let links = self.topology.links_from(node).filter(|(link, _)| self.paths.carries(*link));
        links.map(|(_, link)| (link.to, self.metric.length(link.latency)))
    }
}

impl Field {
    /// Whether no distance is negative, every known next hop is a link of its node or an instance, and following next
    /// hops terminates.
    pub(super) fn is_consistent(&self, topology: &Topology, agents: usize) -> bool {
        /// Marks nodes from which a walk is known to terminate. Other nodes have the number of the last walk that
        /// visited them, or 0.
        const ENDED: usize = usize::MAX;
        if ![0, topology.node_count()].contains(&self.entries.len()) {
            return false;
        }
        let next_hop = |node: usize| self.next(topology, NodeIndex::at(node));
        let goes_on = |(node, entry): (usize, &FieldEntry)| {
            let number = entry.next_hop.0;
            let is_link = || topology.links_from(NodeIndex::at(node)).any(|(link, _)| link.0 == number);
            entry.distance >= 0.0
                && (number >= NextHop::HERE.0
                    || if entry.distance > 0.0 { is_link() } else { (number as usize) < agents })
        };
        let mut walks = vec![0; self.entries.len()];
        let ends = |walk: usize, walks: &mut Vec<usize>| {
            let (mut node, mut visited) = (Some(walk - 1), Vec::new());
            while let Some(here) = node.filter(|here| walks[*here] != ENDED) {
                if walks[here] == walk {
                    return false;
                }
                walks[here] = walk;
                visited.push(here);
                node = next_hop(here).map(NodeIndex::position);
            }
            visited.into_iter().for_each(|here| walks[here] = ENDED);
            true
        };
        self.entries.iter().enumerate().all(goes_on) && (1..=self.entries.len()).all(|walk| ends(walk, &mut walks))
    }

    /// Allocates the entries, unless already allocated.
    pub(super) fn prepare(&mut self, nodes: usize) {
        if self.entries.is_empty() {
            self.entries = vec![FieldEntry::EMPTY; nodes];
        }
    }

    /// Whether there has never been an instance or a cell.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(crate) fn distance(&self, node: NodeIndex) -> f64 {
        self.entries[node.position()].distance
    }

    /// The cell of a node; `None` if it has none.
    #[inline]
    pub(super) fn cell(&self, node: NodeIndex) -> Option<CellIndex> {
        let mark = self.entries[node.position()].mark;
        (mark != CellMark::NOBODY).then_some(CellIndex(mark.0 & !CellMark::STALE))
    }

    /// Adds the cell of a node, with stale routes.
    pub(super) fn add_cell(&mut self, node: NodeIndex, cell: CellIndex) {
        assert!(cell.0 < CellMark::STALE - 1, "fewer than 2^31 cells");
        self.entries[node.position()].mark = CellMark(cell.0 | CellMark::STALE);
    }

    /// Marks the routes of a cell as fresh.
    pub(super) fn refresh(&mut self, node: NodeIndex) {
        self.entries[node.position()].mark.0 &= !CellMark::STALE;
    }

    /// Marks the routes of a cell as stale.
    pub(super) fn forget(&mut self, node: NodeIndex, stale: &mut Vec<CellIndex>) {
        self.entries[node.position()].forget(stale);
    }

    /// Adds an instance on a node, if the node is up. The cells that have it among their nearest become stale, in the
    /// order of their distance from it.
    pub(super) fn add(
        &mut self,
        graph: MetricGraph<'_>,
        node: NodeIndex,
        frontier: &mut Frontier,
        stale: &mut Vec<CellIndex>,
    ) {
        if graph.paths.is_node_up(node) {
            match graph.metric {
                Metric::Hops => by_hops::add(&mut self.entries, graph, node, &mut frontier.by_hops, stale),
                Metric::Latency => by_latency::add(&mut self.entries, graph, node, &mut frontier.by_latency, stale),
            }
        }
    }

    /// Removes an instance from a node. The cells that had it among their nearest become stale, in the order of their
    /// distance from it. `hosts` returns whether a node still has an instance.
    pub(super) fn remove(
        &mut self,
        graph: MetricGraph<'_>,
        node: NodeIndex,
        hosts: impl Fn(NodeIndex) -> bool,
        frontier: &mut Frontier,
        stale: &mut Vec<CellIndex>,
    ) {
        let Frontier { by_hops, by_latency, region } = frontier;
        region.clear();
        match graph.metric {
            Metric::Hops => by_hops::region(&self.entries, graph, node, by_hops, region),
            Metric::Latency => by_latency::region(&self.entries, graph, node, by_latency, region),
        }
        for node in region.iter() {
            self.entries[node.position()].forget(stale);
        }
        if hosts(node) && graph.paths.is_node_up(node) {
            // Another instance remains on the node, so no distance changes.
            self.entries[node.position()].next_hop = NextHop::UNKNOWN;
            return;
        }
        // Nodes with an instance are at distance zero.
        let seeds = region.iter().filter(|node| self.distance(**node) <= 0.0 && hosts(**node));
        let seeds: Vec<NodeIndex> = seeds.copied().collect();
        for node in region.iter() {
            let entry = &mut self.entries[node.position()];
            (entry.distance, entry.next_hop) = (f64::INFINITY, NextHop::UNKNOWN);
        }
        match graph.metric {
            Metric::Hops => by_hops::fill(&mut self.entries, graph, &seeds, region, by_hops),
            Metric::Latency => by_latency::fill(&mut self.entries, graph, &seeds, region, by_latency),
        }
    }

    /// Recomputes all distances, and discards the next hops, after nodes or links went up or down. Marks no cell as
    /// stale. `hosts` are all nodes with an instance.
    pub(super) fn rebuild(
        &mut self,
        graph: MetricGraph<'_>,
        hosts: impl Iterator<Item = NodeIndex>,
        frontier: &mut Frontier,
    ) {
        for entry in &mut self.entries {
            (entry.distance, entry.next_hop) = (f64::INFINITY, NextHop::UNKNOWN);
        }
        let seeds: Vec<NodeIndex> = hosts.collect();
        match graph.metric {
            Metric::Hops => by_hops::fill(&mut self.entries, graph, &seeds, &[], &mut frontier.by_hops),
            Metric::Latency => by_latency::fill(&mut self.entries, graph, &seeds, &[], &mut frontier.by_latency),
        }
    }

    /// Follows the next hops of a node while they are unique, and writes the path to `path_builder`. Next hops that
    /// have to be computed are cached. `recent` is the end of the previous path in `path_builder`, if it is still
    /// valid: paths of nearby nodes usually join after a few links.
    pub(super) fn follow(
        &mut self,
        graph: MetricGraph<'_>,
        from: NodeIndex,
        recent: Option<Destination>,
        path_builder: &mut PathBuilder,
    ) -> Destination {
        path_builder.begin(from);
        let (mut node, mut position) = (from, 0);
        let destination = loop {
            if let Some(destination) = recent
                && path_builder.passes(node, position)
            {
                return destination;
            }
            let mut entry = self.entries[node.position()];
            if entry.distance.is_infinite() {
                break Destination::Nowhere;
            }
            if entry.next_hop == NextHop::UNKNOWN {
                entry.next_hop = self.look_around(graph, node);
                self.entries[node.position()].next_hop = entry.next_hop;
            }
            match entry.next_hop {
                NextHop::SEVERAL => break Destination::Several,
                NextHop::HERE => break Destination::One(node, None),
                NextHop(agent) if entry.distance <= 0.0 => break Destination::One(node, Some(AgentIndex(agent))),
                NextHop(link) => {
                    path_builder.go(position, node, LinkIndex(link));
                    position += 1;
                    node = graph.topology.end_of_link(LinkIndex(link));
                }
            }
        };
        path_builder.end(position);
        destination
    }

    /// The next hop of a node, if it is known and unique; `None` on a node with an instance.
    pub(super) fn next(&self, topology: &Topology, node: NodeIndex) -> Option<NodeIndex> {
        let entry = self.entries[node.position()];
        let is_link = entry.distance > 0.0 && entry.next_hop.0 < NextHop::HERE.0;
        is_link.then(|| topology.end_of_link(LinkIndex(entry.next_hop.0)))
    }

    /// Stores the only instance on a node as its next hop.
    pub(super) fn remember(&mut self, node: NodeIndex, agent: AgentIndex) {
        self.entries[node.position()].next_hop = NextHop(agent.0);
    }

    fn look_around(&self, graph: MetricGraph<'_>, node: NodeIndex) -> NextHop {
        let distance = self.distance(node);
        let leads_on = |(link, to): &(LinkIndex, NodeIndex)| {
            let length = graph.metric.length(graph.topology.latency_of_link(*link));
            (self.distance(*to) + length).to_bits() == distance.to_bits() && graph.paths.carries(*link)
        };
        let mut next_hop = graph.topology.ends_of_links(node).filter(leads_on);
        match (distance <= 0.0, next_hop.next(), next_hop.next()) {
            (true, None, _) => NextHop::HERE,
            // Links of length zero do not lead nearer, and could lead back.
            (false, Some((link, to)), None) if self.distance(to) < distance => NextHop(link.0),
            _ => NextHop::SEVERAL,
        }
    }
}

impl Candidate {
    fn at(node: NodeIndex, distance: f64) -> Candidate {
        Candidate { distance, node }
    }
}
