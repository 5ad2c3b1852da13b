//! Finds goals that read facts which nothing supplies, and goals that store state, which is lost after the evaluation.

use std::collections::BTreeSet;

use mario_prolog::{Place, Tree, TreeKind};
use strsim::osa_distance;

use super::finding::{Finding, FindingKind};
use super::text::{Clause, Text, calls, exact_place};
use super::{Known, Role};

/// A hint for authors who store state in the database: declare what the agent should remember.
const REMEMBERED: &str = "the agent remembers for its policy: `:- remembers(requests, 3).` has it see `earlier/5`, and \
                          `:- remembers(operations, 5).` has it see `done/4`; `inhibited/3` is what it asked for in vain";

pub(super) fn check(text: &Text<'_>, known: &Known, findings: &mut Vec<Finding>) {
    unsupplied(text, known, findings);
    lost_state(text, findings);
}

/// Finds the first call of each predicate that is declared dynamic but gets no facts: the text has no clauses of it and
/// neither asserts nor retracts any, and agents (or managers) see no such facts.
fn unsupplied(text: &Text<'_>, known: &Known, findings: &mut Vec<Finding>) {
    let mut reported = BTreeSet::new();
    for (clause, call) in all_calls(text) {
        let indicator = (call.name.to_owned(), call.arity);
        let is_supplied = known.fact(call.name, call.arity).is_some()
            || text.has_clauses(call.name, call.arity)
            || text.may_change(call.name);
        if is_supplied || !text.declared.contains(&indicator) || !reported.insert(indicator) {
            continue;
        }
        let who = if known.role == Role::Acceptance { "a manager" } else { "an agent" };
        let message = format!(
            "nothing supplies {}/{}: {who} sees no such facts, and the text has no clause of it",
            call.name, call.arity
        );
        let finding = Finding::new(FindingKind::UnsuppliedFact, exact_place(clause.place, call.tree), message);
        findings.push(finding.hint(instead(call.name, known, who)));
    }
}

/// A hint that suggests the fact with the most similar name, or lists all facts if no name is similar enough.
fn instead(name: &str, known: &Known, who: &str) -> String {
    let nearest = known.facts.iter().map(|fact| (osa_distance(name, fact.name()), fact)).min_by_key(|(cost, _)| *cost);
    match nearest {
        Some((cost, fact)) if cost * 3 <= name.chars().count() => {
            format!("did you mean {fact}?")
        }
        _ => {
            let facts: Vec<String> = known.facts.iter().map(ToString::to_string).collect();
            format!("{who} sees {}; a scenario can supply others as `fact(Subject, Key, Value)`", facts.join(", "))
        }
    }
}

/// For each predicate or global variable that the text both stores and reads, finds the first goal that stores it. The
/// next evaluation starts with the program as loaded, so it does not see this state.
fn lost_state(text: &Text<'_>, findings: &mut Vec<Finding>) {
    let read: BTreeSet<String> =
        all_calls(text).filter_map(|(_, call)| kept(call.name, call.arguments, READING)).collect();
    let mut reported = BTreeSet::new();
    for (clause, call) in all_calls(text) {
        let Some(stored) = kept(call.name, call.arguments, STORING) else { continue };
        let is_read =
            read.contains(&stored) || all_calls(text).any(|(_, call)| is_call_of(&stored, call.name, call.arity));
        if !is_read || !reported.insert(stored.clone()) {
            continue;
        }
        let place: Place = exact_place(clause.place, call.tree);
        let message = format!(
            "what this stores in `{stored}` is lost after the decision: each evaluation starts from the policy as it was loaded"
        );
        findings.push(Finding::new(FindingKind::LostState, place, message).hint(REMEMBERED));
    }
}

/// Predicates that store state: clauses, or values of global variables.
const STORING: &[&str] = &["assert", "asserta", "assertz", "nb_setval", "b_setval"];

/// Predicates that read stored state, in addition to calls of the stored predicate itself.
const READING: &[&str] = &["nb_getval", "b_getval", "retract"];

/// The state that a goal stores or reads: `name/arity` of a clause, or the name of a global variable. `None` if the
/// predicate is not in `wanted` or the state is not known statically.
fn kept(name: &str, arguments: &[Tree], wanted: &[&str]) -> Option<String> {
    if !wanted.contains(&name) {
        return None;
    }
    match (name, arguments) {
        ("nb_setval" | "b_setval" | "nb_getval" | "b_getval", [key, _]) => match &key.kind {
            TreeKind::Atom(key) => Some(key.clone()),
            _ => None,
        },
        (_, [clause]) => {
            let head = match clause.callable() {
                Some((":-", [head, _])) => head,
                _ => clause,
            };
            head.callable().map(|(name, arguments)| format!("{name}/{}", arguments.len()))
        }
        _ => None,
    }
}

fn is_call_of(indicator: &str, name: &str, arity: usize) -> bool {
    indicator.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')).is_some_and(|rest| rest == arity.to_string())
}

/// All calls in the bodies of all clauses. Directives are excluded, because the state that they store is part of the
/// loaded program.
fn all_calls<'t>(text: &'t Text<'t>) -> impl Iterator<Item = (&'t Clause<'t>, super::text::Call<'t>)> {
    let bodies = text.clauses.iter().filter_map(|clause| Some((clause, clause.body?)));
    bodies.flat_map(|(clause, body)| calls(body).into_iter().map(move |call| (clause, call)))
}
