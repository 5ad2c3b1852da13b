//! Random worlds with all features at once: memory, flavours, sleep, several kinds of hardware, owners who evict and
//! shrink, and policy updates.

use std::collections::BTreeMap;

use mario_domain::Time;
use mario_scenario::{ApplicationIndex, PolicyIndex, PolicyText, Scenario, Update};
use mario_simulator::{Detail, RunOptions};

use super::flavours::{check_all_ways, give_flavours};
use super::kinds::of_kinds;
use super::owners::give_owners;
use super::sleep::give_sleep;
use crate::world::{audited, outputs};

/// The number of worlds.
const WORLDS: u64 = 150;

/// Policies that together use all features.
const TEXTS: [&str; 4] = [
    ":- remembers(requests, 2). :- remembers(operations, 3).\n\
     operation(migrate, I, M) :- leave(I, _), requests(I, M, _, _), M \\== self, \\+ inhibited(migrate, I, M).\n\
     operation(wake, I, self) :- asleep(I), earlier(1, I, _, R, _), R > 2, \\+ inhibited(wake, I, self).\n\
     operation(sleep, I, self) :- \\+ asleep(I), \\+ requests(I, _, _, _), \\+ earlier(1, I, _, _, _), age(I, A), A > 1.\n\
     operation(adapt, I, F) :- serviceInstance(I, A, N), running(I, G), flavour(A, F, H, _, _, _), F \\== G,\n\
         \\+ done(_, I, adapt, _), free(N, units, U), U \\== inf, H =< U.\n\
     operation(replicate, I, M) :- \\+ done(_, I, replicate, _), requests(I, M, R, _), R > 2, \\+ inhibited(replicate, I, M).\n",
    ":- remembers(requests, 3).\n\
     tight(I) :- serviceInstance(I, A, N), needs(A, K, W), free(N, K, F), F \\== inf, F < W.\n\
     operation(undeploy, I, self) :- leave(I, 1).\n\
     operation(sleep, I, self) :- tight(I), \\+ asleep(I), \\+ inhibited(sleep, I, self).\n\
     operation(migrate, I, M) :- asleep(I), requests(I, M, _, _), M \\== self, \\+ inhibited(migrate, I, M).\n\
     operation(adapt, I, lite) :- asleep(I), \\+ running(I, lite), \\+ inhibited(adapt, I, lite).\n\
     operation(replicate, I, M) :- requests(I, M, R, _), findall(E, earlier(_, I, M, E, _), Es), sum_list([R | Es], S), S > 5,\n\
         \\+ inhibited(replicate, I, M).\n",
    ":- remembers(operations, 2).\n\
     operation(wake, I, self) :- done(1, I, sleep, self).\n\
     operation(migrate, I, M) :- leave(I, _), node(_, _, Ms), last(Ms, M), \\+ inhibited(migrate, I, M).\n\
     operation(sleep, I, self) :- \\+ asleep(I), \\+ done(_, I, wake, _).\n\
     operation(replicate, I, self) :- \\+ asleep(I), \\+ inhibited(replicate, I, self).\n",
    "operation(sleep, I, self) :- \\+ requests(I, _, _, _), \\+ asleep(I).\n\
     operation(replicate, I, M) :- requests(I, M, R, _), R > 1, \\+ inhibited(replicate, I, M).\n",
];

/// A random world with all features at once.
pub fn everything(number: u64) -> Scenario {
    let mut scenario = of_kinds(number);
    give_flavours(&mut scenario, number);
    give_owners(&mut scenario, number);
    give_sleep(&mut scenario, number);
    let text = |place: usize| vec![("everything.pl".to_owned(), TEXTS[place % TEXTS.len()].to_owned())];
    for (place, policy) in scenario.policies.iter_mut().enumerate() {
        policy.memory = policy.memory.max(1);
        // One policy in five stays as drawn.
        if !(number as usize + place).is_multiple_of(5) {
            policy.files = text(number as usize + place);
        }
    }
    let end = scenario.duration.units();
    for application in 0..scenario.applications.len() {
        let seed = number as usize + application;
        if seed.is_multiple_of(3) {
            continue;
        }
        scenario.policies.push(PolicyText { name: "later".to_owned(), files: text(seed + 1), memory: 2 });
        let policy = PolicyIndex::at(scenario.policies.len() - 1);
        let time = Time::at(end * [0.3, 0.5, 0.7][seed / 3 % 3]);
        scenario.updates.push(Update { time, application: ApplicationIndex::at(application), policy });
    }
    scenario.updates.sort_by_key(|update| update.time);
    scenario
}

#[test]
fn no_random_world_with_all_features_at_once_breaks_a_rule() {
    let only = std::env::var("MARIO_EVERYTHING").ok().map(|text| text.parse().expect("the number of a world"));
    let mut seen: BTreeMap<&'static str, u64> = BTreeMap::new();
    for number in only.map_or(0..WORLDS, |number: u64| number..number + 1) {
        let scenario = everything(number);
        check_all_ways(number, &scenario, &mut seen);
        let ([trace, ..], _) = outputs(&scenario, RunOptions::default(), Detail::Full);
        let report = audited(&trace);
        let text = String::from_utf8_lossy(&trace);
        for (what, count) in [
            ("woken", report.counts.woken),
            ("evicted", report.counts.evicted),
            ("shrunk", report.counts.shrunk),
            ("updates", text.lines().filter(|line| line.starts_with("[\"update\",")).count() as u64),
            ("verdicts by kinds", text.matches(r#""rule":"capacity","needed":{"#).count() as u64),
        ] {
            *seen.entry(what).or_default() += count;
        }
    }
    let features = ["woken", "evicted", "shrunk", "updates", "verdicts by kinds"];
    let operations = ["sleep", "wake", "adapt", "migrate", "replicate", "undeploy", "capacity", "acceptance"];
    for what in features.into_iter().chain(operations) {
        assert!(only.is_some() || seen.get(what).is_some_and(|count| *count > 5), "too little of `{what}`: {seen:?}");
    }
}
