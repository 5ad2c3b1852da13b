//! Measures the memory of a world. A separate test program, because it counts all allocations of the process.
//!
//! `cargo test -p mario-simulator --test memory -- --nocapture` prints the numbers that `docs/scale.md` states.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

use std::alloc::System;

use mario_scenario::{Deploy, Document, NoFiles, Scenario};
use mario_simulator::{NullRecorder, RunOptions, RunStatistics, Simulation};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The bytes currently in use.
fn in_use() -> i64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as i64 - stats.bytes_deallocated as i64
}

fn scenario(preset: &str, policy: &str, overrides: &[String]) -> Scenario {
    let mut document = Document::preset(preset).expect("a preset");
    document.set(overrides);
    document.set_policy(policy);
    document.resolve(&mut NoFiles).expect("a scenario").scenario
}

/// The bytes that a scenario and its simulation hold at the end of a run, and the run's statistics.
fn bytes_at_the_end(make: impl FnOnce() -> Scenario) -> (f64, RunStatistics) {
    let before = in_use();
    let scenario = make();
    let mut simulation = Simulation::new(&scenario, RunOptions::default()).expect("it can be run");
    let statistics = simulation.run(&mut NullRecorder);
    let bytes = in_use() - before;
    drop(simulation);
    (bytes as f64, statistics)
}

/// The bytes per additional item, from twice to four times the `first` size. Panics if they differ by 15 % or more from
/// those between `first` and twice that size. Sizes double as the capacities of vectors do, so that the share of spare
/// capacity is the same.
fn bytes_each(what: &str, first: u32, bytes: impl Fn(u32) -> f64) -> f64 {
    let [small, medium, large] = [first, 2 * first, 4 * first].map(bytes);
    let first = f64::from(first);
    let (once, again) = ((medium - small) / first, (large - medium) / (2.0 * first));
    println!("{what}: {once:.0} bytes each, then {again:.0}");
    assert!((again / once - 1.0).abs() < 0.15, "{what}: {once} bytes each, then {again}");
    again
}

/// The city without overload: an overloaded server remembers each change of its load since the request that it serves was
/// sent.
fn city(users: u32, duration: u32) -> Scenario {
    let overrides = [
        format!("mobility.users={users}"),
        format!("duration={duration}"),
        "topology.size=8".to_owned(),
        "network.service_time=0.00001".to_owned(),
        "network.bandwidth=100000".to_owned(),
    ];
    scenario("city", "baseline:never-move", &overrides)
}

/// The paper's scenario with `users` users from the start and traffic as rates.
fn paper(size: u32, users: u32, duration: u32) -> Scenario {
    let overrides = [
        format!("topology.size={size}"),
        format!("mobility.users={users}"),
        format!("mobility.first_users={users}"),
        format!("duration={duration}"),
        "network.fidelity=flow".to_owned(),
    ];
    scenario("paper", "workload-and-latency-aware", &overrides)
}

/// Agents of an application without users, with a policy that proposes nothing.
fn idle(agents: u32) -> Scenario {
    let overrides = ["mobility.users=1".to_owned(), "duration=2000".to_owned(), "network.fidelity=flow".to_owned()];
    let mut scenario = scenario("paper", "baseline:never-move", &overrides);
    let unused = scenario.deploys.iter().find(|deploy| deploy.application != scenario.users[0].application);
    let unused: Deploy = unused.expect("there are six applications").clone();
    scenario.deploys = vec![unused; agents as usize];
    scenario
}

// A single test, because the allocations of a concurrent test would be counted too.
#[test]
fn memory_grows_with_users_agents_and_nodes_but_not_with_time() {
    // A warm-up run, so that one-time allocations are not counted below.
    bytes_at_the_end(|| city(16, 2_000));

    let of_user = bytes_each("a user of the city", 4_096, |users| bytes_at_the_end(|| city(users, 9_000)).0);
    assert!(of_user < 600.0, "{of_user} bytes for a user");

    let of_agent = bytes_each("an idle agent", 1_024, |agents| {
        let (bytes, statistics) = bytes_at_the_end(|| idle(agents));
        // Most evaluations reuse a proposal: on average, each agent's policy runs at most once.
        assert!(statistics.evaluated <= u64::from(agents) && statistics.due >= 9 * u64::from(agents), "{statistics:?}");
        bytes
    });
    assert!(of_agent < 1_500.0, "{of_agent} bytes for an agent");

    // Simulated days must not accumulate memory.
    let (one_day, _) = bytes_at_the_end(|| city(4_096, 24_000));
    let (four_days, _) = bytes_at_the_end(|| city(4_096, 96_000));
    println!("a city after a day: {one_day:.0} bytes, after four days: {four_days:.0}");
    assert!(four_days < 1.02 * one_day, "{one_day} bytes after a day, {four_days} after four");

    // The whole world: each size has four times the nodes and users of the previous one.
    let worlds = [(16, 976), (32, 3_905), (64, 15_624)];
    let bytes = worlds.map(|(size, users)| bytes_at_the_end(|| paper(size, users, 2_000)).0);
    println!("worlds of 341, 1365 and 5461 nodes: {bytes:?} bytes");
    assert!(bytes[2] / bytes[1] < 4.0 * 1.2 && bytes[1] / bytes[0] < 4.0 * 1.2, "{bytes:?}");
}
