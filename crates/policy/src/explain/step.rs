//! The steps of a proof or of a failure.

use mario_prolog::{Loaded, Tree, TreeKind};
use serde::Serialize;

/// The maximum length of a step's text, in characters. Longer texts are truncated.
const TEXT_CHARS_MAX: usize = 160;

/// The maximum number of collected items shown.
const ITEMS_MAX: usize = 12;

/// The maximum number of failures of one goal shown.
const FAILURES_MAX: usize = 4;

/// One goal: how it succeeded or failed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProofStep {
    /// The kind of goal.
    pub kind: ProofStepKind,
    /// The goal with its values, as Prolog.
    pub text: String,
    /// In a failure: the one-based position in its conjunction or clause body, if this is the furthest goal reached
    /// there. `None` for other steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<usize>,
    /// The file of the clause that was used; absent for other kinds of goals, and if a directive changed the predicate,
    /// so that the place is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the clause that was used; absent like the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The numbers compared; absent for other kinds of goals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// The items collected; for `forall/2`, the cases for which it holds or, if it failed, the counterexample.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// The steps by which this goal succeeded or failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ProofStep>,
}

/// The kind of goal of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProofStepKind {
    /// A call of a predicate of the policy; the steps are those of the clause body.
    Clause,
    /// A fact that the agent sees; in a failure, one that it does not see.
    Fact,
    /// A comparison of numbers.
    Compare,
    /// `\+` that succeeded. The steps show how close its goal came to succeeding.
    Absent,
    /// `\+` that failed. The steps are the proof of its goal.
    Present,
    /// `findall/3`, `aggregate_all/3` or a similar goal; the steps are the facts used, or show why nothing was found.
    Collected,
    /// `forall/2`; the items are the cases for which it holds or, if it failed, the counterexample.
    Every,
    /// Any other goal.
    Test,
    /// In a failure: a goal of a clause body that was reached and failed. The steps show why.
    Goal,
    /// A clause that would apply, but was skipped because of a cut in an earlier one.
    Skipped,
}

/// Two numbers that a policy compared.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// `>`, `<`, `>=`, `=<`, `=:=` or `=\=`.
    pub operator: String,
    /// The value of the left side.
    pub left: f64,
    /// The value of the right side.
    pub right: f64,
}

/// A clause and its place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClauseText {
    /// The one-based index among the clauses of its predicate.
    pub number: usize,
    /// The file of the clause. Absent, like the line and the text, if a directive changed the predicate, so that the
    /// place is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The number of the line on which the clause starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The text of the clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl ProofStep {
    /// Whether the step, or one below it, may depend on the facts.
    fn depends_on_facts(&self) -> bool {
        !matches!(self.kind, ProofStepKind::Clause | ProofStepKind::Test | ProofStepKind::Goal)
            || self.steps.iter().any(ProofStep::depends_on_facts)
    }
}

/// The place and the text of a clause.
pub(super) fn clause_text(loaded: &Loaded, name: &str, arity: usize, clause: usize) -> ClauseText {
    let place = loaded.places(name, arity).get(clause);
    ClauseText {
        number: clause + 1,
        file: place.map(|place| place.source_name().to_owned()),
        line: place.map(|place| place.position().0),
        text: place.and_then(|place| place.source_text().get(place.span.clone())).map(whole),
    }
}

/// The text of a clause with its full stop.
fn whole(text: &str) -> String {
    format!("{}.", text.trim().trim_end_matches('.'))
}

/// The steps in the output of the interpreter, with at most [`FAILURES_MAX`] failures of one goal.
pub(super) fn steps(tree: &Tree, loaded: &Loaded) -> Vec<ProofStep> {
    let mut steps: Vec<ProofStep> = list(tree).iter().filter_map(|item| step(item, loaded)).collect();
    let is_reached = |step: &ProofStep| step.goal.is_some();
    if steps.iter().filter(|step| is_reached(step)).count() > FAILURES_MAX {
        keep_closest(&mut steps);
    }
    steps
}

/// Keeps the [`FAILURES_MAX`] failures that came closest to succeeding, sorted by [`gap`], and all steps without a goal
/// position.
fn keep_closest(steps: &mut Vec<ProofStep>) {
    steps.sort_by(|one, other| gap(one).total_cmp(&gap(other)));
    let mut kept = 0;
    steps.retain(|step| {
        kept += usize::from(step.goal.is_some());
        step.goal.is_none() || kept <= FAILURES_MAX
    });
}

/// How far a comparison is from being true, as a sort key. Steps without a goal position come first, goals without a
/// comparison last.
fn gap(step: &ProofStep) -> f64 {
    match (&step.comparison, step.goal) {
        (_, None) => -1.0,
        (Some(comparison), _) => (comparison.left - comparison.right).abs(),
        (None, Some(_)) => f64::INFINITY,
    }
}

fn step(tree: &Tree, loaded: &Loaded) -> Option<ProofStep> {
    let Some(("step", [kind, text, items, inner])) = tree.callable() else { return None };
    let (word, parts) = kind.callable()?;
    let mut step = ProofStep {
        kind: step_kind(word)?,
        text: short(&name(text)),
        goal: None,
        file: None,
        line: None,
        comparison: None,
        items: shown_items(items),
        steps: steps(inner, loaded),
    };
    match (word, parts) {
        ("clause", [predicate, arity, index]) => {
            let (TreeKind::Integer(arity), TreeKind::Integer(index)) = (&arity.kind, &index.kind) else { return None };
            if let Some(place) = loaded.places(&name(predicate), *arity as usize).get(*index as usize) {
                step.file = Some(place.source_name().to_owned());
                step.line = Some(place.position().0);
            }
            // The steps of a computation that does not depend on the facts are not shown.
            if !step.depends_on_facts() && step.steps.iter().all(|inner| inner.goal.is_none()) {
                step.steps.clear();
            }
        }
        ("compare", [operator, left, right]) => {
            step.comparison = Some(Comparison { operator: name(operator), left: number(left)?, right: number(right)? });
        }
        ("goal", [index]) => {
            let TreeKind::Integer(index) = index.kind else { return None };
            // If the only step of a goal has the same text as the goal, the step replaces the goal.
            if let [only] = &mut step.steps[..]
                && only.goal.is_none()
                && only.text == step.text
            {
                step = step.steps.remove(0);
            }
            step.goal = Some(index as usize);
        }
        _ => {}
    }
    Some(step)
}

fn step_kind(word: &str) -> Option<ProofStepKind> {
    Some(match word {
        "clause" => ProofStepKind::Clause,
        "fact" => ProofStepKind::Fact,
        "compare" => ProofStepKind::Compare,
        "absent" => ProofStepKind::Absent,
        "present" => ProofStepKind::Present,
        "collected" => ProofStepKind::Collected,
        "every" => ProofStepKind::Every,
        "test" => ProofStepKind::Test,
        "goal" => ProofStepKind::Goal,
        "skipped" => ProofStepKind::Skipped,
        _ => return None,
    })
}

fn list(tree: &Tree) -> &[Tree] {
    match &tree.kind {
        TreeKind::List(items) => items,
        _ => &[],
    }
}

fn shown_items(tree: &Tree) -> Vec<String> {
    let items = list(tree);
    let mut shown: Vec<String> = items.iter().take(ITEMS_MAX).map(|item| short(&name(item))).collect();
    if items.len() > ITEMS_MAX {
        shown.push(format!("… {} more", items.len() - ITEMS_MAX));
    }
    shown
}

fn name(tree: &Tree) -> String {
    match &tree.kind {
        TreeKind::Atom(name) => name.clone(),
        // The empty list and the atom `[]` are both written `[]`.
        TreeKind::List(items) if items.is_empty() => "[]".to_owned(),
        _ => String::new(),
    }
}

fn number(tree: &Tree) -> Option<f64> {
    match &tree.kind {
        TreeKind::Integer(value) => Some(*value as f64),
        TreeKind::Float(value) => Some(*value),
        TreeKind::LargeInteger(digits) => digits.parse().ok(),
        _ => None,
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
