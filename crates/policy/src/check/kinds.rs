//! Finds arguments of facts that can never match, variables used both as names and as numbers, and unknown operations.

use std::collections::BTreeMap;

use mario_domain::AgentOperation;
use mario_domain::{FactArgument, FactKind, FactPredicate};
use mario_prolog::{Tree, TreeKind};
use strsim::osa_distance;

use super::finding::{Finding, FindingKind};
use super::text::{Call, Clause, Text, calls, each_part, exact_place};
use super::{Known, Role};

/// How a clause uses a variable. The string describes the place of the use, for messages.
#[derive(Clone, Debug)]
enum Use {
    /// As a name or a list of names: it is an argument of a fact that has names there.
    Name(String),
    /// As a number: it is an argument of a fact that has numbers there, or an operand of arithmetic.
    Number(String),
}

pub(super) fn check(text: &Text<'_>, known: &Known, findings: &mut Vec<Finding>) {
    for clause in &text.clauses {
        check_head(clause, known, findings);
        let Some(body) = clause.body else { continue };
        let mut uses = BTreeMap::new();
        for call in calls(body) {
            if let Some(fact) = known.fact(call.name, call.arity)
                && call.arguments.len() == call.arity
            {
                check_fact(clause, &call, fact, &mut uses, findings);
            } else if is_arithmetic(call.name) && call.arity == 2 {
                let what = format!("a number in `{}`", shown(clause, call.tree));
                each_part(call.tree, &mut |part| {
                    note_use(clause, part, &Use::Number(what.clone()), &mut uses, findings);
                });
            }
        }
    }
}

fn check_head(clause: &Clause<'_>, known: &Known, findings: &mut Vec<Finding>) {
    if let Some(("operation", [operation, _, _])) = clause.head.callable()
        && known.role == Role::Policy
    {
        check_operation(clause, operation, findings);
    }
}

fn check_fact(
    clause: &Clause<'_>,
    call: &Call<'_>,
    fact: FactPredicate,
    uses: &mut BTreeMap<String, Use>,
    findings: &mut Vec<Finding>,
) {
    for (index, (argument, expected)) in call.arguments.iter().zip(fact.arguments()).enumerate() {
        let what = format!("{} in {}/{}", expected.meaning, call.name, call.arity);
        match expected.kind {
            FactKind::Number => note_use(clause, argument, &Use::Number(what), uses, findings),
            FactKind::Application | FactKind::Instance | FactKind::Node | FactKind::Nodes | FactKind::Word => {
                note_use(clause, argument, &Use::Name(what), uses, findings);
            }
            FactKind::Constant => {}
        }
        if index == 0 && matches!(call.name, "inhibited" | "refused") {
            check_operation(clause, argument, findings);
        } else if let Some(found) = wrong_constant(expected, argument) {
            let message = format!(
                "argument {} of {}/{} is {}, {}: it is never {found}",
                index + 1,
                call.name,
                call.arity,
                expected.meaning,
                expected.kind.description(),
            );
            findings.push(Finding::new(FindingKind::WrongKind, exact_place(clause.place, argument), message));
        }
    }
}

/// Describes a term that can never match this argument of a fact; `None` if it can.
fn wrong_constant(expected: &FactArgument, argument: &Tree) -> Option<String> {
    let is_right = match (&argument.kind, expected.kind) {
        (TreeKind::Variable(_), _)
        | (TreeKind::Atom(_), FactKind::Constant)
        | (TreeKind::Integer(_) | TreeKind::Float(_), FactKind::Number | FactKind::Constant)
        | (TreeKind::List(_), FactKind::Nodes) => true,
        (TreeKind::Atom(_), kind) if kind.is_id() => true,
        (TreeKind::Atom(name), FactKind::Number) => ["inf", "infinite"].contains(&name.as_str()),
        (TreeKind::Integer(_), kind) if kind.is_id() => kind != FactKind::Node,
        (TreeKind::Compound(name, _), FactKind::Nodes) => name == "[|]",
        _ => false,
    };
    (!is_right).then(|| match &argument.kind {
        TreeKind::Variable(name) => format!("the variable `{name}`"),
        TreeKind::Atom(name) => format!("the name `{name}`"),
        TreeKind::Integer(value) => format!("the number {value}"),
        TreeKind::LargeInteger(value) => format!("the number {value}"),
        TreeKind::Float(value) => format!("the number {value:?}"),
        TreeKind::Text(text) => format!("the string \"{text}\""),
        TreeKind::List(_) => "a list".to_owned(),
        TreeKind::Compound(name, arguments) => format!("a term {name}/{}", arguments.len()),
    })
}

fn check_operation(clause: &Clause<'_>, operation: &Tree, findings: &mut Vec<Finding>) {
    let known = |name: &str| AgentOperation::ALL.iter().any(|operation| operation.as_str() == name);
    let found = match &operation.kind {
        TreeKind::Variable(_) => return,
        TreeKind::Atom(name) if known(name) => return,
        TreeKind::Atom(name) => format!("there is no operation `{name}`"),
        _ => "an operation is a name".to_owned(),
    };
    let near = match &operation.kind {
        TreeKind::Atom(name) => AgentOperation::ALL
            .iter()
            .find(|operation| osa_distance(operation.as_str(), name) <= 2)
            .map(|operation| format!("did you mean `{operation}`?")),
        _ => None,
    };
    let finding = Finding::new(FindingKind::UnknownOperation, exact_place(clause.place, operation), found);
    findings.push(finding.hint(near.unwrap_or_else(|| format!("operations are {}", operations()))));
}

/// The names of all operations.
fn operations() -> String {
    let words = AgentOperation::ALL.map(AgentOperation::as_str);
    let (last, others) = words.split_last().expect("there are some");
    format!("{} and {last}", others.join(", "))
}

/// Records the use of a variable, and reports a use that contradicts the previous one.
fn note_use(
    clause: &Clause<'_>,
    tree: &Tree,
    found: &Use,
    uses: &mut BTreeMap<String, Use>,
    findings: &mut Vec<Finding>,
) {
    let TreeKind::Variable(name) = &tree.kind else { return };
    if name == "_" {
        return;
    }
    match (uses.get(name), found) {
        (None, found) => {
            uses.insert(name.clone(), found.clone());
        }
        (Some(Use::Name(before)), Use::Number(now)) | (Some(Use::Number(now)), Use::Name(before)) => {
            let message = format!("`{name}` is {before}, which is a name, and {now}");
            let finding = Finding::new(FindingKind::WrongKind, clause.place.at(tree.span.clone()), message);
            findings.push(finding.hint("check the order of the arguments"));
            uses.insert(name.clone(), found.clone());
        }
        _ => {}
    }
}

fn is_arithmetic(name: &str) -> bool {
    matches!(name, "is" | "<" | ">" | "=<" | ">=" | "=:=" | "=\\=")
}

/// A goal as it is written, on one line.
pub(super) fn shown(clause: &Clause<'_>, goal: &Tree) -> String {
    let place = exact_place(clause.place, goal);
    let text = place.source_text().get(place.span.clone()).unwrap_or("");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
