//! Tests that our versions of the four policies of the paper decide as recorded in runs of its prototype.

use mario_policy::{Decider, Ending, KnowledgeBase, RecordedSituation, SolutionLimit};
use mario_prolog::Engine;
use mario_reference::RecordedRun;

use crate::{PAPER, shipped};

/// The applications of the prototype: 1 to 3 are workload-sensitive, 4 to 6 are latency-sensitive.
pub const SERVICES: &str = "
    service(1, 1, 5, 10). service(2, 1, 5, 10). service(3, 1, 5, 10).
    service(4, 1, 40, 1). service(5, 1, 40, 1). service(6, 1, 40, 1).
";

#[test]
fn decides_every_recorded_evaluation_as_recorded() {
    check_all_evaluations();
}

#[test]
fn decides_as_recorded_with_constant_garbage_collection() {
    mario_prolog::collect_eagerly();
    check_all_evaluations();
}

fn check_all_evaluations() {
    let engine = Engine::new();
    let mut decider = Decider::new(&engine);
    let mut evaluations = 0;
    for (index, name) in PAPER.iter().enumerate() {
        let policy = shipped(&engine, name);
        let mut facts = KnowledgeBase::new(engine.symbols());
        facts.read(&engine, "services", SERVICES).expect("these are facts");
        for evaluation in RecordedRun::of_policy(index + 1).evaluations {
            let line = evaluation.json();
            let recorded = RecordedSituation::parse(engine.symbols(), &line).expect("a knowledge base");
            recorded.fill(&mut facts);
            let decision = decider.decide(&policy, &facts, recorded.instance, SolutionLimit::All);
            assert_eq!(decision.ending, Ending::Complete, "{name}: {line}");
            let decided: Vec<[String; 3]> =
                decision.solutions.iter().map(|solution| solution.texts(engine.symbols())).collect();
            let expected: Vec<[String; 3]> = evaluation
                .facts
                .proposals
                .iter()
                .map(|proposal| {
                    let target = mario_reference::name(proposal.target);
                    [proposal.operation.as_str().to_owned(), evaluation.instance.to_string(), target]
                })
                .collect();
            assert_eq!(decided, expected, "{name}: {line}");
            evaluations += 1;
        }
    }
    assert_eq!(evaluations, 33_252);
}
