//! How often the acceptance policies of nodes were evaluated, and how they failed.

use std::fmt;
use std::ops::Range;

use mario_domain::{NodeId, Request, Time};
use mario_policy::{AcceptanceFailure, find_unknown_call};
use mario_prolog::Place;
use mario_scenario::{NodeIndex, PolicyText, Scenario, engine};
use serde::{Deserialize, Serialize};

use super::Simulation;
use crate::population::{AcceptanceCounts, AcceptanceQuery};

/// The evaluations of the nodes' acceptance policies.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct AcceptanceStatistics {
    /// The number of evaluations.
    pub asked: u64,
    /// The number of evaluations without a valid answer. After such a failure, the manager inhibits the request, or the
    /// owner takes no new action; evictions whose notice has expired still happen.
    pub failed: u64,
    /// The first failure.
    pub first: Option<FailedAcceptance>,
}

/// The failure of an acceptance policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FailedAcceptance {
    /// When it happened.
    pub time: Time,
    /// The node with the policy.
    pub node: NodeId,
    /// The name of the policy in the scenario.
    pub policy: String,
    /// The request as a term; a description if the policy was asked which instances the owner evicts or shrinks.
    pub request: String,
    /// The cause.
    pub cause: String,
    /// A hint, if any.
    pub hint: Option<String>,
    /// The location in the text of the policy, if known: the call of an undefined predicate, or the clause of the goal
    /// that failed.
    pub place: Option<PolicyLocation>,
}

/// A location in one of the files of a policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PolicyLocation {
    /// The file, as the trace names it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The range of bytes in the file.
    pub span: Range<usize>,
}

impl From<&Place> for PolicyLocation {
    fn from(place: &Place) -> PolicyLocation {
        let (line, column) = place.position();
        PolicyLocation { file: place.source_name().to_owned(), line, column, span: place.span.clone() }
    }
}

impl fmt::Display for PolicyLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Simulation<'_> {
    /// Adds the evaluations and failures since the last call to the statistics of the run.
    pub(super) fn count_acceptances(&mut self) {
        let AcceptanceCounts { asked, failed, first } = self.judge.take_counts();
        let time = self.queue.now();
        let sum = &mut self.statistics.acceptances;
        sum.asked += asked;
        sum.failed += failed;
        if let (Some((node, query, failure)), None) = (first, &sum.first) {
            sum.first = failed_acceptance(self.scenario, time, node, &query, failure);
        }
    }
}

fn failed_acceptance(
    scenario: &Scenario,
    time: Time,
    node: NodeIndex,
    query: &AcceptanceQuery,
    failure: AcceptanceFailure,
) -> Option<FailedAcceptance> {
    let policy = &scenario.acceptances[scenario.acceptance_of.get(node.position()).copied().flatten()? as usize];
    let unknown = failure.unknown.as_deref().and_then(|called| unknown_call(policy, called));
    let hint = match &unknown {
        Some((_, Some(hint))) => Some(hint.clone()),
        _ => failure.hint,
    };
    let place = unknown.map(|(place, _)| place).or_else(|| failure.place.as_ref().map(PolicyLocation::from));
    Some(FailedAcceptance {
        time,
        node: scenario.topology.node(node).id.clone(),
        policy: policy.name.clone(),
        request: match query {
            AcceptanceQuery::Request(request) => request_text(request),
            AcceptanceQuery::Initiative => "what it wants of what runs there".to_owned(),
        },
        cause: failure.message,
        hint,
        place,
    })
}

/// Finds the call of an undefined predicate in a policy, and a hint. The exception itself has no location.
fn unknown_call(policy: &PolicyText, called: &str) -> Option<(PolicyLocation, Option<String>)> {
    let (name, text) = policy.files.first()?;
    let resolvers = || policy.resolver();
    let finding = find_unknown_call(engine(), name, text, &resolvers, called)?;
    Some((PolicyLocation::from(&finding.place), finding.hint))
}

/// A request as the term that an acceptance policy sees.
fn request_text(request: &Request) -> String {
    let or_none = |id: Option<String>| id.unwrap_or_else(|| "none".to_owned());
    format!(
        "request({}, {}, {}, {}, {})",
        request.operation().name(),
        or_none(request.instance().map(ToString::to_string)),
        request.application(),
        or_none(request.from().map(ToString::to_string)),
        or_none(request.to().map(ToString::to_string)),
    )
}
