//! Random worlds whose policies look back.

use std::collections::BTreeMap;

use mario_scenario::{PolicyText, Scenario};
use mario_simulator::{Detail, Reuse, RunOptions};

use super::{Replay, run, world};
use crate::world::outputs;

/// The number of worlds.
const WORLDS: u64 = 160;

/// Policies that look back, and one that defines the predicates itself. One computes with the id of its instance.
const TEXTS: [&str; 8] = [
    // Replicates towards sustained demand.
    ":- dynamic requests/4, earlier/5.\n:- remembers(requests, 2).\n\
     operation(replicate, I, M) :- requests(I, M, R, _), forall(member(A, [1, 2]), (earlier(A, I, M, P, _), P > R / 2)).\n\
     operation(migrate, I, M) :- earlier(2, I, M, _, _), M \\== self, \\+ requests(I, _, _, _).\n",
    // Waits after each operation.
    ":- dynamic done/4.\n:- remembers(operations, 2).\n\
     operation(replicate, I, M) :- \\+ done(_, I, _, _), node(_, _, Ms), member(M, [self | Ms]).\n\
     operation(migrate, I, M) :- done(2, I, replicate, _), node(_, _, [M | _]).\n",
    // Waits after arriving on a node.
    ":- dynamic age/2.\n\
     operation(undeploy, I, self) :- age(I, 2).\n\
     operation(migrate, I, M) :- age(I, A), A > 0, node(_, _, Ms), last(Ms, M).\n",
    // After a migration, migrates towards the node that forwarded its requests before; else to the first neighbour.
    ":- remembers(requests, 1). :- remembers(operations, 1).\n\
     operation(migrate, I, M) :- done(1, I, migrate, _), earlier(1, I, M, _, _), M \\== self.\n\
     operation(migrate, _, M) :- node(_, _, [M | _]).\n",
    // Replicates if the total rate one evaluation ago was higher than two evaluations ago, and undeploys if lower.
    ":- remembers(requests, 3), remembers(inhibited, 2).\n\
     sum(I, A, T) :- findall(R, earlier(A, I, _, R, _), Rs), sum_list(Rs, T).\n\
     operation(replicate, I, self) :- sum(I, 1, One), sum(I, 2, Two), One > Two, \\+ inhibited(replicate, I, self).\n\
     operation(undeploy, I, self) :- sum(I, 1, One), sum(I, 2, Two), One < Two.\n",
    // Replicates at most twice, to a node that depends on the id of its instance. After an operation, migrates to a
    // neighbour that it has not migrated to before.
    ":- remembers(operations, 1000).\n\
     operation(replicate, I, M) :- aggregate_all(count, done(_, I, replicate, _), C), C < 2, node(_, _, Ms),\n\
         K is (I + C) mod 2, nth0(K, [self | Ms], M).\n\
     operation(migrate, I, M) :- done(1, I, _, _), node(_, _, Ms), member(M, Ms), \\+ done(_, I, migrate, M).\n",
    // Remembers the requests of as many evaluations as possible, and migrates towards any of them after arriving.
    ":- remembers(requests, 64), remembers(operations, 5), remembers(inhibited, 10).\n\
     operation(migrate, I, M) :- age(I, 1), earlier(_, I, M, _, _), M \\== self, \\+ inhibited(migrate, I, M).\n\
     operation(replicate, I, self) :- age(I, A), A >= 2, \\+ done(_, I, replicate, _).\n",
    // Defines its own predicates `age` and `done`.
    "age(_, 2). done(_, _, _, _) :- fail.\n\
     operation(replicate, I, self) :- age(I, 2), \\+ done(_, I, _, _), \\+ requests(I, _, _, _).\n",
];

/// A random world whose policies look back.
pub fn remembering(number: u64) -> Scenario {
    let mut scenario = world(number);
    for (place, policy) in scenario.policies.iter_mut().enumerate() {
        let text = TEXTS[(number as usize + place * 3) % TEXTS.len()];
        let memory = policy.memory;
        let files = vec![("looks-back.pl".to_owned(), text.to_owned())];
        *policy = PolicyText { name: "looks-back".to_owned(), files, memory };
    }
    scenario
}

#[test]
fn no_random_world_with_policies_that_look_back_breaks_a_rule() {
    let only = std::env::var("MARIO_REMEMBERING").ok().map(|text| text.parse().expect("the number of a world"));
    let mut seen: BTreeMap<&'static str, u64> = BTreeMap::new();
    for number in only.map_or(0..WORLDS, |number: u64| number..number + 1) {
        let replay = Replay(number);
        let scenario = remembering(number);
        let (trace, report, ..) = run(&scenario, RunOptions::default());
        assert!(report.is_clean(), "world {number}:\n{report}");
        let counts = &report.counts;
        assert_eq!(counts.decisions, counts.evaluations, "world {number}: every decision is made again");
        let everything = RunOptions { threads: 2, reuse: Reuse::Nothing };
        let ([again, ..], _) = outputs(&scenario, everything, Detail::Full);
        assert!(again == trace, "world {number} has another trace when everything is asked again");
        for detail in [Detail::Operations, Detail::Summary] {
            let (every, shared) =
                (outputs(&scenario, everything, detail).0, outputs(&scenario, RunOptions::default(), detail).0);
            assert!(every == shared, "world {number} differs when agents share decisions");
        }
        for (what, count) in report.counts.operations.iter().chain(&report.counts.inhibited) {
            *seen.entry(what).or_default() += count;
        }
        drop(replay);
    }
    if only.is_none() {
        for what in ["undeploy", "migrate", "replicate", "capacity"] {
            assert!(seen.get(what).is_some_and(|count| *count > 10), "too little of `{what}`: {seen:?}");
        }
    }
}
