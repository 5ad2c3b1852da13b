//! The properties of a city that `docs/mobility.md` states.

use mario_domain::{Capacity, Duration};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::mobility::attach;
use crate::topology::{TiledTree, tiled_tree};

fn area() -> Area {
    Area::around(Position { latitude: 41.9, longitude: 12.48 }, 16_000.0, 16_000.0).expect("on the map")
}

fn tree(area: Area) -> Topology {
    let shape = TiledTree {
        size: 16,
        capacities: vec![Capacity::units(1); 5],
        latencies: vec![Duration::of(1.0); 4],
        area: Some(area),
    };
    tiled_tree(&shape).expect("a tree")
}

/// Two days of 24,000 time units.
fn city() -> Commuting {
    Commuting {
        area: area(),
        users: 4_000,
        steps: 192,
        step: 250.0,
        day: 24_000.0,
        amplitude: 0.8,
        morning: 8.0,
        evening: 17.5,
        rush: 2.0,
        trip: 1.0,
        hotspots: Commuting::drawn_hotspots(8, 1_500.0),
        attraction: 0.8,
    }
}

fn commuters(commuting: &Commuting, seed: u64) -> Commuters {
    let grid = AttachmentRule::Grid { size: 16, area: commuting.area };
    Commuters::new(commuting.clone(), seed, &tree(commuting.area), grid).expect("a city")
}

/// A random city. Days may be long or short, trips may take no time, and steps may be longer than days.
fn drawn_city(random: &mut Pcg64) -> Commuting {
    let rush = [0.0, 0.5, 3.0][random.random_range(0..3)];
    let trip = [0.0, 0.25, 2.5][random.random_range(0..3)];
    let morning = rush + random.random::<f64>() * 5.0;
    let first_evening = morning + 2.0 * rush + trip;
    let evening = first_evening + random.random::<f64>() * (24.0 - rush - trip - first_evening);
    Commuting {
        users: random.random_range(1..120),
        steps: random.random_range(1..150),
        step: [10.0, 333.3, 500.0, 30_000.0][random.random_range(0..4)],
        day: [700.0, 24_000.0, 1e6][random.random_range(0..3)],
        amplitude: [0.0, 0.5, 1.0][random.random_range(0..3)],
        morning,
        evening,
        rush,
        trip,
        hotspots: Commuting::drawn_hotspots(random.random_range(0..5), random.random::<f64>() * 5_000.0),
        attraction: random.random(),
        ..city()
    }
}

#[test]
fn users_queried_when_due_move_like_users_queried_in_every_step() {
    let mut random = Pcg64::seed_from_u64(1);
    for seed in 0..40 {
        let commuting = drawn_city(&mut random);
        let topology = tree(commuting.area);
        for how in [AttachmentRule::Grid { size: 16, area: commuting.area }, AttachmentRule::Distance] {
            let trajectories = commute(&commuting, seed, &topology, how).expect("a city");
            let eager = attach(&trajectories, &topology, how).expect("attached");
            let lazy = commute_attached(commuting.clone(), seed, &topology, how).expect("attached");
            assert_eq!((&lazy.users, lazy.step_count()), (&eager.users, eager.steps.len()));
            assert_eq!(lazy.handovers(), eager.handovers(), "{commuting:?}");
            let mut now = vec![None; commuting.users as usize];
            let (mut due, mut generated) = (lazy.first_due(), Vec::new());
            for (step, expected) in (0..).zip(&eager.steps) {
                let changes = lazy.changes(step, &mut due, |user| now[user.position()], &mut generated);
                assert_eq!(changes, expected, "step {step} of {commuting:?}");
                changes.iter().for_each(|(user, access_point)| now[user.position()] = *access_point);
            }
        }
    }
}

#[test]
fn no_user_leaves_the_area() {
    let mut random = Pcg64::seed_from_u64(2);
    for seed in 0..20 {
        let commuting = drawn_city(&mut random);
        let commuters = commuters(&commuting, seed);
        for user in (0..commuting.users).map(UserIndex) {
            for step in 0..commuting.steps {
                let position = commuters.position(user, step);
                assert!(commuting.area.contains(position), "{position:?}");
            }
        }
    }
}

#[test]
fn every_user_is_at_an_access_point() {
    let commuting = Commuting { users: 500, ..city() };
    let attachments = commute_attached(commuting.clone(), 3, &tree(area()), AttachmentRule::Distance).expect("a city");
    let mut at = vec![0_i64; 400];
    let mut now = vec![None::<NodeIndex>; 500];
    let (mut due, mut generated) = (attachments.first_due(), Vec::new());
    for step in 0..commuting.steps {
        let changes = attachments.changes(step, &mut due, |user| now[user.position()], &mut generated);
        for (user, to) in changes {
            let to = to.expect("nobody is ever gone");
            at[to.position()] += 1;
            if let Some(from) = now[user.position()].replace(to) {
                assert_ne!(from, to);
                at[from.position()] -= 1;
            }
        }
        assert_eq!(at.iter().sum::<i64>(), 500);
        assert!(at.iter().all(|count| *count >= 0));
    }
}

#[test]
fn hotspots_attract_in_proportion_to_their_weights() {
    let place = |north, east, weight| Hotspot { position: Some(area().at(north, east)), weight, radius: 800.0 };
    let hotspots = vec![place(0.2, 0.2, 3.0), place(0.5, 0.8, 2.0), place(0.8, 0.3, 1.0)];
    let commuting = Commuting { users: 20_000, amplitude: 1.0, attraction: 0.6, hotspots: hotspots.clone(), ..city() };
    let commuters = commuters(&commuting, 7);
    // At 13:00 on the second day, all users are at their goals.
    let noon = ((24.0 + 13.0) * 1_000.0 / commuting.step) as u32;
    for hotspot in &hotspots {
        let centre = hotspot.position.expect("it was given");
        // Goals that are anywhere in the area may also be in the square of 1,600 m around the hotspot.
        let by_chance = (1_600.0 / 16_000.0_f64).powi(2) * 0.4;
        let expected = 0.6 * hotspot.weight / 6.0 + by_chance;
        let is_near = |user: &UserIndex| {
            let position = commuters.position(*user, noon);
            let north = (position.latitude - centre.latitude).abs();
            let east = (position.longitude - centre.longitude).abs();
            let half = (800.0 / 16_000.0) * 1.000_001;
            north <= half * (area().north_east.latitude - area().south_west.latitude)
                && east <= half * (area().north_east.longitude - area().south_west.longitude)
        };
        let found = (0..commuting.users).map(UserIndex).filter(is_near).count() as f64 / f64::from(commuting.users);
        assert!((found / expected - 1.0).abs() < 0.06, "{found} instead of {expected}");
    }
}

/// Handovers in each hour of the second day.
fn by_hour(commuting: &Commuting, seed: u64) -> Vec<f64> {
    let attachments =
        commute_attached(commuting.clone(), seed, &tree(area()), AttachmentRule::Distance).expect("a city");
    let handovers = attachments.handovers().in_step;
    let steps_of_hour = (commuting.day / 24.0 / commuting.step) as usize;
    handovers[24 * steps_of_hour..].chunks(steps_of_hour).map(|hour| hour.iter().sum::<u32>().into()).collect()
}

#[test]
fn handovers_come_in_waves_of_the_configured_height() {
    let mut totals = Vec::new();
    for amplitude in [0.0, 0.3, 0.8, 1.0] {
        let hours = by_hour(&Commuting { amplitude, ..city() }, 5);
        let total: f64 = hours.iter().sum();
        // From the first departure at 6 to the last arrival at 11, and in the evening from 15.5 to 20.5.
        let morning: f64 = hours[6..11].iter().sum();
        let evening: f64 = hours[16..20].iter().sum::<f64>() + f64::midpoint(hours[15], hours[20]);
        let share = (morning + evening) / total;
        let expected = amplitude + (1.0 - amplitude) * 10.0 / 24.0;
        assert!((share - expected).abs() < 0.03, "{amplitude}: {share} instead of {expected}: {hours:?}");
        let night: f64 = hours[0..5].iter().sum();
        assert!((night / total - (1.0 - amplitude) * 5.0 / 24.0).abs() < 0.03, "{amplitude}: {hours:?}");
        totals.push(total);
    }
    // The amplitude shifts handovers to other hours, and hardly changes their number.
    let (least, most) =
        totals.iter().fold((f64::MAX, 0.0_f64), |(least, most), total| (least.min(*total), most.max(*total)));
    assert!(most / least < 1.1, "{totals:?}");
    let flat = by_hour(&Commuting { amplitude: 0.0, users: 20_000, ..city() }, 5);
    let mean = flat.iter().sum::<f64>() / 24.0;
    assert!(flat.iter().all(|hour| (hour / mean - 1.0).abs() < 0.1), "{flat:?}");
}

#[test]
fn the_first_users_do_not_depend_on_later_ones() {
    let few = commuters(&Commuting { users: 10, ..city() }, 9);
    let many = commuters(&city(), 9);
    for user in (0..10).map(UserIndex) {
        assert!((0..192).all(|step| few.position(user, step) == many.position(user, step)));
    }
}

#[test]
fn rejects_trips_and_hours_that_do_not_fit_into_a_day() {
    let refused = |change: fn(&mut Commuting)| {
        let mut commuting = city();
        change(&mut commuting);
        match Commuters::new(commuting, 1, &tree(area()), AttachmentRule::Distance) {
            Err(RandomWaypointError::Setting { setting, .. }) => setting,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(|city| city.morning = 1.0), "morning");
    assert_eq!(refused(|city| city.evening = 11.0), "evening");
    assert_eq!(refused(|city| city.evening = 23.0), "evening");
    assert_eq!(refused(|city| city.amplitude = 1.5), "amplitude");
    assert_eq!(refused(|city| city.day = 0.0), "day");
    assert_eq!(refused(|city| city.hotspots[0].position = Some(Position { latitude: 0.0, longitude: 0.0 })), "place");
    assert_eq!(refused(|city| city.hotspots[0].weight = f64::NAN), "place");
    assert_eq!(refused(|city| city.trip = f64::INFINITY), "trip");
}
