//! Attachments against those of the prototype.

use std::fs;

use mario_domain::{Capacity, NodeId};
use mario_simulator::mobility::{Arrivals, Attach, Wandering, attach, read_positions, wander_attached};
use mario_simulator::topology::{Mesh, TiledTree, barabasi_albert, grid, random_geometric, tiled_tree};
use mario_simulator::{Area, Position};

use crate::decompressed;

/// What the grid of the prototype covers.
const AREA: Area = Area {
    south_west: Position { latitude: 41.878_037, longitude: 12.446_264_3 },
    north_east: Position { latitude: 41.919_234, longitude: 12.514_960_3 },
};

#[test]
fn every_user_is_on_the_node_of_the_prototype_at_every_step() {
    let Some(positions) = mario_reference::path("prototype/positions.csv.gz") else { return };
    let Some(users) = mario_reference::path("prototype/P1/users.json") else { return };
    let traces = read_positions(&decompressed(&positions)).expect("positions");
    let shape = TiledTree {
        size: 8,
        capacities: [14, 6, 4, 1].map(Capacity::units).into(),
        latencies: vec![3.0, 2.0, 1.0],
        area: Some(AREA),
    };
    let tree = tiled_tree(&shape).expect("a tree");
    let attachments = attach(&traces, &tree, Attach::Grid { size: 8, area: AREA }).expect("attached");

    let recorded: serde_json::Value = serde_json::from_slice(&fs::read(users).expect("it is there")).expect("JSON");
    let recorded_steps = recorded["steps"].as_array().expect("steps");
    assert_eq!(attachments.steps.len(), recorded_steps.len());
    let mut now = vec![None; attachments.users.len()];
    let mut compared = 0;
    for (changes, recorded) in attachments.steps.iter().zip(recorded_steps) {
        for (user, access_point) in changes {
            now[*user as usize] = *access_point;
        }
        let nodes = recorded["node"].as_object().expect("a node for each user");
        for (user, node) in attachments.users.iter().zip(&now) {
            let recorded = nodes.get(&user.id.to_string()).and_then(|node| node.as_str());
            let recorded = recorded.map(|name| tree.find(&NodeId::name(name).expect("a name")).expect("a node"));
            assert_eq!(*node, recorded, "{}", user.id);
            compared += usize::from(recorded.is_some());
        }
    }
    assert_eq!(compared, 50 + 25 * 51);
    let handovers = attachments.handovers();
    assert_eq!((handovers.total(), handovers.arrivals[0], handovers.late_arrivals()), (85, 50, 1));
}

#[test]
fn users_are_connected_to_access_points_and_to_nothing_else() {
    for seed in 0..20 {
        let town = Wandering { users: 100, stay_steps_mean: Some(12.0), ..Wandering::rome() };
        let town = Wandering { arrivals: Arrivals::Random { first: 30 }, ..town };
        let mesh = Mesh::over(town.area);
        let drawn = [
            random_geometric(80, 400.0, &mesh, seed).expect("connected").topology,
            barabasi_albert(80, 2, &mesh, seed).expect("a graph"),
            grid(7, 9, &mesh).expect("a grid"),
        ];
        for topology in drawn {
            let attachments = wander_attached(&town, seed, &topology, Attach::Distance).expect("attached");
            let mut connected = vec![None; attachments.users.len()];
            for (user, access_point) in attachments.steps.iter().flatten() {
                assert_ne!(connected[*user as usize], *access_point, "only changes are listed");
                assert!(access_point.is_none_or(|node| topology.node(node).is_access_point));
                connected[*user as usize] = *access_point;
            }
            assert_eq!(attachments.handovers().arrivals.iter().sum::<u32>(), 100);
        }
    }
}
