//! Tests of the proof that the decisions of a policy do not depend on the names of nodes and instances.

use std::fs;

use mario_policy::{
    Constant, Decider, Decision, Ending, FactsAllowed, KnowledgeBase, NameDependence, NameInvariance, Policy, Solution,
    SolutionLimit, name_invariance,
};
use mario_prolog::{Engine, Symbols, Value};
use mario_testing::Random;

use crate::generated::Argument::{self, Integer, Name};
use crate::generated::{Generated, HOPS, INSTANCES, OWN_NODE};
use crate::{load, policies, shipped};

/// The shipped policies of agents, except `flavours-by-load` and `sleep-at-night`.
fn all_shipped(engine: &Engine) -> Vec<(String, Policy)> {
    let files = fs::read_dir(policies()).expect("they are shipped").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = files
        .filter_map(|file| file.to_str().and_then(|file| file.strip_suffix(".pl")).map(str::to_owned))
        .filter(|name| !name.contains(".test") && name != "library")
        .filter(|name| !["accept-what-fits", "evict-the-largest"].contains(&name.as_str()))
        // These two read `flavour/6` and `running/2`, or `asleep/1`, for which the proof has no signatures.
        .filter(|name| !["flavours-by-load", "sleep-at-night"].contains(&name.as_str()))
        .collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), shipped(engine, &name))).collect()
}

#[test]
fn all_shipped_policies_are_invariant_without_facts_about_nodes() {
    let engine = Engine::new();
    let policies = all_shipped(&engine);
    assert_eq!(policies.len(), 13, "{policies:?}");
    for (name, policy) in &policies {
        let found = name_invariance(&engine, policy);
        // This policy reads `needs/3` and `free/3`, for which the proof has no signatures.
        if name == "several-resources" {
            assert!(found.is_err(), "{found:?}");
            continue;
        }
        let asks_for_facts =
            ["cells", "cost-aware", "load-thresholds", "popularity", "popularity-with-cool-down", "stay-in-region"]
                .contains(&name.as_str());
        let facts = if asks_for_facts { FactsAllowed::None } else { FactsAllowed::Fixed };
        let expected =
            NameInvariance { facts, sees_neighbours: name.starts_with("popularity"), sees_applications: false };
        assert_eq!(found, Ok(expected), "{name}");
    }
}

/// The invariance of a policy whose only clause of `operation/3` has this body.
fn with_body(engine: &Engine, body: &str) -> Result<NameInvariance, NameDependence> {
    let text = format!("operation(migrate, I, N) :- {body}.\nhelp(a, 1). same(X, X). same(X, X, _).");
    name_invariance(engine, &load(engine, &text).expect("it is a policy"))
}

/// Bodies that mention names of nodes or instances.
const NAMES_IN_THE_TEXT: &[&str] = &[
    "requests(I, n42, _, _), N = self",
    "requests(I, N, _, _), N == n42",
    "requests(I, N, _, _), N \\== 7",
    "requests(I, N, _, _), N @< m",
    "requests(I, N, _, _), member(N, [a, b, c])",
    "requests(I, N, _, _), memberchk(N, [self, n1])",
    "requests(I, N, _, _), help(N, _)",
    "requests(I, N, _, _), N = n1",
    "requests(I, N, _, _), \\+ N = n1",
    "requests(I, N, _, _), same(N, M), M = n1",
    "requests(I, N, _, _), once((N == self ; N == n1))",
    "N = cloud",
    "I == s1, requests(I, N, _, _)",
    "I = 7, requests(I, N, _, _)",
    "requests(93, N, _, _)",
    "requests(I, N, _, _), findall(M, requests(I, M, _, _), Ms), sort([a|Ms], [a|_])",
    "requests(I, N, _, _), X = p(N), X = p(n1)",
    "requests(I, N, _, _), X = p(N), X @< q(1)",
    "inhibited(migrate, I, n1), requests(I, N, _, _)",
    "node(_, _, [n1|_]), requests(I, N, _, _)",
    "node(n42, F), F > 0, requests(I, N, _, _)",
    "refused(_, I, n1), requests(I, N, _, _)",
];

/// Bodies that inspect the text, the type or the value of names.
const PARTS_OF_NAMES: &[&str] = &[
    "requests(I, N, _, _), atom_length(N, 3)",
    "requests(I, N, _, _), atom_codes(N, [_|_])",
    "requests(I, N, _, _), sub_atom(N, 0, 1, _, n)",
    "requests(I, N, _, _), atom(N)",
    "requests(I, N, _, _), number(N)",
    "requests(I, N, _, _), is_list(N)",
    "requests(I, N, _, _), integer(I)",
    "requests(I, N, _, _), N > 3",
    "requests(I, N, _, _), X is N + 1, X > 0",
    "requests(I, N, _, _), 0 is I mod 2",
    "requests(I, N, _, _), I =:= 7",
    "requests(I, N, _, _), term_to_atom(N, A), atom_length(A, 2)",
    "requests(I, N, _, _), atom_number(N, _)",
    "requests(I, N, _, _), format(atom(A), '~w', [N]), A == n1",
    "requests(I, N, _, _), term_hash(N, H), H > 0",
    "requests(I, N, _, _), N =.. [n1]",
    "requests(I, N, _, _), functor(N, n1, 0)",
    "requests(I, N, _, _), sum_list([N], 7)",
    "requests(I, N, _, _), aggregate_all(max(M), requests(I, M, _, _), N)",
    "requests(I, N, _, _), between(1, N, _)",
    "requests(I, N, _, _), nth0(I, [a, b], a)",
];

/// Bodies that compare or unify values of two kinds, such as a node and a rate.
const TWO_KINDS: &[&str] = &[
    "requests(I, N, R, _), N @< R",
    "requests(I, N, R, _), I @< R",
    "requests(I, N, _, _), I @< N",
    "requests(I, N, _, _), I == N",
    "requests(I, I, _, _), N = self",
    "serviceInstance(I, N, _)",
    "serviceInstance(I, A, _), requests(I, A, _, _), N = self",
    "service(N, _, _, _)",
    "requests(I, N, R, L), sort([N, R, L], [N|_])",
    "requests(I, N, R, _), msort([I, R], [R, I])",
    "requests(I, N, R, _), sort([N-R, R-N], [N-R, _])",
    "requests(I, N, R, _), compare(<, f(N), f(R))",
    "requests(I, N, R, _), compare(<, f(N), g(R))",
    "requests(I, N, R, _), f(N) @< R",
    "requests(I, N, _, _), N @< [x]",
    "inhibited(N, I, _)",
    "N = I",
    "findall(X, (X = I ; requests(I, X, _, _)), Xs), member(N, Xs)",
    "setof(R-N, requests(I, N, R, _), [_-N|_]), predsort([O, A, B]>>compare(O, A, B), [N], _)",
];

/// Bodies that depend on names in the arguments of meta-predicates, or whose goals are not known statically.
const UNKNOWN_GOALS: &[&str] = &[
    "requests(I, N, _, _), G = atom(N), call(G)",
    "requests(I, N, _, _), G = atom(N), G",
    "requests(I, N, _, _), call(N)",
    "requests(I, N, _, _), maplist(N, [1])",
    "requests(I, N, _, _), P = atom, call(P, N)",
    "requests(I, N, _, _), call(atom, N)",
    "requests(I, N, _, _), maplist(atom, [N])",
    "requests(I, N, _, _), foldl([_, S, S]>>true, [N], 0, _)",
    "requests(I, N, _, _), foldl(same, [N], n1, _)",
    "requests(I, N, _, _), include(==(n1), [N], [_])",
    "requests(I, N, _, _), maplist(call, [atom(N)])",
    "requests(I, N, _, _), predsort(same, [N, N], _)",
    "requests(I, N, _, _), forall(true, atom(N))",
    "requests(I, N, _, _), \\+ \\+ atom(N)",
    "requests(I, N, _, _), findall(x, atom(N), [x])",
    "requests(I, N, _, _), aggregate_all(count, atom(N), 1)",
    "requests(I, N, _, _), ( R^atom(N), R = 1 ; true )",
    "requests(I, N, _, _), lists:member(N, [n1])",
    "requests(I, N, _, _), nowhere(N)",
    "requests(I, N, _, _), S = count, aggregate_all(S, atom(N), 1)",
];

/// Bodies that could depend on names through state, exceptions, suspended goals or output.
const WAYS_AROUND: &[&str] = &[
    "requests(I, N, _, _), assertz(seen(N)), seen(n1)",
    "requests(I, N, _, _), retract(help(_, _))",
    "requests(I, N, _, _), catch(atom_length(1, _), _, true)",
    "requests(I, N, _, _), catch(X is N, error(type_error(_, n1/0), _), true), var(X)",
    "requests(I, N, _, _), nb_setval(k, N), nb_getval(k, n1)",
    "requests(I, N, _, _), freeze(X, atom(X)), X = N",
    "requests(I, N, _, _), dif(N, n1)",
    "requests(I, N, _, _), clause(help(_, _), true)",
    "requests(I, N, _, _), write(N)",
    "requests(I, N, _, _), current_op(_, _, N)",
    "requests(I, N, _, _), halt",
    "requests(I, N, _, _), list_to_assoc([N-1], A), put_assoc(n1, A, 2, _)",
];

#[test]
fn policies_that_may_depend_on_names_are_not_invariant() {
    let engine = Engine::new();
    let bodies = [NAMES_IN_THE_TEXT, PARTS_OF_NAMES, TWO_KINDS, UNKNOWN_GOALS, WAYS_AROUND];
    for body in bodies.into_iter().flatten() {
        let found = with_body(&engine, body);
        assert!(found.is_err(), "{body}: {found:?}");
    }
}

#[test]
fn facts_about_nodes_and_instances_are_names_too() {
    let engine = Engine::new();
    for body in [
        "requests(I, N, _, _), fact(N, region, here)",
        "fact(I, random, R), R < 5, requests(I, N, _, _)",
        "serviceInstance(I, A, _), fact(A, home, N)",
        "fact(_, _, N)",
    ] {
        assert_eq!(with_body(&engine, body).map(|invariance| invariance.facts), Ok(FactsAllowed::None), "{body}");
    }
    let about_applications = "serviceInstance(I, A, _), fact(A, limit, L), requests(I, N, R, _), R > L";
    assert_eq!(with_body(&engine, about_applications).map(|invariance| invariance.facts), Ok(FactsAllowed::Fixed));
}

#[test]
fn policies_that_treat_all_names_alike_are_invariant() {
    let engine = Engine::new();
    for body in [
        "requests(I, N, _, _), N \\== self",
        "requests(I, N, _, _), N = self",
        "node(N, _, Ns), msort([self|Ns], [_|_])",
        "node(_, _, Ns), member(N, Ns), \\+ requests(I, N, _, _)",
        "findall(R-M, requests(I, M, R, _), Pairs), keysort(Pairs, Sorted), last(Sorted, _-N)",
        "setof(M, R^L^requests(I, M, R, L), Ms), member(N, Ms), serviceInstance(I, video, _)",
        "aggregate_all(max(R, M), requests(I, M, R, _), max(_, N))",
        "aggregate_all(bag(M), requests(I, M, _, _), [N|_]), aggregate_all(count, requests(I, _, _, _), 3)",
        "findall(M, node(_, _, M), Lists), append(Lists, Ns), sort(0, @>=, Ns, [N|_])",
        "node(_, _, Ns), exclude(==(self), Ns, [N|_]), atom_length(abc, 3)",
        "node(N, Free), Free = inf, requests(I, M, _, _), compare(Order, N, M), Order \\== (=)",
    ] {
        assert_eq!(with_body(&engine, body).map(|invariance| invariance.facts), Ok(FactsAllowed::Fixed), "{body}");
    }
}

#[test]
fn a_text_that_redefines_the_library_is_not_invariant() {
    let engine = Engine::new();
    let text = "operation(migrate, I, N) :- requests(I, N, _, _). last(n1, n2).";
    assert!(name_invariance(&engine, &load(&engine, text).expect("a policy")).is_err());
}

#[test]
fn detects_policies_that_read_applications() {
    let engine = Engine::new();
    for (body, expected) in [
        ("requests(I, N, _, _)", false),
        ("serviceInstance(I, A, _), service(A, _, R, _), R > 5, requests(I, N, _, _)", false),
        ("requests(I, N, _, _), \\+ ( serviceInstance(I, A, _), service(A, 1, _, _) )", false),
        ("serviceInstance(I, A, _), \\+ service(A, 1, _, _), requests(I, N, _, _)", false),
        ("serviceInstance(I, A, _), B = A, service(B, _, _, _), requests(I, N, _, _)", true),
        ("service(A, _, _, _), serviceInstance(I, A, _), requests(I, N, _, _)", true),
        ("service(_, _, R, _), R > 5, requests(I, N, _, _)", true),
        ("service(app1, _, _, _), requests(I, N, _, _)", true),
        ("serviceInstance(I, app1, _), requests(I, N, _, _)", true),
        ("serviceInstance(I, A, _), A @< m, requests(I, N, _, _)", true),
        ("serviceInstance(I, A, _), atom_length(A, 4), requests(I, N, _, _)", true),
        ("serviceInstance(I, A, _), requests(I, N, R, _), A == R", true),
        ("\\+ serviceInstance(I, A, _), service(A, _, _, _), requests(I, N, _, _)", true),
        ("( serviceInstance(I, A, _), fail ; true ), service(A, _, _, _), requests(I, N, _, _)", true),
        ("forall(serviceInstance(I, A, _), true), service(A, _, _, _), requests(I, N, _, _)", true),
        ("serviceInstance(I, A, _), fact(A, limit, _), requests(I, N, _, _)", true),
        ("serviceInstance(I, A, _), call(service(A), _, _, _), requests(I, N, _, _)", false),
        ("findall(A, service(A, _, _, _), [_]), requests(I, N, _, _)", true),
    ] {
        assert_eq!(with_body(&engine, body).map(|invariance| invariance.sees_applications), Ok(expected), "{body}");
    }
}

#[test]
fn detects_policies_that_read_neighbours() {
    let engine = Engine::new();
    for (body, expected) in [
        ("requests(I, N, _, _)", false),
        ("node(_, Free, _), Free > 1, requests(I, N, _, _)", false),
        ("node(_, _, Unused), Free = 1, Free > 0, requests(I, N, _, _)", false),
        ("node(_, _, [N|_])", true),
        ("node(_, _, []), requests(I, N, _, _)", true),
        ("node(_, _, Ns), member(N, Ns)", true),
        ("requests(I, N, _, _), node(_, _, Ns), length(Ns, 3)", true),
        ("requests(I, N, _, _), call(node(_, _), Ns), Ns = Ns", true),
        ("findall(Ns, node(_, _, Ns), [_]), requests(I, N, _, _)", true),
    ] {
        assert_eq!(with_body(&engine, body).map(|invariance| invariance.sees_neighbours), Ok(expected), "{body}");
    }
}

#[test]
fn reports_where_a_policy_depends_on_names() {
    let engine = Engine::new();
    let text = "operation(migrate, I, N) :- requests(I, N, _, _), far(N).\nfar(N) :- atom_length(N, 9).";
    let seeing = name_invariance(&engine, &load(&engine, text).expect("a policy")).expect_err("it looks at names");
    assert_eq!(seeing.place, "far/1: what is a node is also a number or a word, in atom_length/2");
    let text = "operation(migrate, _, n42).";
    let seeing = name_invariance(&engine, &load(&engine, text).expect("a policy")).expect_err("it knows a name");
    assert!(seeing.place.starts_with("operation/3: "), "{}", seeing.place);
}

/// Names before `self` in the standard order of terms, in that order.
const BELOW: [Argument; 16] = [
    Integer(-3),
    Integer(0),
    Integer(7),
    Integer(12),
    Integer(93),
    Name("B"),
    Name("Zone"),
    Name("app1"),
    Name("h2"),
    Name("migrate"),
    Name("n1"),
    Name("n10"),
    Name("n2"),
    Name("node"),
    Name("replicate"),
    Name("sel"),
];
const ABOVE: [Argument; 8] =
    [Name("self0"), Name("selfish"), Name("service"), Name("t"), Name("undeploy"), Name("x1"), Name("z"), Name("é")];

/// A random selection of `count` of these names, in the same order.
fn some(random: &mut Random, of: &[Argument], count: usize) -> Vec<Argument> {
    let mut left = of.to_vec();
    while left.len() > count {
        left.remove(random.below(left.len() as u64) as usize);
    }
    left
}

/// New names for nodes and for instances; `self` is unchanged.
struct Renaming {
    nodes: Vec<(Argument, Argument)>,
    instances: Vec<(Argument, Argument)>,
}

impl Renaming {
    /// Two renamings whose new names, with `self`, are in the same order. The renamed knowledge bases differ only in
    /// names, so an invariant policy must decide alike.
    fn two(random: &mut Random) -> [Renaming; 2] {
        let mut nodes: Vec<Argument> = HOPS.iter().copied().filter(|hop| *hop != Name("self")).collect();
        nodes.push(OWN_NODE);
        for last in (1..nodes.len()).rev() {
            nodes.swap(last, random.below(last as u64 + 1) as usize);
        }
        let below = random.below(nodes.len() as u64 + 1) as usize;
        let mut instances = INSTANCES.to_vec();
        instances.rotate_left(random.below(3) as usize);
        [(); 2].map(|()| {
            let mut names = some(random, &BELOW, below);
            names.extend(some(random, &ABOVE, nodes.len() - below));
            let mut renamed: Vec<(Argument, Argument)> = nodes.iter().copied().zip(names).collect();
            renamed.push((Name("self"), Name("self")));
            let names = some(random, &BELOW, instances.len());
            Renaming { nodes: renamed, instances: instances.iter().copied().zip(names).collect() }
        })
    }

    fn apply(&self, facts: &Generated) -> Generated {
        let renamed = |names: &[(Argument, Argument)], old: Argument| {
            names.iter().find(|(before, _)| *before == old).expect("all have names").1
        };
        facts.renamed(|node| renamed(&self.nodes, node), |instance| renamed(&self.instances, instance))
    }

    /// The solutions of a decision as text, with the original names of their targets.
    fn undo(&self, symbols: &Symbols, decision: &Decision) -> Vec<String> {
        let old = |constant: Constant| {
            let same = |name: &Argument| match (name, constant) {
                (Name(name), Value::Atom(atom)) => symbols.name(atom) == *name,
                (Integer(number), Value::Integer(value)) => *number == value,
                _ => false,
            };
            self.nodes.iter().find(|(_, name)| same(name)).map(|(before, _)| *before)
        };
        let said = decision.solutions.iter().map(|solution| match solution {
            Solution::Proposal(proposal) => {
                let target = old(proposal.target).expect("an invariant policy proposes nodes that it knows");
                format!("{} {target:?} by {}", proposal.operation, proposal.clause)
            }
            Solution::Invalid(invalid) => format!("{:?} by {}", invalid.fault, invalid.clause),
        });
        said.collect()
    }
}

/// Makes the agent remember its current requests as those of the last two evaluations, and sets its age.
fn remember_the_same(facts: &mut KnowledgeBase, instance: Constant) {
    let requests: Vec<[Constant; 4]> = facts.requests().collect();
    for ago in [1, 2] {
        for [of, hop, rate, latency] in &requests {
            facts.push_earlier(ago, *of, [*hop, *rate, *latency]);
        }
    }
    facts.push_age(instance, 7);
}

#[test]
fn invariant_policies_propose_the_same_up_to_names() {
    let engine = Engine::new();
    let mut policies = all_shipped(&engine);
    policies.retain(|(name, _)| name != "several-resources");
    for (name, text) in [
        (
            "farthest",
            "operation(migrate, I, N) :- node(O, _, Ns), msort([O, self|Ns], S), last(S, N), N \\== O, I = I.",
        ),
        ("order", "operation(replicate, I, N) :- setof(N-R, L^requests(I, N, R, L), P), member(N-R, P), R > 1."),
        ("remembered", "operation(migrate, I, N) :- requests(I, N, _, _), \\+ ( inhibited(_, I, M), M @< N )."),
        ("greatest", "operation(replicate, I, N) :- aggregate_all(max(R, M), requests(I, M, R, _), max(_, N))."),
        ("others", "operation(undeploy, I, N) :- node(N, _), inhibited(_, J, self), J @> I."),
    ] {
        policies.push((name.to_owned(), load(&engine, text).expect("it is a policy")));
    }
    for (name, policy) in &policies {
        assert!(name_invariance(&engine, policy).is_ok(), "{name}");
    }
    let mut random = Random::new(11);
    let mut facts = KnowledgeBase::new(engine.symbols());
    let mut decider = Decider::new(&engine);
    let mut proposals = vec![0; policies.len()];
    for number in 0..5_000 {
        let generated = Generated::new(&mut random);
        let renamings = Renaming::two(&mut random);
        for ((name, policy), proposals) in policies.iter().zip(&mut proposals) {
            let [one, other] = renamings.each_ref().map(|renaming| {
                let instance = renaming.apply(&generated).fill(engine.symbols(), &mut facts);
                remember_the_same(&mut facts, instance);
                let decision = decider.decide(policy, &facts, instance, SolutionLimit::All);
                // The message of an exception contains names.
                let ending = match &decision.ending {
                    Ending::Exception(_) => None,
                    ending => Some(ending.clone()),
                };
                ((renaming.undo(engine.symbols(), decision), ending), decision.inferences)
            });
            assert_eq!(one.0, other.0, "{name}, knowledge base {number}");
            // The numbers of inferences may differ slightly: an atom in one renaming may be an integer in the other.
            assert!(one.1.abs_diff(other.1) * 16 <= one.1, "{name}, knowledge base {number}: {} {}", one.1, other.1);
            *proposals += one.0.0.len();
        }
    }
    for ((name, _), proposals) in policies.iter().zip(proposals) {
        // `never-move` proposes nothing, and `cells` needs a fact that the knowledge bases do not have.
        let is_silent = ["never-move", "cells"].contains(&name.as_str());
        assert!((proposals > 50) != is_silent, "{name}: {proposals}");
    }
}
