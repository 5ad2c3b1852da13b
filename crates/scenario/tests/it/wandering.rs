//! Generated mobility: its statistics are close to those that `docs/mobility.md` states, the balanced assignment gives
//! both kinds of applications about the same mean number of handovers per user, and only arrivals and handovers are
//! stored.

use mario_domain::{Capacity, Duration};
use mario_scenario::mobility::{Assignment, AttachmentRule, RandomWaypoint, assign, random_waypoint_attached};
use mario_scenario::topology::{TiledTree, tiled_tree};
use mario_scenario::{ApplicationIndex, Attachments, Topology};

const SEEDS: u64 = 100;

fn tree() -> Topology {
    let capacities = vec![Capacity::Unbounded, Capacity::units(9), Capacity::units(6), Capacity::units(1)];
    let area = Some(RandomWaypoint::rome().area);
    tiled_tree(&TiledTree { size: 8, capacities, latencies: [3.0, 2.0, 3.0].map(Duration::of).to_vec(), area })
        .expect("a tree")
}

fn town(seed: u64, tree: &Topology) -> Attachments {
    random_waypoint_attached(&RandomWaypoint::rome(), seed, tree, AttachmentRule::Distance).expect("attached")
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    values.sum::<f64>() / SEEDS as f64
}

#[test]
fn rome_has_the_published_statistics_for_seed_1_and_on_average() {
    let tree = tree();
    let towns: Vec<Attachments> = (1..=SEEDS).map(|seed| town(seed, &tree)).collect();
    let handovers: Vec<_> = towns.iter().map(Attachments::handovers).collect();
    for counted in &handovers {
        assert_eq!((counted.arrivals[0], counted.arrivals[1], counted.late_arrivals()), (50, 1, 1));
        assert_eq!(counted.in_step.len(), 26);
    }
    assert_eq!(handovers[0].total(), 81);
    let average = mean(handovers.iter().map(|counted| counted.total() as f64));
    assert!((78.0..=84.0).contains(&average), "handovers: {average}");
    let variance = mean(handovers.iter().map(|counted| (counted.total() as f64 - average).powi(2)));
    assert!((10.0..=13.0).contains(&variance.sqrt()), "deviation: {}", variance.sqrt());
    let still =
        mean(handovers.iter().map(|counted| counted.of_user.iter().filter(|count| **count == 0).count() as f64));
    assert!((18.0..=21.0).contains(&still), "without a handover: {still}");
    let most = mean(handovers.iter().map(|counted| f64::from(counted.of_user.iter().copied().max().unwrap_or(0))));
    assert!((5.5..=6.5).contains(&most), "most handovers of a user: {most}");
    let used = mean(towns.iter().map(|town| {
        let mut used: Vec<_> = town.steps.iter().flatten().filter_map(|(_, access_point)| *access_point).collect();
        used.sort_unstable();
        used.dedup();
        used.len() as f64
    }));
    assert!((42.0..=47.0).contains(&used), "access points used: {used}");
}

#[test]
fn both_kinds_of_applications_get_equal_handovers() {
    let tree = tree();
    let kinds = [[0, 1, 2], [3, 4, 5]].map(|kind| kind.map(ApplicationIndex).to_vec());
    for seed in 1..=SEEDS {
        let handovers = town(seed, &tree).handovers().of_user;
        let assigned = assign(&handovers, &kinds, Assignment::Balanced).expect("there are applications");
        let (mut users, mut moves) = ([0_u32; 2], [0_u32; 2]);
        for (application, handovers) in assigned.iter().zip(&handovers) {
            users[application.position() / 3] += 1;
            moves[application.position() / 3] += handovers;
        }
        assert_eq!(users[0].abs_diff(users[1]), 1);
        let mean = |kind: usize| f64::from(moves[kind]) / f64::from(users[kind]);
        let difference = (mean(0) - mean(1)).abs();
        assert!(difference <= 0.1, "seed {seed}: {difference}");
    }
}

#[test]
fn a_million_users_take_memory_only_for_their_handovers() {
    let wandering = RandomWaypoint { users: 1_000_000, ..RandomWaypoint::rome() };
    let attachments = random_waypoint_attached(&wandering, 1, &tree(), AttachmentRule::Distance).expect("attached");
    let listed: usize = attachments.steps.iter().map(Vec::len).sum();
    let handovers = attachments.handovers();
    assert_eq!(listed as u64, handovers.total() + 1_000_000);
    assert!(handovers.total() < 2_000_000, "{}", handovers.total());
}
