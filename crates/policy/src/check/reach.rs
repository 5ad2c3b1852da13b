//! Finds clauses of `operation/3` that can never determine the agent's proposal, and targets that are never bound.

use std::collections::BTreeMap;

use mario_prolog::{Engine, Tree, TreeKind};

use super::Known;
use super::finding::{Finding, FindingKind};
use super::kinds::shown;
use super::text::{Clause, Text, conjunction, each_part, exact_place};
use super::truth::{Bindings, Judge, Truth};

pub(super) fn check(text: &Text<'_>, known: &Known, engine: &Engine, findings: &mut Vec<Finding>) {
    let mut judge = Judge::new(text, known, engine);
    let clauses: Vec<Clause<'_>> = text.clauses_of("operation", 3).collect();
    let mut earlier: Vec<&Clause<'_>> = Vec::new();
    for clause in &clauses {
        unbound_target(clause, findings);
        if let Some(goal) = failing_goal(&mut judge, clause) {
            let place = exact_place(clause.place, goal);
            // A goal that reads unsupplied facts was already reported.
            let is_reported =
                |known: &Finding| known.kind == FindingKind::UnsuppliedFact && known.place.span == place.span;
            if !findings.iter().any(is_reported) {
                let message = format!("this clause never fires: its goal `{}` always fails", shown(clause, goal));
                let finding = Finding::new(FindingKind::NeverFires, place, message);
                findings.push(finding.hint("remove the clause, or the goal"));
            }
            continue;
        }
        if let Some((winner, why)) = earlier.iter().find_map(|winner| Some((winner, wins(&mut judge, winner, clause)?)))
        {
            let (line, _) = winner.place.position();
            let message = format!("the agent never asks for this: the clause in line {line} {why}");
            findings.push(
                Finding::new(FindingKind::NeverWins, clause.place.at(clause.head.span.clone()), message)
                    .hint("only the first solution counts: put the special case before the general one"),
            );
        }
        earlier.push(clause);
    }
}

fn instance<'t>(clause: &Clause<'t>) -> Option<&'t Tree> {
    clause.head.callable().and_then(|(_, arguments)| arguments.get(1))
}

/// The first goal that always fails in the body of a clause; `None` if no goal is known to always fail.
fn failing_goal<'t>(judge: &mut Judge<'_>, clause: &Clause<'t>) -> Option<&'t Tree> {
    let mut bindings = Bindings::of_head(clause.head, instance(clause));
    conjunction(clause.body).into_iter().find(|goal| judge.truth(goal, &mut bindings) == Truth::Never)
}

/// The reason why `later`, which comes after `earlier`, can never produce the first solution; `None` if it may.
fn wins(judge: &mut Judge<'_>, earlier: &Clause<'_>, later: &Clause<'_>) -> Option<&'static str> {
    let (before, after) = (instance(earlier)?, instance(later)?);
    if !matches!(before.kind, TreeKind::Variable(_)) && before.kind != after.kind {
        return None;
    }
    let goals = conjunction(earlier.body);
    let is_cut = |goal: &&Tree| goal.kind == TreeKind::Atom("!".to_owned());
    let mut bindings = Bindings::of_head(earlier.head, Some(before));
    let always = goals.iter().take_while(|goal| judge.truth(goal, &mut bindings) == Truth::Always).count();
    if always == goals.len() {
        return Some("always gives a solution first");
    }
    if goals[..always].iter().any(is_cut) {
        return Some("always cuts the others off");
    }
    if goals.iter().any(is_cut) {
        return None;
    }
    let mut matching = Matching { later: conjunction(later.body), earlier: goals, clauses: (earlier, later) };
    let mut bound = BTreeMap::new();
    if let TreeKind::Variable(name) = &before.kind {
        bound.insert(name.clone(), after.kind.clone());
    }
    matching.from(0, 0, &bound).then_some("has a solution whenever this one has")
}

/// Tries to match every goal of the earlier clause with a goal of the later clause, in the same order. If that
/// succeeds, the earlier clause has a solution whenever the later one has.
struct Matching<'t> {
    earlier: Vec<&'t Tree>,
    later: Vec<&'t Tree>,
    clauses: (&'t Clause<'t>, &'t Clause<'t>),
}

type Bound = BTreeMap<String, TreeKind>;

impl Matching<'_> {
    fn from(&mut self, goal: usize, start: usize, bound: &Bound) -> bool {
        let Some(&wanted) = self.earlier.get(goal) else { return true };
        for position in start..self.later.len() {
            let mut inside = bound.clone();
            let found = self.later[position];
            if self.matches(wanted, found, &mut inside) && self.from(goal + 1, position + 1, &inside) {
                return true;
            }
        }
        false
    }

    /// Whether the goal `wanted` of the earlier clause succeeds whenever the goal `found` of the later one does.
    fn matches(&self, wanted: &Tree, found: &Tree, bound: &mut Bound) -> bool {
        if !matches(wanted, found, bound) {
            return false;
        }
        if wanted.callable().is_some_and(|(name, arguments)| is_plain(name, arguments.len())) {
            return true;
        }
        // Inside a goal that is not plain, such as a negation or a `findall/3`, a variable that occurs nowhere else
        // stands for any value, so its counterpart must be local, too.
        let (earlier, later) = self.clauses;
        let mut same = true;
        each_part(wanted, &mut |part| {
            if let TreeKind::Variable(name) = &part.kind
                && name != "_"
                && is_local(name, wanted, earlier)
            {
                same &= match bound.get(name) {
                    Some(TreeKind::Variable(other)) => other == "_" || is_local(other, found, later),
                    _ => false,
                };
            }
        });
        same && wildcards_agree(wanted, found, &|name| is_local(name, found, later))
    }
}

/// Whether every `_` in `wanted` corresponds to `_` or to a local variable in `found`.
fn wildcards_agree(wanted: &Tree, found: &Tree, is_own: &dyn Fn(&str) -> bool) -> bool {
    match (&wanted.kind, &found.kind) {
        (TreeKind::Variable(name), other) if name == "_" => match other {
            TreeKind::Variable(other) => other == "_" || is_own(other),
            _ => false,
        },
        (TreeKind::List(some), TreeKind::List(others))
        | (TreeKind::Compound(_, some), TreeKind::Compound(_, others)) => {
            some.iter().zip(others).all(|(one, other)| wildcards_agree(one, other, is_own))
        }
        _ => true,
    }
}

/// Whether a variable occurs in this goal of the clause and nowhere else.
fn is_local(name: &str, goal: &Tree, clause: &Clause<'_>) -> bool {
    let count = |tree: &Tree| {
        let mut count = 0;
        each_part(tree, &mut |part| count += usize::from(part.kind == TreeKind::Variable(name.to_owned())));
        count
    };
    count(goal) == count(clause.head) + clause.body.map_or(0, count)
}

/// Whether a goal is assumed to still succeed when fewer of its variables are bound: all except negations, control
/// constructs and predicates that collect solutions.
fn is_plain(name: &str, arity: usize) -> bool {
    !matches!(
        (name, arity),
        ("\\+", 1) | (";" | "->" | "*->" | "forall", 2) | ("findall" | "bagof" | "setof" | "aggregate_all", _)
    )
}

/// One-way matching: a variable of `wanted` matches any term in `found`, the same one everywhere. Adds these matches to
/// `bound`.
fn matches(wanted: &Tree, found: &Tree, bound: &mut Bound) -> bool {
    match (&wanted.kind, &found.kind) {
        (TreeKind::Variable(name), _) if name == "_" => true,
        (TreeKind::Variable(name), kind) => {
            if let Some(before) = bound.get(name) {
                return same(before, kind);
            }
            bound.insert(name.clone(), kind.clone());
            true
        }
        (TreeKind::List(some), TreeKind::List(others)) => all_match(some, others, bound),
        (TreeKind::Compound(name, some), TreeKind::Compound(other, others)) => {
            name == other && all_match(some, others, bound)
        }
        (kind, other) => kind == other,
    }
}

fn all_match(wanted: &[Tree], found: &[Tree], bound: &mut Bound) -> bool {
    wanted.len() == found.len() && wanted.iter().zip(found).all(|(one, other)| matches(one, other, bound))
}

/// Whether two terms are textually equal; two `_` are never the same.
fn same(one: &TreeKind, other: &TreeKind) -> bool {
    let all = |some: &[Tree], others: &[Tree]| {
        some.len() == others.len() && some.iter().zip(others).all(|(one, other)| same(&one.kind, &other.kind))
    };
    match (one, other) {
        (TreeKind::Variable(name), TreeKind::Variable(other)) => name != "_" && name == other,
        (TreeKind::List(some), TreeKind::List(others)) => all(some, others),
        (TreeKind::Compound(name, some), TreeKind::Compound(other, others)) => name == other && all(some, others),
        _ => one == other,
    }
}

fn unbound_target(clause: &Clause<'_>, findings: &mut Vec<Finding>) {
    let Some((_, [_, instance, target])) = clause.head.callable() else { return };
    let TreeKind::Variable(name) = &target.kind else { return };
    let is_instance = target.kind == instance.kind && name != "_";
    if name != "_" && (is_instance || clause.body.is_some_and(|body| can_bind(body, name))) {
        return;
    }
    let message = if name == "_" {
        "the target of this operation is always unbound".to_owned()
    } else {
        format!("no goal of this clause gives the target `{name}` a value")
    };
    let finding = Finding::new(FindingKind::UnboundTarget, clause.place.at(clause.head.span.clone()), message);
    findings.push(finding.hint("a target is a neighbour, or `self`; for undeploy it is `self`"));
}

/// Whether a goal may bind the variable with this name.
fn can_bind(goal: &Tree, variable: &str) -> bool {
    let occurs = |tree: &Tree| {
        let mut occurs = false;
        each_part(tree, &mut |part| occurs |= part.kind == TreeKind::Variable(variable.to_owned()));
        occurs
    };
    match goal.callable() {
        Some(("," | ";" | "->" | "*->", [first, second])) => can_bind(first, variable) || can_bind(second, variable),
        Some((name, [_] | [_, _])) if only_tests(name) => false,
        Some(("findall" | "aggregate_all", [_, _, result] | [_, _, _, result])) => occurs(result),
        _ => occurs(goal),
    }
}

/// Whether the predicates with this name bind no variables.
fn only_tests(name: &str) -> bool {
    matches!(name, "\\+" | "forall" | "==" | "\\==" | "\\=" | "<" | ">" | "=<" | ">=" | "=:=" | "=\\=")
        || matches!(name, "@<" | "@>" | "@=<" | "@>=" | "atom" | "number" | "integer" | "float" | "atomic")
        || matches!(name, "var" | "nonvar" | "ground" | "callable")
}
