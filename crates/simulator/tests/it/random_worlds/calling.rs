//! Random worlds with service graphs, in which applications call others.

use std::collections::BTreeMap;

use mario_scenario::{ApplicationIndex, Call, CallOrder, Fidelity, Metric, Observation, Routing, Scenario, Stage};
use mario_simulator::{Detail, Reuse, RunOptions};
use mario_testing::Random;

use super::flavours::flavoured;
use super::owners::owned;
use super::remembering::remembering;
use super::sleep::sleeping;
use super::{Replay, run, world};
use crate::world::{audited, outputs};

/// The number of worlds.
const WORLDS: u64 = 240;

/// A random world, with other features depending on its number, in which applications call later ones in the list.
pub fn calling(number: u64) -> Scenario {
    let mut scenario = match number % 5 {
        0 => world(number),
        1 => flavoured(number),
        2 => owned(number),
        3 => sleeping(number),
        _ => remembering(number),
    };
    scenario.observation = Observation::Arrivals;
    if scenario.routing == Routing::LeastUsed {
        scenario.routing = Routing::Nearest(Metric::Hops);
    }
    if number % 3 == 1 {
        scenario.network.fidelity = Fidelity::Flow;
    }
    let count = scenario.applications.len();
    // A separate generator, so that the rest of the world is the same as without calls.
    let mut random = Random::new(number);
    for caller in 0..count.saturating_sub(1) {
        // Some applications call nothing.
        let stages = if random.below(4) == 0 { 0 } else { 1 + random.below(3) };
        let stages = (0..stages).map(|_| {
            let order = if random.below(2) == 0 { CallOrder::Sequence } else { CallOrder::Parallel };
            let calls = if order == CallOrder::Sequence { 1 } else { 1 + random.below(2) };
            let called = (0..calls).map(|_| Call {
                application: ApplicationIndex::at(caller + 1 + random.below(count - caller - 1)),
                requests: [1, 1, 2, 3][random.below(4)],
            });
            Stage { order, calls: called.collect() }
        });
        scenario.applications[caller].stages = stages.collect();
    }
    if !scenario.has_calls() && count > 1 {
        let call = Call { application: ApplicationIndex::at(1), requests: 1 };
        scenario.applications[0].stages = vec![Stage { order: CallOrder::Sequence, calls: vec![call] }];
    }
    scenario
}

#[test]
fn no_random_world_with_a_service_graph_breaks_a_rule() {
    let only = std::env::var("MARIO_CALLING").ok().map(|text| text.parse().expect("the number of a world"));
    let count_of_worlds =
        std::env::var("MARIO_CALLING_WORLDS").map_or(WORLDS, |text| text.parse().expect("how many worlds"));
    let mut seen: BTreeMap<&'static str, u64> = BTreeMap::new();
    for number in only.map_or(0..count_of_worlds, |number: u64| number..number + 1) {
        let replay = Replay(number);
        let scenario = calling(number);
        let (trace, report, ..) = run(&scenario, RunOptions::default());
        assert!(report.is_clean(), "MARIO_CALLING={number}:\n{report}");
        let everything = RunOptions { threads: 2, reuse: Reuse::Nothing };
        let ([again, ..], _) = outputs(&scenario, everything, Detail::Full);
        assert!(again == trace, "world {number} has another trace when everything is asked again");
        for detail in [Detail::Operations, Detail::Summary] {
            let every = outputs(&scenario, everything, detail).0;
            let shared = outputs(&scenario, RunOptions::default(), detail).0;
            assert!(every == shared, "world {number} differs when agents share decisions");
            let counted = audited(&shared[0]);
            assert!(counted.is_clean(), "world {number}: {counted}");
            let sums = [counted.counts.served, counted.counts.lost, counted.counts.instances];
            let expected = [report.counts.served, report.counts.lost, report.counts.instances];
            assert_eq!(sums, expected, "world {number}");
        }
        count(&String::from_utf8_lossy(&trace), scenario.network.fidelity, &mut seen);
        drop(replay);
    }
    if only.is_none() {
        let calls = ["sent as messages", "lost as messages", "served as rates", "lost as rates"];
        let wakings = ["wakings as messages", "wakings as rates"];
        for (what, least) in calls.map(|what| (what, 100)).into_iter().chain(wakings.map(|what| (what, 20))) {
            assert!(seen.get(what).is_some_and(|count| *count > least), "{what} in too few worlds: {seen:?}");
        }
    }
}

/// Sums the records `calls` of a trace, and counts how often client requests asked to wake sleepers.
fn count(trace: &str, fidelity: Fidelity, seen: &mut BTreeMap<&'static str, u64>) {
    let wakings = match fidelity {
        Fidelity::Messages => "wakings as messages",
        Fidelity::Flow => "wakings as rates",
    };
    *seen.entry(wakings).or_default() += trace.lines().filter(|line| line.starts_with("[\"woken\",")).count() as u64;
    for line in trace.lines().filter(|line| line.starts_with("[\"calls\"")) {
        let numbers: Vec<f64> =
            line.trim_matches(['[', ']']).split(',').skip(2).map(|part| part.parse().expect("a number")).collect();
        let names = match fidelity {
            Fidelity::Messages => ["sent as messages", "served as messages", "lost as messages"],
            Fidelity::Flow => ["sent as rates", "served as rates", "lost as rates"],
        };
        for (name, count) in names.into_iter().zip(&numbers[1..]) {
            *seen.entry(name).or_default() += *count as u64;
        }
    }
}
