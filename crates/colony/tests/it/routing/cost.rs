//! The cost of a deploy or migration in routing messages, by the size of the network.

use mario_domain::{Duration, InstanceId};
use mario_testing::Random;

use super::network::{Network, Tally};
use super::shapes::Shape;

/// The number of instances for a number of nodes.
type Density = fn(usize) -> usize;

/// Costs in messages: of deploying the first instance (`first`); of one migration on average, in its first 200 ms
/// (`at_once`) and in the 20 ticks after that (`later`); and of an exact tick (`exact`), one message in each direction
/// of each link.
struct Cost {
    nodes: usize,
    instances: usize,
    first: f64,
    at_once: f64,
    later: f64,
    /// How many messages of `later` are requests for newer sequences.
    asked: f64,
    exact: f64,
    failed: u64,
}

fn messages(before: Tally, after: Tally) -> f64 {
    (after.updates + after.requests + after.repeats - before.updates - before.requests - before.repeats) as f64
}

/// Deploys instances on random nodes, then migrates random ones by one hop each, and counts messages. Clients send
/// requests during the first 200 ms of each migration, and failed ones are counted. No tick is exact.
fn measure(shape: &Shape, instances: usize, moves: usize, seed: u64) -> Cost {
    let mut random = Random::new(seed);
    let mut network = Network::new(shape, 1, seed, |config| {
        config.timing.exact_every = 1_000_000;
        config.timing.tick = Duration::of(10_000.0);
    });
    network.run_for(15_000.0);
    let start = network.tally;
    network.deploy(0, random.below(shape.nodes));
    network.run_for(50_000.0);
    let first = messages(start, network.tally);
    for _ in 1..instances {
        network.deploy(0, random.below(shape.nodes));
        network.run_for(200.0);
    }
    network.run_for(200_000.0);
    let (mut at_once, mut later, mut asked) = (0.0, 0.0, 0);
    for _ in 0..moves {
        let all: Vec<(InstanceId, usize)> =
            network.hosts[0].iter().map(|(instance, (host, _))| (instance.clone(), *host)).collect();
        let (instance, host) = all[random.below(all.len())].clone();
        let neighbours: Vec<usize> = network.neighbours(host).collect();
        let before = network.tally;
        let target = neighbours[random.below(neighbours.len())];
        network.migrate(0, &instance, target);
        for _ in 0..20 {
            network.ask(0, random.below(shape.nodes));
            network.run_for(10.0);
        }
        at_once += messages(before, network.tally);
        let between = network.tally;
        network.run_for(200_000.0);
        later += messages(between, network.tally);
        asked += network.tally.requests - between.requests;
    }
    let exact = network.links.len() as f64 * 2.0;
    let moves = moves as f64;
    Cost {
        nodes: shape.nodes,
        instances,
        first,
        at_once: at_once / moves,
        later: later / moves,
        asked: asked as f64 / moves,
        exact,
        failed: network.tally.failed + network.tally.broken,
    }
}

fn show(name: &str, costs: &[Cost]) {
    for Cost { nodes, instances, first, at_once, later, asked, exact, failed } in costs {
        eprintln!(
            "| {name} | {nodes} | {instances} | {first:.0} | {at_once:.1} | {later:.1} | {asked:.1} | {exact:.0} | {failed} |"
        );
    }
}

#[test]
fn a_move_costs_no_more_in_a_larger_network() {
    let largest = std::env::var("MARIO_ROUTING_NODES").ok().and_then(|nodes| nodes.parse::<usize>().ok());
    let nodes_max = largest.unwrap_or(400);
    let moves = 15;
    let trees: Vec<usize> = [21, 85, 341, 1_365, 5_461, 21_845].into_iter().filter(|n| *n <= nodes_max).collect();
    let sides: Vec<usize> = [8, 16, 32, 64, 128].into_iter().filter(|side| side * side <= nodes_max).collect();
    let densities: [(&str, Density); 2] = [("alone", |_| 1), ("dense", |nodes| nodes / 20)];
    for (density, instances) in densities {
        let tree = |nodes: &usize| measure(&Shape::tree(*nodes, 4, 2_000), instances(*nodes), moves, 7);
        let grid = |side: &usize| measure(&Shape::grid(*side, 2_000), instances(side * side), moves, 7);
        for (name, costs) in [
            ("tree", trees.iter().map(tree).collect::<Vec<Cost>>()),
            ("grid", sides.iter().map(grid).collect::<Vec<Cost>>()),
        ] {
            show(&format!("{name}, {density}"), &costs);
            for cost in &costs {
                let per_node = cost.first / cost.nodes as f64;
                assert!(per_node <= 4.0, "{name}: the first appearance costs {per_node} messages for each node");
                assert!(cost.at_once <= 60.0, "{name}, {} nodes: {} messages at once", cost.nodes, cost.at_once);
                assert_eq!(cost.failed, 0, "{name}, {} nodes: requests were lost", cost.nodes);
            }
        }
    }
}
