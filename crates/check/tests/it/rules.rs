//! Tests that agents of small worlds know and may do what agents of real nodes know and may do.

use mario_check::{Bounds, CheckReport, check};
use mario_policy::{FindingKind, PolicySettings};
use mario_prolog::{Directories, Engine, Resolver};

fn report(text: &str) -> CheckReport {
    let files = || Box::new(Directories::new(["."])) as Box<dyn Resolver>;
    let bounds = Bounds { nodes: 3, ..Bounds::default() };
    check(&Engine::new(), "policy.pl", text, &files, PolicySettings::default(), &bounds, &mut |_| {}).expect("it loads")
}

/// The kinds of the findings that have a counterexample, and the lines of the clauses that proposed nothing.
fn outcome(text: &str) -> (Vec<FindingKind>, Vec<usize>) {
    let report = report(text);
    let in_worlds = report.findings.iter().filter(|finding| !finding.story.is_empty());
    let kinds = in_worlds.map(|finding| finding.kind).collect();
    (kinds, report.exploration.expect("it is a policy of agents").silent_clauses)
}

#[test]
fn agents_see_the_facts_of_the_application_of_their_node_and_of_its_neighbours() {
    use FindingKind::LostService;
    for (body, is_seen) in [
        ("serviceInstance(I, A, _), fact(A, price, _)", true),
        ("node(N, _), fact(N, price, _)", true),
        ("node(_, _, Ms), member(M, Ms), fact(M, price, _)", true),
        ("node(N, _, Ms), fact(M, price, _), M \\== N, \\+ member(M, Ms), M \\== app", false),
        ("fact(I, price, _)", false),
        ("fact(I, random, R), R > 0", true),
        ("node(N, _), fact(N, random, _)", false),
        ("serviceInstance(I, A, _), fact(A, random, _)", false),
        ("\\+ fact(I, random, _)", false),
    ] {
        let expected = if is_seen { (vec![LostService], vec![]) } else { (vec![], vec![1]) };
        assert_eq!(outcome(&format!("operation(undeploy, I, self) :- {body}.\n")), expected, "{body}");
    }
}

#[test]
fn facts_of_the_own_node_come_before_those_of_its_neighbours() {
    let text = "operation(undeploy, I, self) :- once(( fact(N, price, _), N \\== app )), node(M, _), M \\== N.\n";
    assert_eq!(outcome(text), (vec![], vec![1]));
}

#[test]
fn agents_remember_a_number_as_a_number() {
    let text = "operation(undeploy, I, self) :- inhibited(migrate, I, 7).\noperation(migrate, _, 7).\n";
    assert_eq!(outcome(text).1, [0_usize; 0]);
    let text = "operation(undeploy, I, self) :- inhibited(migrate, I, '7').\noperation(migrate, _, 7).\n";
    assert_eq!(outcome(text).1, [1]);
}

#[test]
fn agents_remember_operations_without_a_target_as_those_of_self() {
    for (goal, silent) in [("done(_, I, sleep, self)", vec![]), ("done(_, I, sleep, N), node(N, _)", vec![2])] {
        let text = format!(
            ":- remembers(operations, 2).\noperation(undeploy, I, self) :- {goal}.\n\
             operation(sleep, I, N) :- \\+ asleep(I), node(N, _).\n"
        );
        assert_eq!(outcome(&text).1, silent, "{goal}");
    }
}

#[test]
fn a_sleeping_instance_holds_no_gpu_and_needs_one_to_wake() {
    let text = "operation(wake, I, self) :- asleep(I), free(_, gpu, 0), \\+ inhibited(wake, I, _).\n\
                operation(undeploy, I, self) :- inhibited(wake, I, _).\n\
                operation(migrate, I, M) :- asleep(I), node(_, _, [M | _]).\n\
                operation(replicate, I, self) :- inhibited(migrate, I, _).\n";
    assert_eq!(outcome(text).1, [4], "a sleeper goes where the GPU is taken, and cannot wake there");
}

#[test]
fn an_instance_keeps_its_gpu_in_a_flavour_that_needs_no_units() {
    let text = "operation(adapt, I, lite) :- running(I, full), needs(_, gpu, 1).\n\
                operation(undeploy, I, self) :- running(I, lite), free(_, gpu, 1).\n";
    assert_eq!(outcome(text), (vec![], vec![2]));
}
