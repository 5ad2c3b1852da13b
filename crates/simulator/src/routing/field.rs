//! How far every node is from the nearest instance of one application, and where its messages go on to.
//!
//! Kept up to date as instances come and go: what it costs is the region in which an instance is, or was, among the nearest.
//! Cells in that region become stale: their routes are to be found anew.

mod by_hops;
mod by_latency;
#[cfg(test)]
mod tests;

use mario_scenario::{LinkIndex, Metric, NodeIndex, Topology};
use serde::{Deserialize, Serialize};

use super::CellIndex;
use crate::paths::{Candidate, Paths, Trail};
use crate::population::AgentIndex;

/// What is known of every node for one application; nothing at all before the first instance or cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Field {
    spots: Vec<Spot>,
}

/// What is known of one node. All of it is needed together, so it is in one place.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Spot {
    /// How far the nearest instance is; infinite where none can be reached.
    distance: f64,
    onward: Onward,
    mark: Mark,
}

/// How a message goes on to the nearest instance: the number of the only link that leads nearer, or of the only instance that
/// is here, or one of the constants. It is found with the distance where that is easy, else when somebody asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Onward(u32);

impl Onward {
    const UNKNOWN: Onward = Onward(u32::MAX);
    /// More than one way is equally short.
    const SEVERAL: Onward = Onward(u32::MAX - 1);
    /// The nearest instances are here, and nowhere else.
    const HERE: Onward = Onward(u32::MAX - 2);
}

/// The cell of a node, with the highest bit set while its routes are to be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Mark(u32);

impl Mark {
    const STALE: u32 = 1 << 31;
    /// There is no cell, so none that could become stale.
    const NOBODY: Mark = Mark(u32::MAX);
}

/// Where the messages of a node go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Destination {
    /// No instance can be reached.
    Nowhere,
    /// All to one node, by one way. The instance is told if it is known to be the only one there.
    One(NodeIndex, Option<AgentIndex>),
    /// There are several equally short ways.
    Several,
}

/// What distances are measured on.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) topology: &'a Topology,
    pub(super) paths: &'a Paths,
    pub(super) metric: Metric,
}

/// Memory for the searches of all fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Frontier {
    by_hops: by_hops::Levels,
    by_latency: by_latency::Heap,
    region: Vec<NodeIndex>,
}

impl Spot {
    const EMPTY: Spot = Spot { distance: f64::INFINITY, onward: Onward::UNKNOWN, mark: Mark::NOBODY };

    /// The routes of the cell, if there is one, are to be found anew.
    #[inline]
    fn forget(&mut self, stale: &mut Vec<CellIndex>) {
        if self.mark.0 < Mark::STALE {
            stale.push(CellIndex(self.mark.0));
            self.mark.0 |= Mark::STALE;
        }
    }
}

impl Ground<'_> {
    /// The nodes that a message can come from in one hop. All links have both directions.
    #[inline]
    fn around(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        self.links_around(node).map(|(_, to)| to)
    }

    /// The same with the links that lead to them.
    #[inline]
    fn links_around(&self, node: NodeIndex) -> impl Iterator<Item = (LinkIndex, NodeIndex)> {
        self.topology.ends_of_links(node).filter(|(link, _)| self.paths.carries(*link))
    }

    /// The same with how far they are. Links are as long in both directions.
    fn before(&self, node: NodeIndex) -> impl Iterator<Item = (NodeIndex, f64)> {
        let links = self.topology.links_from(node).filter(|(link, _)| self.paths.carries(*link));
        links.map(|(_, link)| (link.to, self.metric.length(link.latency)))
    }
}

impl Field {
    /// Whether every node's messages go on over a link of its own or to an instance, and come to an end.
    pub(super) fn holds_together(&self, topology: &Topology, agents: usize) -> bool {
        /// Marks nodes from which a walk is known to end; the others have the number of the walk that came by.
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

    /// Makes room for what is known, if there is none yet.
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

    /// A node has a cell from now on, whose routes are to be found.
    pub(super) fn add_cell(&mut self, node: NodeIndex, cell: CellIndex) {
        assert!(cell.0 < Mark::STALE - 1, "fewer than 2^31 cells");
        self.spots[node.position()].mark = Mark(cell.0 | Mark::STALE);
    }

    /// The routes of a cell are known.
    pub(super) fn refresh(&mut self, node: NodeIndex) {
        self.spots[node.position()].mark.0 &= !Mark::STALE;
    }

    /// The routes of a cell are to be found anew.
    pub(super) fn forget(&mut self, node: NodeIndex, stale: &mut Vec<CellIndex>) {
        self.spots[node.position()].forget(stale);
    }

    /// An instance came to a node. The cells that have it among their nearest become stale: the nearest first, then in the
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

    /// An instance left a node. The cells that had it among their nearest become stale, in the same order; `hosts` tells
    /// the nodes that still have an instance.
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
            // Nothing is further away than before.
            self.spots[node.position()].onward = Onward::UNKNOWN;
            return;
        }
        // Whatever else has an instance is at no distance from it.
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

    /// Nodes or links went or came; `hosts` are all nodes that have an instance.
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

    /// Follows the messages of a node as far as there is only one way, and takes it down. What is found on the way serves
    /// whoever comes the same way later. `recent` is where the way leads that is in the trail, if that still holds: nodes that lie
    /// together mostly go the same way after a few links.
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

    /// The node that messages of a node go on to, if that is known and there is only one.
    pub(super) fn next(&self, topology: &Topology, node: NodeIndex) -> Option<NodeIndex> {
        let spot = self.spots[node.position()];
        let is_link = spot.distance > 0.0 && spot.onward.0 < Onward::HERE.0;
        is_link.then(|| topology.end_of_link(LinkIndex(spot.onward.0)))
    }

    /// Which instance is the only one on a node that messages go to.
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
            // Links without length lead nowhere nearer, and may lead back.
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
