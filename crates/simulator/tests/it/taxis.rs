//! The positions of the prototype, from the records that they were made of.

use std::collections::BTreeMap;

use mario_simulator::mobility::{Clock, Stepping, TrackFormat, read_positions, read_tracks, to_steps};
use mario_simulator::{Position, Presence, Traces};

use crate::decompressed;

/// Where each user is at each step.
fn everywhere(traces: &Traces, prefix: &str) -> BTreeMap<(String, usize), Position> {
    let mut now = vec![None; traces.users.len()];
    let mut places = BTreeMap::new();
    for (step, changes) in traces.steps.iter().enumerate() {
        for (user, presence) in changes {
            now[*user as usize] = Some(*presence);
        }
        for (user, presence) in traces.users.iter().zip(&now) {
            if let Some(Presence::At(position)) = presence {
                places.insert((format!("{prefix}{user}"), step), *position);
            }
        }
    }
    places
}

#[test]
fn nearly_all_positions_of_the_prototype_follow_from_its_records() {
    let Some(raw) = mario_reference::path("prototype/raw_trajectories.csv.gz") else { return };
    let Some(positions) = mario_reference::path("prototype/positions.csv.gz") else { return };
    let tracks = read_tracks(&decompressed(&raw), &TrackFormat::Csv).expect("tracks");
    let clock = Clock::OwnPace { parts: 100 };
    let stepping = Stepping { clock, clip: None, users_max: None, steps_max: Some(26) };
    let ours = everywhere(&to_steps(&tracks, &stepping).expect("steps"), "taxi_");
    let theirs = everywhere(&read_positions(&decompressed(&positions)).expect("positions"), "");
    assert_eq!(theirs.len(), 50 + 25 * 51);
    let same = |(key, position): &(&(String, usize), &Position)| {
        ours.get(*key).is_some_and(|ours| ours.distance_m(**position) < 1.0)
    };
    let agreeing = theirs.iter().filter(same).count();
    // The other 35 come after fixes that are not in the order of time, or of the same time.
    assert_eq!(agreeing, 1_290);
}
