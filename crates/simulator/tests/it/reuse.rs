//! Tests that reusing decisions does not change any result.

use mario_scenario::{Document, NoFiles, Scenario};
use mario_simulator::{Detail, Reuse, RunOptions};

use crate::world::outputs;

fn paper(policy: &str, settings: &[&str]) -> Scenario {
    let mut document = Document::preset("paper").expect("a preset");
    document.set(&settings.iter().map(|setting| (*setting).to_owned()).collect::<Vec<_>>());
    document.set_policy(policy);
    document.resolve(&mut NoFiles).expect("a scenario").scenario
}

/// The paper's policies.
const POLICIES: [&str; 4] =
    ["workload-aware", "latency-aware", "workload-and-latency-aware", "workload-and-latency-aware-with-memory"];

#[test]
fn reuse_changes_no_byte_of_the_papers_experiments_and_saves_four_evaluations_in_five() {
    for fidelity in ["network.fidelity=messages", "network.fidelity=flow"] {
        for detail in [Detail::Full, Detail::Operations, Detail::Summary] {
            let (mut asked, mut evaluated) = (0, 0);
            for policy in POLICIES {
                let scenario = paper(policy, &[fidelity]);
                let run = |reuse| outputs(&scenario, RunOptions { threads: 1, reuse }, detail);
                let ((every, statistics), (again, less)) = (run(Reuse::Nothing), run(Reuse::Proposals));
                assert!(every == again, "{policy}, {fidelity}, {detail:?}");
                assert_eq!((statistics.evaluated, statistics.due), (statistics.due, less.due));
                (asked, evaluated) = (asked + less.due, evaluated + less.evaluated);
            }
            assert!(evaluated * 5 <= asked, "{fidelity}, {detail:?}: {evaluated} of {asked} are evaluated");
        }
    }
}

/// Other shipped policies.
const OTHERS: [&str; 9] = [
    "cost-aware",
    "load-thresholds",
    "stay-in-region",
    "sustained-demand",
    "several-resources",
    "popularity-with-cool-down",
    "baseline:never-move",
    "baseline:popularity",
    "baseline:cells",
];

#[test]
fn shared_decisions_change_no_byte_with_any_shipped_policy() {
    for fidelity in ["network.fidelity=messages", "network.fidelity=flow"] {
        for policy in OTHERS {
            let scenario = paper(policy, &[fidelity, "duration=24000"]);
            let run = |reuse| outputs(&scenario, RunOptions { threads: 1, reuse }, Detail::Operations);
            let ((every, _), (shared, statistics)) = (run(Reuse::Nothing), run(Reuse::Proposals));
            assert!(every == shared, "{policy}, {fidelity}");
            assert!(
                statistics.evaluated < statistics.due || policy == "baseline:cells",
                "{policy}, {fidelity}: {statistics:?}"
            );
        }
    }
}

#[test]
fn agents_with_the_same_knowledge_up_to_names_share_one_evaluation() {
    let evaluated = |policy: &str, detail| {
        let scenario = paper(policy, &["network.fidelity=flow", "mobility.users=200", "mobility.first_users=200"]);
        outputs(&scenario, RunOptions::default(), detail).1.evaluated
    };
    for policy in POLICIES {
        let (alone, together) = (evaluated(policy, Detail::Full), evaluated(policy, Detail::Summary));
        assert!(together * 2 <= alone, "{policy}: {together} instead of {alone}");
    }
}
