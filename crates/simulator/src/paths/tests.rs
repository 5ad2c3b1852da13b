use mario_domain::{Capacity, Duration, NodeId};
use mario_scenario::{NodeDescription, TopologyBuilder};

use super::*;

/// Three nodes, each linked to both others.
fn triangle() -> Topology {
    let mut builder = TopologyBuilder::default();
    for number in 0..3 {
        let (id, capacity) = (NodeId::number(number), Capacity::Unbounded);
        let node = NodeDescription { id, capacity, tier: 0, position: None, is_access_point: true, facts: Vec::new() };
        builder.node(node).expect("a new node");
    }
    for (one, other, latency) in [(0, 1, 2.0), (1, 2, 3.0), (0, 2, 4.0)] {
        builder.link(NodeIndex(one), NodeIndex(other), Duration::of(latency), None).expect("a link");
    }
    builder.build().expect("an infrastructure")
}

fn find_path(paths: &mut Paths, topology: &Topology) -> Option<PathIndex> {
    let mut found = Vec::new();
    paths.nearest(topology, NodeIndex(0), |node| node == NodeIndex(2), &mut found);
    let mut path_builder = PathBuilder::default();
    let end = *found.first()?;
    paths.trace(NodeIndex(0), end, &mut path_builder);
    Some(paths.path(topology, end, &path_builder))
}

#[test]
fn a_link_that_goes_up_and_down_a_thousand_times_leaves_two_paths() {
    let topology = triangle();
    let mut paths = Paths::new(&topology);
    let direct = find_path(&mut paths, &topology).expect("a way");
    for _ in 0..1_000 {
        assert!(paths.set_link(&topology, NodeIndex(2), NodeIndex(0), false));
        let detour = find_path(&mut paths, &topology).expect("a way");
        assert!((paths.latency(detour).units() - 5.0).abs() < f64::EPSILON);
        assert_eq!(paths.last_hop(detour), Neighbour::Node(NodeIndex(1)));
        assert!(paths.set_link(&topology, NodeIndex(0), NodeIndex(2), true));
        assert_eq!(find_path(&mut paths, &topology), Some(direct));
    }
    assert_eq!((paths.all.len(), paths.links.len()), (2, 0));
}

#[test]
fn a_renewed_path_takes_at_most_twice_the_space_of_the_longest() {
    let topology = triangle();
    let mut paths = Paths::new(&topology);
    let link = |from, to| topology.link_between(NodeIndex(from), NodeIndex(to)).expect("linked");
    let mut renew = |old, nodes: &[u32]| {
        let mut path_builder = PathBuilder::default();
        path_builder.begin(NodeIndex(nodes[0]));
        for (position, pair) in nodes.windows(2).enumerate() {
            path_builder.go(position, NodeIndex(pair[0]), link(pair[0], pair[1]));
        }
        let end = NodeIndex(nodes[nodes.len() - 1]);
        let path = paths.renew(&topology, old, end, &path_builder);
        let links: Vec<LinkIndex> = nodes.windows(2).map(|pair| link(pair[0], pair[1])).collect();
        assert_eq!(paths.links(path), links);
        assert_eq!((paths.origin(path), paths.end(path)), (NodeIndex(nodes[0]), end));
        (path, paths.latency(path).units(), paths.last_hop(path), paths.links.len())
    };
    let (path, latency, last_hop, _) = renew(None, &[1]);
    assert!(latency.abs() < f64::EPSILON);
    assert_eq!(last_hop, Neighbour::Own);
    let (other, ..) = renew(None, &[2, 0]);
    assert_ne!(other, path);
    let cycle = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2];
    for _ in 0..100 {
        for nodes in [&[0, 1, 2][..], &[0, 2], &cycle[..8], &[2], &cycle[..7], &cycle, &[1, 0], &cycle[..9]] {
            let (same, latency, last_hop, links) = renew(Some(path), nodes);
            assert_eq!(same, path);
            let hops: f64 = nodes.windows(2).map(|pair| topology.link(link(pair[0], pair[1])).latency.units()).sum();
            assert!((latency - hops).abs() < f64::EPSILON);
            let before =
                nodes.len().checked_sub(2).map_or(Neighbour::Own, |last| Neighbour::Node(NodeIndex(nodes[last])));
            assert_eq!(last_hop, before);
            assert!(links <= 2 * cycle.len(), "{links}");
        }
    }
    assert_eq!(paths.links(other), [link(2, 0)], "which nobody renewed");
}

#[test]
fn no_path_leads_through_a_node_that_is_down() {
    let topology = triangle();
    let mut paths = Paths::new(&topology);
    assert!(paths.set_link(&topology, NodeIndex(0), NodeIndex(2), false));
    paths.set_node(&topology, NodeIndex(1), false);
    assert_eq!(find_path(&mut paths, &topology), None);
    let neighbours = |paths: &Paths| [0, 1, 2].map(|node| paths.neighbours(&topology, NodeIndex(node)).count());
    assert_eq!(neighbours(&paths), [0, 0, 0]);
    paths.set_node(&topology, NodeIndex(1), true);
    assert_eq!(neighbours(&paths), [1, 2, 1]);
    assert!(!paths.set_link(&topology, NodeIndex(0), NodeIndex(2), false), "it is down already");
}
