//! The distance field of one application: for every node, the distance to the nearest instance, and the next hop.
//!
//! Updated incrementally as instances come and go: the cost depends on the region in which an instance is, or was,
//! among the nearest. Cells in that region become stale: their routes must be computed again.

mod by_hops;
mod by_latency;
#[cfg(test)]
mod tests;

use mario_scenario::{LinkIndex, Metric, NodeIndex, Topology};
use serde::{Deserialize, Serialize};

use super::CellIndex;
use crate::paths::{Candidate, Paths, Trail};
use crate::population::AgentIndex;

/// The entries of all nodes for one application; empty before the first instance or cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Field {
    spots: Vec<Spot>,
}

/// The entry of one node. All of it is read together.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Spot {
    /// The distance to the nearest instance; infinite where none is reachable.
    distance: f64,
    onward: Onward,
    mark: Mark,
}

/// The next hop to the nearest instance: the number of the only link that leads nearer, or of the only instance here,
/// or one of the constants. It is computed with the distance where that is easy, else on demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Onward(u32);

impl Onward {
    const UNKNOWN: Onward = Onward(u32::MAX);
    /// Several next hops are equally near.
    const SEVERAL: Onward = Onward(u32::MAX - 1);
    /// The nearest instances are here, and nowhere else.
    const HERE: Onward = Onward(u32::MAX - 2);
}

/// The cell of a node, with the highest bit set while its routes are stale.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Mark(u32);

impl Mark {
    const STALE: u32 = 1 << 31;
    /// The node has no cell.
    const NOBODY: Mark = Mark(u32::MAX);
}

/// The destination of the requests from a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Destination {
    /// No instance is reachable.
    Nowhere,
    /// A single node on a single path, with its instance if it is known to be the only one there.
    One(NodeIndex, Option<AgentIndex>),
    /// Several equally short paths.
    Several,
}

/// The topology and metric in which distances are measured.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
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

impl Spot {
    const EMPTY: Spot = Spot { distance: f64::INFINITY, onward: Onward::UNKNOWN, mark: Mark::NOBODY };

    /// Marks the routes of the cell, if there is one, as stale.
    #[inline]
    fn forget(&mut self, stale: &mut Vec<CellIndex>) {
        if self.mark.0 < Mark::STALE {
            stale.push(CellIndex(self.mark.0));
            self.mark.0 |= Mark::STALE;
        }
    }
}

impl Ground<'_> {
    /// The nodes that are one hop away. All links exist in both directions.
    #[inline]
    fn around(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        self.links_around(node).map(|(_, to)| to)
    }

    /// The neighbours with the links that lead to them.
    #[inline]
    fn links_around(&self, node: NodeIndex) -> impl Iterator<Item = (LinkIndex, NodeIndex)> {
        self.topology.ends_of_links(node).filter(|(link, _)| self.paths.carries(*link))
    }

    /// The neighbours with their distances. Links have the same length in both directions.
    fn before(&self, node: NodeIndex) -> impl Iterator<Item = (NodeIndex, f64)> {
        let links = self.topology.links_from(node).filter(|(link, _)| self.paths.carries(*link));
        links.map(|(_, link)| (link.to, self.metric.length(link.latency)))
    }
}

impl Field {
    /// Whether every next hop is a link of its node or an instance, and following them terminates.
    pub(super) fn holds_together(&self, topology: &Topology, agents: usize) -> bool {
        /// Marks nodes from which a walk is known to terminate; the others have the number of the walk that visited
        /// them.
        const ENDED: usize = usize::MAX;
        if ![0, topology.node_count()].contains(&self.spots.len()) {
            return false;
        }
        let onward = |node: usize| self.next(topology, NodeIndex::at(node));
        let goes_on = |(node, spot): (usize, &Spot)| {
            let number = spot.onward.0;
            let is_link = || topology.links_from(NodeIndex::at(node)).any(|(link, _)| link.0 == number);
            spot.distance >= 0.0
                && (number >= Onward::HERE.0
                    || if spot.distance > 0.0 { is_link() } else { (number as usize) < agents })
        };
        let mut walks = vec![0; self.spots.len()];
        let ends = |walk: usize, walks: &mut Vec<usize>| {
            let (mut node, mut way) = (Some(walk - 1), Vec::new());
            while let Some(here) = node.filter(|here| walks[*here] != ENDED) {
                if walks[here] == walk {
                    return false;
                }
                walks[here] = walk;
                way.push(here);
                node = onward(here).map(NodeIndex::position);
            }
            way.into_iter().for_each(|here| walks[here] = ENDED);
            true
        };
        self.spots.iter().enumerate().all(goes_on) && (1..=self.spots.len()).all(|walk| ends(walk, &mut walks))
    }

    /// Allocates the entries, if there are none yet.
    pub(super) fn prepare(&mut self, nodes: usize) {
        if self.spots.is_empty() {
            self.spots = vec![Spot::EMPTY; nodes];
        }
    }

    /// Whether there never was an instance or a cell.
    pub(crate) fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }

    #[inline]
    pub(crate) fn distance(&self, node: NodeIndex) -> f64 {
        self.spots[node.position()].distance
    }

    /// The cell of a node.
    #[inline]
    pub(super) fn cell(&self, node: NodeIndex) -> Option<CellIndex> {
        let mark = self.spots[node.position()].mark;
        (mark != Mark::NOBODY).then_some(CellIndex(mark.0 & !Mark::STALE))
    }

    /// Adds the cell of a node, with stale routes.
    pub(super) fn add_cell(&mut self, node: NodeIndex, cell: CellIndex) {
        assert!(cell.0 < Mark::STALE - 1, "fewer than 2^31 cells");
        self.spots[node.position()].mark = Mark(cell.0 | Mark::STALE);
    }

    /// Marks the routes of a cell as fresh.
    pub(super) fn refresh(&mut self, node: NodeIndex) {
        self.spots[node.position()].mark.0 &= !Mark::STALE;
    }

    /// Marks the routes of a cell as stale.
    pub(super) fn forget(&mut self, node: NodeIndex, stale: &mut Vec<CellIndex>) {
        self.spots[node.position()].forget(stale);
    }

    /// Adds an instance on a node. Cells that have it among their nearest become stale: the nearest first, then in the
    /// order of nodes.
    pub(super) fn add(
        &mut self,
        ground: Ground<'_>,
        node: NodeIndex,
        frontier: &mut Frontier,
        stale: &mut Vec<CellIndex>,
    ) {
        if ground.paths.is_node_up(node) {
            match ground.metric {
                Metric::Hops => by_hops::add(&mut self.spots, ground, node, &mut frontier.by_hops, stale),
                Metric::Latency => by_latency::add(&mut self.spots, ground, node, &mut frontier.by_latency, stale),
            }
        }
    }

    /// Removes an instance from a node. Cells that had it among their nearest become stale, in the same order; `hosts`
    /// returns whether a node still has an instance.
    pub(super) fn remove(
        &mut self,
        ground: Ground<'_>,
        node: NodeIndex,
        hosts: impl Fn(NodeIndex) -> bool,
        frontier: &mut Frontier,
        stale: &mut Vec<CellIndex>,
    ) {
        let Frontier { by_hops, by_latency, region } = frontier;
        region.clear();
        match ground.metric {
            Metric::Hops => by_hops::region(&self.spots, ground, node, by_hops, region),
            Metric::Latency => by_latency::region(&self.spots, ground, node, by_latency, region),
        }
        for node in region.iter() {
            self.spots[node.position()].forget(stale);
        }
        if hosts(node) && ground.paths.is_node_up(node) {
            // Another instance remains on the node, so no distance grows.
            self.spots[node.position()].onward = Onward::UNKNOWN;
            return;
        }
        // Nodes with an instance are at distance zero.
        let seeds = region.iter().filter(|node| self.distance(**node) <= 0.0 && hosts(**node));
        let seeds: Vec<NodeIndex> = seeds.copied().collect();
        for node in region.iter() {
            let spot = &mut self.spots[node.position()];
            (spot.distance, spot.onward) = (f64::INFINITY, Onward::UNKNOWN);
        }
        match ground.metric {
            Metric::Hops => by_hops::fill(&mut self.spots, ground, &seeds, region, by_hops),
            Metric::Latency => by_latency::fill(&mut self.spots, ground, &seeds, region, by_latency),
        }
    }

    /// Recomputes everything after nodes or links went up or down; `hosts` are all nodes with an instance.
    pub(super) fn rebuild(
        &mut self,
        ground: Ground<'_>,
        hosts: impl Iterator<Item = NodeIndex>,
        frontier: &mut Frontier,
    ) {
        for spot in &mut self.spots {
            (spot.distance, spot.onward) = (f64::INFINITY, Onward::UNKNOWN);
        }
        let seeds: Vec<NodeIndex> = hosts.collect();
        match ground.metric {
            Metric::Hops => by_hops::fill(&mut self.spots, ground, &seeds, &[], &mut frontier.by_hops),
            Metric::Latency => by_latency::fill(&mut self.spots, ground, &seeds, &[], &mut frontier.by_latency),
        }
    }

    /// Follows the next hops of a node while they are unique, and stores the path. Computed hops are reused by later
    /// calls. `recent` is the end of the path in the trail, if that is still valid: nearby nodes mostly share a path
    /// after a few links.
    pub(super) fn follow(
        &mut self,
        ground: Ground<'_>,
        from: NodeIndex,
        recent: Option<Destination>,
        trail: &mut Trail,
    ) -> Destination {
        trail.begin(from);
        let (mut node, mut position) = (from, 0);
        let destination = loop {
            if let Some(destination) = recent
                && trail.passes(node, position)
            {
                return destination;
            }
            let mut spot = self.spots[node.position()];
            if spot.distance.is_infinite() {
                break Destination::Nowhere;
            }
            if spot.onward == Onward::UNKNOWN {
                spot.onward = self.look_around(ground, node);
                self.spots[node.position()].onward = spot.onward;
            }
            match spot.onward {
                Onward::SEVERAL => break Destination::Several,
                Onward::HERE => break Destination::One(node, None),
                Onward(agent) if spot.distance <= 0.0 => break Destination::One(node, Some(AgentIndex(agent))),
                Onward(link) => {
                    trail.go(position, node, LinkIndex(link));
                    position += 1;
                    node = ground.topology.end_of_link(LinkIndex(link));
                }
            }
        };
        trail.end(position);
        destination
    }

    /// The next hop of a node, if it is known and unique.
    pub(super) fn next(&self, topology: &Topology, node: NodeIndex) -> Option<NodeIndex> {
        let spot = self.spots[node.position()];
        let is_link = spot.distance > 0.0 && spot.onward.0 < Onward::HERE.0;
        is_link.then(|| topology.end_of_link(LinkIndex(spot.onward.0)))
    }

    /// Stores the only instance on a node.
    pub(super) fn remember(&mut self, node: NodeIndex, agent: AgentIndex) {
        self.spots[node.position()].onward = Onward(agent.0);
    }

    fn look_around(&self, ground: Ground<'_>, node: NodeIndex) -> Onward {
        let distance = self.distance(node);
        let leads_on = |(link, to): &(LinkIndex, NodeIndex)| {
            let length = ground.metric.length(ground.topology.latency_of_link(*link));
            (self.distance(*to) + length).to_bits() == distance.to_bits() && ground.paths.carries(*link)
        };
        let mut onward = ground.topology.ends_of_links(node).filter(leads_on);
        match (distance <= 0.0, onward.next(), onward.next()) {
            (true, None, _) => Onward::HERE,
            // Links of length zero do not lead nearer, and could lead back.
            (false, Some((link, to)), None) if self.distance(to) < distance => Onward(link.0),
            _ => Onward::SEVERAL,
        }
    }
}

impl Candidate {
    fn at(node: NodeIndex, distance: f64) -> Candidate {
        Candidate { distance, node }
    }
}
