//! Explains the verdict of a node's manager on a request, and finds changes that would lead to another verdict.
//!
//! Everything is verified by running the policy: a goal is reported as failed if the goals before it in the clause have
//! a solution, but have none together with it. A change of facts is shown only if the request is accepted with it.

mod initiative;

use std::ops::Range;

use mario_domain::{Inhibition, Rule, Verdict};
use mario_prolog::{Engine, Machine, Outcome, Resolver, Tree, TreeKind};
use serde::Serialize;

use crate::acceptance::Acceptance;
use crate::check::clauses_with_goals;
use crate::facts::FactsError;
use crate::test_table::{TestTable, Tests, VerdictClaim};

pub use initiative::{ExplainedAct, ExplainedInitiative, explain_initiative};

/// The maximum number of changes shown.
const CHANGES_MAX: usize = 3;

/// The maximum number of instances that one change removes.
const REMOVED_MAX: usize = 16;

/// The maximum number of free units that a change adds without removing instances.
const UNITS_MAX: u64 = 64;

/// A verdict with its reasons.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ExplainedVerdict {
    /// Whether the request is accepted.
    pub is_accepted: bool,
    /// The reason for an inhibition, in words; absent if the request is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first clause of `reject/2` that applies to an inhibited request, or of `accept/1` that applies to an
    /// accepted one; absent if no clause decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clause: Option<JudgingClause>,
    /// If the policy inhibits the request although no clause of `reject/2` applies: each clause of `accept/1`, with the
    /// goal at which it failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<JudgingClause>,
    /// Changes of facts with which an inhibited request would be accepted, each verified by judging again: the smallest
    /// number of additional free units, up to 64; the smallest number of instances to remove, up to 16 and from the
    /// last one in the text, with their units added to the free ones; and single facts of `fact/3` or `owner/2` to
    /// remove. At most three are listed, and none if no `node` fact has a number of free units.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// A clause of an acceptance policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct JudgingClause {
    /// The file it is in.
    pub file: String,
    /// The line that it starts on.
    pub line: usize,
    /// The goal at which the clause failed, or the clause's head if the head does not match; absent if the clause
    /// applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
}

/// The text of an acceptance policy, and the resolvers for its files.
pub struct AcceptanceText<'a> {
    /// The name of the text in errors and explanations.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// Creates resolvers for the files that it loads.
    pub resolvers: &'a dyn Fn() -> Box<dyn Resolver>,
}

/// Explains the verdict of a manager on a request. `facts` are the name and the text of the manager's facts, and
/// `request` is the text of a term `request(Operation, Instance, Application, From, To)`.
pub fn explain_verdict(
    engine: &Engine,
    acceptance: &Acceptance,
    text: &AcceptanceText<'_>,
    facts: (&str, &str),
    request: &str,
) -> Result<ExplainedVerdict, FactsError> {
    let mut judging = Judging { engine, acceptance, machine: Machine::new(engine), name: facts.0, request };
    let claim = judging.claim(facts.1)?;
    let verdict = judging.verdict(&claim);
    let mut explained = ExplainedVerdict {
        is_accepted: verdict == Verdict::Accepted,
        reason: None,
        clause: None,
        failed: Vec::new(),
        changes: Vec::new(),
    };
    match verdict {
        Verdict::Accepted => explained.clause = judging.holding(text, &claim, "accept"),
        Verdict::Inhibited(Inhibition { rule: Rule::Acceptance { reason }, .. }) => {
            explained.clause = judging.holding(text, &claim, "reject");
            if explained.clause.is_none() {
                explained.failed = judging.failed(text, &claim, "accept");
            }
            explained.reason = Some(reason);
        }
        Verdict::Inhibited(inhibition) => explained.reason = Some(inhibition.to_string()),
    }
    if !explained.is_accepted {
        explained.changes = judging.changes(facts.1);
    }
    Ok(explained)
}

struct Judging<'a> {
    engine: &'a Engine,
    acceptance: &'a Acceptance,
    machine: Machine,
    name: &'a str,
    request: &'a str,
}

impl Judging<'_> {
    /// The manager's view of these facts, together with the request.
    fn claim(&self, facts: &str) -> Result<VerdictClaim, FactsError> {
        self.read(&format!("{facts}\ntest(explained, [], {}, accepted).\n", self.request))
    }

    /// The claim of a table with a single test; an error for any other table.
    fn read(&self, table: &str) -> Result<VerdictClaim, FactsError> {
        let error = |message: &str| FactsError::whole(self.name, message);
        match TestTable::read(self.engine, self.name, table)?.tests {
            Tests::OfAcceptance(mut tests) if tests.len() == 1 => Ok(tests.remove(0).into_claim()),
            _ => Err(error("these are facts and tests: a manager sees facts only")),
        }
    }

    fn verdict(&mut self, claim: &VerdictClaim) -> Verdict {
        claim.judge(&mut self.machine, self.acceptance).unwrap_or(Verdict::Accepted)
    }

    /// Whether a goal given as text has an answer. False if the goal raises an exception or exhausts the budget.
    fn holds(&mut self, claim: &VerdictClaim, goal: &str) -> bool {
        let budget = self.acceptance.budget();
        let query = self.machine.query(self.acceptance.program(), goal, claim.view(), budget);
        query.is_ok_and(|mut query| query.next_answer() == Outcome::Answer)
    }

    /// The first clause of `predicate` in the acceptance policy that applies to the request; `None` if no clause does
    /// or the text cannot be loaded.
    fn holding(&mut self, text: &AcceptanceText<'_>, claim: &VerdictClaim, predicate: &str) -> Option<JudgingClause> {
        let clauses = clauses_with_goals(self.engine, text.name, text.text, text.resolvers, predicate)?;
        clauses.iter().find_map(|clause| {
            let goals: Vec<&str> = clause.goals.iter().map(String::as_str).collect();
            self.holds(claim, &self.goal(&clause.head, &goals)).then(|| JudgingClause {
                file: clause.file.clone(),
                line: clause.line,
                goal: None,
            })
        })
    }

    /// Each clause of `predicate` in the acceptance policy, with its first goal that fails, or with its head if the
    /// head does not match.
    fn failed(&mut self, text: &AcceptanceText<'_>, claim: &VerdictClaim, predicate: &str) -> Vec<JudgingClause> {
        let clauses = clauses_with_goals(self.engine, text.name, text.text, text.resolvers, predicate);
        let mut failed = Vec::new();
        for clause in clauses.unwrap_or_default() {
            let goals: Vec<&str> = clause.goals.iter().map(String::as_str).collect();
            let first = (0..=goals.len()).find(|count| !self.holds(claim, &self.goal(&clause.head, &goals[..*count])));
            let goal = first.map(|count| match count.checked_sub(1) {
                Some(last) => goals[last].to_owned(),
                None => clause.head.clone(),
            });
            failed.push(JudgingClause { file: clause.file, line: clause.line, goal });
        }
        failed
    }

    /// The start of a clause as a goal: the head is unified with the request, then `goals`, the first goals of its
    /// body, are called.
    fn goal(&self, head: &str, goals: &[&str]) -> String {
        let request = self.request;
        let matched = if head.starts_with("reject") {
            format!("reject({request}, _) = {head}")
        } else if head.starts_with("evict") {
            format!("evict({request}, _) = {head}")
        } else if head.starts_with("shrink") {
            format!("shrink({request}, _, _) = {head}")
        } else {
            format!("accept({request}) = {head}")
        };
        // The parentheses are for goals such as `a ; b`, which are written without them.
        let goals = goals.iter().map(|goal| format!("({goal})"));
        std::iter::once(matched).chain(goals).collect::<Vec<_>>().join(", ")
    }

    /// The changes with which the request would be accepted: the first of each kind, at most [`CHANGES_MAX`] in all.
    fn changes(&mut self, facts: &str) -> Vec<String> {
        let (trees, _) = self.engine.read_trees(self.name, facts);
        let mut changes = Vec::new();
        for (text, what) in candidates(facts, &trees) {
            let is_accepted = self.claim(&text).is_ok_and(|claim| self.verdict(&claim) == Verdict::Accepted);
            // Further candidates of the same kind are larger changes.
            if is_accepted && !changes.iter().any(|(kind, _)| *kind == what.0) {
                changes.push(what);
            }
            if changes.len() == CHANGES_MAX {
                break;
            }
        }
        changes.into_iter().map(|(_, text)| text).collect()
    }
}

/// The kind of change. Of each kind, only the first sufficient change is shown; the removal of each fact is a separate
/// kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    MoreFree,
    FewerInstances,
    NoFact(usize),
}

/// Texts with changed facts, each with the kind and a description of the change. Changes of the same kind are in
/// ascending order of size. Empty if no `node` fact has a number of free units.
fn candidates(facts: &str, trees: &[Tree]) -> Vec<(String, (Kind, String))> {
    let mut found = Vec::new();
    let Some((node, free)) = trees.iter().find_map(node_fact) else { return found };
    let with_free = |text: String, more: u64| replace_free(&text, node, free + more);
    let instances: Vec<(&Tree, u64)> = trees.iter().filter_map(|tree| instance_fact(tree, trees)).collect();
    for more in 1..=UNITS_MAX {
        let text = with_free(facts.to_owned(), more);
        let units = free + more;
        found.push((text, (Kind::MoreFree, format!("accepted if the node had {units} free instead of {free}"))));
    }
    for count in 1..=instances.len().min(REMOVED_MAX) {
        // The last `count` instances in the text are removed, and the units that they need are added to the free ones.
        let gone = &instances[instances.len() - count..];
        let without = gone.iter().fold(facts.to_owned(), |text, (tree, _)| blank(&text, tree));
        let freed = gone.iter().map(|(_, units)| units).sum();
        let names: Vec<&str> = gone.iter().map(|(tree, _)| facts[tree.span.clone()].trim()).collect();
        let text = format!("accepted if {} were gone, with {freed} more free", names.join(" and "));
        found.push((with_free(without, freed), (Kind::FewerInstances, text)));
    }
    for (position, tree) in trees.iter().enumerate() {
        if let Some(("fact", [_, _, _]) | ("owner", [_, _])) = tree.callable() {
            let text = format!("accepted without {}", facts[tree.span.clone()].trim());
            found.push((blank(facts, tree), (Kind::NoFact(position), text)));
        }
    }
    found
}

/// Reads a `node` fact: the term and the free units. `None` for other facts, and if the free hardware is not a
/// non-negative integer.
fn node_fact(tree: &Tree) -> Option<(&Tree, u64)> {
    let Some(("node", [_, free, ..])) = tree.callable() else { return None };
    match free.kind {
        TreeKind::Integer(units) => u64::try_from(units).ok().map(|units| (tree, units)),
        _ => None,
    }
}

/// Reads a `serviceInstance/3` fact: the term, and the units that its application needs, 0 if that is unknown. `None`
/// for other facts.
fn instance_fact<'t>(tree: &'t Tree, trees: &[Tree]) -> Option<(&'t Tree, u64)> {
    let Some(("serviceInstance", [_, application, _])) = tree.callable() else { return None };
    let needs = trees.iter().find_map(|other| match other.callable() {
        Some(("service", [described, units, _, _])) if described.kind == application.kind => match units.kind {
            TreeKind::Integer(units) => u64::try_from(units).ok(),
            _ => None,
        },
        _ => None,
    });
    Some((tree, needs.unwrap_or(0)))
}

/// The text with a fact and its full stop replaced by spaces. The byte positions of all other facts are unchanged.
fn blank(text: &str, tree: &Tree) -> String {
    let end = text[tree.span.end..].find('.').map_or(tree.span.end, |stop| tree.span.end + stop + 1);
    format!("{}{}{}", &text[..tree.span.start], " ".repeat(end - tree.span.start), &text[end..])
}

/// The text with the free units in the fact `node` replaced by `units`; unchanged if the number is not found.
fn replace_free(text: &str, node: &Tree, units: u64) -> String {
    let span = node.span.clone();
    let number = free_units(&text[span.clone()]).map(|number| span.start + number.start..span.start + number.end);
    match number {
        Some(number) => format!("{}{units}{}", &text[..number.start], &text[number.end..]),
        None => text.to_owned(),
    }
}

/// The byte range of the second argument in the text of a fact `node(Id, Free, …)`. A quoted id may contain commas,
/// brackets, doubled quotes and escapes.
fn free_units(fact: &str) -> Option<Range<usize>> {
    let mut quoted = false;
    let mut characters = fact.char_indices().skip_while(|(_, character)| *character != '(');
    let comma = loop {
        match characters.next()? {
            (_, '\\') if quoted => drop(characters.next()),
            (_, '\'') => quoted = !quoted,
            (at, ',') if !quoted => break at,
            _ => {}
        }
    };
    let number = &fact[comma + 1..];
    let end = number.find([',', ')'])?;
    let start = end - number[..end].trim_start().len();
    Some(comma + 1 + start..comma + 1 + number[..end].trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::free_units;

    #[test]
    fn the_free_units_of_a_node_are_found_behind_any_id() {
        for id in ["n42", "42", "'a, [b]'", "'it''s, [1'", "'it\\'s, )'", " n42 "] {
            for (before, after) in [("", ""), (" ", " "), ("\n\t", "")] {
                for rest in [")", ", [n41])", ",[])"] {
                    let fact = format!("node({id},{before}17{after}{rest}");
                    let found = free_units(&fact).unwrap_or_else(|| panic!("{fact}"));
                    assert_eq!((&fact[found.clone()], found.start), ("17", 6 + id.len() + before.len()), "{fact}");
                }
            }
        }
        assert_eq!(free_units("node(n42"), None);
    }
}
