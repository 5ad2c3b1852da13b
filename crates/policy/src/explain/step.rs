//! The steps of a proof, or of the way to a failure.

use mario_prolog::{Loaded, Tree, TreeKind};
use serde::Serialize;

/// Longer texts are truncated: a step must be readable at a glance.
const TEXT_CHARS_MAX: usize = 160;

/// Of many items that were collected, these are shown.
const ITEMS_MAX: usize = 12;

/// Of many ways in which one goal failed, these are shown.
const FAILURES_MAX: usize = 4;

/// One goal: how it was met, or how it failed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Step {
    /// What kind of goal it is.
    pub kind: StepKind,
    /// The goal with its values, as Prolog.
    pub text: String,
    /// In a failure: which goal of its clause this is, from 1. It is the furthest that was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<usize>,
    /// The file of the clause that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the clause that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// What was collected; the counterexample of `every`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// The steps below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

/// What kind of goal a step is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepKind {
    /// A clause of the policy; the steps are those of its body.
    Clause,
    /// A fact that the agent sees, or in a failure does not see.
    Fact,
    /// A comparison of numbers.
    Compare,
    /// `\+`, met: nothing is there. The steps say what came closest.
    Absent,
    /// `\+`, failed: something is there. The steps are its proof.
    Present,
    /// `findall/3`, `aggregate_all/3` and the like; the steps are the facts, or say why nothing was found.
    Collected,
    /// `forall/2`; when it failed, the item is a counterexample.
    Every,
    /// Any other goal.
    Test,
    /// A goal made of several goals.
    Goal,
    /// A clause that would hold, but an earlier one cut it off.
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

/// A clause and where it stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClauseText {
    /// Its number among the clauses of its predicate, from 1.
    pub number: usize,
    /// The file it is in. Absent when a directive made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line it starts on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Step {
    /// Whether it depends on the facts: a fact, a number, an absence, a collection.
    fn is_telling(&self) -> bool {
        !matches!(self.kind, StepKind::Clause | StepKind::Test | StepKind::Goal)
            || self.steps.iter().any(Step::is_telling)
    }
}

/// Where a clause stands, and its text.
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

/// The steps that the interpreter gave.
pub(super) fn steps(tree: &Tree, loaded: &Loaded) -> Vec<Step> {
    let mut steps: Vec<Step> = list(tree).iter().filter_map(|item| step(item, loaded)).collect();
    let is_reached = |step: &Step| step.goal.is_some();
    if steps.iter().filter(|step| is_reached(step)).count() > FAILURES_MAX {
        keep_closest(&mut steps);
    }
    steps
}

/// Of many failures of one goal, keeps the closest.
fn keep_closest(steps: &mut Vec<Step>) {
    steps.sort_by(|one, other| gap(one).total_cmp(&gap(other)));
    let mut kept = 0;
    steps.retain(|step| {
        kept += usize::from(step.goal.is_some());
        step.goal.is_none() || kept <= FAILURES_MAX
    });
}

/// How far a comparison is from holding; what is not reached stays in front, other goals at the end.
fn gap(step: &Step) -> f64 {
    match (&step.comparison, step.goal) {
        (_, None) => -1.0,
        (Some(comparison), _) => (comparison.left - comparison.right).abs(),
        (None, Some(_)) => f64::INFINITY,
    }
}

fn step(tree: &Tree, loaded: &Loaded) -> Option<Step> {
    let Some(("step", [kind, text, items, inner])) = tree.callable() else { return None };
    let (word, parts) = kind.callable()?;
    let mut step = Step {
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
            // A computation on lists and names does not depend on the facts.
            if !step.is_telling() && step.steps.iter().all(|inner| inner.goal.is_none()) {
                step.steps.clear();
            }
        }
        ("compare", [operator, left, right]) => {
            step.comparison = Some(Comparison { operator: name(operator), left: number(left)?, right: number(right)? });
        }
        ("goal", [index]) => {
            let TreeKind::Integer(index) = index.kind else { return None };
            // A goal that is one clause, one comparison or the like is shown once.
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

fn step_kind(word: &str) -> Option<StepKind> {
    Some(match word {
        "clause" => StepKind::Clause,
        "fact" => StepKind::Fact,
        "compare" => StepKind::Compare,
        "absent" => StepKind::Absent,
        "present" => StepKind::Present,
        "collected" => StepKind::Collected,
        "every" => StepKind::Every,
        "test" => StepKind::Test,
        "goal" => StepKind::Goal,
        "skipped" => StepKind::Skipped,
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
        // The empty list is written `[]`, and so is its name.
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
