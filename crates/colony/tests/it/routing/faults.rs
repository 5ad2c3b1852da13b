//! Random networks with random faults, drawn from seeds.

use mario_domain::{Duration, InstanceId};
use mario_testing::Random;

use super::network::{Conditions, Network};
use super::shapes::Shape;

const SEEDS: u64 = 400;

fn seeds() -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|wanted| wanted.parse::<u64>().ok());
    match number("MARIO_ROUTING_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("MARIO_ROUTING_SEEDS").unwrap_or(SEEDS)).collect(),
    }
}

/// Prints the replay command when it is dropped during a panic.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let seed = self.0;
            eprintln!(
                "to see it again: MARIO_ROUTING_SEED={seed} cargo test -p mario-colony --test it routing::faults"
            );
        }
    }
}

fn drawn(seed: u64) -> Network {
    let mut random = Random::new(seed);
    let shape = Shape::drawn(&mut random);
    let applications = random.between(1, 3) as usize;
    let mut network = Network::new(&shape, applications, random.number(), |config| {
        config.timing.tick = Duration::of(1_000.0);
        config.timing.exact_every = 2;
        config.timing.forget_after = Duration::of(30_000.0);
    });
    network.is_checked = true;
    network
}

/// Performs one random action: an operation, a fault, a repair, a change of cost, or a client request.
fn act(network: &mut Network, random: &mut Random) {
    let application = random.below(network.applications.len());
    let node = random.below(network.nodes());
    let instances: Vec<(InstanceId, usize)> =
        network.hosts[application].iter().map(|(instance, (host, _))| (instance.clone(), *host)).collect();
    let alive: Vec<(InstanceId, usize)> =
        instances.into_iter().filter(|(_, host)| network.router(*host).is_some()).collect();
    let links = network.links.len();
    match random.below(20) {
        0..=5 if !alive.is_empty() => {
            let (instance, host) = alive[random.below(alive.len())].clone();
            let neighbours: Vec<usize> = network.neighbours(host).collect();
            network.migrate(application, &instance, neighbours[random.below(neighbours.len())]);
        }
        6..=7 => network.deploy(application, node),
        8 if !alive.is_empty() => {
            let (instance, _) = alive[random.below(alive.len())].clone();
            network.undeploy(application, &instance);
        }
        9..=11 => network.cut(random.below(links)),
        12..=14 => network.connect(random.below(links)),
        15 => network.crash(node),
        16..=17 => network.restart(node),
        18 => {
            let cost = 1_000 * random.between(1, 9) as u32;
            network.change_cost(random.below(links), cost);
        }
        _ => network.ask(application, node),
    }
}

fn live_through(seed: u64) -> Network {
    let _replay = Replay(seed);
    live_on(drawn(seed), seed)
}

fn live_on(mut network: Network, seed: u64) -> Network {
    let mut random = Random::new(!seed);
    network.conditions = Conditions { loss_percent: [0, 0, 5, 25][random.below(4)], is_reordering: random.percent(40) };
    for _ in 0..random.between(5, 60) {
        act(&mut network, &mut random);
        let pause = [0_u64, 1, 5, 50, 400, 4_000][random.below(6)];
        network.run_for(random.below(pause + 1) as f64);
    }
    network.conditions = Conditions::default();
    network.run_for(4_000.0);
    for node in 0..network.nodes() {
        network.restart(node);
    }
    for link in 0..network.links.len() {
        network.connect(link);
    }
    network.run_for(200_000.0);
    network
}

#[test]
fn routes_never_loop_and_distances_are_right_once_quiescent() {
    for seed in seeds() {
        let _replay = Replay(seed);
        live_through(seed).check_quiet();
    }
}

#[test]
fn the_same_seed_yields_the_same_messages() {
    for seed in seeds().into_iter().take(20) {
        assert_eq!(live_through(seed).tally, live_through(seed).tally, "seed {seed}");
    }
}

/// Proves that the check can fail: with forged labels, routes do loop.
#[test]
#[should_panic(expected = "go in a circle")]
fn the_check_finds_loops_when_labels_are_forged() {
    for seed in 0..100 {
        let mut network = drawn(seed);
        network.is_forging = true;
        live_on(network, seed);
    }
}
