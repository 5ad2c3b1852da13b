//! Tests of acceptance policies that evict or shrink instances on their own initiative.

use std::path::PathBuf;

use mario_domain::{
    Application, ApplicationId, Capacity, Flavour, FlavourId, Hardware, Instance, InstanceId, Node, NodeId, Quantity,
};
use mario_policy::{
    Acceptance, AcceptanceFailure, AcceptanceText, Eviction, Initiative, ManagerView, Shrink, TestOutcome, TestTable,
    Tests, explain_initiative,
};
use mario_prolog::{Budget, Directories, Engine, Machine, Resolver};

/// A node with 8 units, of which one is free. Instances 1 and 2 of `video`, with 3 units each, and 3 of `chat`, with
/// one unit, occupy the others. They run in the flavour `full`; the flavour `lite` needs one unit. Instance 2 must
/// leave after two evaluations.
fn view(engine: &Engine) -> ManagerView {
    let node = Node::new(NodeId::name("n42").expect("a name"), Capacity::units(8), Vec::new()).expect("a node");
    let mut view = ManagerView::new(engine.symbols(), &node, Capacity::units(1));
    let flavour = |name: &str, units| Flavour {
        id: FlavourId::name(name).expect("a name"),
        hardware: Hardware::units(units),
        max_rate: Quantity::whole(5),
        max_latency: Quantity::whole(9),
        quality: Quantity::whole(1),
    };
    for (name, units) in [("video", 3), ("chat", 1)] {
        view.push_application(&Application {
            id: ApplicationId::name(name).expect("a name"),
            owner: None,
            hardware: Hardware::units(units),
            max_rate: Quantity::whole(5),
            max_latency: Quantity::whole(9),
            flavours: vec![flavour("full", units), flavour("lite", 1)],
            sleep: None,
        });
    }
    for (id, application) in [(1, "video"), (2, "video"), (3, "chat")] {
        let application = ApplicationId::name(application).expect("a name");
        view.push_instance(&Instance { id: InstanceId::number(id), application, node: node.id().clone() });
        view.push_running(&InstanceId::number(id), &FlavourId::name("full").expect("a name"));
    }
    view.push_leave(&InstanceId::number(2), 2);
    view
}

fn asked(text: &str) -> Result<Initiative, AcceptanceFailure> {
    let engine = Engine::new();
    let acceptance = Acceptance::load(&engine, "mine", text, None, Budget::default()).expect("a policy");
    assert!(acceptance.has_initiative());
    acceptance.initiative(&mut Machine::new(&engine), &view(&engine))
}

#[test]
fn collects_the_first_solution_for_each_instance() {
    let wanted = asked(
        "evict(I, leaves(E)) :- leave(I, E).\n\
         evict(I, 'is there') :- serviceInstance(I, _, _).\n\
         shrink(I, lite, large) :- serviceInstance(I, A, _), service(A, H, _, _), H > 1.\n",
    );
    let eviction = |id, reason: &str| Eviction { instance: InstanceId::number(id), reason: reason.to_owned() };
    let shrink = |id| Shrink {
        instance: InstanceId::number(id),
        flavour: FlavourId::name("lite").expect("a name"),
        reason: "large".to_owned(),
    };
    let wanted = wanted.expect("an answer");
    assert_eq!(wanted.evictions, [eviction(2, "leaves(2)"), eviction(1, "is there"), eviction(3, "is there")]);
    assert_eq!(wanted.shrinks, [shrink(1), shrink(2)]);
    let text =
        "shrink(1, lite, large), shrink(2, lite, large), evict(2, leaves(2)), evict(1, is there), evict(3, is there)";
    assert_eq!(wanted.to_string(), text);
}

#[test]
fn an_invalid_answer_is_an_error_with_a_cause() {
    for (text, cause) in [
        ("evict(9, gone).", "evict/2 names 9, which is not on the node"),
        ("evict(_, any).", "evict/2 names _"),
        ("evict(1, _).", "evict/2 gave no reason"),
        ("shrink(1, f(x), small).", "shrink/3 gives f(x) as a flavour"),
        ("evict(1, first). evict(I, R) :- atom_length(I, R), foo(I).", "it raised"),
        ("evict(I, R) :- evict(I, R).", "it ran out of"),
    ] {
        let failure = asked(text).expect_err(text);
        assert!(failure.cause.starts_with(cause), "{text}: {}", failure.cause);
    }
}

#[test]
fn a_text_may_define_initiative_alone() {
    let engine = Engine::new();
    let load = |text: &str| Acceptance::load(&engine, "mine", text, None, Budget::default());
    assert!(load("shrink(1, lite, small).").expect("a policy").has_initiative());
    assert!(!load("accept(_).").expect("a policy").has_initiative());
    let error = load("evict(1).").expect_err("nothing that a manager asks for");
    assert_eq!(error.to_string(), "acceptance policy `mine` has no clause of accept/1, reject/2, evict/2 or shrink/3");
}

const FACTS: &str = "service(video, 3, 5, 9). node(n42, 1). capacity(n42, 8).\n\
                     serviceInstance(s1, video, n42). serviceInstance('S 2', video, n42).\n";

#[test]
fn tests_state_the_expected_initiative() {
    let engine = Engine::new();
    let text = "evict(I, full) :- node(N, F), F < 2, serviceInstance(I, _, N), \\+ leave(I, _).\n";
    let acceptance = Acceptance::load(&engine, "mine", text, None, Budget::default()).expect("a policy");
    let outcome = |test: &str| {
        let table = TestTable::read(&engine, "mine.test.pl", &format!("{FACTS}{test}\n"));
        let Tests::OfAcceptance(tests) = table.expect("a table").tests else { panic!("tests of managers") };
        tests[0].run(&mut Machine::new(&engine), &acceptance)
    };
    let right = "test(all, [], initiative, [evict(s1, full), evict('S 2', _)]).";
    assert_eq!(outcome(right), TestOutcome::Passed);
    assert_eq!(outcome("test(none, [node(n42, 2)], initiative, [])."), TestOutcome::Passed);
    assert_eq!(outcome("test(told, [leave(s1, 1)], initiative, [evict('S 2', full)])."), TestOutcome::Passed);
    let found = TestOutcome::Found("evict(s1, full), evict(S 2, full)".to_owned());
    assert_eq!(outcome("test(less, [], initiative, [evict(s1, full)])."), found);
    assert_eq!(outcome("test(other, [], initiative, [evict(s1, full), evict('S 2', empty)])."), found);
    assert_eq!(outcome("test(shrinks, [], initiative, [shrink(s1, lite, full), evict('S 2', full)])."), found);
    for (test, message) in [
        ("test(x, [], initiative, evict(s1, full)).", "what an owner wants is a list"),
        ("test(x, [], initiative, [undeploy(s1)]).", "this is nothing that an owner can want"),
        ("test(x, [], initiative, [evict(f(1), full)]).", "this is not a name"),
    ] {
        let error = TestTable::read(&engine, "mine.test.pl", &format!("{FACTS}{test}\n")).expect_err(test);
        assert_eq!(error.problems[0].message, message);
    }
}

#[test]
fn an_explanation_names_the_clause_or_the_goals_that_failed() {
    let engine = Engine::new();
    let text = "evict(I, first) :- serviceInstance(I, _, _), leave(I, _).\n\
                evict(I, full) :-\n    node(N, F), F < 2,\n    serviceInstance(I, _, N).\n";
    let acceptance = Acceptance::load(&engine, "mine.pl", text, None, Budget::default()).expect("a policy");
    let resolvers = || -> Box<dyn Resolver> { Box::new(Directories::new(Vec::<PathBuf>::new())) };
    let source = AcceptanceText { name: "mine.pl", text, resolvers: &resolvers };
    let explain = |facts: &str| explain_initiative(&engine, &acceptance, &source, ("facts.pl", facts)).expect("facts");
    let explained = explain(FACTS);
    let lines: Vec<_> =
        explained.acts.iter().map(|act| (act.wanted.as_str(), act.clause.as_ref().map(|at| at.line))).collect();
    assert_eq!(lines, [("evict(s1, full)", Some(2)), ("evict(S 2, full)", Some(2))]);
    let explained = explain(&FACTS.replace("node(n42, 1)", "node(n42, 4)"));
    assert!(explained.acts.is_empty());
    let failed: Vec<_> = explained.failed.iter().map(|at| (at.line, at.goal.as_deref().unwrap_or_default())).collect();
    assert_eq!(failed, [(1, "leave(I, _)"), (2, "F < 2")]);
}
