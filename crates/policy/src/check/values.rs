//! Finds goals that compare terms where values are meant, and negations that are tried before their variables have
//! values.

use std::collections::{BTreeMap, BTreeSet};

use mario_prolog::{Tree, TreeKind};

use super::finding::{Finding, FindingKind};
use super::text::{Clause, Text, conjunction, each_part, exact_place};

pub(super) fn check(text: &Text<'_>, findings: &mut Vec<Finding>) {
    for clause in &text.clauses {
        let mut seen = BTreeSet::new();
        note_variables(clause.head, &mut seen);
        if let Some(body) = clause.body {
            Walk { clause, findings }.goals(body, &mut seen, &BTreeSet::new());
        }
    }
}

struct Walk<'w, 't> {
    clause: &'w Clause<'t>,
    findings: &'w mut Vec<Finding>,
}

impl<'t> Walk<'_, 't> {
    /// Visits the goals of a body, or of a part of one. `seen` are the variables that occurred before, and `after`
    /// those that occur in the goals that follow the part.
    fn goals(&mut self, body: &'t Tree, seen: &mut BTreeSet<&'t str>, after: &BTreeSet<&'t str>) {
        let goals = conjunction(Some(body));
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, &goal) in goals.iter().enumerate() {
            let mut variables = BTreeSet::new();
            note_variables(goal, &mut variables);
            last.extend(variables.into_iter().map(|variable| (variable, index)));
        }
        self.compared(&goals);
        for (index, &goal) in goals.iter().enumerate() {
            let follows =
                |variable: &str| last.get(variable).is_some_and(|last| *last > index) || after.contains(variable);
            match goal.callable() {
                Some(("\\+", [negated])) => self.negation(goal, negated, seen, &follows),
                Some((";" | "->" | "*->", [first, second])) => {
                    let mut later: BTreeSet<&str> = after.clone();
                    later.extend(last.iter().filter(|(_, last)| **last > index).map(|(variable, _)| *variable));
                    let mut inside = seen.clone();
                    self.goals(first, &mut inside, &later);
                    let mut inside =
                        if goal.callable().is_some_and(|(name, _)| name == ";") { seen.clone() } else { inside };
                    self.goals(second, &mut inside, &later);
                }
                _ => {}
            }
            note_variables(goal, seen);
        }
    }

    /// Reports a variable of a negated goal that has no value yet, and is used after it.
    fn negation(
        &mut self,
        goal: &'t Tree,
        negated: &'t Tree,
        seen: &BTreeSet<&'t str>,
        follows: &dyn Fn(&str) -> bool,
    ) {
        let mut variables = BTreeSet::new();
        note_variables(negated, &mut variables);
        let early = variables.into_iter().find(|variable| !seen.contains(variable) && follows(variable));
        let Some(variable) = early else { return };
        let message = format!(
            "`{variable}` has no value yet here: the negation asks whether the goal has a solution for any `{variable}`, \
             and not for the one that a later goal finds"
        );
        let place = exact_place(self.clause.place, goal);
        let hint = format!("put the goal that gives `{variable}` a value before it, or write `_` if any is meant");
        self.findings.push(Finding::new(FindingKind::EarlyNegation, place, message).hint(hint));
    }

    /// Reports comparisons of arithmetic terms with numbers by `=` and `==`, which do not calculate.
    fn compared(&mut self, goals: &[&'t Tree]) {
        // Variables that are equal to an arithmetic term, with that goal.
        let mut terms: BTreeMap<&str, &Tree> = BTreeMap::new();
        let mut numbers: BTreeSet<&str> = BTreeSet::new();
        for &goal in goals {
            let Some((name @ ("=" | "\\=" | "==" | "\\=="), [left, right])) = goal.callable() else { continue };
            for (one, other) in [(left, right), (right, left)] {
                match (&one.kind, is_number(other), is_expression(other)) {
                    (_, true, _) if is_expression(one) => self.uncomputed(goal, one, name),
                    (TreeKind::Variable(_), _, true) if name == "==" || name == "\\==" => {
                        self.uncomputed(goal, other, name);
                    }
                    (TreeKind::Variable(variable), _, true) if name == "=" => drop(terms.insert(variable, goal)),
                    (TreeKind::Variable(variable), true, _) => drop(numbers.insert(variable)),
                    _ => {}
                }
            }
        }
        for (variable, goal) in terms.into_iter().filter(|(variable, _)| numbers.contains(variable)) {
            let message = format!("`{variable}` is a term here and not its value, so it is never equal to a number");
            let hint = format!("write `{variable} is …` to calculate");
            let place = exact_place(self.clause.place, goal);
            self.findings.push(Finding::new(FindingKind::UncomputedTerm, place, message).hint(hint));
        }
    }

    fn uncomputed(&mut self, goal: &Tree, term: &Tree, name: &str) {
        let (instead, outcome) = match name {
            "=" | "==" => ("=:=", "never equal to"),
            _ => ("=\\=", "always different from"),
        };
        let written = self.clause.place.source_text().get(term.span.clone()).unwrap_or("this");
        let message = format!("`{name}` compares terms and does not calculate: `{written}` is {outcome} a number");
        let place = exact_place(self.clause.place, goal);
        let finding = Finding::new(FindingKind::UncomputedTerm, place, message);
        self.findings.push(finding.hint(format!("write `{instead}` to compare values")));
    }
}

fn note_variables<'t>(tree: &'t Tree, into: &mut BTreeSet<&'t str>) {
    each_part(tree, &mut |part| {
        if let TreeKind::Variable(name) = &part.kind
            && !name.starts_with('_')
        {
            into.insert(name);
        }
    });
}

fn is_number(tree: &Tree) -> bool {
    matches!(tree.kind, TreeKind::Integer(_) | TreeKind::LargeInteger(_) | TreeKind::Float(_))
}

/// Whether a term is one of arithmetic: an operator between numbers and variables. `A - B` and `A / B` without a number
/// may be pairs.
fn is_expression(tree: &Tree) -> bool {
    let Some((name, [left, right])) = tree.callable() else { return false };
    let is_operand = |tree: &Tree| is_number(tree) || matches!(tree.kind, TreeKind::Variable(_)) || is_expression(tree);
    let may_be_pair = matches!(name, "-" | "/") && !is_number(left) && !is_number(right);
    matches!(name, "+" | "-" | "*" | "/" | "//" | "mod" | "rem" | "min" | "max" | "**")
        && !may_be_pair
        && is_operand(left)
        && is_operand(right)
}
