//! Tests of policy checks: each kind of finding is reported where it should be, and shipped policies have none.

use std::fs;
use std::path::{Path, PathBuf};

use mario_check::{Bounds, CheckReport, check};
use mario_policy::{Finding, FindingKind, PolicyError, PolicySettings, find_unknown_call, unknown_keys};
use mario_prolog::{Budget, Directories, Engine, Resolver};

fn policies() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies")
}

fn check_text(name: &str, text: &str, directory: &Path, bounds: &Bounds) -> Result<CheckReport, PolicyError> {
    let resolvers = || Box::new(Directories::new([directory])) as Box<dyn Resolver>;
    let settings = PolicySettings::default();
    let settings = PolicySettings { budget: Budget { inferences: 100_000, ..settings.budget }, ..settings };
    check(&Engine::new(), name, text, &resolvers, settings, bounds, &mut |_| {})
}

fn check_file(path: &Path, bounds: &Bounds) -> CheckReport {
    let text = fs::read_to_string(path).expect("it is there");
    let directory = path.parent().expect("it is a file");
    check_text(path.to_str().expect("a path of the workspace"), &text, directory, bounds).expect("it loads")
}

/// The findings in a text that loads, in worlds of at most two nodes.
fn findings(text: &str) -> Vec<Finding> {
    let bounds = Bounds { nodes: 2, ..Bounds::default() };
    check_text("policy.pl", text, Path::new("."), &bounds).expect("it loads").findings
}

/// Like [`findings`], but allows `lost-service`, so that a test of other findings may use a policy that undeploys the
/// last instance.
fn findings_in_text(text: &str) -> Vec<Finding> {
    findings(&format!("{text}% mario: allow lost-service, nobody asks for these instances\n"))
}

/// The code of each finding, and the part of the policy's text that it points at.
fn shown(findings: &[Finding]) -> Vec<(&'static str, &str)> {
    let pointed = |finding: &Finding| finding.place.span.clone();
    findings.iter().map(|finding| (finding.kind.code(), &finding.place.source_text()[pointed(finding)])).collect()
}

fn fixture(kind: FindingKind, ending: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/findings").join(format!("{kind}{ending}"))
}

fn unknown_keys_of(text: &str, known: &[&str]) -> Vec<(String, String)> {
    let resolvers = || Box::new(Directories::new([policies()])) as Box<dyn Resolver>;
    let known = known.iter().map(|&key| key.to_owned()).collect();
    let found = unknown_keys(&Engine::new(), "policy.pl", text, &resolvers, &known).expect("it loads");
    assert!(found.iter().all(|finding| finding.kind == FindingKind::UnknownKey));
    let shown = |finding: &Finding| {
        let place = &finding.place;
        (place.source_text()[place.span.clone()].to_owned(), finding.hint.clone().expect("a hint"))
    };
    found.iter().map(shown).collect()
}

#[test]
fn a_key_that_the_scenario_does_not_have_is_found_with_the_likely_one() {
    let read = |ending: &str| fs::read_to_string(fixture(FindingKind::UnknownKey, ending)).expect("it is there");
    let known = ["price", "tier", "trust"];
    let expected = [("fact(N, trsut, T)".to_owned(), "did you mean `trust`?".to_owned())];
    assert_eq!(unknown_keys_of(&read(".pl"), &known), expected);
    assert_eq!(unknown_keys_of(&read(".twin.pl"), &known), []);
    let found = unknown_keys_of("operation(migrate, I, N) :- requests(I, N, _, _), fact(N, colour, red).", &known);
    assert_eq!(found[0].1, "the keys of the scenario's facts are `price`, `tier`, `trust`");
    assert_eq!(found.len(), 1);
    let random = |head: &str| format!("{head} :- fact(X, random, R), R > 500000.");
    assert_eq!(unknown_keys_of(&random("operation(migrate, X, n1)"), &known), [], "every agent that reads it gets one");
    assert_eq!(unknown_keys_of(&random("accept(request(_, X, _, _, _))"), &known).len(), 1, "managers get none");
}

#[test]
fn a_missing_key_that_the_policy_provides_for_is_found_only_if_it_is_likely_misspelt() {
    for body in [
        "( fact(I, KEY, L) -> true ; L = 0 )",
        "( fact(I, KEY, L) ; L = 0 )",
        "\\+ fact(I, KEY, _), L = 1",
        "least(I, L)",
    ] {
        let text = |key: &str| {
            format!(
                "operation(undeploy, I, self) :- {}, L > 5.\nleast(I, L) :- fact(I, {key}, L), !.\nleast(_, 0).",
                body.replace("KEY", key)
            )
        };
        assert_eq!(unknown_keys_of(&text("colour"), &["trust"]), [], "{body}");
        assert_eq!(unknown_keys_of(&text("turst"), &["trust"])[0].1, "did you mean `trust`?", "{body}");
    }
}

#[test]
fn keys_of_clauses_that_are_never_reached_or_are_allowed_are_not_found() {
    let unreached = "operation(undeploy, I, self) :- \\+ requests(I, _, _, _).\nother(N) :- fact(N, trsut, _).";
    assert_eq!(unknown_keys_of(unreached, &["trust"]), []);
    let allowed =
        "% mario: allow unknown-key, other scenarios have it\noperation(undeploy, I, self) :- fact(I, trsut, 1).";
    assert_eq!(unknown_keys_of(allowed, &["trust"]), []);
    let manager = "accept(request(_, _, _, _, To)) :- fact(To, trsut, T), T > 1.";
    assert_eq!(unknown_keys_of(manager, &["trust"])[0].1, "did you mean `trust`?");
}

#[test]
fn every_kind_of_finding_has_a_policy_that_shows_it_and_a_twin_that_does_not() {
    let bounds = Bounds { nodes: 3, ..Bounds::default() };
    // The keys of facts depend on a scenario.
    for kind in FindingKind::ALL.into_iter().filter(|kind| *kind != FindingKind::UnknownKey) {
        let report = check_file(&fixture(kind, ".pl"), &bounds);
        let kinds: Vec<FindingKind> = report.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [kind], "{:?}", report.findings);
        let twin = check_file(&fixture(kind, ".twin.pl"), &bounds);
        assert!(twin.findings.is_empty(), "{kind}: {:?}", twin.findings);
        assert!(twin.allowed.is_empty());
    }
    let fixtures =
        fs::read_dir(fixture(FindingKind::PingPong, ".pl").parent().expect("a directory")).expect("readable");
    assert_eq!(fixtures.count(), 2 * FindingKind::ALL.len());
}

#[test]
fn every_shipped_policy_is_clean() {
    let mut explored = 0;
    for entry in fs::read_dir(policies()).expect("it is there") {
        let path = entry.expect("it is readable").path();
        let name = path.to_string_lossy().into_owned();
        if path.extension().is_some_and(|ending| ending == "pl") && !name.ends_with(".test.pl") {
            let report = check_file(&path, &Bounds::default());
            assert!(report.findings.is_empty(), "{name}: {:?}", report.findings);
            if let Some(exploration) = report.exploration {
                assert_eq!(exploration.ended_early, None, "{name}");
                // Only `never-move` has clauses that never give an agent's first solution: by design, it proposes
                // nothing.
                let is_silent = name.ends_with("never-move.pl");
                assert_eq!(
                    exploration.silent_clauses.is_empty(),
                    !is_silent,
                    "{name}: {:?}",
                    exploration.silent_clauses
                );
                assert!(exploration.worlds >= 31_624 && exploration.inferences_max < 1000, "{name}");
                explored += 1;
            }
        }
    }
    assert!(explored >= 8, "{explored}");
}

#[test]
fn points_at_the_mistake_in_the_text() {
    for (body, expected) in [
        ("idel", ("unknown-predicate", "idel")),
        ("\\+ idel(I)", ("unknown-predicate", "idel(I)")),
        ("findall(X, mebmer(X, [I]), _)", ("unknown-predicate", "mebmer(X, [I])")),
        ("maplist(idel(I), [a])", ("unknown-predicate", "idel(I)")),
        ("forall(requests(I, _, R), R > 1)", ("wrong-arity", "requests(I, _, R)")),
        ("node(5, _), true(I)", ("wrong-kind", "5")),
        ("requests(I, 'n1', _, \"3\")", ("wrong-kind", "requests(I, 'n1', _, \"3\")")),
        ("requests(I, N, _, _), N > 5", ("wrong-kind", "N > 5")),
        ("requests(I, R, N, _), node(N, R)", ("wrong-kind", "node(N, R)")),
        ("node(_, _, n1), atom(I)", ("wrong-kind", "n1")),
        ("refused(move, I, _)", ("unknown-operation", "move")),
        ("requests(I, Neighbour, _, _)", ("singleton-variable", "Neighbour")),
        ("requests(I, _, _, _), fail", ("never-fires", "fail")),
        ("requests(I, _, _, _), 1 > 2", ("never-fires", "1 > 2")),
        ("requests(I, _, _, _), atom(3)", ("never-fires", "atom(3)")),
        ("requests(I, _, _, _), f(_) = g(_)", ("never-fires", "f(_) = g(_)")),
        ("L = 3, requests(I, _, _, _), ( L > 5 ; L < 2 )", ("never-fires", "L > 5 ; L < 2")),
        ("\\+ node(_, _), atom(I)", ("never-fires", "\\+ node(_, _)")),
        ("atom(I), never(3)", ("never-fires", "never(3)")),
        ("requests(I, _, T, _), T == 0+0", ("uncomputed-term", "T == 0+0")),
        ("requests(I, _, T, _), X = T+1, X = 1", ("uncomputed-term", "X = T+1")),
        ("\\+ inhibited(migrate, I, N), requests(I, N, _, _)", ("early-negation", "\\+ inhibited(migrate, I, N)")),
        (
            "( \\+ inhibited(migrate, I, N) ; atom(I) ), requests(I, N, _, _)",
            ("early-negation", "\\+ inhibited(migrate, I, N)"),
        ),
        ("atom(I), gone(_)", ("unsupplied-fact", "gone(_)")),
        ("atom(I), \\+ \\+ gone(_)", ("never-fires", "\\+ \\+ gone(_)")),
    ] {
        let text =
            format!(":- dynamic gone/1.\nnever(X) :- number(X), fail.\noperation(undeploy, I, self) :- {body}.\n");
        let findings = findings(&text);
        assert!(shown(&findings).contains(&expected), "{body}: {:?}", shown(&findings));
    }
}

#[test]
fn valid_policies_have_no_findings() {
    for body in [
        "\\+ requests(I, _, _, _)",
        "findall(N-R, requests(I, N, R, _), L), keysort(L, [_|_]), fact(I, sleepy, yes)",
        "aggregate_all(count, (requests(I, N, _, _), N \\== self), 100)",
        "setof(N, R^L^requests(I, N, R, L), [_, _, _, _])",
        "maplist([X]>>(atom(X)), [I]), node(_, inf)",
        "node(N, 3, [M|_]), requests(I, N, _, _), requests(I, M, _, _)",
        "L = 3, ( requests(I, _, R, _), R > 100 -> L > 5 ; fact(I, limit, L) )",
        "serviceInstance(I, 7, _), inhibited(O, I, _), O == undeploy",
        "counted(I)",
        "kind(I)",
        "findall(N-R, requests(I, N, R, _), L), member(N-R, L), N-R == N-R, \\+ inhibited(migrate, I, N), R > 100",
        "requests(I, N, R, _), X = R + 1, X > 100, N \\== self, \\+ ( requests(I, M, _, _), M \\== N )",
    ] {
        let text = format!(
            ":- dynamic count/1.\nkind(I) :- fact(I, kind, _), !, fail.\nkind(_).\ncounted(I) :- count(X), X > 3, atom(I).\n:- assertz(count(1)).\n\
             operation(undeploy, I, self) :- {body}.\n"
        );
        let findings = findings_in_text(&text);
        assert!(findings.is_empty(), "{body}: {findings:?}");
    }
}

#[test]
fn reports_clauses_that_never_win_with_the_reason() {
    for (first, second, why) in [
        (
            "operation(undeploy, _, self).",
            "operation(migrate, I, N) :- requests(I, N, _, _), N \\== self.",
            "always gives",
        ),
        (
            "operation(undeploy, I, self) :- serviceInstance(I, _, _), !, idle(I).",
            "operation(undeploy, I, self) :- atom(I).",
            "cuts",
        ),
        ("operation(undeploy, I, self) :- idle(I).", "operation(undeploy, J, self) :- atom(J), idle(J).", "whenever"),
        (
            "operation(undeploy, I, self) :- \\+ inhibited(migrate, I, _), idle(I).",
            "operation(undeploy, I, self) :- \\+ inhibited(migrate, I, _), atom(I), idle(I).",
            "whenever",
        ),
    ] {
        let findings = findings(&format!("{first}\n{second}\nidle(I) :- \\+ requests(I, _, _, _).\n"));
        let found: Vec<&Finding> = findings.iter().filter(|finding| finding.kind == FindingKind::NeverWins).collect();
        assert!(found.len() == 1 && found[0].message.contains(why), "{first}\n{second}\n{findings:?}");
        assert_eq!(found[0].place.position().0, 2);
    }
    for (first, second) in [
        ("operation(undeploy, I, self) :- idle(I).", "operation(undeploy, I, self) :- fact(I, old, yes)."),
        ("operation(undeploy, I, self) :- idle(I), fact(I, old, yes).", "operation(undeploy, I, self) :- idle(I)."),
        (
            ":- discontiguous operation/3.\noperation(undeploy, I, self) :- kind(I).\nkind(I) :- fact(I, kind, _), !, fail.\nkind(_).",
            "operation(undeploy, I, self) :- idle(I).",
        ),
        ("operation(undeploy, i7, self).", "operation(undeploy, I, self) :- idle(I)."),
        (
            "operation(undeploy, I, self) :- \\+ inhibited(undeploy, I, _), idle(I).",
            "operation(undeploy, I, self) :- node(N, _), \\+ inhibited(undeploy, I, N), idle(I).",
        ),
    ] {
        let findings = findings_in_text(&format!("{first}\n{second}\nidle(I) :- \\+ requests(I, _, _, _).\n"));
        assert!(findings.is_empty(), "{first}\n{second}\n{findings:?}");
    }
}

#[test]
fn suggests_similar_names() {
    let hint = |body: &str| {
        let findings =
            findings(&format!("operation(undeploy, I, self) :- {body}.\nidle(I) :- \\+ requests(I, _, _, _).\n"));
        findings[0].hint.clone().unwrap_or_default()
    };
    assert_eq!(hint("idel(I)"), "did you mean idle/1?");
    assert_eq!(hint("idle(I, now)"), "did you mean idle/1?");
    assert_eq!(hint("request(I, _, _, _)"), "did you mean requests/4?");
    assert_eq!(hint("fidnall(X, requests(I, X, _, _), [])"), "did you mean findall/3?");
    assert!(hint("requests(I)").starts_with("did you mean requests/4 (the instance, "));
    assert!(hint("zzyzx_plugh(I)").starts_with("define it, or load the file that does; facts are service/4, "));
}

#[test]
fn a_target_may_be_bound_by_one_branch_only() {
    let kinds = |text: &str| shown(&findings(text)).iter().map(|(code, _)| *code).collect::<Vec<_>>();
    assert_eq!(kinds("operation(migrate, I, _) :- requests(I, _, _, _)."), ["unbound-target"]);
    assert_eq!(kinds("operation(migrate, I, N) :- requests(I, _, _, _), N \\== self."), ["unbound-target"]);
    assert_eq!(kinds("operation(replicate, I, N) :- \\+ requests(I, N, _, _)."), ["unbound-target"]);
    assert_eq!(
        kinds("operation(undeploy, I, N) :- \\+ requests(I, _, _, _), ( N = self ; true ), N \\== self."),
        ["unbound-target"]
    );
}

#[test]
fn describes_a_smallest_counterexample() {
    let report = check_file(&fixture(FindingKind::PingPong, ".pl"), &Bounds::default());
    let expected = [
        "nodes: n1-n2, 4 units of hardware each; a link takes 3",
        "application: an instance needs 1 unit, handles 5 requests and tolerates a latency of 10",
        "clients: c1 on n1, c2 on n2, each with 5 requests in a cycle",
        "instances: i1 on n1",
        "cycle 1: i1 on n1 hears requests: 5 from n2 (latency 3), 5 from its own node; asks to migrate to n2 (line 2); accepted",
        "cycle 2: i1 on n2 hears requests: 5 from n1 (latency 3), 5 from its own node; asks to migrate to n1 (line 2); \
         accepted, and is back where it was",
    ];
    assert_eq!(report.findings[0].story, expected);
}

#[test]
fn reports_when_clients_are_left_without_an_instance() {
    let little_to_do = "operation(undeploy, I, self) :- aggregate_all(sum(R), requests(I, _, R, _), T), T < 4.\n";
    let found = findings(little_to_do);
    assert_eq!(found.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [FindingKind::LostService]);
    let expected = [
        "clients: c1 on n1, with 5 requests in a cycle",
        "instances: i1 on n1, i2 on n1",
        "cycle 1: i1 on n1 hears requests: 3 from its own node; asks to undeploy (line 1); accepted",
        "cycle 1: i2 on n1 hears requests: 2 from its own node; asks to undeploy (line 1); accepted",
    ];
    assert_eq!(found[0].story[2..6], expected);
    let less = little_to_do.replace("T < 4", "T < 3");
    assert!(findings(&less).is_empty());
}

#[test]
fn agents_of_small_worlds_remember_the_past() {
    for text in [
        ":- remembers(requests, 2).\noperation(undeploy, I, self) :- earlier(2, I, _, _, _).\n",
        ":- remembers(operations, 3).\noperation(replicate, I, self) :- \\+ done(_, I, _, _).\n\
         operation(undeploy, I, self) :- done(2, I, replicate, self).\n",
        "operation(undeploy, I, self) :- age(I, 2).\n",
        "operation(undeploy, I, self) :- node(N, _), free(N, units, _).\n",
        "operation(undeploy, I, self) :- node(N, Free), Free > 1, free(N, gpu, 0).\n",
        "operation(undeploy, I, self) :- serviceInstance(I, A, _), needs(A, K, _), K \\== units.\n",
    ] {
        let found = findings(text);
        let is_found = |finding: &Finding| matches!(finding.kind, FindingKind::LostService | FindingKind::Flapping);
        assert!(found.iter().any(is_found), "{text}: {found:?}");
        let is_of_text =
            |finding: &Finding| matches!(finding.kind, FindingKind::FailedDirective | FindingKind::UnknownPredicate);
        assert!(!found.iter().any(is_of_text), "{text}: {found:?}");
    }
}

#[test]
fn a_comment_allows_a_finding_with_a_reason() {
    let text = "% mario: allow unbounded-replication, the owner pays\noperation(replicate, I, self) :- requests(I, _, _, _).\n";
    let report =
        check_text("policy.pl", text, Path::new("."), &Bounds { nodes: 1, ..Bounds::default() }).expect("it loads");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.allowed.len(), 1);
    assert_eq!(report.allowed[0].reason, "the owner pays");
    let unreasoned = findings("% mario: allow ping-pong\noperation(undeploy, I, self) :- \\+ requests(I, _, _, _).\n");
    assert_eq!(shown(&unreasoned), [("unknown-allowance", "% mario: allow ping-pong")]);
}

#[test]
fn acceptance_policies_have_their_own_facts() {
    let fine = "accept(request(_, _, App, _, Node)) :- owner(App, ann), capacity(Node, C), C > 3.\n";
    assert!(findings(fine).is_empty());
    let wrong = findings("accept(request(_, I, _, _, _)) :- requests(I, _, _, _), owner(I).\n");
    let codes: Vec<&str> = shown(&wrong).iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, ["unknown-predicate", "wrong-arity"]);
    for (head, expected) in [
        ("accept(request(deploy, _, _, _))", ("wrong-arity", "request(deploy, _, _, _)")),
        ("reject(deploy, because)", ("wrong-kind", "deploy")),
    ] {
        let wrong = findings(&format!("{head}.\n"));
        assert_eq!(shown(&wrong), [expected]);
    }
    assert!(findings("reject(_, closed).\naccept(Request) :- Request = request(deploy, _, _, _, _).\n").is_empty());
}

#[test]
fn finds_the_call_of_an_undefined_predicate() {
    let text = "operation(undeploy, I, self) :- idel(I), \\+ gone(I, 1).\n";
    let resolvers = || Box::new(Directories::new(["."])) as Box<dyn Resolver>;
    let find = |indicator| find_unknown_call(&Engine::new(), "policy.pl", text, &resolvers, indicator);
    let found: Vec<Finding> = ["gone/2", "idel/1"].into_iter().filter_map(find).collect();
    assert_eq!(shown(&found), [("unknown-predicate", "gone(I, 1)"), ("unknown-predicate", "idel(I)")]);
    assert!(find("gone/1").is_none());
}

#[test]
fn all_syntax_errors_are_reported() {
    let text = "operation(migrate, I, N :- a.\nb.\nc :- ( d.\n";
    let Err(PolicyError::Load { problems, .. }) = check_text("policy.pl", text, Path::new("."), &Bounds::default())
    else {
        panic!("it does not load")
    };
    assert_eq!(problems.errors.len(), 2);
}

#[test]
fn suggests_facts_to_read_instead_of_unsupplied_ones() {
    for (declared, goal, hint) in [
        ("request/4", "request(I, _, R, _), R > 5", "did you mean requests/4?"),
        ("load/2", "load(I, 5)", "an agent sees service/4, "),
        ("inhibitd/3", "\\+ inhibitd(migrate, I, _)", "did you mean inhibited/3?"),
    ] {
        let text = format!(":- dynamic {declared}.\noperation(undeploy, I, self) :- {goal}.\n");
        let found = findings_in_text(&text);
        let told: Vec<&Finding> = found.iter().filter(|finding| finding.kind == FindingKind::UnsuppliedFact).collect();
        assert_eq!(told.len(), 1, "{found:?}");
        assert!(told[0].message.contains(&format!("nothing supplies {declared}")), "{found:?}");
        assert!(told[0].hint.as_ref().is_some_and(|told| told.contains(hint)), "{found:?}");
    }
}

#[test]
fn distinguishes_lost_state_from_unread_state() {
    let lost = |text: &str| {
        let findings = findings_in_text(text);
        findings.iter().filter(|finding| finding.kind == FindingKind::LostState).count()
    };
    let head = ":- dynamic seen/2.\noperation(undeploy, I, self) :- \\+ requests(I, _, _, _)";
    for (rest, count) in [
        (", seen(I, N), N > 2, M is N + 1, assertz(seen(I, M)).\n", 1),
        (", \\+ seen(I, _), assertz((seen(I, 1) :- true)).\n", 1),
        (", retract(seen(I, N)), M is N + 1, assertz(seen(I, M)).\n", 1),
        (", nb_setval(last, I), nb_getval(last, I).\n", 1),
        // Nothing is lost: the state is never read, another global variable is read, or a directive stores the facts.
        (", assertz(seen(I, 1)).\n", 0),
        (", nb_setval(last, I), nb_getval(first, I).\n", 0),
        (", seen(I, _).\n:- assertz(seen(s1, 1)).\n", 0),
    ] {
        assert_eq!(lost(&format!("{head}{rest}")), count, "{rest}");
    }
}

#[test]
fn a_misspelt_variable_is_reported_with_the_intended_name() {
    for (clause, hint) in [
        (
            "operation(migrate, I, Neighbour) :- requests(I, Neighbor, R, _), R > Neighbour.",
            "did you mean `Neighbour`?",
        ),
        (
            "operation(undeploy, Instance, self) :- \\+ requests(Instence, _, _, _), atom(Instance).",
            "did you mean `Instance`?",
        ),
        ("operation(undeploy, I, self) :- \\+ requests(I, N, _, _).", "write `_N`"),
        ("operation(undeploy, Instance, self) :- \\+ requests(Instance, Hop, _, _).", "write `_Hop`"),
    ] {
        let found = findings_in_text(&format!("{clause}\n"));
        let singletons = found.iter().filter(|finding| finding.kind == FindingKind::SingletonVariable);
        let hints: Vec<&str> = singletons.filter_map(|finding| finding.hint.as_deref()).collect();
        assert!(hints.len() == 1 && hints[0].starts_with(hint), "{clause}: {found:?}");
    }
}
