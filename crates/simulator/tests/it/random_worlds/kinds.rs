//! Random worlds with several kinds of hardware.

use std::collections::BTreeMap;

use mario_domain::{Capacity, Hardware, HardwareKind};
use mario_scenario::{NodeIndex, PolicyText, Scenario};
use mario_simulator::{Detail, Reuse, RunOptions};

use super::{Replay, run, world};
use crate::world::outputs;

/// The number of worlds.
const WORLDS: u64 = 120;

/// Two policies that read hardware by kind, and one that does not.
const TEXTS: [&str; 3] = [
    ":- dynamic needs/3, free/3.\n\
     fits(I, N) :- serviceInstance(I, A, N), forall(needs(A, K, W), (free(N, K, F), F >= W)).\n\
     operation(replicate, I, self) :- node(N, _), fits(I, N).\n\
     operation(migrate, I, M) :- node(N, _, Ms), \\+ fits(I, N), member(M, Ms).\n",
    "operation(replicate, _, M) :- node(N, _, Ms), aggregate_all(count, free(N, _, _), C), nth0(C, [self, self | Ms], M).\n\
     operation(migrate, _, M) :- node(N, _, Ms), free(N, memory_mb, F), F < 512, member(M, Ms).\n",
    "operation(replicate, _, M) :- node(_, _, Ms), member(M, [self | Ms]).\n",
];

/// An acceptance policy that keeps a quarter of each needed kind of hardware free.
const KEEPS: &str = "reject(request(_, _, A, _, To), tight(K)) :-\n\
                     needs(A, K, W), free(To, K, F), capacity(To, K, C), F - W < C / 4.\n";

/// A random world with several kinds of hardware.
pub fn of_kinds(number: u64) -> Scenario {
    let mut scenario = world(number);
    let nodes: Vec<(NodeIndex, Capacity)> =
        scenario.topology.nodes().map(|(index, node)| (index, node.capacity)).collect();
    for (index, capacity) in nodes {
        let seed = number as usize * 7 + index.position() * 5;
        if let Capacity::Bounded(hardware) = capacity {
            let amounts = [
                (HardwareKind::MemoryMb, [0, 512, 1_024, 4_096][seed % 4]),
                (HardwareKind::Gpu, (seed / 4 % 3) as u64),
            ];
            let with = |hardware: Hardware, (kind, amount)| hardware.with(kind, amount).expect("counted");
            scenario.topology.set_capacity(index, Capacity::Bounded(amounts.into_iter().fold(hardware, with)));
        }
        if seed.is_multiple_of(9) && !scenario.acceptances.is_empty() {
            scenario.acceptance_of[index.position()] = Some(scenario.acceptances.len() as u32);
        }
    }
    if !scenario.acceptances.is_empty() {
        let files = vec![("keeps.pl".to_owned(), KEEPS.to_owned())];
        scenario.acceptances.push(PolicyText { name: "keeps".to_owned(), files, memory: 0 });
    }
    for (place, plan) in scenario.applications.iter_mut().enumerate() {
        let hardware = &mut plan.application.hardware;
        let memory = [0, 256, 700][(number as usize + place) % 3];
        *hardware = hardware.with(HardwareKind::MemoryMb, memory).expect("counted");
        if place == 1 {
            *hardware = hardware.with(HardwareKind::Gpu, 1).expect("counted");
        }
    }
    for (place, policy) in scenario.policies.iter_mut().enumerate() {
        // Some policies stay as drawn, without kinds.
        if let Some(text) = TEXTS.get((number as usize + place) % 4) {
            policy.files = vec![("kinds.pl".to_owned(), (*text).to_owned())];
        }
    }
    // A scenario with initial instances that do not fit cannot be run.
    for deploy in &mut scenario.deploys {
        deploy.time = deploy.time.max(mario_domain::Time::at(1.0));
    }
    scenario
}

#[test]
fn no_random_world_with_several_kinds_of_hardware_breaks_a_rule() {
    let only = std::env::var("MARIO_KINDS").ok().map(|text| text.parse().expect("the number of a world"));
    let mut seen: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut by_memory = 0;
    for number in only.map_or(0..WORLDS, |number: u64| number..number + 1) {
        let replay = Replay(number);
        let scenario = of_kinds(number);
        let (trace, report, ..) = run(&scenario, RunOptions::default());
        assert!(report.is_clean(), "world {number}:\n{report}");
        let everything = RunOptions { threads: 2, reuse: Reuse::Nothing };
        let ([again, ..], _) = outputs(&scenario, everything, Detail::Full);
        assert!(again == trace, "world {number} has another trace when everything is asked again");
        let (every, shared) = (
            outputs(&scenario, everything, Detail::Operations).0,
            outputs(&scenario, RunOptions::default(), Detail::Operations).0,
        );
        assert!(every == shared, "world {number} differs when agents share decisions");
        for (what, count) in report.counts.operations.iter().chain(&report.counts.inhibited) {
            *seen.entry(what).or_default() += count;
        }
        let trace = String::from_utf8(trace).expect("text");
        by_memory += trace.matches(r#""rule":"capacity","needed":{"#).count();
        drop(replay);
    }
    if only.is_none() {
        assert!(by_memory > 100, "{by_memory} verdicts by kinds");
        for what in ["migrate", "replicate", "capacity", "acceptance"] {
            assert!(seen.get(what).is_some_and(|count| *count > 10), "too little of `{what}`: {seen:?}");
        }
    }
}
