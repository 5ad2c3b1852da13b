//! Tests that separate nodes that exchange messages produce the same labels as the simulator's population, which holds
//! the state of all nodes.
//!
//! A recorder observes a simulation and drives one `mario_colony::Node` for each node of its world. The nodes are
//! connected by instant and ordered messages. When an agent observes, evaluates or is judged in the simulation, the
//! same happens to its twin, in the same order. Each judged operation and its verdict, with the reason, must be the
//! same, cycle by cycle, up to the names of instances.
//!
//! For the first test, `MARIO_NODES=10000` draws that many worlds, and `MARIO_NODE_WORLD=1234` replays one.

mod mirror;

use mario_scenario::{Arbitration, Fidelity, Management, Memory, Scenario};
use mario_simulator::{Reuse, RunOptions, Simulation};

use crate::random_worlds::drawn;
use crate::random_worlds::flavours::flavoured;
use crate::random_worlds::kinds::of_kinds;
use crate::random_worlds::owners::owned;
use crate::random_worlds::remembering::remembering;
use crate::random_worlds::sleep::sleeping;
use mirror::{Counts, Mirror};

const WORLDS: u64 = 1_000;

/// Prints the number of a world as a replay command, if its test panics. The command replays the world in the first
/// test only.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let world = self.0;
            eprintln!("replay: MARIO_NODE_WORLD={world} cargo test -p mario-simulator --test it nodes::");
        }
    }
}

/// The random world with this number, restricted to what separate nodes support: no planner, judging by managers,
/// sliding memory, and policies that depend neither on the names of instances nor on whether other instances sleep.
fn world(number: u64) -> Scenario {
    as_nodes(drawn::draw(number))
}

fn as_nodes(mut scenario: Scenario) -> Scenario {
    scenario.arbitration = Arbitration::Managers;
    scenario.memory = Memory::Sliding;
    scenario.management = Management::Agents;
    // Labels are the same only up to the names of instances, so policies must not compute with the names.
    for text in scenario.policies.iter_mut().chain(&mut scenario.acceptances) {
        for (_, code) in &mut text.files {
            *code = code.replace("I mod 2 =:= 0", "I == I").replace("I * 7 + ", "").replace("(I + C)", "(1 + C)");
            // Within a cycle, a separate node enacts each operation at once, while the population enacts all together.
            // So acceptance policies must not depend on whether other instances are asleep.
            *code = code.replace("asleep(J)", "J = I, asleep(J)").replace("asleep(_), C)", "(fail, asleep(_)), C)");
        }
    }
    scenario
}

/// Runs a world together with its mirror; `None` if it cannot be run.
fn mirrored(scenario: &Scenario, options: RunOptions) -> Option<Counts> {
    let mut simulation = Simulation::new(scenario, options).ok()?;
    let mut mirror = Mirror::new(scenario);
    simulation.run(&mut mirror);
    Some(mirror.counts())
}

#[test]
fn nodes_with_instant_messages_produce_the_labels_of_the_population() {
    let only = std::env::var("MARIO_NODE_WORLD").ok().map(|text| text.parse().expect("the number of a world"));
    let count = std::env::var("MARIO_NODES").map_or(WORLDS, |text| text.parse().expect("how many worlds"));
    let numbers = only.map_or(0..count, |number| number..number + 1);
    let mut total = Counts::default();
    for number in numbers {
        let replay = Replay(number);
        let scenario = world(number);
        let reuse = if number % 2 == 0 { Reuse::Proposals } else { Reuse::Nothing };
        if let Some(counts) = mirrored(&scenario, RunOptions { reuse, ..RunOptions::default() }) {
            total.add(&counts);
        }
        drop(replay);
    }
    println!("{total:?}");
    if only.is_none() {
        // Without these events, the comparison would prove nothing.
        assert!(total.is_varied(), "{total:?}");
    }
}

#[test]
fn nodes_remember_what_the_population_remembers() {
    let only = std::env::var("MARIO_NODE_PAST").ok().map(|text| text.parse().expect("the number of a world"));
    let mut total = Counts::default();
    for number in only.map_or(0..300, |number: u64| number..number + 1) {
        let replay = Replay(number);
        let scenario = as_nodes(remembering(number));
        if let Some(counts) = mirrored(&scenario, RunOptions::default()) {
            total.add(&counts);
        }
        drop(replay);
    }
    for what in ["evaluations", "migrate", "replicate", "undeploy", "capacity"] {
        assert!(only.is_some() || total.of(what) > 10, "{what}: {total:?}");
    }
}

#[test]
fn nodes_count_every_kind_of_hardware_as_the_population_does() {
    let mut total = Counts::default();
    for number in 0..200 {
        let replay = Replay(number);
        if let Some(counts) = mirrored(&as_nodes(of_kinds(number)), RunOptions::default()) {
            total.add(&counts);
        }
        drop(replay);
    }
    for what in ["evaluations", "migrate", "replicate", "capacity", "acceptance"] {
        assert!(total.of(what) > 20, "{what}: {total:?}");
    }
}

#[test]
fn nodes_adapt_as_the_population_does() {
    let only = std::env::var("MARIO_NODE_FLAVOURS").ok().map(|text| text.parse().expect("the number of a world"));
    let mut total = Counts::default();
    for number in only.map_or(0..300, |number: u64| number..number + 1) {
        let replay = Replay(number);
        if let Some(counts) = mirrored(&as_nodes(flavoured(number)), RunOptions::default()) {
            total.add(&counts);
        }
        drop(replay);
    }
    for what in ["evaluations", "adapt", "migrate", "replicate", "capacity", "flavour"] {
        assert!(only.is_some() || total.of(what) > 20, "{what}: {total:?}");
    }
}

#[test]
fn owners_of_nodes_evict_and_shrink_as_those_of_the_population_do() {
    let only = std::env::var("MARIO_NODE_OWNERS").ok().map(|text| text.parse().expect("the number of a world"));
    let mut total = Counts::default();
    for number in only.map_or(0..300, |number: u64| number..number + 1) {
        let replay = Replay(number);
        if let Some(counts) = mirrored(&as_nodes(owned(number)), RunOptions::default()) {
            total.add(&counts);
        }
        drop(replay);
    }
    for what in ["evaluations", "evicted", "shrunk", "announced", "migrate", "replicate", "initiative failed"] {
        assert!(only.is_some() || total.of(what) > 20, "{what}: {total:?}");
    }
}

#[test]
fn nodes_sleep_and_wake_as_the_population_does() {
    let only = std::env::var("MARIO_NODE_SLEEP").ok().map(|text| text.parse().expect("the number of a world"));
    let mut total = Counts::default();
    for number in only.map_or(0..300, |number: u64| number..number + 1) {
        let replay = Replay(number);
        if let Some(counts) = mirrored(&as_nodes(sleeping(number)), RunOptions::default()) {
            total.add(&counts);
        }
        drop(replay);
    }
    let wanted = ["evaluations", "sleep", "wake", "woken", "not woken", "asleep", "awake", "sleepless", "capacity"];
    for what in wanted.into_iter().chain(["migrate", "replicate", "acceptance"]) {
        assert!(only.is_some() || total.of(what) > 20, "{what}: {total:?}");
    }
}

#[test]
fn nodes_equal_the_population_in_the_papers_scenario_for_every_shipped_policy() {
    for policy in mario_scenario::policy_names() {
        let mut document = mario_scenario::Document::preset("paper").expect("it ships");
        document.set(&["duration=12000".to_owned()]);
        document.set_policy(policy);
        let resolved = document.resolve(&mut mario_scenario::NoFiles).expect("a scenario");
        let mut scenario = resolved.scenario;
        scenario.network.fidelity = Fidelity::Messages;
        let counts = mirrored(&scenario, RunOptions::default()).expect("it can be run");
        assert!(counts.of("evaluations") > 300, "{policy}: {counts:?}");
    }
}
