//! Decisions that are not made again.

use mario_simulator::scenario::{Document, NoFiles};
use mario_simulator::{Detail, Reuse, RunOptions, Scenario};

use crate::world::outputs;

fn paper(policy: &str, settings: &[&str]) -> Scenario {
    let mut document = Document::preset("paper").expect("a preset");
    document.set(&settings.iter().map(|setting| (*setting).to_owned()).collect::<Vec<_>>());
    document.set_policy(policy);
    document.resolve(&mut NoFiles).expect("a scenario").scenario
}

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
                let ((every, effort), (again, less)) = (run(Reuse::Nothing), run(Reuse::Proposals));
                assert!(every == again, "{policy}, {fidelity}, {detail:?}");
                assert_eq!((effort.evaluated, effort.asked), (effort.asked, less.asked));
                (asked, evaluated) = (asked + less.asked, evaluated + less.evaluated);
            }
            assert!(evaluated * 5 <= asked, "{fidelity}, {detail:?}: {evaluated} of {asked} are evaluated");
        }
    }
}
