//! Attachments of users: those computed from positions equal the prototype's, and generated ones are consistent.

use std::collections::BTreeMap;

use mario_domain::{Capacity, Duration};
use mario_scenario::mobility::{
    Arrivals, AttachmentRule, RandomWaypoint, Resampling, SamplingTimes, TrackFormat, attach, random_waypoint_attached,
    read_positions, read_tracks, resample,
};
use mario_scenario::topology::{Mesh, TiledTree, barabasi_albert, grid, random_geometric, tiled_tree};
use mario_scenario::{Area, Attachments, Document, NoFiles, Position, Presence, Topology, Trajectories};

use crate::decompressed;

/// The area of the prototype's grid.
const AREA: Area = Area {
    south_west: Position { latitude: 41.878_037, longitude: 12.446_264_3 },
    north_east: Position { latitude: 41.919_234, longitude: 12.514_960_3 },
};

/// The prototype's tree, and the attachments to it of the users whose positions are in this CSV text.
fn attached(positions: &[u8]) -> (Topology, Attachments) {
    let shape = TiledTree {
        size: 8,
        capacities: [14, 6, 4, 1].map(Capacity::units).into(),
        latencies: [3.0, 2.0, 1.0].map(Duration::of).to_vec(),
        area: Some(AREA),
    };
    let tree = tiled_tree(&shape).expect("a tree");
    let trajectories = read_positions(positions, None).expect("positions");
    let attachments = attach(&trajectories, &tree, AttachmentRule::Grid { size: 8, area: AREA }).expect("attached");
    (tree, attachments)
}

#[test]
fn positions_in_the_cells_of_recorded_users_yield_their_access_points() {
    let mut document = Document::preset("prototype").expect("a preset");
    document.set(&["mobility.kind=recorded".to_owned()]);
    document.set_policy("workload-aware");
    let recorded = document.resolve(&mut NoFiles).expect("a scenario").scenario.attachments;
    let (_, made_up) = attached(mario_reference::synthetic_positions().as_bytes());
    assert_eq!(made_up.steps, recorded.steps);

    // The real positions cannot be published, so the rest of the test needs the full reference records.
    let Some(positions) = mario_reference::full("prototype/positions.csv.gz") else { return };
    let positions = decompressed(&positions);
    assert_eq!(attached(&positions).1.steps, recorded.steps);
    let raw = mario_reference::full("prototype/raw_trajectories.csv.gz").expect("what they were made of");
    nearly_all_follow_from_records(&decompressed(&raw), &positions);
}

/// The position of each present user at each step, by the user's name after `prefix` and by step.
fn everywhere(trajectories: &Trajectories, prefix: &str) -> BTreeMap<(String, usize), Position> {
    let mut now = vec![None; trajectories.users.len()];
    let mut places = BTreeMap::new();
    for (step, changes) in trajectories.steps.iter().enumerate() {
        for (user, presence) in changes {
            now[user.position()] = Some(*presence);
        }
        for (user, presence) in trajectories.users.iter().zip(&now) {
            if let Some(Presence::At(position)) = presence {
                places.insert((format!("{prefix}{user}"), step), *position);
            }
        }
    }
    places
}

fn nearly_all_follow_from_records(raw: &[u8], positions: &[u8]) {
    let tracks = read_tracks(raw, &TrackFormat::Csv { origin: None }).expect("tracks");
    let clock = SamplingTimes::OwnPace { parts: 100 };
    let resampling = Resampling { clock, clip: None, users_max: None, steps_max: Some(26) };
    let ours = everywhere(&resample(&tracks, &resampling).expect("steps"), "taxi_");
    let theirs = everywhere(&read_positions(positions, None).expect("positions"), "");
    assert_eq!(theirs.len(), 50 + 25 * 51);
    let same = |(key, position): &(&(String, usize), &Position)| {
        ours.get(*key).is_some_and(|ours| ours.distance_m(**position) < 1.0)
    };
    let agreeing = theirs.iter().filter(same).count();
    // The other 35 positions come from fixes that are out of order or have equal times.
    assert_eq!(agreeing, 1_290);
}

#[test]
fn users_are_connected_only_to_access_points() {
    for seed in 0..20 {
        let town = RandomWaypoint { users: 100, stay_steps_mean: Some(12.0), ..RandomWaypoint::rome() };
        let town = RandomWaypoint { arrivals: Arrivals::Random { first: 30 }, ..town };
        let mesh = Mesh::over(town.area);
        let drawn = [
            random_geometric(80, 400.0, &mesh, seed).expect("connected").topology,
            barabasi_albert(80, 2, &mesh, seed).expect("a graph"),
            grid(7, 9, &mesh).expect("a grid"),
        ];
        for topology in drawn {
            let attachments =
                random_waypoint_attached(&town, seed, &topology, AttachmentRule::Distance).expect("attached");
            let mut connected = vec![None; attachments.users.len()];
            for (user, access_point) in attachments.steps.iter().flatten() {
                assert_ne!(connected[user.position()], *access_point, "only changes are listed");
                assert!(access_point.is_none_or(|node| topology.node(node).is_access_point));
                connected[user.position()] = *access_point;
            }
            assert_eq!(attachments.handovers().arrivals.iter().sum::<u32>(), 100);
        }
    }
}
