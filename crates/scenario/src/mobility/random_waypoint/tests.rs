use super::*;
use crate::mobility::attach;
use crate::topology::{TiledTree, tiled_tree};
use mario_domain::{Capacity, Duration};

fn tree(area: Area) -> Topology {
    let capacities = [14, 6, 4, 1].map(Capacity::units).into();
    tiled_tree(&TiledTree {
        size: 8,
        capacities,
        latencies: [3.0, 2.0, 3.0].map(Duration::of).to_vec(),
        area: Some(area),
    })
    .expect("a tree")
}

#[test]
fn equal_seeds_yield_equal_traces_and_different_seeds_different_ones() {
    let rome = RandomWaypoint::rome();
    assert_eq!(random_waypoint(&rome, 1), random_waypoint(&rome, 1));
    assert_ne!(random_waypoint(&rome, 1), random_waypoint(&rome, 2));
}

#[test]
fn a_user_does_not_depend_on_the_number_of_users() {
    let rome = RandomWaypoint { arrivals: Arrivals::AtOnce, ..RandomWaypoint::rome() };
    let fewer = RandomWaypoint { users: 10, ..rome.clone() };
    let (all, some) =
        (random_waypoint(&rome, 5).expect("trajectories"), random_waypoint(&fewer, 5).expect("trajectories"));
    for (all, some) in all.steps.iter().zip(&some.steps) {
        let first: Vec<_> = all.iter().filter(|(user, _)| user.0 < 10).copied().collect();
        assert_eq!(&first, some);
    }
}

#[test]
fn attaching_on_the_fly_equals_attaching_afterwards() {
    let mut rome = RandomWaypoint { stay_steps_mean: Some(9.0), ..RandomWaypoint::rome() };
    let tree = tree(rome.area);
    for arrivals in [Arrivals::AtOnce, Arrivals::Gradual { first: 3, per_step: 2 }, Arrivals::Random { first: 10 }] {
        rome.arrivals = arrivals;
        for how in [AttachmentRule::Distance, AttachmentRule::Grid { size: 8, area: rome.area }] {
            let afterwards = attach(&random_waypoint(&rome, 7).expect("trajectories"), &tree, how).expect("attached");
            let on_the_way = random_waypoint_attached(&rome, 7, &tree, how).expect("attached");
            assert_eq!(on_the_way, afterwards, "{arrivals:?}");
        }
    }
}

#[test]
fn districts_are_as_busy_as_separate_towns_and_users_stay_in_theirs() {
    let rome = RandomWaypoint { arrivals: Arrivals::AtOnce, users: 400, ..RandomWaypoint::rome() };
    let centre = rome.area.at(0.5, 0.5);
    let area = Area::around(centre, 16_000.0, 16_000.0).expect("on the map");
    let large = RandomWaypoint { area, districts: 4, users: 16 * 400, ..rome.clone() };
    let busy = |wandering: &RandomWaypoint, size: u32| {
        let capacities = vec![Capacity::units(1); size.ilog2() as usize + 1];
        let latencies = vec![Duration::of(1.0); size.ilog2() as usize];
        let shape = TiledTree { size, capacities, latencies, area: Some(wandering.area) };
        let attached =
            random_waypoint_attached(wandering, 3, &tiled_tree(&shape).expect("a tree"), AttachmentRule::Distance);
        attached.expect("attached").handovers().total() as f64 / f64::from(wandering.users)
    };
    let (one, many) = (busy(&rome, 8), busy(&large, 32));
    assert!((many / one - 1.0).abs() < 0.15, "{one} {many}");
    for (user, presence) in random_waypoint(&large, 3).expect("trajectories").steps.iter().flatten() {
        let Presence::At(position) = presence else { continue };
        let (north, east) = area.cell(4, *position);
        // On a border, rounding may move a position to the other side.
        let on_border = |part: f64| (part * 4.0 - (part * 4.0).round()).abs() < 1e-9;
        let (part_north, part_east) = area.part(*position);
        assert!(
            north * 4 + east == user.0 / 400 || on_border(part_north) || on_border(part_east),
            "{user:?} {position:?}"
        );
    }
}

#[test]
fn late_arrivals_are_spread_over_all_districts() {
    let area = Area::around(RandomWaypoint::rome().area.at(0.5, 0.5), 8_000.0, 8_000.0).expect("on the map");
    for (first, per_step) in [(8, 1), (0, 1), (0, 3), (7, 5)] {
        let arrivals = Arrivals::Gradual { first, per_step };
        let wandering = RandomWaypoint { area, districts: 2, arrivals, users: 20, ..RandomWaypoint::rome() };
        let town = Town::new(&wandering, 3).expect("a town");
        let mut users = [0; 4];
        for (arrival, users_of_step) in (0..).zip(town.first_of_step.windows(2)) {
            for user in users_of_step[0]..users_of_step[1] {
                let Metres { north, east } = town.district_of(UserIndex(user), arrival).south_west;
                users[usize::from(north > 0.0) * 2 + usize::from(east > 0.0)] += 1;
            }
        }
        assert!(users.iter().all(|count| (3..=7).contains(count)), "{first} {per_step} {users:?}");
    }
}

#[test]
fn users_stay_in_the_area_and_are_no_faster_than_allowed() {
    let rome = RandomWaypoint::rome();
    let trajectories = random_waypoint(&rome, 3).expect("trajectories");
    let mut now: Vec<Option<(usize, Position)>> = vec![None; trajectories.users.len()];
    for (step, changes) in trajectories.steps.iter().enumerate() {
        for (user, presence) in changes {
            let Presence::At(place) = *presence else { panic!("nobody leaves") };
            assert!(rome.area.contains(place), "{place:?}");
            if let Some((since, before)) = now[user.position()] {
                let metres_max = (step - since) as f64 * rome.step_seconds * rome.speed_max;
                // The width of the area is measured in its middle; in the south it is slightly larger.
                assert!(place.distance_m(before) <= metres_max * 1.001, "{}", place.distance_m(before));
            }
            now[user.position()] = Some((step, place));
        }
    }
}

#[test]
fn users_arrive_as_configured() {
    let rome = RandomWaypoint { users: 10, steps: 4, ..RandomWaypoint::rome() };
    for (arrivals, expected) in [
        (Arrivals::AtOnce, Some([10, 0, 0, 0])),
        (Arrivals::Gradual { first: 4, per_step: 5 }, Some([4, 5, 1, 0])),
        (Arrivals::Gradual { first: 0, per_step: 1 }, Some([0, 1, 1, 8])),
        (Arrivals::Gradual { first: 99, per_step: 0 }, Some([10, 0, 0, 0])),
        (Arrivals::Random { first: 7 }, None),
    ] {
        let wandering = RandomWaypoint { arrivals, ..rome.clone() };
        let attachments =
            random_waypoint_attached(&wandering, 1, &tree(rome.area), AttachmentRule::Distance).expect("attached");
        let came = attachments.handovers().arrivals;
        match expected {
            Some(expected) => assert_eq!(came, expected, "{arrivals:?}"),
            None => assert_eq!((came[0], came.iter().sum::<u32>()), (7, 10)),
        }
    }
}

#[test]
fn the_mean_stay_of_users_is_as_configured() {
    let wandering = RandomWaypoint { users: 4_000, steps: 200, stay_steps_mean: Some(10.0), ..RandomWaypoint::rome() };
    let wandering = RandomWaypoint { arrivals: Arrivals::AtOnce, ..wandering };
    let departures = random_waypoint_attached(&wandering, 1, &tree(wandering.area), AttachmentRule::Distance)
        .expect("attached")
        .handovers();
    let weighted: u32 = departures.departures.iter().enumerate().map(|(step, count)| step as u32 * count).sum();
    let mean = f64::from(weighted) / 4_000.0;
    assert!((9.5..10.5).contains(&mean), "{mean}");
}

#[test]
fn rejects_invalid_settings() {
    type Change = fn(&mut RandomWaypoint);
    let cases: [(&str, Change); 7] = [
        ("`steps` must be from 1 to 1000000", |rome| rome.steps = 0),
        ("`step_seconds` must be positive", |rome| rome.step_seconds = 0.0),
        ("`stay_steps_mean` must be at least 1", |rome| rome.stay_steps_mean = Some(0.5)),
        ("`resting_share` must be from 0 to 1", |rome| rome.resting_share = 1.5),
        ("`speed_min` must be positive", |rome| rome.speed_min = f64::NAN),
        ("`speed_max` must be at least speed_min", |rome| rome.speed_max = 1.0),
        ("`attraction` must be from 0 to 1", |rome| rome.attraction = -0.1),
    ];
    for (message, change) in cases {
        let mut rome = RandomWaypoint::rome();
        change(&mut rome);
        assert_eq!(random_waypoint(&rome, 1).expect_err(message).to_string(), message);
    }
}

#[test]
fn a_step_with_very_short_trips_and_rests_terminates() {
    let restless = RandomWaypoint { rest_seconds_max: 0.0, speed_min: 1e9, speed_max: 1e9, ..RandomWaypoint::rome() };
    assert_eq!(random_waypoint(&restless, 1).expect("trajectories").steps.len(), 26);
}
