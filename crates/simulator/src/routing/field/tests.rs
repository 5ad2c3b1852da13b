use mario_domain::{Capacity, Duration, NodeId};
use mario_scenario::{NodeDescription, TopologyBuilder};
use mario_testing::Random;

use super::*;

const NODES: usize = 40;

/// A random tree with additional links. Links may have length zero.
fn graph(random: &mut Random) -> Topology {
    let mut builder = TopologyBuilder::default();
    let mut linked = Vec::new();
    for number in 0..NODES {
        let node = NodeDescription {
            id: NodeId::number(number as i64),
            capacity: Capacity::units(1),
            tier: 0,
            position: None,
            is_access_point: true,
            facts: Vec::new(),
        };
        builder.node(node).expect("a new id");
        if number > 0 {
            linked.push((random.below(number), number));
        }
    }
    for _ in 0..random.below(20) {
        let number = 1 + random.below(NODES - 1);
        linked.push((random.below(number), number));
    }
    linked.sort_unstable();
    linked.dedup();
    for (one, other) in linked {
        builder
            .link(NodeIndex::at(one), NodeIndex::at(other), Duration::of(random.below(4_u64) as f64), None)
            .expect("a link");
    }
    builder.build().expect("a graph")
}

/// A topology with a field. Cell `n` is the cell of node `n`.
struct World {
    topology: Topology,
    paths: Paths,
    metric: Metric,
    hosts: Vec<bool>,
    field: Field,
    frontier: Frontier,
    stale: Vec<CellIndex>,
}

impl World {
    fn new(random: &mut Random, metric: Metric) -> World {
        let topology = graph(random);
        let mut field = Field::default();
        field.prepare(NODES);
        for node in (0..NODES).filter(|_| random.below(3) > 0).map(NodeIndex::at) {
            assert_eq!(field.cell(node), None);
            field.add_cell(node, CellIndex(node.0));
            field.refresh(node);
            assert_eq!(field.cell(node), Some(CellIndex(node.0)));
        }
        let paths = Paths::new(&topology);
        let hosts = vec![false; NODES];
        World { topology, paths, metric, hosts, field, frontier: Frontier::default(), stale: Vec::new() }
    }

    fn nodes() -> impl Iterator<Item = NodeIndex> {
        (0..NODES).map(NodeIndex::at)
    }

    fn graph(&self) -> MetricGraph<'_> {
        MetricGraph { topology: &self.topology, paths: &self.paths, metric: self.metric }
    }

    /// The distance of each node to the nearest source, by repeated relaxation of all links.
    fn distances_to(&self, sources: impl Fn(NodeIndex) -> bool) -> Vec<f64> {
        let is_source = |node: NodeIndex| sources(node) && self.paths.is_node_up(node);
        let mut distances: Vec<f64> =
            World::nodes().map(|node| if is_source(node) { 0.0 } else { f64::INFINITY }).collect();
        for _ in 0..NODES {
            for node in World::nodes() {
                for (next, length) in self.graph().before(node) {
                    distances[next.position()] = distances[next.position()].min(distances[node.position()] + length);
                }
            }
        }
        distances
    }

    /// The cells for which an instance on `node` is among the nearest, in the order in which they must become stale.
    fn cells_near(&self, node: NodeIndex) -> Vec<CellIndex> {
        let (to_it, to_any) = (self.distances_to(|at| at == node), self.distances_to(|at| self.hosts[at.position()]));
        let is_near = |at: &NodeIndex| {
            to_it[at.position()].is_finite() && to_it[at.position()].total_cmp(&to_any[at.position()]).is_eq()
        };
        let mut near: Vec<NodeIndex> = World::nodes().filter(is_near).collect();
        near.sort_by(|one, other| to_it[one.position()].total_cmp(&to_it[other.position()]));
        near.into_iter().filter_map(|at| self.field.cell(at)).collect()
    }

    /// Takes the stale cells, and marks their routes as fresh, as a caller would. Checks that they are in the order of
    /// their distance from `node`, if the metric is latency.
    fn take_stale(&mut self, node: NodeIndex) -> Vec<CellIndex> {
        let mut stale = std::mem::take(&mut self.stale);
        for cell in &stale {
            self.field.refresh(NodeIndex(cell.0));
        }
        if self.metric == Metric::Latency {
            // Nodes connected by a link of length zero are in the order in which they were reached.
            let distances = self.distances_to(|at| at == node);
            let distance = |cell: CellIndex| distances[cell.position()];
            assert!(stale.is_sorted_by(|one, other| distance(*one) <= distance(*other)));
            stale.sort_by(|one, other| distance(*one).total_cmp(&distance(*other)).then(one.cmp(other)));
        }
        stale
    }

    /// Adds an instance to a node that has none, or removes the instance from a node that has one, and checks which
    /// cells become stale.
    fn change(&mut self, node: NodeIndex) {
        let before = self.cells_near(node);
        self.hosts[node.position()] = !self.hosts[node.position()];
        let World { topology, paths, metric, hosts, field, frontier, stale } = self;
        let graph = MetricGraph { topology, paths, metric: *metric };
        if hosts[node.position()] {
            field.add(graph, node, frontier, stale);
            assert_eq!(self.take_stale(node), self.cells_near(node));
        } else {
            field.remove(graph, node, |at| hosts[at.position()], frontier, stale);
            assert_eq!(self.take_stale(node), before);
        }
    }

    fn rebuild(&mut self) {
        let World { topology, paths, metric, hosts, field, frontier, .. } = self;
        let hosts = World::nodes().filter(|node| hosts[node.position()]);
        field.rebuild(MetricGraph { topology, paths, metric: *metric }, hosts, frontier);
    }

    /// Toggles a random node and removes its instance, or sets a link of the node up or down; then rebuilds the field.
    fn disturb(&mut self, random: &mut Random) {
        let node = NodeIndex::at(random.below(NODES));
        if random.below(2) == 0 {
            let is_up = self.paths.is_node_up(node);
            self.paths.set_node(&self.topology, node, !is_up);
            self.hosts[node.position()] = false;
        } else {
            let (_, link) = self.topology.links_from(node).next().expect("a connected graph");
            let other = link.to;
            let _ = self.paths.set_link(&self.topology, node, other, random.below(2) == 0);
        }
        self.rebuild();
    }

    fn check(&mut self) {
        let expected = self.distances_to(|at| self.hosts[at.position()]);
        let distances: Vec<f64> = World::nodes().map(|node| self.field.distance(node)).collect();
        assert_eq!(distances, expected);
        let (mut recent, mut path_builder) = (None, PathBuilder::default());
        for node in World::nodes() {
            recent = self.check_path_from(node, recent, &mut path_builder);
        }
    }

    /// Checks that following next hops, until they join the previous path, leads along the path that a search finds.
    fn check_path_from(
        &mut self,
        from: NodeIndex,
        recent: Option<Destination>,
        path_builder: &mut PathBuilder,
    ) -> Option<Destination> {
        let (mut ends, mut found) = (Vec::new(), PathBuilder::default());
        let World { topology, paths, metric, field, .. } = self;
        paths.descend(topology, from, *metric, field, &mut ends);
        let destination = field.follow(MetricGraph { topology, paths, metric: *metric }, from, recent, path_builder);
        match destination {
            Destination::Nowhere => assert!(ends.is_empty()),
            Destination::One(node, agent) => {
                assert_eq!(ends, [node]);
                assert_eq!(agent.unwrap_or(AgentIndex(node.0)), AgentIndex(node.0), "what was remembered of this node");
                paths.trace(from, node, &mut found);
                assert_eq!(*path_builder, found);
                field.remember(node, AgentIndex(node.0));
            }
            Destination::Several => {
                let ways = |paths: &Paths| {
                    let nearer = |node: NodeIndex| {
                        let links = topology.links_from(node).filter(|(link, _)| paths.carries(*link));
                        let is_nearer = |to, latency| {
                            (field.distance(to) + metric.length(latency)).total_cmp(&field.distance(node)).is_eq()
                        };
                        links.filter(|(_, link)| is_nearer(link.to, link.latency)).count()
                    };
                    World::nodes().map(nearer).max()
                };
                assert!(ends.len() > 1 || ways(paths) > Some(1), "one way is followed");
            }
        }
        (destination != Destination::Several).then_some(destination)
    }
}

#[test]
fn distances_paths_and_stale_cells_stay_correct_as_instances_are_added_and_removed() {
    let mut random = Random::new(1);
    for metric in [Metric::Hops, Metric::Latency] {
        for _ in 0..20 {
            let mut world = World::new(&mut random, metric);
            for _ in 0..60 {
                let node = NodeIndex::at(random.below(NODES));
                if random.below(8) == 0 {
                    world.disturb(&mut random);
                } else if world.paths.is_node_up(node) {
                    world.change(node);
                }
                world.check();
            }
        }
    }
}

#[test]
fn removing_one_of_several_instances_on_a_node_changes_no_distance() {
    let mut random = Random::new(1);
    for metric in [Metric::Hops, Metric::Latency] {
        let mut world = World::new(&mut random, metric);
        for node in [3, 17, 31].map(NodeIndex) {
            world.change(node);
        }
        world.check();
        let (near, node) = (world.cells_near(NodeIndex(17)), NodeIndex(17));
        let World { topology, paths, metric, hosts, field, frontier, stale } = &mut world;
        let graph = MetricGraph { topology, paths, metric: *metric };
        field.remove(graph, node, |at| hosts[at.position()], frontier, stale);
        assert_eq!(
            field.entries[node.position()].next_hop,
            NextHop::UNKNOWN,
            "which instances are there is asked again"
        );
        assert_eq!(world.take_stale(node), near);
        world.check();
    }
}
