//! Random worlds whose instances sleep.

use std::collections::BTreeMap;

use mario_domain::{Hardware, Quantity, Sleep, Time};
use mario_scenario::{Fidelity, Observation, PolicyText, Routing, Scenario};
use mario_simulator::{Detail, RunOptions};

use super::flavours::{check_all_ways, flavoured};
use super::owners::owned;
use super::remembering::remembering;
use super::world;
use crate::world::{audited, outputs};

/// The number of worlds.
const WORLDS: u64 = 200;

/// Policies that propose sleeps and other operations.
const TEXTS: [&str; 7] = [
    // Sleeps without requests, and replicates with many.
    ":- dynamic asleep/1.\n\
     operation(sleep, I, self) :- \\+ asleep(I), \\+ requests(I, _, _, _).\n\
     operation(replicate, I, M) :- \\+ asleep(I), requests(I, M, R, _), R > 2, \\+ inhibited(replicate, I, M).\n",
    // Proposes sleep, even if it is already asleep. While it remembers that this was inhibited, proposes wake; if that
    // was inhibited, too, replicates.
    "operation(sleep, I, self) :- \\+ inhibited(sleep, I, self).\n\
     operation(wake, I, self) :- inhibited(sleep, I, self), \\+ inhibited(wake, I, self).\n\
     operation(replicate, I, self) :- inhibited(wake, I, self).\n",
    // Alternates between sleep and wake.
    ":- remembers(operations, 2).\n\
     operation(wake, I, self) :- done(1, I, sleep, self).\n\
     operation(sleep, I, self) :- \\+ done(1, I, sleep, _).\n",
    // Migrates and replicates while asleep.
    "operation(replicate, I, M) :- asleep(I), requests(I, M, R, _), R > 1, \\+ inhibited(replicate, I, M).\n\
     operation(migrate, I, M) :- asleep(I), node(_, _, Ms), last(Ms, M), \\+ inhibited(migrate, I, M).\n\
     operation(replicate, I, self) :- \\+ asleep(I), requests(I, _, R, _), R > 2, \\+ inhibited(replicate, I, self).\n\
     operation(sleep, I, self) :- \\+ asleep(I).\n\
     operation(undeploy, I, self) :- asleep(I), \\+ requests(I, _, _, _).\n",
    // Adapts while asleep, so that it wakes in another flavour.
    "operation(adapt, I, F) :- asleep(I), serviceInstance(I, A, _), running(I, G), flavour(A, F, _, _, _, _), F \\== G.\n\
     operation(sleep, I, self) :- \\+ asleep(I), requests(I, _, R, _), R < 4.\n\
     operation(replicate, I, self) :- \\+ asleep(I), \\+ inhibited(replicate, I, self).\n\
     operation(sleep, I, self) :- \\+ asleep(I).\n",
    // Sleeps if less than one unit is free, wakes if more than two are free, migrates towards requests, and replicates
    // to the first neighbour.
    "operation(sleep, I, self) :- \\+ asleep(I), node(_, F), F \\== inf, F < 1.\n\
     operation(wake, I, self) :- asleep(I), node(_, F), F \\== inf, F > 2.\n\
     operation(migrate, I, M) :- requests(I, M, _, _), M \\== self, \\+ inhibited(migrate, I, M).\n\
     operation(replicate, I, M) :- node(_, _, [M | _]), \\+ inhibited(replicate, I, M).\n",
    // Defines its own predicate `asleep`.
    "asleep(_) :- fail.\n\
     operation(sleep, I, self) :- \\+ asleep(I), requests(I, self, R, _), R > 1.\n\
     operation(replicate, I, M) :- requests(I, M, _, _).\n",
];

/// An acceptance policy that reads which instances are asleep. It rejects wakes if hardware is scarce, and sleeps and
/// replicas beside several sleepers.
const LOOKS: &str = "reject(request(wake, I, A, N, N), tight(F)) :- asleep(I), serviceInstance(I, A, N), node(N, F), F \\== inf, F < 2.\n\
                     reject(request(sleep, I, _, N, N), 'stay up') :- \\+ asleep(I), aggregate_all(count, (asleep(J), serviceInstance(J, _, N)), C), C > 1.\n\
                     reject(request(replicate, _, _, _, _), sleepers) :- aggregate_all(count, asleep(_), C), C > 2.\n";

/// Lets the instances of four of five applications sleep, and models the traffic of more worlds as rates.
pub fn give_sleep(scenario: &mut Scenario, number: u64) {
    // Rates support neither the prototype's routing nor its observation.
    let is_by_rule = scenario.routing != Routing::LeastUsed && scenario.observation == Observation::Arrivals;
    if is_by_rule && number % 8 < 5 {
        scenario.network.fidelity = Fidelity::Flow;
    }
    for (place, plan) in scenario.applications.iter_mut().enumerate() {
        let seed = number as usize + place;
        let application = &mut plan.application;
        let needed = application.flavours.iter().map(|flavour| flavour.hardware).chain([application.hardware]);
        let least = needed.map(Hardware::as_units).min().unwrap_or(0);
        let keeps = Hardware::units(if seed.is_multiple_of(3) { least.min(1) } else { 0 });
        let start = Quantity::fraction([0.0, 5.0, 40.5, 300.0][seed / 2 % 4]).expect("finite");
        // Some applications cannot sleep.
        application.sleep = (!seed.is_multiple_of(5)).then_some(Sleep { keeps, start });
    }
}

/// A random world whose instances sleep.
pub fn sleeping(number: u64) -> Scenario {
    let mut scenario = match number % 4 {
        0 => world(number),
        1 => flavoured(number),
        2 => remembering(number),
        _ => owned(number),
    };
    give_sleep(&mut scenario, number);
    for (place, policy) in scenario.policies.iter_mut().enumerate() {
        // Agents remember inhibitions long enough to try something else.
        policy.memory = policy.memory.max(2);
        // Some policies stay as drawn, without sleep.
        if let Some(text) = TEXTS.get((number as usize / 2 + place * 3) % (TEXTS.len() + 1)) {
            policy.files = vec![("sleep.pl".to_owned(), (*text).to_owned())];
        }
    }
    if !number.is_multiple_of(3) {
        let files = vec![("looks.pl".to_owned(), LOOKS.to_owned())];
        scenario.acceptances.push(PolicyText { name: "looks".to_owned(), files, memory: 0 });
        let last = scenario.acceptances.len() as u32 - 1;
        for (place, acceptance) in scenario.acceptance_of.iter_mut().enumerate() {
            if (number as usize + place).is_multiple_of(3) {
                *acceptance = Some(last);
            }
        }
    }
    // A scenario with initial instances that do not fit cannot be run.
    for deploy in &mut scenario.deploys {
        deploy.time = deploy.time.max(Time::at(1.0));
    }
    scenario
}

#[test]
fn no_random_world_with_sleepers_breaks_a_rule() {
    let only = std::env::var("MARIO_SLEEP").ok().map(|text| text.parse().expect("the number of a world"));
    let mut seen = BTreeMap::new();
    for number in only.map_or(0..WORLDS, |number: u64| number..number + 1) {
        let scenario = sleeping(number);
        check_all_ways(number, &scenario, &mut seen);
        let ([trace, ..], _) = outputs(&scenario, RunOptions::default(), Detail::Full);
        let ([counts, ..], _) = outputs(&scenario, RunOptions::default(), Detail::Summary);
        let report = audited(&trace);
        assert_eq!(report.counts.woken, audited(&counts).counts.woken, "world {number}");
        let text = String::from_utf8_lossy(&trace);
        let is_flow = scenario.network.fidelity == Fidelity::Flow;
        let [woken, refused] = if is_flow {
            ["woken by a rate", "refused to a rate"]
        } else {
            ["woken by a message", "refused to a message"]
        };
        *seen.entry(woken).or_default() += report.counts.woken;
        let asked = text.lines().filter(|line| line.starts_with("[\"woken\",")).count() as u64;
        *seen.entry(refused).or_default() += asked - report.counts.woken;
    }
    let by_requests = ["woken by a rate", "refused to a rate", "woken by a message", "refused to a message"];
    let rules = ["asleep", "awake", "sleepless", "capacity", "acceptance"];
    for what in ["sleep", "wake", "migrate", "replicate", "adapt"].into_iter().chain(by_requests).chain(rules) {
        assert!(only.is_some() || seen.get(what).is_some_and(|count| *count > 10), "too little of `{what}`: {seen:?}");
    }
}
