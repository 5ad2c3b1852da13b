//! An explanation as lines of text with their roles, which terminals and web pages style.

use super::{ClauseText, ExplainedDecision, MissedOperation, Proof, ProofStep, ProofStepKind};

/// The role of a line, which determines its style.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineRole {
    /// A proposal, or the statement that nothing is proposed.
    Proposed,
    /// An operation that is not proposed, or an error.
    Missed,
    /// The text of the policy.
    Code,
    /// A goal that succeeds.
    Met,
    /// A goal that fails.
    Failed,
    /// A fact.
    Fact,
    /// A change of facts that would make a clause fire.
    Change,
    /// A remark.
    Remark,
}

/// One line of an explanation. A front end shows `before`, `text`, `after` and `place` in this order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The level of indentation.
    pub depth: usize,
    /// The role of the line.
    pub role: LineRole,
    /// Words before the text, such as `fails`; may be empty.
    pub before: String,
    /// The main text: a goal, a clause or a sentence.
    pub text: String,
    /// Words after the text, such as what a goal collected; may be empty.
    pub after: String,
    /// The place in the policy as `file:line`; `None` if the line refers to no clause.
    pub place: Option<String>,
}

impl LineRole {
    /// The name of the role, for style sheets.
    pub fn as_str(self) -> &'static str {
        match self {
            LineRole::Proposed => "proposed",
            LineRole::Missed => "missed",
            LineRole::Code => "code",
            LineRole::Met => "met",
            LineRole::Failed => "failed",
            LineRole::Fact => "fact",
            LineRole::Change => "change",
            LineRole::Remark => "remark",
        }
    }
}

impl Line {
    fn new(depth: usize, role: LineRole, text: impl Into<String>) -> Line {
        Line { depth, role, before: String::new(), text: text.into(), after: String::new(), place: None }
    }
}

impl ExplainedDecision {
    /// The parts of an explanation, each a list of lines: first the proposals, or a statement that nothing is proposed
    /// (unless the policy failed), then the missed operations. Errors are not included.
    pub fn parts(&self) -> Vec<Vec<Line>> {
        let mut parts = Vec::new();
        if self.proposals.is_empty() && self.error.is_none() {
            let nothing = format!("nop: {} proposes nothing", self.instance);
            parts.push(vec![Line::new(0, LineRole::Proposed, nothing)]);
        }
        parts.extend(self.proposals.iter().map(proof));
        parts.extend(self.missed.iter().map(missed));
        parts
    }

    /// The error as a line; `None` if the policy did not fail. Terminals print the error as a diagnostic instead.
    pub fn error_line(&self) -> Option<Line> {
        Some(Line::new(0, LineRole::Missed, self.error.clone()?))
    }
}

fn proof(proof: &Proof) -> Vec<Line> {
    let title = format!("{} {} {}", proof.operation, proof.instance, proof.target);
    let mut lines = vec![Line { place: place(&proof.clause), ..Line::new(0, LineRole::Proposed, title) }];
    if let Some(fault) = proof.fault {
        lines.push(Line::new(1, LineRole::Failed, format!("this is not an operation: {fault}")));
    }
    code(&proof.clause, &mut lines);
    match &proof.steps {
        Some(steps) if steps.is_empty() => lines.push(Line::new(1, LineRole::Remark, "always, whatever the facts")),
        Some(steps) => {
            lines.push(Line::new(1, LineRole::Remark, "because"));
            met(steps, 2, &mut lines);
        }
        None => lines.push(Line::new(1, LineRole::Remark, "its proof is too long to be shown")),
    }
    lines
}

fn missed(missed: &MissedOperation) -> Vec<Line> {
    let title = format!("no {}", missed.operation);
    let mut lines = vec![Line::new(0, LineRole::Missed, title)];
    if missed.clauses.is_empty() {
        lines.push(Line::new(1, LineRole::Remark, "no clause of the policy proposes it"));
    }
    for miss in &missed.clauses {
        let head = miss.clause.text.as_deref().unwrap_or("a clause without a text");
        let head = head.lines().next().unwrap_or_default().trim_end();
        lines.push(Line { place: place(&miss.clause), ..Line::new(1, LineRole::Code, head) });
        if miss.steps.is_empty() && !miss.is_cut {
            lines.push(Line::new(2, LineRole::Remark, "it has no answer"));
        }
        failed(&miss.steps, 2, &mut lines);
        lines.extend(miss.changes.iter().map(|change| Line::new(2, LineRole::Change, change.text.clone())));
        let remark = match (miss.is_cut, miss.changes.is_empty()) {
            (false, false) => continue,
            (false, true) => "no small change of the facts was found that would make it fire",
            (true, false) => "cut short: the budget of the explanation ran out, so a smaller change may exist",
            (true, true) => "cut short: the budget of the explanation ran out",
        };
        lines.push(Line::new(2, LineRole::Remark, remark));
    }
    lines
}

fn place(clause: &ClauseText) -> Option<String> {
    Some(format!("{}:{}", clause.file.as_deref()?, clause.line?))
}

fn step_place(step: &ProofStep) -> Option<String> {
    Some(format!("{}:{}", step.file.as_deref()?, step.line?))
}

fn code(clause: &ClauseText, lines: &mut Vec<Line>) {
    let text = clause.text.as_deref().unwrap_or_default();
    lines.extend(text.lines().map(|line| Line::new(1, LineRole::Code, line.trim_end())));
}

fn collected(step: &ProofStep) -> String {
    if step.items.is_empty() { "collected nothing".to_owned() } else { format!("collected {}", step.items.join(", ")) }
}

/// Adds lines for goals that succeed, and for the goals below them.
fn met(steps: &[ProofStep], depth: usize, lines: &mut Vec<Line>) {
    for step in steps {
        let mut line = Line { place: step_place(step), ..Line::new(depth, LineRole::Met, step.text.clone()) };
        match step.kind {
            ProofStepKind::Fact => {
                line.role = LineRole::Fact;
                "fact".clone_into(&mut line.before);
            }
            ProofStepKind::Collected => line.after = collected(step),
            ProofStepKind::Every => line.after = format!("for {} of them", step.items.len()),
            _ => {}
        }
        lines.push(line);
        if step.kind == ProofStepKind::Absent {
            failed(&step.steps, depth + 1, lines);
        } else {
            met(&step.steps, depth + 1, lines);
        }
    }
}

/// Adds lines for goals that fail, and for the goals below them.
fn failed(steps: &[ProofStep], depth: usize, lines: &mut Vec<Line>) {
    for step in steps {
        let mut line = Line { place: step_place(step), ..Line::new(depth, LineRole::Failed, step.text.clone()) };
        if step.goal.is_some()
            || matches!(step.kind, ProofStepKind::Compare | ProofStepKind::Test | ProofStepKind::Clause)
        {
            "fails".clone_into(&mut line.before);
        }
        match step.kind {
            ProofStepKind::Fact => "there is no".clone_into(&mut line.before),
            ProofStepKind::Present => "because there is".clone_into(&mut line.after),
            ProofStepKind::Collected => {
                // Shown with the items that it collected, not as failed, because `findall/3` never fails. The steps
                // below show why nothing was found.
                line.role = LineRole::Met;
                line.before.clear();
                line.after = collected(step);
            }
            ProofStepKind::Every => line.after = format!("because of {}", step.items.join(", ")),
            ProofStepKind::Skipped => {
                line.role = LineRole::Remark;
                "not tried: an earlier clause cut it off".clone_into(&mut line.text);
            }
            _ => {}
        }
        lines.push(line);
        if step.kind == ProofStepKind::Present {
            met(&step.steps, depth + 1, lines);
        } else {
            failed(&step.steps, depth + 1, lines);
        }
    }
}
