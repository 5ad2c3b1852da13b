//! The explanation of an agent's last decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{Word, words};

/// The explanation of an agent's last decision, and which changes of facts would change it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Explanation")]
pub struct Explanation<D = ExplainedDecision> {
    /// The explanation as data.
    pub explanation: D,
    /// The explanation as lines of text: a part for each proposal and for each operation that is not proposed.
    #[serde(default)]
    pub parts: Vec<Vec<ExplanationLine>>,
    /// Why the policy did not complete; null if it did.
    pub error: Option<String>,
    /// Whether the budget of the explanation sufficed.
    #[serde(default = "complete")]
    pub is_complete: bool,
    /// Whether the instance is an anchor: its manager inhibits an undeploy that the policy proposes.
    #[serde(default)]
    pub is_anchor: bool,
}

/// Nodes that do not say so had no budget.
const fn complete() -> bool {
    true
}

/// A line of an explanation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExplanationLine {
    /// Its indentation.
    #[serde(default)]
    pub depth: usize,
    /// What it is.
    pub look: Word<LineRole>,
    /// Words before the text; may be empty.
    #[serde(default)]
    pub before: String,
    /// Its text.
    #[serde(default)]
    pub text: String,
    /// Words after the text; may be empty.
    #[serde(default)]
    pub after: String,
    /// The place in the policy as `file:line`; null if the line refers to no clause.
    pub place: Option<String>,
}

words! {
    /// What a line of an explanation is.
    LineRole {
        /// A proposal.
        Proposed = "proposed",
        /// An operation that is not proposed.
        Missed = "missed",
        /// The text of a clause.
        Code = "code",
        /// A goal that succeeded.
        Met = "met",
        /// A goal that failed.
        Failed = "failed",
        /// A fact.
        Fact = "fact",
        /// A change of facts.
        Change = "change",
        /// A remark.
        Remark = "remark",
    }
}

/// A decision with its reasons.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExplainedDecision {
    /// The instance whose agent decided.
    pub instance: String,
    /// The solutions of the policy in order of priority, each with its proof.
    #[serde(default)]
    pub proposals: Vec<Proof>,
    /// The operations that are not proposed.
    #[serde(default)]
    pub missed: Vec<MissedOperation>,
    /// Why the search for solutions did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A solution of the policy and its proof.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// The operation as the policy wrote it.
    pub operation: String,
    /// The instance.
    pub instance: String,
    /// The target: a node, `self`, or the flavour of an adapt.
    pub target: String,
    /// What is wrong with the solution, if it is not an operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The clause that produced it.
    pub clause: Clause,
    /// The goals of the clause and their proofs; null if they were not found within the budget.
    pub steps: Option<Vec<ProofStep>>,
}

/// An operation that is not proposed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MissedOperation {
    /// The name of the operation.
    pub operation: String,
    /// The clauses that name it.
    #[serde(default)]
    pub clauses: Vec<MissedClause>,
}

/// A clause that did not propose the operation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MissedClause {
    /// The clause.
    pub clause: Clause,
    /// The goals at which it failed.
    #[serde(default)]
    pub steps: Vec<ProofStep>,
    /// Changes of facts with which it would propose the operation, the smallest first.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Whether the budget ran out before the search was complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// A goal: how it succeeded or failed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProofStep {
    /// The kind of goal.
    pub kind: String,
    /// The goal with its values, as Prolog.
    pub text: String,
    /// In a failure: the position of the furthest goal that was reached, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<usize>,
    /// The file of the clause that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the clause that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The numbers compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// The items collected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// The steps by which the goal succeeded or failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ProofStep>,
}

/// Two numbers that a policy compared.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// `>`, `<`, `>=`, `=<`, `=:=` or `=\=`.
    pub operator: String,
    /// The value of the left side; null if it is not finite.
    pub left: Option<f64>,
    /// The value of the right side; null if it is not finite.
    pub right: Option<f64>,
}

/// A clause and its place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Clause {
    /// Its number among the clauses of its predicate, from 1.
    pub number: usize,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line on which it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A change of facts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The proposal that would be made: operation, instance, target.
    pub proposes: [String; 3],
    /// The facts that change.
    #[serde(default)]
    pub facts: Vec<FactChange>,
    /// The comparisons in the proof of the proposal, with their values after the change.
    #[serde(default)]
    pub comparisons: Vec<String>,
    /// The change as a sentence.
    pub text: String,
}

/// A fact that changes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FactChange {
    /// The fact now, as Prolog; absent if the change adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The changed fact, as Prolog; absent if the change removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}
