//! Links and queues, compared with a brute-force reference implementation; round robin, and lost requests.

use std::collections::BTreeMap;

use mario_domain::{Capacity, Duration, Time};
use mario_scenario::{
    ApplicationIndex, Deploy, Metric, NodeIndex, Occupancy, PolicyIndex, Routing, Scenario, TopologyBuilder, UserIndex,
    Workload,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::world::{STILL, ScenarioExt, described, scenario, story, topology};

/// One client request: the user, and the times of sending, arrival, start of service and end of service.
type Row = (UserIndex, [f64; 4]);

/// The shortest paths from a node (Bellman-Ford): the distance of each node, and its predecessor.
fn shortest_paths(world: &Scenario, from: NodeIndex, metric: Metric) -> Vec<(f64, NodeIndex)> {
    let topology = &world.topology;
    let mut shortest_paths = vec![(f64::INFINITY, from); topology.node_count()];
    shortest_paths[from.position()].0 = 0.0;
    for _ in 0..topology.node_count() {
        for (node, _) in topology.nodes() {
            for (_, link) in topology.links_from(node) {
                let further =
                    shortest_paths[node.position()].0 + if metric == Metric::Hops { 1.0 } else { link.latency.units() };
                if further < shortest_paths[link.to.position()].0 {
                    shortest_paths[link.to.position()] = (further, node);
                }
            }
        }
    }
    shortest_paths
}

/// The client requests whose service starts before the end, by brute force: repeatedly moves the earliest of all
/// messages by one hop.
fn toy(world: &Scenario, metric: Metric) -> Vec<Row> {
    let mut on_the_way: Vec<(f64, Row, Vec<NodeIndex>)> = Vec::new();
    for (user, at) in &world.attachments.steps[0] {
        let plan = &world.users[user.position()];
        let Workload::Periodic { period, phase } = plan.workload else { panic!("all are periodic") };
        let shortest_paths = shortest_paths(world, at.expect("somewhere"), metric);
        let hosts = world.deploys.iter().filter(|deploy| deploy.application == plan.application);
        let distance = |node: NodeIndex| shortest_paths[node.position()].0;
        let nearest = hosts.min_by(|one, other| distance(one.node).total_cmp(&distance(other.node)));
        let mut path = vec![nearest.expect("an instance").node];
        while path[0] != at.expect("somewhere") {
            path.insert(0, shortest_paths[path[0].position()].1);
        }
        let [period, phase, duration] = [period, phase, world.duration].map(Duration::units);
        let times = (0..).map(|number| phase + f64::from(number) * period).take_while(|time| *time < duration);
        on_the_way.extend(times.map(|time| (time, (*user, [time, 0.0, 0.0, 0.0]), path.clone())));
    }
    let mut free_from: BTreeMap<(NodeIndex, NodeIndex), f64> = BTreeMap::new();
    let mut idle_from: BTreeMap<(NodeIndex, ApplicationIndex), f64> = BTreeMap::new();
    let mut rows = Vec::new();
    while !on_the_way.is_empty() {
        on_the_way.sort_by(|one, other| other.0.total_cmp(&one.0));
        let (now, (user, mut times), mut path) = on_the_way.pop().expect("not empty");
        let here = path.remove(0);
        if let Some(next) = path.first() {
            let link = world.topology.link(world.topology.link_between(here, *next).expect("a link"));
            let sending = link.bandwidth.map_or(0.0, |bandwidth| world.network.message_size / bandwidth);
            let free = free_from.entry((here, *next)).or_default();
            let start = now.max(*free);
            let is_whole = world.network.occupancy == Occupancy::Latency;
            *free = start + sending + if is_whole { link.latency.units() } else { 0.0 };
            on_the_way.push((start + sending + link.latency.units(), (user, times), path));
        } else {
            let application = world.users[user.position()].application;
            let idle = idle_from.entry((here, application)).or_default();
            let start = now.max(*idle);
            *idle = start + world.applications[application.position()].service_time.units();
            times[1..].copy_from_slice(&[now, start, *idle]);
            rows.push((user, times));
        }
    }
    rows.retain(|(_, times)| times[2] < world.duration.units());
    rows.sort_by(|one, other| one.0.cmp(&other.0).then(one.1[0].total_cmp(&other.1[0])));
    rows
}

/// A small random network with much queueing. Shortest paths in the metric are unique.
fn network(seed: u64, metric: Metric) -> Scenario {
    let mut random = Pcg64::seed_from_u64(seed);
    let nodes = random.random_range(1..9_usize);
    let mut builder = TopologyBuilder::default();
    for number in 0..nodes {
        builder.node(described(number, Capacity::Unbounded)).expect("a new node");
    }
    for node in 1..nodes {
        for other in 0..node {
            let is_needed = other == random.random_range(0..node) || other + 1 == node;
            let is_wanted = if metric == Metric::Hops { other + 1 == node } else { is_needed };
            if is_wanted {
                let bandwidth = random.random_bool(0.3).then(|| random.random_range(0.2..2.0));
                let latency = random.random_range(0.5..9.0);
                builder
                    .link(NodeIndex::at(other), NodeIndex::at(node), Duration::of(latency), bandwidth)
                    .expect("a link");
            }
        }
    }
    let mut world = scenario(builder.build().expect("an infrastructure"));
    world.routing = Routing::Nearest(metric);
    world.network.occupancy = if random.random_bool(0.5) { Occupancy::Latency } else { Occupancy::Transmission };
    world.network.message_size = random.random_range(0.5..3.0);
    for application in 0..random.random_range(1..4_u32) {
        world = world.with_application(1, random.random_range(0..nodes as u32), STILL);
        world.applications[application as usize].service_time = Duration::of(random.random_range(0.01..12.0));
        // The reference does not implement round robin, so only one instance may be nearest.
        let home = world.applications[application as usize].home;
        for node in (0..nodes).map(NodeIndex::at).filter(|node| *node != home) {
            if metric == Metric::Latency && random.random_bool(0.3) {
                let (application, policy) = (ApplicationIndex(application), PolicyIndex(application));
                world.deploys.push(Deploy { time: Time::ZERO, application, node, policy });
            }
        }
    }
    for user in 0..random.random_range(1..7_usize) {
        let application = random.random_range(0..world.applications.len() as u32);
        world = world.with_user(application, &[Some(random.random_range(0..nodes as u32))]);
        let (period, phase) = (random.random_range(3.0..40.0), random.random_range(0.0..40.0));
        let [period, phase] = [period, phase].map(Duration::of);
        world.users[user].workload = Workload::Periodic { period, phase };
    }
    world
}

#[test]
fn times_of_arrival_and_service_equal_those_of_the_reference() {
    let (mut rows, mut waited) = (0, 0);
    for seed in 0..60 {
        for metric in [Metric::Hops, Metric::Latency] {
            let world = network(seed, metric);
            let mut found: Vec<Row> = story(&world)
                .served
                .iter()
                .map(|served| {
                    (served.user, [served.emitted, served.arrived, served.started, served.ended].map(Time::units))
                })
                .collect();
            found.sort_by(|one, other| one.0.cmp(&other.0).then(one.1[0].total_cmp(&other.1[0])));
            let expected = toy(&world, metric);
            assert_eq!(found.len(), expected.len(), "network {seed}, {metric:?}");
            for (found, expected) in found.iter().zip(&expected) {
                let is_same = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-6;
                let are_same = found.0 == expected.0 && found.1.iter().zip(&expected.1).all(is_same);
                assert!(are_same, "network {seed}, {metric:?}: {found:?}, and in the toy {expected:?}");
            }
            rows += found.len();
            waited += expected.iter().filter(|(_, times)| times[2] > times[1]).count();
        }
    }
    assert!(rows > 20_000 && waited > rows / 10, "{waited} of {rows} waited for service");
}

/// A user at node 0, and an instance on each of `hosts`. Nodes 1 and 2 are one hop away, node 3 two hops.
fn diamond(hosts: &[u32]) -> Scenario {
    let links = [(0, 1, 4.0), (0, 2, 6.0), (1, 3, 4.0), (2, 3, 1.0)];
    let mut world = scenario(topology(&[9, 9, 9, 9], &links)).with_application(1, hosts[0], STILL);
    let first = world.deploys[0].clone();
    world.deploys = hosts.iter().map(|node| Deploy { node: NodeIndex(*node), ..first.clone() }).collect();
    world.with_user(0, &[Some(0)])
}

fn served_by(world: &Scenario) -> Vec<u32> {
    story(world).served.iter().take(6).map(|served| served.agent.0).collect()
}

#[test]
fn equally_near_instances_are_used_round_robin() {
    assert_eq!(served_by(&diamond(&[3, 1, 2])), [1, 2, 1, 2, 1, 2]);
    assert_eq!(served_by(&diamond(&[1, 1, 1])), [0, 1, 2, 0, 1, 2]);
    let by_latency = |hosts| Scenario { routing: Routing::Nearest(Metric::Latency), ..diamond(hosts) };
    assert_eq!(served_by(&by_latency(&[3, 2, 1])), [2, 2, 2, 2, 2, 2]);
    assert_eq!(served_by(&by_latency(&[3, 2])), [1, 1, 1, 1, 1, 1]);
}

#[test]
fn users_of_one_access_point_share_a_round_robin() {
    let world = diamond(&[1, 1]).with_user(0, &[Some(0)]);
    let by: Vec<(u32, u32)> = story(&world).served.iter().map(|served| (served.user.0, served.agent.0)).collect();
    assert_eq!(by[..4], [(0, 0), (1, 1), (0, 0), (1, 1)]);
}

#[test]
fn a_request_in_transit_to_a_removed_or_moved_instance_is_lost() {
    // The instance is removed or migrates at 300, while the request sent at 280 is still in transit.
    for policy in ["operation(undeploy, _, self).\n", "operation(migrate, _, n2).\n"] {
        let line = topology(&[1, 1, 1], &[(0, 1, 30.0), (1, 2, 1.0)]);
        let mut world = scenario(line).with_application(1, 1, policy).with_user(0, &[Some(0)]);
        world.duration = Duration::of(311.0);
        let story = story(&world);
        assert_eq!((story.served.len(), &story.lost[..]), (6, &[(310.0, 0)][..]), "{policy}");
    }
}

#[test]
fn queued_requests_migrate_with_their_instance_and_are_lost_with_it() {
    // Requests are sent at 40, 80, ... 280, and their service starts at 40, 110, 180 and 250. So three are queued when
    // the instance migrates or is removed.
    for (policy, served, lost) in [("operation(migrate, _, n1).\n", 7, 0), ("operation(undeploy, _, self).\n", 4, 3)] {
        let mut world = scenario(topology(&[1, 1], &[(0, 1, 100.0)])).with_application(1, 0, policy);
        world = world.with_user(0, &[Some(0), None]);
        world.applications[0].service_time = Duration::of(70.0);
        world.step = Duration::of(310.0);
        let story = story(&world);
        assert_eq!((story.served.len(), story.lost.len()), (served, lost), "{policy}: {:?}", story.lost);
    }
}
