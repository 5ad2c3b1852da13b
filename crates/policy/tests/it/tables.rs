//! Tests of test tables: how they are read, and what running them reports.

use std::fs;

use mario_policy::{Decider, DiffLine, FactProblem, TestOutcome, TestTable, Tests};
use mario_prolog::{Engine, Machine};

use crate::{PAPER, load, policies, shipped};

const SHARED: &str = "service(video, 4, 10, 25). node(n42, 10). serviceInstance(s1, video, n42).\n";
const POLICY: &str =
    "operation(migrate, I, N) :- requests(I, N, R, _), R > 5.\noperation(replicate, I, N) :- requests(I, N, _, _).";

fn run(test: &str) -> TestOutcome {
    let engine = Engine::new();
    let table = TestTable::read(&engine, "table", &format!("{SHARED}{test}")).expect("a table");
    let Tests::OfPolicy(tests) = table.tests else { panic!("tests of a policy") };
    tests[0].run(&mut Decider::new(&engine), &load(&engine, POLICY).expect("a policy"))
}

fn problems(text: &str) -> Vec<FactProblem> {
    TestTable::read(&Engine::new(), "table", text).expect_err("something is wrong").problems
}

#[test]
fn every_shipped_policy_passes_its_tests() {
    let engine = Engine::new();
    let files = fs::read_dir(policies()).expect("they are shipped").map(|entry| entry.expect("an entry").file_name());
    let named =
        |file: std::ffi::OsString| file.to_str().and_then(|file| file.strip_suffix(".test.pl")).map(str::to_owned);
    let of_managers = ["accept-what-fits", "evict-the-largest"];
    let names: Vec<String> = files.filter_map(named).filter(|name| !of_managers.contains(&name.as_str())).collect();
    assert!(PAPER.iter().all(|name| names.iter().any(|other| other == name)), "{names:?}");
    for name in names {
        let text = fs::read_to_string(policies().join(format!("{name}.test.pl"))).expect("it has tests");
        let table = TestTable::read(&engine, &name, &text).expect("a table");
        let Tests::OfPolicy(tests) = table.tests else { panic!("{name}") };
        let policy = shipped(&engine, &name);
        for test in tests {
            assert_eq!(test.run(&mut Decider::new(&engine), &policy), TestOutcome::Passed, "{name}: {}", test.name);
        }
    }
    for name in of_managers {
        let text = fs::read_to_string(policies().join(format!("{name}.test.pl"))).expect("it has tests");
        let Tests::OfAcceptance(tests) = TestTable::read(&engine, name, &text).expect("a table").tests else {
            panic!("{name}")
        };
        let text = fs::read_to_string(policies().join(format!("{name}.pl"))).expect("it is shipped");
        let budget = mario_policy::PolicySettings::default().budget;
        let acceptance = mario_policy::Acceptance::load(&engine, name, &text, None, budget).expect("it loads");
        for test in tests {
            assert_eq!(test.run(&mut Machine::new(&engine), &acceptance), TestOutcome::Passed, "{name}: {}", test.name);
        }
    }
}

#[test]
fn a_manager_is_tested_with_hardware_of_every_kind() {
    let engine = Engine::new();
    let text = "service(video, 1, 10, 25). needs(video, units, 1). needs(video, memory_mb, 512).
        node(n42, 8, [n41]). capacity(n42, 8). capacity(n42, memory_mb, 2048). free(n42, units, 8). free(n42, memory_mb, 1024).
        test('leaves a quarter', [], request(migrate, s1, video, n41, n42), accepted).
        test('leaves less', [free(n42, units, 8), free(n42, memory_mb, 1023)],
             request(migrate, s1, video, n41, n42), inhibited(little_memory)).
        test('has no room', [free(n42, units, 8), free(n42, memory_mb, 511), capacity(n42, memory_mb, 511)],
             request(migrate, s1, video, n41, n42), inhibited).
        test('names no memory', [free(n42, units, 8), capacity(n42, 8)],
             request(migrate, s1, video, n41, n42), inhibited(capacity)).
        test('has no limits', [node(n42, inf), free(n42, memory_mb, 0), capacity(n42, inf)],
             request(migrate, s1, video, n41, n42), inhibited(little_memory)).
        test('leaves', [], request(undeploy, s1, video, n42, none), accepted).
        test('sleeps on a full node', [free(n42, units, 0), free(n42, memory_mb, 0), capacity(n42, memory_mb, 0), node(n42, 0)],
             request(sleep, s1, video, n42, n42), accepted).";
    let Tests::OfAcceptance(tests) = TestTable::read(&engine, "kinds", text).expect("a table").tests else { panic!() };
    let text = "reject(request(_, _, A, _, N), little_memory) :-
        needs(A, memory_mb, W), free(N, memory_mb, F), capacity(N, memory_mb, C), 4 * (F - W) < C.";
    let budget = mario_policy::PolicySettings::default().budget;
    let acceptance = mario_policy::Acceptance::load(&engine, "keeps", text, None, budget).expect("it loads");
    for test in tests {
        assert_eq!(test.run(&mut Machine::new(&engine), &acceptance), TestOutcome::Passed, "{}", test.name);
    }
    let shared = "service(video, 1, 10, 25). node(n42, 8).";
    for (facts, expected) in [
        ("capacity(n42, memory, 5)", "there is no hardware of the kind `memory`"),
        ("capacity(n42, gpu, few)", "an amount of gpu is a whole number"),
        ("needs(video, gpu, -1)", "cannot be negative"),
    ] {
        let found =
            problems(&format!("{shared} test(a, [{facts}], request(deploy, none, video, none, n42), accepted)."));
        assert!(found.iter().any(|problem| problem.message.contains(expected)), "{facts}: {found:?}");
    }
}

#[test]
fn shows_the_difference() {
    let outcome = run("test(a, [requests(s1, n41, 6, 1), requests(s1, n43, 1, 1)],
            [operation(undeploy, s1, self), operation(migrate, s1, n41), operation(replicate, s1, n43)]).");
    let line = |operation: &str, target: &str| [operation, "s1", target].map(str::to_owned);
    let expected = [
        DiffLine::Missing(line("undeploy", "self")),
        DiffLine::Same(line("migrate", "n41")),
        DiffLine::Unexpected(line("replicate", "n41"), 1),
        DiffLine::Same(line("replicate", "n43")),
    ];
    assert_eq!(outcome, TestOutcome::Differs(expected.into()));
}

#[test]
fn a_partial_list_states_the_first_solutions() {
    let facts = "[requests(s1, n41, 6, 1)]";
    assert_eq!(run(&format!("test(a, {facts}, [operation(migrate, s1, n41)|_]).")), TestOutcome::Passed);
    let wrong = run(&format!("test(a, {facts}, [operation(replicate, s1, n41)|_])."));
    assert!(matches!(wrong, TestOutcome::Differs(_)), "{wrong:?}");
}

#[test]
fn own_facts_replace_shared_ones_of_the_same_predicate() {
    let engine = Engine::new();
    let text = format!("{SHARED}requests(s1, n41, 6, 1). refused(migrate, s1, n41).
        test(a, [requests(s1, n43, 1, 1), node(n42, 0, [n41]), inhibited(migrate, s1, n43)], [operation(undeploy, s1, self)]).");
    let Tests::OfPolicy(tests) = TestTable::read(&engine, "table", &text).expect("a table").tests else { panic!() };
    let policy = load(
        &engine,
        "operation(undeploy, I, self) :- findall(N, requests(I, N, _, _), [n43]), node(n42, 0, [n41]),
            findall(T, inhibited(migrate, I, T), [n43]).",
    );
    assert_eq!(tests[0].run(&mut Decider::new(&engine), &policy.expect("fine")), TestOutcome::Passed);
}

#[test]
fn refuses_texts_that_are_not_tables() {
    for (text, expected) in [
        ("", "no test here"),
        ("node(n42, 10).", "no test here"),
        ("test(a, [], []).", "name no instance"),
        ("serviceInstance(s1, v, n). test(a, b, []).", "are a list"),
        ("serviceInstance(s1, v, n). test(7, [], []).", "starts with its name"),
        ("serviceInstance(s1, v, n). test(a, [], undeploy).", "are a list"),
        ("serviceInstance(s1, v, n). test(a, [], [undeploy]).", "not an operation"),
        ("serviceInstance(s1, v, n). test(a, [], _).", "are a list"),
        ("serviceInstance(s1, v, n). test(a, [frog(1)], []).", "no facts of frog/1"),
        ("serviceInstance(s1, v, n). frog(1). test(a, [], []). test(b, [], []).", "no facts of frog/1"),
        ("node(n, 1). test(a, [], request(move, s, v, n, m), accepted).", "not a request"),
        ("node(n, 1). test(a, [], request(undeploy, s, v, n, none), accepted).", "no service/4 fact of `v`"),
        ("service(v, 1, 1, 1). test(a, [], request(undeploy, s, v, n, none), accepted).", "one node fact"),
        ("node(n, 1). service(v, 1, 1, 1). test(a, [], request(undeploy, s, v, n, none), yes).", "not a verdict"),
        ("serviceInstance(s, v, n). test(a, [], []). test(b, [], c, accepted).", "one table cannot test"),
        (":- frob. serviceInstance(s, v, n). test(a, [], []).", "no such directive"),
        ("a :- b.", "no rules"),
        ("test(", "expected"),
    ] {
        let problems = problems(text);
        assert!(problems.iter().any(|problem| problem.message.contains(expected)), "{text}: {problems:?}");
    }
    let twice = problems("serviceInstance(s1, v, n). frog(1). test(a, [], []). test(b, [], []).");
    assert_eq!(twice.len(), 1, "a mistake in a shared fact is told once: {twice:?}");
}

#[test]
fn a_table_may_name_its_policy() {
    let text = format!("{SHARED}:- policy('other.pl').\ntest(a, [], []).");
    let table = TestTable::read(&Engine::new(), "table", &text).expect("a table");
    assert_eq!(table.policy.as_deref(), Some("other.pl"));
}
