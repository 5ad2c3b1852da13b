//! Finds calls of undefined predicates, clauses of `operation`, `evict` and `shrink` with the wrong arity, and clauses
//! of `accept/1` and `reject/2` whose first argument cannot match a request.

use std::collections::BTreeSet;

use mario_domain::FactPredicate;
use mario_prolog::{Engine, Program, TreeKind};
use strsim::osa_distance;

use super::allow::apply_allowances;
use super::finding::{Finding, FindingKind};
use super::text::{Clause, Text, calls, exact_place};
use super::{Known, Resolvers, Role, load};
use crate::policy::PolicyError;

/// One typo per this number of letters, and at least one, is tolerated when similar names are suggested.
const LETTERS_PER_MISTAKE: usize = 3;

pub(super) fn check(text: &Text<'_>, program: &Program, known: &Known, findings: &mut Vec<Finding>) {
    findings.extend(unknown_calls(text, program, known).map(|(_, finding)| finding));
    for clause in &text.clauses {
        misspelt_operation(clause, known, findings);
        misspelt_request(clause, known, findings);
        misspelt_initiative(clause, text, known, findings);
    }
}

/// The calls of undefined predicates, each with the predicate as `name/arity`.
pub(super) fn unknown_calls(
    text: &Text<'_>,
    program: &Program,
    known: &Known,
) -> impl Iterator<Item = (String, Finding)> {
    let bodies = text.clauses.iter().filter_map(|clause| Some((clause, clause.body?)));
    bodies.flat_map(|(clause, body)| calls(body).into_iter().map(move |call| (clause, call))).filter_map(
        move |(clause, call)| {
            let finding = || unknown(clause, call.tree, (call.name, call.arity), program, known);
            (!program.defines(call.name, call.arity)).then(|| (format!("{}/{}", call.name, call.arity), finding()))
        },
    )
}

/// The calls of undefined predicates in a policy, the first of each predicate. Calls that a comment of the policy allows
/// are omitted.
pub fn undefined_calls(
    engine: &Engine,
    name: &str,
    text: &str,
    resolvers: Resolvers<'_>,
) -> Result<Vec<Finding>, PolicyError> {
    let (loaded, known) = load(engine, name, text, resolvers)?;
    let mut called = BTreeSet::new();
    let text = Text::new(&loaded);
    let first = unknown_calls(&text, &loaded.program, &known).filter(|(indicator, _)| called.insert(indicator.clone()));
    let (mut findings, _) = apply_allowances(first.map(|(_, finding)| finding).collect(), &loaded, name);
    findings.retain(|finding| matches!(finding.kind, FindingKind::UnknownPredicate | FindingKind::WrongArity));
    Ok(findings)
}

/// Reports a clause of `accept/1` or `reject/2` whose first argument cannot match a `request/5`, so that it never
/// applies.
fn misspelt_request(clause: &Clause<'_>, known: &Known, findings: &mut Vec<Finding>) {
    let Some(("accept", [request]) | ("reject", [request, _])) = clause.head.callable() else { return };
    if known.role != Role::Acceptance || matches!(request.kind, TreeKind::Variable(_)) {
        return;
    }
    let (kind, message) = match request.callable() {
        Some(("request", [_, _, _, _, _])) => return,
        Some(("request", arguments)) => {
            (FindingKind::WrongArity, format!("this is request/{}: a manager is asked for request/5", arguments.len()))
        }
        _ => (FindingKind::WrongKind, "this is not a request, so the clause never answers".to_owned()),
    };
    let finding = Finding::new(kind, exact_place(clause.place, request), message);
    findings.push(finding.hint("write `request(Operation, Instance, Application, From, To)`"));
}

/// Reports a clause of `evict` or `shrink` with the wrong arity, which a manager never queries. If there are also
/// clauses with the right arity, nothing is reported: this one may be a helper predicate.
fn misspelt_initiative(clause: &Clause<'_>, text: &Text<'_>, known: &Known, findings: &mut Vec<Finding>) {
    let (name, given, expected, hint) = match clause.head.callable() {
        Some(("evict", arguments)) => ("evict", arguments.len(), 2, "write `evict(Instance, Reason)`"),
        Some(("shrink", arguments)) => ("shrink", arguments.len(), 3, "write `shrink(Instance, Flavour, Reason)`"),
        _ => return,
    };
    if known.role != Role::Acceptance || given == expected || text.has_clauses(name, expected) {
        return;
    }
    let message = format!("this is {name}/{given}: the owner of a node is asked for {name}/{expected} only");
    let finding = Finding::new(FindingKind::WrongArity, clause.place.at(clause.head.span.clone()), message);
    findings.push(finding.hint(hint));
}

/// Reports a clause of `operation` with the wrong arity: agents query only `operation/3`.
fn misspelt_operation(clause: &Clause<'_>, known: &Known, findings: &mut Vec<Finding>) {
    let Some(("operation", arguments)) = clause.head.callable() else { return };
    if known.role != Role::Policy || arguments.len() == 3 {
        return;
    }
    let message = format!("this is operation/{}: an agent asks for operation/3 only", arguments.len());
    let finding = Finding::new(FindingKind::WrongArity, clause.place.at(clause.head.span.clone()), message);
    findings.push(finding.hint("write `operation(Operation, Instance, Target)`"));
}

fn unknown(
    clause: &Clause<'_>,
    tree: &mario_prolog::Tree,
    (name, arity): (&str, usize),
    program: &Program,
    known: &Known,
) -> Finding {
    let place = exact_place(clause.place, tree);
    let same_fact: Vec<String> =
        known.facts.iter().copied().filter(|fact| fact.name() == name).map(signature).collect();
    if !same_fact.is_empty() {
        let message = format!("there are no facts of {name}/{arity}");
        return Finding::new(FindingKind::WrongArity, place, message)
            .hint(format!("did you mean {}?", same_fact.join(" or ")));
    }
    let finding = Finding::new(
        FindingKind::UnknownPredicate,
        place,
        format!("{name}/{arity} is not defined, so this raises an exception"),
    );
    match nearest(name, arity, program) {
        Some(near) => finding.hint(format!("did you mean {near}?")),
        None => {
            let facts: Vec<String> = known.facts.iter().map(ToString::to_string).collect();
            finding.hint(format!("define it, or load the file that does; facts are {}", facts.join(", ")))
        }
    }
}

/// A description of a fact predicate: its name, arity, and the meaning of its arguments.
fn signature(fact: FactPredicate) -> String {
    let arguments: Vec<&str> = fact.arguments().iter().map(|argument| argument.meaning).collect();
    format!("{fact} ({})", arguments.join(", "))
}

/// The callable predicate with the most similar name, where a different arity counts as one more typo. The tie-break is
/// the order of the program. `None` if no name is similar enough.
fn nearest(name: &str, arity: usize, program: &Program) -> Option<String> {
    let allowed = (name.chars().count() / LETTERS_PER_MISTAKE).max(1);
    let candidates = program.callable().filter_map(|(known, known_arity)| {
        let distance = osa_distance(name, known);
        // A different arity worsens the rank, but does not exclude a name that is similar enough.
        (distance <= allowed).then_some((distance + usize::from(known_arity != arity), known, known_arity))
    });
    let best = candidates.min_by_key(|(distance, ..)| *distance);
    best.map(|(_, known, known_arity)| format!("{known}/{known_arity}"))
}
