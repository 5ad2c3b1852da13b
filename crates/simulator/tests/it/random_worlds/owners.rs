//! Random worlds in which owners evict and shrink.

use std::collections::BTreeMap;

use mario_scenario::{Arbitration, Fidelity, PolicyText, Scenario};
use mario_simulator::{Detail, Reuse, RunOptions};

use super::flavours::flavoured;
use super::remembering::remembering;
use super::{Replay, run, world};
use crate::world::{audited, outputs};

/// The number of worlds.
const WORLDS: u64 = 200;

/// Policies of owners who evict or shrink. None depends on the names of instances, or on their order of arrival.
pub const OWNERS: [&str; 6] = [
    // Evicts everything when hardware is scarce.
    ":- dynamic leave/2.\n\
     evict(I, tight) :- node(N, F), F \\== inf, F < 2, serviceInstance(I, _, N), \\+ leave(I, _).\n",
    // Evicts the instances of the application that needs the most hardware, and states the amount. Rejects deploys
    // while an eviction is announced.
    "needs_most(A) :- findall(H-B, (serviceInstance(_, B, _), service(B, H, _, _)), Hs), Hs \\== [], sort(Hs, S), last(S, _-A).\n\
     evict(I, largest(H)) :- needs_most(A), serviceInstance(I, A, _), service(A, H, _, _).\n\
     reject(request(deploy, _, _, _, _), closed) :- leave(_, _).\n",
    // On bounded nodes, shrinks instances to `lite`, even if they already run in it, unless they run in flavour 7 or in
    // one with fewer units, or their application needs a GPU. Evicts `lite` instances from a full node.
    "shrink(I, lite, 'less is more') :- serviceInstance(I, A, _), flavour(A, lite, H, _, _, _), running(I, G), flavour(A, G, K, _, _, _), H =< K,\n\
         \\+ (needs(A, gpu, _)), \\+ G = 7, node(_, F), F \\== inf.\n\
     evict(I, small) :- running(I, lite), node(_, F), F < 1.\n",
    // Shrinks to `lite`. If an application has no such flavour, the answer is invalid, and nothing is done.
    "shrink(I, lite, all) :- serviceInstance(I, _, _).\n\
     evict(I, never) :- serviceInstance(I, _, _), \\+ running(I, _).\n",
    // Evicts all instances of a bounded node that has free hardware. Without free hardware, it divides by zero; with
    // three free units, it also returns an invalid answer. In both cases, nothing is done.
    "evict(I, why) :- serviceInstance(I, _, N), node(N, F), F \\== inf, X is 6 / F, X > 0.\n\
     evict(_, _) :- node(_, 3).\n",
    // Evicts all instances if more than two of them have no announced eviction. Accepts requests only while few
    // evaluations are left in total until the announced evictions.
    "evict(I, crowd) :- findall(J, serviceInstance(J, _, _), Js), length(Js, C), findall(J, leave(J, _), Ls), length(Ls, L), C - L > 2,\n\
         serviceInstance(I, _, _).\n\
     accept(request(_, _, _, _, _)) :- findall(E, leave(_, E), Es), sum_list(Es, S), S < 9.\n",
];

/// A policy of agents that migrate or replicate when their eviction is announced. Otherwise, they replicate towards
/// many requests, and undeploy without requests.
const MINDS: &str = ":- dynamic leave/2.\n\
     operation(migrate, I, M) :- leave(I, E), E < 3, requests(I, M, _, _), M \\== self, \\+ inhibited(migrate, I, M).\n\
     operation(migrate, I, M) :- leave(I, 1), node(_, _, Ms), last(Ms, M).\n\
     operation(replicate, I, M) :- leave(I, 2), node(_, _, [M | _]).\n\
     operation(replicate, I, M) :- \\+ leave(I, _), requests(I, M, R, _), R > 2, \\+ inhibited(replicate, I, M).\n\
     operation(undeploy, I, self) :- \\+ leave(I, _), \\+ requests(I, _, _, _).\n";

/// A random world in which owners evict or shrink instances.
pub fn owned(number: u64) -> Scenario {
    let mut scenario = match number % 3 {
        0 => world(number),
        1 => flavoured(number),
        _ => remembering(number),
    };
    give_owners(&mut scenario, number);
    for (place, policy) in scenario.policies.iter_mut().enumerate() {
        if (number as usize + place).is_multiple_of(2) {
            policy.files = vec![("minds.pl".to_owned(), MINDS.to_owned())];
        }
    }
    for deploy in &mut scenario.deploys {
        deploy.time = deploy.time.max(mario_domain::Time::at(1.0));
    }
    scenario
}

/// Gives three of four nodes owners who evict or shrink instances, and sets how many evaluations before an eviction it
/// is announced.
pub fn give_owners(scenario: &mut Scenario, number: u64) {
    let pick = |place: usize| PolicyText {
        name: format!("owner {place}"),
        files: vec![("owner.pl".to_owned(), OWNERS[place % OWNERS.len()].to_owned())],
        memory: 0,
    };
    let first = scenario.acceptances.len() as u32;
    scenario.acceptances.extend([pick(number as usize), pick(number as usize / 3 + 1)]);
    for (place, acceptance) in scenario.acceptance_of.iter_mut().enumerate() {
        match (number as usize + place) % 4 {
            0 | 1 => *acceptance = Some(first),
            2 => *acceptance = Some(first + 1),
            _ => {}
        }
    }
    scenario.notice = [3, 1, 2, 5][number as usize / 5 % 4];
}

#[test]
fn no_random_world_with_owners_breaks_a_rule() {
    let only = std::env::var("MARIO_OWNERS").ok().map(|text| text.parse().expect("the number of a world"));
    let mut seen: BTreeMap<&'static str, u64> = BTreeMap::new();
    for number in only.map_or(0..WORLDS, |number: u64| number..number + 1) {
        let replay = Replay(number);
        let scenario = owned(number);
        let (trace, report, _, statistics) = run(&scenario, RunOptions::default());
        assert!(report.is_clean(), "world {number}:\n{report}");
        let everything = RunOptions { threads: 2, reuse: Reuse::Nothing };
        let ([again, ..], _) = outputs(&scenario, everything, Detail::Full);
        assert!(again == trace, "world {number} has another trace when everything is asked again");
        for detail in [Detail::Operations, Detail::Summary] {
            let every = outputs(&scenario, everything, detail).0;
            let shared = outputs(&scenario, RunOptions::default(), detail).0;
            assert!(every == shared, "world {number} differs when agents share decisions");
            let counted = audited(&shared[0]);
            assert!(counted.is_clean(), "world {number}: {counted}");
            assert_eq!(counted.counts.operations, report.counts.operations, "world {number}");
            let acts = [counted.counts.evicted, counted.counts.shrunk, counted.counts.instances];
            let expected = [report.counts.evicted, report.counts.shrunk, report.counts.instances];
            assert_eq!(acts, expected, "world {number}");
        }
        let text = String::from_utf8_lossy(&trace);
        let is_flow = scenario.network.fidelity == Fidelity::Flow;
        let by_fidelity = if is_flow { "evicted as rates" } else { "evicted as messages" };
        for (what, count) in [
            ("evicted", report.counts.evicted),
            (by_fidelity, report.counts.evicted),
            ("shrunk", report.counts.shrunk),
            ("announced", text.matches("[\"leave\",").count() as u64),
            ("failed", statistics.acceptances.failed),
            ("sequential", u64::from(scenario.arbitration == Arbitration::Sequential) * report.counts.evicted),
        ] {
            *seen.entry(what).or_default() += count;
        }
        for (what, count) in &report.counts.operations {
            *seen.entry(what).or_default() += count;
        }
        drop(replay);
    }
    let wanted = ["evicted", "evicted as rates", "evicted as messages", "shrunk", "announced", "failed", "sequential"];
    for what in wanted.into_iter().chain(["migrate", "replicate"]) {
        assert!(only.is_some() || seen.get(what).is_some_and(|count| *count > 8), "too little of `{what}`: {seen:?}");
    }
    let count = |what| seen.get(what).copied().unwrap_or(0);
    assert!(only.is_some() || count("announced") > count("evicted"), "some went by themselves: {seen:?}");
}
