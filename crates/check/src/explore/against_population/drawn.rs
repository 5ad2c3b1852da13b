//! Shipped and random policies.

use mario_domain::AgentOperation;
use mario_policy::PolicyText;
use mario_testing::Random;

macro_rules! shipped {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../../../../policies/", $name, ".pl"))),)*]
    };
}

const LIBRARY: &str = include_str!("../../../../../policies/library.pl");

/// The policies of agents that ship, apart from the one that proposes nothing.
const SHIPPED: [(&str, &str); 14] = shipped![
    "cells",
    "cost-aware",
    "flavours-by-load",
    "latency-aware",
    "load-thresholds",
    "popularity",
    "popularity-with-cool-down",
    "several-resources",
    "sleep-at-night",
    "stay-in-region",
    "sustained-demand",
    "workload-and-latency-aware",
    "workload-and-latency-aware-with-memory",
    "workload-aware",
];

/// Policies that combine what random ones rarely do: they migrate and replicate in another flavour, or asleep.
const WRITTEN: [&str; 3] = [
    ":- remembers(operations, 3).\n\
     operation(adapt, I, lite) :- running(I, full), \\+ done(_, I, adapt, _).\n\
     operation(migrate, I, M) :- done(1, I, adapt, lite), node(_, _, [M | _]).\n\
     operation(replicate, I, M) :- running(I, lite), requests(I, M, _, _).\n\
     operation(adapt, I, large) :- running(I, lite), node(_, F), F > 0.\n\
     operation(undeploy, I, self) :- running(I, large), \\+ requests(I, _, _, _).\n",
    "operation(adapt, I, large) :- running(I, full), needs(_, gpu, 1), \\+ inhibited(adapt, I, _).\n\
     operation(adapt, I, lite) :- running(I, full), inhibited(adapt, I, large).\n\
     operation(replicate, I, M) :- running(I, G), G \\== full, node(_, _, Ms), member(M, [self | Ms]), \\+ inhibited(_, I, M).\n\
     operation(adapt, I, full) :- running(I, lite), free(_, gpu, 0).\n",
    "operation(replicate, I, M) :- asleep(I), requests(I, M, R, _), R > 1, \\+ inhibited(replicate, I, M).\n\
     operation(migrate, I, M) :- asleep(I), needs(_, gpu, 1), node(_, _, Ms), last(Ms, M), \\+ inhibited(migrate, I, M).\n\
     operation(wake, I, self) :- asleep(I), running(I, lite), \\+ inhibited(wake, I, _).\n\
     operation(adapt, I, lite) :- asleep(I), running(I, full).\n\
     operation(replicate, I, self) :- \\+ asleep(I), requests(I, _, R, _), R > 2, \\+ inhibited(replicate, I, self).\n\
     operation(sleep, I, self) :- \\+ asleep(I).\n",
];

pub(super) fn written() -> impl Iterator<Item = PolicyText> {
    WRITTEN.into_iter().map(|text| PolicyText {
        name: "written".to_owned(),
        files: vec![("written.pl".to_owned(), text.to_owned())],
        memory: 0,
    })
}

pub(super) fn shipped() -> impl Iterator<Item = PolicyText> {
    SHIPPED.into_iter().map(|(name, text)| PolicyText {
        name: name.to_owned(),
        files: vec![(format!("{name}.pl"), text.to_owned()), ("library.pl".to_owned(), LIBRARY.to_owned())],
        memory: 0,
    })
}

/// Conditions of clauses. `%` is replaced by a small number, `OP` by an operation, and `#` by the number of the
/// condition, so that conditions do not share variables.
const CONDITIONS: [&str; 38] = [
    "\\+ requests(I, _, _, _)",
    "requests(I, _, R#, _), R# > %",
    "requests(I, self, _, _)",
    "requests(I, _, _, L#), L# > %",
    "node(_, F#), F# > %",
    "node(_, F#), F# < %",
    "node(_, _, Ms#), length(Ms#, C#), C# > %",
    "aggregate_all(sum(R#), requests(I, _, R#, _), T#), T# > %",
    "aggregate_all(sum(R#), requests(I, _, R#, _), T#), T# =< %",
    "\\+ inhibited(OP, I, _)",
    "inhibited(OP, I, _)",
    "inhibited(_, I, X#), atom(X#)",
    "inhibited(_, I, 7)",
    "inhibited(_, I, self)",
    "refused(_, I, n1)",
    "earlier(%, I, _, R#, _), R# > 2",
    "\\+ earlier(%, I, _, _, _)",
    "\\+ done(_, I, _, _)",
    "done(%, I, OP, _)",
    "done(_, I, _, self)",
    "done(_, I, _, n1)",
    "age(I, %)",
    "age(I, A#), A# > %",
    "leave(I, %)",
    "\\+ leave(I, _)",
    "asleep(I)",
    "\\+ asleep(I)",
    "running(I, full)",
    "running(I, G#), G# \\== full",
    "free(_, gpu, 0)",
    "free(_, units, U#), U# > %",
    "needs(_, gpu, 1)",
    "node(N#, _), fact(N#, price, P#), P# > %",
    "serviceInstance(I, A#, _), fact(A#, price, 1)",
    "once(fact(_, price, %))",
    "fact(n3, zone, _)",
    "fact(I, _, _)",
    "fact(I, random, R#), R# > 0",
];

/// Targets of migrates and replicates, each with the goals that bind it.
const NODES: [(&str, &str); 11] = [
    ("self", "true"),
    ("n1", "true"),
    ("n4", "true"),
    ("7", "true"),
    ("nowhere", "true"),
    ("X", "node(_, _, [X | _])"),
    ("X", "node(_, _, Xs), last(Xs, X)"),
    ("X", "node(_, _, Xs), member(X, Xs), \\+ inhibited(OP, I, X)"),
    ("X", "requests(I, X, _, _)"),
    ("X", "requests(I, X, _, _), X \\== self"),
    ("X", "node(X, _)"),
];

/// Targets of adapts. Most are proposed only while the instance runs in another flavour.
const FLAVOURS: [(&str, &str); 8] = [
    ("lite", "running(I, full)"),
    ("large", "\\+ running(I, large)"),
    ("full", "running(I, large)"),
    ("X", "running(I, G), flavour(_, X, _, _, _, _), X \\== G"),
    ("lite", "true"),
    ("huge", "true"),
    ("3", "true"),
    ("self", "true"),
];

/// Targets of other operations.
const OWN: [(&str, &str); 2] = [("self", "true"), ("X", "node(X, _)")];

/// A random policy, whose decisions do not depend on the names of instances.
pub(super) fn policy(random: &mut Random) -> PolicyText {
    let mut text = String::new();
    for what in ["operations", "requests"] {
        if random.one_in(2) {
            text.push_str(&format!(":- remembers({what}, {}).\n", random.between(1, 4)));
        }
    }
    for _ in 0..random.between(1, 5) {
        text.push_str(&clause(random));
    }
    PolicyText { name: "drawn".to_owned(), files: vec![("drawn.pl".to_owned(), text)], memory: 0 }
}

fn clause(random: &mut Random) -> String {
    let operation = random.pick(&AgentOperation::ALL);
    let targets = match operation {
        AgentOperation::Migrate | AgentOperation::Replicate => &NODES[..],
        AgentOperation::Adapt => &FLAVOURS,
        AgentOperation::Undeploy | AgentOperation::Sleep | AgentOperation::Wake => &OWN,
    };
    let (target, binding) = random.pick(targets);
    let mut body = binding.replace("OP", operation.as_str());
    for number in 0..random.below(4) {
        let condition = random.pick(&CONDITIONS).replace('#', &number.to_string());
        let condition = condition.replace('%', &random.below(5).to_string());
        body.push_str(", ");
        body.push_str(&condition.replace("OP", random.pick(&AgentOperation::ALL).as_str()));
    }
    format!("operation({operation}, I, {target}) :- {body}.\n")
}
