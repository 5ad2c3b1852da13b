use super::*;

fn mesh() -> Mesh {
    let centre = Position { latitude: 41.9, longitude: 12.5 };
    Mesh::over(Area::around(centre, 4_000.0, 3_000.0).expect("on the map"))
}

/// The number of nodes reachable from the first, and the number of links. Fails if a link occurs twice.
fn reach(topology: &Topology) -> (usize, usize) {
    let mut links = Vec::new();
    for (from, _) in topology.nodes() {
        links.extend(topology.links_from(from).map(|(_, link)| (from.0, link.to.0)));
    }
    let one_way: Vec<(u32, u32)> = links.iter().copied().filter(|(one, other)| one < other).collect();
    assert_eq!(links.len(), one_way.len() * 2);
    assert!(one_way.windows(2).all(|pair| pair[0] < pair[1]), "no link twice");
    let hops = distances(topology.node_count(), &one_way, 0);
    (hops.iter().filter(|hops| **hops != u32::MAX).count(), one_way.len())
}

#[test]
fn a_grid_links_the_four_directions() {
    let grid = grid(4, 4, &mesh()).expect("a grid");
    assert_eq!(reach(&grid), (16, 24));
    let find = |name: &str| grid.find(&NodeId::name(name).expect("a name")).expect("there");
    let neighbours: Vec<String> =
        grid.links_from(find("x1y2")).map(|(_, link)| grid.node(link.to).id.to_string()).collect();
    assert_eq!(neighbours, ["x0y2", "x1y1", "x1y3", "x2y2"]);
    let hub = grid.node(find("x2y2"));
    assert_eq!((hub.tier, hub.capacity), (0, Capacity::Unbounded));
    assert_eq!(grid.node(find("x0y0")).tier, 4);
    // Cells are a kilometre high.
    let link = grid.link_between(find("x1y2"), find("x2y2")).expect("linked");
    assert!((grid.link(link).latency.units() - 2.0).abs() < 0.001, "{}", grid.link(link).latency);
    assert_eq!(grid.access_points().count(), 12);
    assert!(!hub.is_access_point && grid.node(find("x0y0")).is_access_point);
}

#[test]
fn a_grid_may_be_wider_than_high() {
    let grid = grid(2, 5, &mesh()).expect("a grid");
    assert_eq!(reach(&grid), (10, 13));
    assert_eq!(grid.node(NodeIndex(7)).id.to_string(), "x1y2");
    assert_eq!(grid.node(NodeIndex(7)).tier, 0);
}

#[test]
fn nearby_nodes_are_linked_and_all_are_connected() {
    for seed in 0..30 {
        for (count, radius) in [(1, 100.0), (2, 0.0), (60, 300.0), (60, 900.0), (300, 150.0), (40, 99_999.0)] {
            let connected = random_geometric(count, radius, &mesh(), seed).expect("connected");
            let (reached, links) = reach(&connected.topology);
            assert_eq!(reached, count as usize, "{count} {radius} {seed}");
            let area = mesh().area;
            let scale = |position: Position| Metres {
                north: (position.latitude - area.south_west.latitude)
                    / (area.north_east.latitude - area.south_west.latitude)
                    * area.height_m(),
                east: (position.longitude - area.south_west.longitude)
                    / (area.north_east.longitude - area.south_west.longitude)
                    * area.width_m(),
            };
            let places: Vec<Metres> =
                connected.topology.nodes().map(|(_, node)| scale(node.position.expect("on the map"))).collect();
            let pairs = (0..places.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
            let near = pairs.filter(|(one, other)| places[*one].square_to(places[*other]).sqrt() <= radius).count();
            assert_eq!(links - connected.links_added, near, "{count} {radius} {seed}");
        }
    }
}

/// The length of the minimum spanning tree, by brute force.
fn spanning_length(places: &[Metres]) -> f64 {
    let mut inside = vec![0];
    let mut length = 0.0;
    while inside.len() < places.len() {
        let outside = (0..places.len()).filter(|node| !inside.contains(node));
        let closest = outside.flat_map(|node| inside.iter().map(move |other| (node, *other)));
        let distance = |pair: &(usize, usize)| places[pair.0].square_to(places[pair.1]);
        let best = closest.min_by(|one, other| distance(one).total_cmp(&distance(other))).expect("not all are in");
        length += distance(&best).sqrt();
        inside.push(best.0);
    }
    length
}

#[test]
fn the_links_that_connect_the_parts_have_minimal_length() {
    let mut random = Pcg64::seed_from_u64(9);
    let size = Metres { north: 100.0, east: 300.0 };
    for count in [2, 3, 10, 50] {
        let places: Vec<Metres> = (0..count)
            .map(|_| Metres { north: random.random::<f64>() * 100.0, east: random.random::<f64>() * 300.0 })
            .collect();
        let mut links = Vec::new();
        geometric::Near::new(&places, size, 0.0).connect(&mut links);
        assert_eq!(links.len(), count - 1);
        let length: f64 =
            links.iter().map(|(one, other)| places[*one as usize].square_to(places[*other as usize]).sqrt()).sum();
        assert!((length - spanning_length(&places)).abs() < 1e-9, "{length}");
    }
}

#[test]
fn nodes_with_many_links_attract_more_links() {
    for seed in 0..10 {
        let topology = barabasi_albert(500, 2, &mesh(), seed).expect("a graph");
        assert_eq!(reach(&topology), (500, 2 + 497 * 2));
        let mut degrees: Vec<usize> = topology.nodes().map(|(node, _)| topology.links_from(node).count()).collect();
        let hub = topology.nodes().find(|(_, node)| node.tier == 0).expect("a hub").0;
        let most = degrees.iter().copied().max().expect("there are nodes");
        assert_eq!(degrees[hub.position()], most);
        degrees.sort_unstable();
        assert!(most > 20 && degrees[250] <= 3, "most {most}, median {}", degrees[250]);
    }
}

#[test]
fn equal_seeds_yield_equal_graphs() {
    let ids = |seed| {
        let topology = random_geometric(50, 500.0, &mesh(), seed).expect("connected").topology;
        topology.nodes().map(|(_, node)| node.position.expect("on the map")).collect::<Vec<Position>>()
    };
    assert_eq!(ids(1), ids(1));
    assert_ne!(ids(1), ids(2));
}

#[test]
fn rejects_impossible_meshes() {
    let large = ShapeError::TooLarge;
    assert_eq!(grid(100_000, 100_000, &mesh()).expect_err("too large"), large);
    assert_eq!(random_geometric(20_000, 1e9, &mesh(), 1).expect_err("too many links"), large);
    assert_eq!(barabasi_albert(10_000_000, 100, &mesh(), 1).expect_err("too many links"), large);
    for error in [
        grid(0, 3, &mesh()).expect_err("no node"),
        random_geometric(5, f64::NAN, &mesh(), 1).expect_err("no radius"),
        barabasi_albert(3, 3, &mesh(), 1).expect_err("too few nodes"),
        barabasi_albert(3, 0, &mesh(), 1).expect_err("no links"),
        grid(2, 2, &Mesh { capacities: vec![], ..mesh() }).expect_err("no capacity"),
        grid(2, 2, &Mesh { access_points: AccessPoints::Farthest(2.0), ..mesh() }).expect_err("no share"),
    ] {
        assert!(matches!(error, ShapeError::Value { .. }), "{error}");
    }
    let negative = Mesh { latency: Latency::Constant(Duration::of(-1.0)), ..mesh() };
    assert!(matches!(grid(2, 2, &negative).expect_err("negative"), ShapeError::Topology(_)));
    assert_eq!(grid(1, 1, &mesh()).expect("a node").node_count(), 1);
}
