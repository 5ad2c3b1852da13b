//! Random worlds whose applications have flavours.

use std::collections::BTreeMap;

use mario_domain::{Flavour, FlavourId, Hardware, HardwareKind, Quantity, Time};
use mario_scenario::{PolicyText, Scenario};
use mario_simulator::{Detail, Reuse, RunOptions};

use super::{Replay, run, world};
use crate::world::{audited, outputs};

/// The number of worlds.
const WORLDS: u64 = 160;

/// Policies that propose adapts and other operations. The last defines `flavour` and `running` itself.
const TEXTS: [&str; 7] = [
    // Under high load, adapts to a larger flavour that fits; under low load, adapts to a smaller one; else replicates.
    ":- dynamic flavour/6, running/2.\n\
     rate(I, T) :- findall(R, requests(I, _, R, _), Rs), sum_list(Rs, T).\n\
     operation(adapt, I, F) :- serviceInstance(I, A, N), running(I, G), flavour(A, G, H, M, _, _), rate(I, T), T > M,\n\
         node(N, Free), flavour(A, F, K, _, _, _), K > H, K - H =< Free.\n\
     operation(adapt, I, F) :- serviceInstance(I, A, _), running(I, G), flavour(A, G, H, M, _, _), rate(I, T), T =< M,\n\
         flavour(A, F, K, _, _, _), K < H.\n\
     operation(replicate, I, M) :- requests(I, M, _, _).\n",
    // Proposes another flavour, even if it does not fit.
    "operation(adapt, I, F) :- serviceInstance(I, A, _), running(I, G), flavour(A, F, _, _, _, _), F \\== G.\n",
    // Names flavours, but reads no facts about them.
    "operation(adapt, I, lite) :- requests(I, _, R, _), R > 2.\n\
     operation(adapt, I, full) :- \\+ requests(I, _, _, _).\n\
     operation(replicate, I, self) :- requests(I, self, _, _).\n",
    // Reads inhibitions, and proposes flavours that may not exist.
    "operation(adapt, I, F) :- member(F, [huge, large, 7, self, n1, '']), \\+ inhibited(adapt, I, F).\n\
     operation(migrate, I, M) :- inhibited(adapt, I, huge), node(_, _, [M | _]).\n\
     operation(replicate, _, M) :- node(_, _, Ms), member(M, [self | Ms]).\n",
    // Migrates and replicates after an adapt, in the new flavour.
    ":- remembers(operations, 3).\n\
     operation(adapt, I, lite) :- running(I, full), \\+ done(_, I, adapt, _).\n\
     operation(migrate, I, M) :- done(1, I, adapt, lite), node(_, _, Ms), last(Ms, M).\n\
     operation(replicate, I, self) :- running(I, lite).\n\
     operation(adapt, I, large) :- running(I, lite), node(_, F), F > 0.\n\
     operation(undeploy, I, self) :- running(I, large), \\+ requests(I, _, _, _).\n",
    // Adapts to the flavour with the best quality among those that need no more than the free hardware.
    "operation(adapt, I, F) :- serviceInstance(I, A, N), running(I, G), node(N, Free),\n\
         findall(Q-X, (flavour(A, X, H, _, _, Q), H =< Free), Xs), sort(Xs, Sorted), last(Sorted, _-F), F \\== G.\n\
     operation(migrate, I, M) :- requests(I, M, _, _), M \\== self.\n",
    // Defines its own predicates `flavour` and `running`.
    "flavour(a, b). running(_, full).\n\
     operation(replicate, I, self) :- running(I, full), flavour(a, b).\n",
];

/// An acceptance policy that reads flavours. It rejects adapts of `lite` instances if less than one unit is free,
/// replicas beside several `large` instances of the same application, and migrations of applications without flavours.
const LOOKS: &str = "reject(request(adapt, I, A, N, N), tight) :-\n\
                         node(N, F), F < 1, serviceInstance(I, A, N), running(I, lite).\n\
                     reject(request(replicate, _, A, _, N), too_many(C)) :-\n\
                         aggregate_all(count, (running(I, large), serviceInstance(I, A, N)), C), C > 1.\n\
                     reject(request(migrate, _, A, _, _), one_way) :- \\+ flavour(A, _, _, _, _, _).\n";

/// Adds flavours to three of four applications.
pub fn give_flavours(scenario: &mut Scenario, number: u64) {
    for (place, plan) in scenario.applications.iter_mut().enumerate() {
        let seed = number as usize + place;
        let own = &plan.application;
        let flavour = |name: &str, hardware: Hardware, rate: u32, quality: f64| Flavour {
            id: FlavourId::name(name).expect("a name"),
            hardware,
            max_rate: Quantity::whole(rate),
            max_latency: Quantity::whole(3),
            quality: Quantity::fraction(quality).expect("finite"),
        };
        let first = Flavour {
            id: FlavourId::name("full").expect("a name"),
            hardware: own.hardware,
            max_rate: own.max_rate,
            max_latency: own.max_latency,
            quality: Quantity::whole(1),
        };
        let units = own.hardware.as_units();
        // Half the units and, in one of three cases, a GPU in addition.
        let lite = Hardware::units(units / 2);
        let lite = if seed.is_multiple_of(3) { lite.with(HardwareKind::Gpu, 1).expect("counted") } else { lite };
        let mut flavours = vec![
            first,
            flavour("lite", lite, 2, 0.5),
            flavour("large", Hardware::units(units + 2), 80, 1.5),
            Flavour { id: FlavourId::number(7), ..flavour("seven", Hardware::units(units), 3, 0.25) },
        ];
        flavours.truncate([4, 3, 2, 0][seed % 4]);
        plan.application.flavours = flavours;
    }
}

/// A random world whose applications have flavours.
pub fn flavoured(number: u64) -> Scenario {
    let mut scenario = world(number);
    give_flavours(&mut scenario, number);
    // Few agents of these worlds undeploy; anchors would leave too few of them.
    scenario.applications.iter_mut().for_each(|plan| plan.is_anchor = false);
    for (place, policy) in scenario.policies.iter_mut().enumerate() {
        // Some policies stay as drawn, without flavours.
        if let Some(text) = TEXTS.get((number as usize + place * 3) % (TEXTS.len() + 1)) {
            policy.files = vec![("flavours.pl".to_owned(), (*text).to_owned())];
        }
    }
    if !scenario.acceptances.is_empty() {
        let files = vec![("looks.pl".to_owned(), LOOKS.to_owned())];
        scenario.acceptances.push(PolicyText { name: "looks".to_owned(), files, memory: 0 });
        let last = scenario.acceptances.len() as u32 - 1;
        for (place, acceptance) in scenario.acceptance_of.iter_mut().enumerate() {
            if (number as usize + place).is_multiple_of(2) {
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

/// Runs and audits a world at all trace levels, with and without threads and reuse. The results must agree. Adds the
/// numbers of operations and inhibitions to `seen`.
pub(super) fn check_all_ways(number: u64, scenario: &Scenario, seen: &mut BTreeMap<&'static str, u64>) {
    let replay = Replay(number);
    let (trace, report, ..) = run(scenario, RunOptions::default());
    assert!(report.is_clean(), "world {number}:\n{report}");
    let everything = RunOptions { threads: 2, reuse: Reuse::Nothing };
    let ([again, ..], _) = outputs(scenario, everything, Detail::Full);
    assert!(again == trace, "world {number} has another trace when everything is asked again");
    for detail in [Detail::Operations, Detail::Summary] {
        let every = outputs(scenario, everything, detail).0;
        let shared = outputs(scenario, RunOptions::default(), detail).0;
        assert!(every == shared, "world {number} differs when agents share decisions");
        let counted = audited(&shared[0]);
        assert!(counted.is_clean(), "world {number}: {counted}");
        assert_eq!(counted.counts.operations, report.counts.operations, "world {number}");
        assert_eq!(counted.counts.inhibited, report.counts.inhibited, "world {number}");
    }
    for (what, count) in report.counts.operations.iter().chain(&report.counts.inhibited) {
        *seen.entry(what).or_default() += count;
    }
    drop(replay);
}

#[test]
fn no_random_world_with_flavours_breaks_a_rule() {
    let only = std::env::var("MARIO_FLAVOURS").ok().map(|text| text.parse().expect("the number of a world"));
    let mut seen = BTreeMap::new();
    for number in only.map_or(0..WORLDS, |number: u64| number..number + 1) {
        check_all_ways(number, &flavoured(number), &mut seen);
    }
    for what in ["adapt", "migrate", "replicate", "undeploy", "capacity", "flavour", "acceptance"] {
        assert!(only.is_some() || seen.get(what).is_some_and(|count| *count > 10), "too little of `{what}`: {seen:?}");
    }
}
