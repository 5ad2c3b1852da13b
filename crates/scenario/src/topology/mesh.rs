//! Infrastructures that are not trees: grids, and random graphs.

use std::collections::VecDeque;

use mario_domain::{Capacity, Duration, NodeId};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::geometric::{self, Metres};
use super::tiled::NODES_MAX;
use super::{NodeDescription, ShapeError, Topology, TopologyBuilder};
use crate::index::NodeIndex;
use crate::position::{Area, Position};

/// The maximum number of links of a generated infrastructure, which bounds the memory.
pub(crate) const LINKS_MAX: usize = 1 << 25;

/// The properties of nodes and links of a mesh. One node, chosen by the generator, is the hub, which is the cloud. The
/// tier of a node is its distance from the hub, in hops.
#[derive(Clone, PartialEq, Debug)]
pub struct Mesh {
    /// The area of the nodes.
    pub area: Area,
    /// The hardware of the nodes of each tier, from the hub outwards; the last value applies to all further tiers.
    pub capacities: Vec<Capacity>,
    /// The latency of links.
    pub latency: Latency,
    /// Which nodes are access points.
    pub access_points: AccessPoints,
}

/// The latency of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Latency {
    /// The same for every link.
    Constant(Duration),
    /// Depending on the length of the link.
    PerKilometre {
        /// The latency of a link of length 0.
        base: Duration,
        /// The additional latency per kilometre.
        per_kilometre: Duration,
    },
}

/// Which nodes users can be connected to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AccessPoints {
    /// All.
    All,
    /// This share of all nodes, from 0 to 1, but at least one node: the nodes with the most hops to the hub. Ties go to
    /// the earlier node.
    Farthest(f64),
}

/// A random infrastructure, and the number of links that were added to connect it.
#[derive(Clone, Debug)]
pub struct ConnectedTopology {
    /// The infrastructure.
    pub topology: Topology,
    /// The number of links that were added to connect the graph.
    pub links_added: usize,
}

impl Mesh {
    /// The defaults: a hub of unbounded hardware, 6 units for its neighbours and 1 for nodes farther out; a latency of
    /// 1 millisecond plus 1 per kilometre; three quarters of the nodes are access points, about as in the paper's tree.
    pub fn over(area: Area) -> Mesh {
        Mesh {
            area,
            capacities: vec![Capacity::Unbounded, Capacity::units(6), Capacity::units(1)],
            latency: Latency::PerKilometre { base: Duration::of(1.0), per_kilometre: Duration::of(1.0) },
            access_points: AccessPoints::Farthest(0.75),
        }
    }

    fn check(&self) -> Result<(), ShapeError> {
        let value = |what, expected| Err(ShapeError::Value { what, expected });
        if self.capacities.is_empty() {
            return value("the list of capacities", "not empty");
        }
        if let AccessPoints::Farthest(share) = self.access_points
            && !(0.0..=1.0).contains(&share)
        {
            return value("the share of access points", "from 0 to 1");
        }
        let area = [self.area.height_m(), self.area.width_m()];
        if area.iter().any(|side| !side.is_finite() || *side <= 0.0) {
            return value("the area", "larger than nothing");
        }
        Ok(())
    }

    /// Builds the infrastructure with these nodes and links. `hub` is the index of the hub in `nodes`.
    fn furnish(
        &self,
        nodes: Vec<(NodeId, Position)>,
        links: &[(u32, u32)],
        hub: usize,
    ) -> Result<Topology, ShapeError> {
        let tiers = distances(nodes.len(), links, hub);
        let is_access_point = self.choose_access_points(&tiers);
        let mut builder = TopologyBuilder::with_capacity(nodes.len(), links.len());
        for (node, (id, position)) in nodes.into_iter().enumerate() {
            let tier = tiers[node];
            builder.node(NodeDescription {
                id,
                capacity: self.capacities[(tier as usize).min(self.capacities.len() - 1)],
                tier: u16::try_from(tier).unwrap_or(u16::MAX),
                position: Some(position),
                is_access_point: is_access_point[node],
                facts: Vec::new(),
            })?;
        }
        for (one, other) in links {
            let (one, other) = (NodeIndex(*one), NodeIndex(*other));
            let latency = match self.latency {
                Latency::Constant(latency) => latency,
                Latency::PerKilometre { base, per_kilometre } => {
                    base + per_kilometre * builder.distance_m(one, other).unwrap_or(0.0) / 1_000.0
                }
            };
            builder.link(one, other, latency, None)?;
        }
        Ok(builder.build()?)
    }

    fn choose_access_points(&self, tiers: &[u32]) -> Vec<bool> {
        let AccessPoints::Farthest(share) = self.access_points else { return vec![true; tiers.len()] };
        let count = ((share * tiers.len() as f64).round() as usize).max(1);
        let mut by_distance: Vec<usize> = (0..tiers.len()).collect();
        by_distance.sort_by_key(|node| std::cmp::Reverse(tiers[*node]));
        let mut chosen = vec![false; tiers.len()];
        for node in &by_distance[..count] {
            chosen[*node] = true;
        }
        chosen
    }
}

/// A grid with `height` nodes from south to north and `width` from west to east. Node `x{x}y{y}` is linked to its
/// neighbours in the north, east, south and west. `x` counts from south to north, `y` from west to east. Nodes are
/// ordered by x, then y, and are at the centres of their cells; the hub is in the middle of the grid.
pub fn grid(height: u32, width: u32, mesh: &Mesh) -> Result<Topology, ShapeError> {
    mesh.check()?;
    check_count(u64::from(height) * u64::from(width))?;
    let centre = |cell: u32, count: u32| (f64::from(cell) + 0.5) / f64::from(count);
    let cells = || (0..height).flat_map(|x| (0..width).map(move |y| (x, y)));
    let place = |(x, y)| mesh.area.at(centre(x, height), centre(y, width));
    let nodes = cells().map(|(x, y)| (name(&format!("x{x}y{y}")), place((x, y)))).collect();
    let mut links = Vec::new();
    for (x, y) in cells() {
        let node = x * width + y;
        if y + 1 < width {
            links.push((node, node + 1));
        }
        if x + 1 < height {
            links.push((node, node + width));
        }
    }
    mesh.furnish(nodes, &links, (height / 2 * width + width / 2) as usize)
}

/// `count` nodes `n0`, `n1` and so on at random positions in the area, which is assumed flat. Nodes within `radius`
/// metres are linked. While the graph is disconnected, the two closest nodes of different parts are linked too. The hub
/// is the node closest to the middle of the area.
pub fn random_geometric(count: u32, radius: f64, mesh: &Mesh, seed: u64) -> Result<ConnectedTopology, ShapeError> {
    mesh.check()?;
    check_count(u64::from(count))?;
    if !(radius.is_finite() && radius >= 0.0) {
        return Err(ShapeError::Value { what: "the radius", expected: "a number of metres, not negative" });
    }
    let size = Metres { north: mesh.area.height_m(), east: mesh.area.width_m() };
    let mut random = Pcg64::seed_from_u64(seed);
    let places: Vec<Metres> = (0..count)
        .map(|_| Metres { north: random.random::<f64>() * size.north, east: random.random::<f64>() * size.east })
        .collect();
    let near = geometric::Near::new(&places, size, radius);
    let mut links = near.pairs(LINKS_MAX).ok_or(ShapeError::TooLarge)?;
    let drawn = links.len();
    near.connect(&mut links);
    let middle = Metres { north: size.north / 2.0, east: size.east / 2.0 };
    let from_middle = |node: &usize| places[*node].square_to(middle);
    let hub = (0..places.len()).min_by(|one, other| from_middle(one).total_cmp(&from_middle(other))).unwrap_or(0);
    let position = |place: &Metres| mesh.area.at(place.north / size.north, place.east / size.east);
    let nodes = places.iter().enumerate().map(|(node, place)| (name(&format!("n{node}")), position(place))).collect();
    Ok(ConnectedTopology { topology: mesh.furnish(nodes, &links, hub)?, links_added: links.len() - drawn })
}

/// `count` nodes `n0`, `n1` and so on. `n0` is linked to the next `links_each` nodes. Each later node joins with
/// `links_each` links to different earlier nodes, by preferential attachment. Nodes are at random positions in the
/// area. The hub is the node with the most links; on a tie, the first.
pub fn barabasi_albert(count: u32, links_each: u32, mesh: &Mesh, seed: u64) -> Result<Topology, ShapeError> {
    mesh.check()?;
    check_count(u64::from(count))?;
    if links_each == 0 || links_each >= count {
        return Err(ShapeError::Value {
            what: "the number of links of each node",
            expected: "from 1 to below the number of nodes",
        });
    }
    if count as usize * links_each as usize > LINKS_MAX {
        return Err(ShapeError::TooLarge);
    }
    let mut random = Pcg64::seed_from_u64(seed);
    // Node 0 is linked to the next `links_each` nodes, so that none of them is isolated.
    let mut links: Vec<(u32, u32)> = (1..=links_each).map(|node| (0, node)).collect();
    // One entry for each end of a link: a uniform draw from this list selects a node in proportion to its number of
    // links.
    let mut ends: Vec<u32> = links.iter().flat_map(|(one, other)| [*one, *other]).collect();
    let mut chosen: Vec<u32> = Vec::with_capacity(links_each as usize);
    // For each node, the last node that chose it, so that no node chooses another twice.
    let mut chosen_by = vec![0_u32; count as usize];
    for node in links_each + 1..count {
        chosen.clear();
        while chosen.len() < links_each as usize {
            let end = ends[random.random_range(0..ends.len())];
            if chosen_by[end as usize] != node {
                chosen_by[end as usize] = node;
                chosen.push(end);
            }
        }
        for earlier in &chosen {
            links.push((*earlier, node));
            ends.extend([*earlier, node]);
        }
    }
    let nodes = (0..count)
        .map(|node| (name(&format!("n{node}")), mesh.area.at(random.random::<f64>(), random.random::<f64>())))
        .collect();
    let mut degrees = vec![0_u32; count as usize];
    for end in ends {
        degrees[end as usize] += 1;
    }
    let hub = (0..degrees.len()).max_by_key(|node| (degrees[*node], std::cmp::Reverse(*node))).unwrap_or(0);
    mesh.furnish(nodes, &links, hub)
}

fn check_count(count: u64) -> Result<(), ShapeError> {
    match count {
        0 => Err(ShapeError::Value { what: "the number of nodes", expected: "at least 1" }),
        _ if count > NODES_MAX => Err(ShapeError::TooLarge),
        _ => Ok(()),
    }
}

fn name(text: &str) -> NodeId {
    NodeId::name(text).expect("neither empty nor `self`")
}

/// The number of hops of each node from `from`, by breadth-first search; `u32::MAX` for an unreachable node.
fn distances(count: usize, links: &[(u32, u32)], from: usize) -> Vec<u32> {
    let mut first = vec![0_usize; count + 1];
    for (one, other) in links {
        first[*one as usize + 1] += 1;
        first[*other as usize + 1] += 1;
    }
    for node in 1..=count {
        first[node] += first[node - 1];
    }
    let mut next = first.clone();
    let mut neighbours = vec![0_u32; links.len() * 2];
    for (one, other) in links {
        for (from, to) in [(one, other), (other, one)] {
            neighbours[next[*from as usize]] = *to;
            next[*from as usize] += 1;
        }
    }
    let mut hops = vec![u32::MAX; count];
    hops[from] = 0;
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for neighbour in &neighbours[first[node]..first[node + 1]] {
            if hops[*neighbour as usize] == u32::MAX {
                hops[*neighbour as usize] = hops[node] + 1;
                queue.push_back(*neighbour as usize);
            }
        }
    }
    hops
}

#[cfg(test)]
mod tests;
