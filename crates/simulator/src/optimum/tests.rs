//! The objective on small worlds, and searches compared with brute force.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::problem::Group;
use super::{Allocation, Demand, NodeDistance, PlacementValue, Problem, Search, best};

fn allocation(nodes: &[u32]) -> Allocation {
    let mut allocation = Allocation::default();
    nodes.iter().for_each(|node| allocation.add(*node));
    allocation
}

/// Users at an access point. `hops` has its distance to each node; a hop takes 2 ms.
fn group(users: u32, rate_each: f64, hops: &[u32]) -> Group {
    let distances: Arc<[NodeDistance]> =
        hops.iter().map(|hops| NodeDistance { distance: f64::from(*hops), latency: 2.0 * f64::from(*hops) }).collect();
    Group { users, rate: f64::from(users) * rate_each, distances }
}

fn demand(max_rate: f64, max_latency: f64, groups: Vec<Group>) -> Demand {
    let rate: f64 = groups.iter().map(|group| group.rate).sum();
    Demand { hardware: 1, max_rate, max_latency, groups, on_one_node_max: super::problem::needed_for(rate, max_rate) }
}

#[test]
fn a_user_is_satisfied_only_in_time_and_without_overload() {
    // Node 0 is the cloud above the access points 1 and 2, which have two users and one.
    let demand = demand(10.0, 2.0, vec![group(2, 5.0, &[1, 0, 2]), group(1, 5.0, &[1, 2, 0])]);
    let value = |nodes: &[u32]| demand.value(&allocation(nodes));
    assert_eq!(value(&[]), PlacementValue::ZERO);
    // All are near enough, but the instance handles only 10 of their 15 requests.
    let in_cloud = PlacementValue { present: 1, satisfied: 0, served: 3, latency_millionths: 6_000_000, instances: 1 };
    assert_eq!(value(&[0]), in_cloud);
    // Two instances in the cloud share the 15 requests, and can handle 20.
    assert_eq!(value(&[0, 0]), PlacementValue { satisfied: 3, instances: 2, ..in_cloud });
    // At the access point of the two users, the load is the same, and the latency of the third user is too high.
    assert_eq!(value(&[1]), PlacementValue { satisfied: 0, latency_millionths: 4_000_000, ..in_cloud });
    // Every user has an instance at their own access point.
    assert_eq!(value(&[1, 2]), PlacementValue { satisfied: 3, latency_millionths: 0, instances: 2, ..in_cloud });
}

#[test]
fn no_user_is_served_without_a_reachable_instance() {
    let mut cut_off = group(1, 5.0, &[1, 0]);
    cut_off.distances = Arc::from([NodeDistance { distance: f64::INFINITY, latency: f64::INFINITY }; 2]);
    let demand = demand(10.0, 2.0, vec![cut_off]);
    assert_eq!(demand.value(&allocation(&[0])), PlacementValue { present: 1, instances: 1, ..PlacementValue::ZERO });
}

#[test]
fn more_satisfied_users_outweigh_any_latency_and_any_number_of_instances() {
    let base = PlacementValue { present: 1, satisfied: 1, served: 2, latency_millionths: 5, instances: 3 };
    let order = [
        PlacementValue { instances: 4, ..base },
        base,
        PlacementValue { instances: 2, ..base },
        PlacementValue { latency_millionths: 4, instances: 9, ..base },
        PlacementValue { served: 3, latency_millionths: 900, ..base },
        PlacementValue { satisfied: 2, served: 2, latency_millionths: 900, instances: 90, ..base },
        PlacementValue { present: 2, satisfied: 0, ..base },
    ];
    assert!(order.windows(2).all(|pair| pair[0] < pair[1]));
}

/// A world of a few nodes around an unbounded hub, with users at random nodes.
fn random_problem(random: &mut Pcg64Mcg, nodes: usize, applications: usize) -> Problem {
    let spokes: Vec<u32> = (0..nodes).map(|node| if node == 0 { 0 } else { random.random_range(1..4) }).collect();
    let hops_from = |from: usize| -> Vec<u32> {
        (0..nodes).map(|to| if from == to { 0 } else { spokes[from] + spokes[to] }).collect()
    };
    let rooms = (0..nodes).map(|node| (node > 0).then(|| random.random_range(0..3))).collect();
    let applications = (0..applications).map(|_| {
        let groups = (0..random.random_range(0..4)).map(|_| {
            let from = random.random_range(0..nodes);
            group(random.random_range(1..3), 5.0, &hops_from(from))
        });
        let groups = groups.collect();
        let max_rate = [5.0, 10.0, 40.0][random.random_range(0..3)];
        let max_latency = [0.0, 2.0, 6.0, 20.0][random.random_range(0..4)];
        Demand { hardware: random.random_range(1..3), ..demand(max_rate, max_latency, groups) }
    });
    Problem { rooms, applications: applications.collect() }
}

/// All allocations of an application that fit if no other application uses hardware, with at most `on_one_node_max`
/// instances on a node.
fn all_allocations(problem: &Problem, demand: &Demand) -> Vec<Allocation> {
    let mut all = vec![Allocation::default()];
    for (node, room) in (0..).zip(&problem.rooms) {
        let most = room.map_or(demand.on_one_node_max, |units| (units / demand.hardware).min(9) as u32);
        let mut next = Vec::new();
        for allocation in &all {
            let mut allocation = allocation.clone();
            next.push(allocation.clone());
            for _ in 0..most.min(demand.on_one_node_max) {
                allocation.add(node);
                next.push(allocation.clone());
            }
        }
        all = next;
    }
    all
}

/// The best value, by brute force.
fn best_of_all(problem: &Problem) -> PlacementValue {
    let choices: Vec<Vec<Allocation>> =
        problem.applications.iter().map(|demand| all_allocations(problem, demand)).collect();
    let mut combinations: Vec<Vec<Allocation>> = vec![Vec::new()];
    for choices in choices {
        let longer = combinations.iter().flat_map(|combination| {
            choices.iter().map(move |choice| combination.iter().cloned().chain([choice.clone()]).collect())
        });
        combinations = longer.collect();
    }
    let fitting = combinations.iter().filter(|combination| problem.fits(combination));
    fitting.map(|combination| problem.value(combination)).max().expect("nothing at all fits")
}

#[test]
fn the_exact_search_equals_brute_force() {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    for _ in 0..120 {
        let problem = random_problem(&mut random, 4, 2);
        let found = best(&problem, Search::Exact);
        assert!(problem.fits(&found), "{problem:?}\n{found:?}");
        assert_eq!(problem.value(&found), best_of_all(&problem), "{problem:?}\n{found:?}");
    }
}

#[test]
fn the_exact_search_is_never_worse_than_the_greedy_one_and_both_fit() {
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let (mut worlds, mut equal, mut as_many) = (0, 0, 0);
    for _ in 0..200 {
        let problem = random_problem(&mut random, 6, 3);
        let [exact, greedy] = [Search::Exact, Search::Greedy].map(|search| best(&problem, search));
        assert!(problem.fits(&exact) && problem.fits(&greedy));
        assert!(problem.value(&exact) >= problem.value(&greedy), "{problem:?}");
        worlds += 1;
        equal += u32::from(problem.value(&exact) == problem.value(&greedy));
        as_many += u32::from(problem.value(&exact).satisfied == problem.value(&greedy).satisfied);
    }
    // Not guaranteed, but documents the quality of the greedy search.
    assert!(equal * 100 >= worlds * 95, "as good in {equal}, as many users in {as_many} of {worlds}");
}

#[test]
fn the_greedy_search_beats_random_placements() {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    for _ in 0..200 {
        let problem = random_problem(&mut random, 6, 3);
        let greedy = problem.value(&best(&problem, Search::Greedy));
        let exact = problem.value(&best(&problem, Search::Exact));
        let mut placed = vec![Allocation::default(); 3];
        for application in [0, 1, 2] {
            placed[application].add(random.random_range(0..6));
            if !problem.fits(&placed) {
                placed[application] = Allocation::default();
            }
        }
        let value = problem.value(&placed);
        assert!(value <= exact);
        assert!(value.satisfied <= greedy.satisfied || value.present < greedy.present, "{problem:?}\n{placed:?}");
    }
}
