//! Tests of policies that are decided by a function of the host.

use std::sync::Arc;

use mario_domain::Id;
use mario_policy::{
    Constant, Decider, Ending, FunctionProposal, KnowledgeBase, PolicyError, PolicyFunction, ProposalFault, Solution,
    SolutionLimit, analyse, name_invariance,
};
use mario_prolog::{Directories, Engine, Resolver};

use crate::{facts, load};

const FACTS: &str = "service(video, 4, 10, 25). node(n42, 10, [n41, 43]). serviceInstance(s1, video, n42).
    requests(s1, n7, 5, 30).";

/// A function with a fixed result.
struct Fixed(Result<Vec<(&'static str, Id)>, String>);

impl PolicyFunction for Fixed {
    fn decide(&self, facts: &KnowledgeBase, instance: Constant) -> Result<Vec<FunctionProposal>, String> {
        assert_eq!(facts.text(instance), "s1");
        let propose = |(operation, target): &(&str, Id)| FunctionProposal {
            operation: (*operation).to_owned(),
            target: target.clone(),
        };
        Ok(self.0.clone()?.iter().map(propose).collect())
    }
}

fn name(name: &str) -> Id {
    Id::name(name).expect("it is not empty")
}

/// The decision of a function: each solution as `operation target` or the description of its fault, and the ending.
fn decide(function: Fixed, limit: SolutionLimit) -> (Vec<String>, Ending) {
    let engine = Engine::new();
    let policy = load(&engine, ":- decided_outside(mine).").expect("a policy").decided_by(Arc::new(function));
    let facts = facts(&engine, FACTS);
    let mut decider = Decider::new(&engine);
    let decision = decider.decide(&policy, &facts, facts.constant("s1"), limit);
    let shown = decision.solutions.iter().map(|solution| match solution {
        Solution::Proposal(proposal) => {
            let [operation, _, target] = proposal.texts(engine.symbols());
            format!("{operation} {target}")
        }
        Solution::Invalid(invalid) => invalid.fault.description().to_owned(),
    });
    (shown.collect(), decision.ending.clone())
}

#[test]
fn a_function_decides_instead_of_the_text() {
    let proposals = || {
        Fixed(Ok(vec![
            ("migrate", name("n41")),
            ("replicate", Id::Number(43)),
            ("replicate", name("43")),
            ("replicate", name("n7")),
            ("undeploy", name("self")),
            ("undeploy", name("n42")),
        ]))
    };
    let (all, ending) = decide(proposals(), SolutionLimit::All);
    assert_eq!(all, ["migrate n41", "replicate 43", "replicate 43", "replicate n7", "undeploy self", "undeploy n42"]);
    assert_eq!(ending, Ending::Complete);
    assert_eq!(decide(proposals(), SolutionLimit::First).0, ["migrate n41"]);
    assert_eq!(decide(Fixed(Ok(Vec::new())), SolutionLimit::All), (Vec::new(), Ending::Complete));
}

#[test]
fn solutions_that_are_not_operations_are_reported() {
    for (operation, target, fault) in [
        ("teleport", name("n41"), ProposalFault::UnknownOperation),
        ("migrate", name("n99"), ProposalFault::UnknownTarget),
        ("undeploy", name("n41"), ProposalFault::UndeploysElsewhere),
    ] {
        let (solutions, _) = decide(Fixed(Ok(vec![(operation, target)])), SolutionLimit::All);
        assert_eq!(solutions, [fault.description()]);
    }
}

#[test]
fn a_failing_or_missing_function_is_a_failed_decision() {
    let (solutions, ending) = decide(Fixed(Err("it broke".to_owned())), SolutionLimit::All);
    assert!(solutions.is_empty() && ending.to_string().contains("it broke"), "{ending}");
    let engine = Engine::new();
    let policy = load(&engine, ":- decided_outside(mine).").expect("a policy");
    assert_eq!(policy.outside(), Some("mine"));
    let facts = facts(&engine, FACTS);
    let mut decider = Decider::new(&engine);
    let ending = decider.decide(&policy, &facts, facts.constant("s1"), SolutionLimit::All).ending.to_string();
    assert!(ending.contains("the function `mine`, which is not here"), "{ending}");
}

#[test]
fn a_policy_that_a_function_decides_has_no_findings() {
    let resolvers = || Box::new(Directories::new(["."])) as Box<dyn Resolver>;
    let analyse = |text: &str| analyse(&Engine::new(), "mine.pl", text, &resolvers).expect("it loads");
    let analysis = analyse(":- decided_outside(mine).\n:- remembers(requests, 3).\n");
    assert!(analysis.findings.is_empty() && analysis.interests.is_none(), "{:?}", analysis.findings);
    assert_eq!(analyse(":- remembers(requests, 3).\nlibrary(1).\n").findings.len(), 1, "a library proposes nothing");
}

#[test]
fn a_function_is_never_name_invariant_and_its_name_is_an_atom() {
    let engine = Engine::new();
    let policy = load(&engine, ":- decided_outside(mine). :- remembers(requests, 3).").expect("a policy");
    assert!(name_invariance(&engine, &policy).is_err(), "it may look at names");
    assert_eq!(policy.remembers().requests, 3);
    let error = load(&engine, ":- decided_outside(3).").expect_err("3 is not a name");
    assert!(matches!(error, PolicyError::Load { .. }), "{error}");
    assert!(matches!(load(&engine, "free(1)."), Err(PolicyError::NoOperation { .. })));
}
