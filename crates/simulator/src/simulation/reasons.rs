//! Possible reasons why agents achieve nothing: the first failed decision, and the first inhibited request of an agent,
//! unless a request of an agent was accepted in an earlier cycle.

use std::sync::atomic::{AtomicU64, Ordering};

use mario_domain::{InstanceId, Time, Verdict};
use mario_policy::{Decision, Ending, Solution, find_unknown_call};
use mario_scenario::engine;
use serde::{Deserialize, Serialize};

use super::{PolicyLocation, RunStatistics, Simulation};
use crate::population::{AgentIndex, CycleLabel, Outcome, Population, Target};

/// Possible reasons why agents achieved nothing.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FirstReasons {
    /// The first failed decision: the evaluation was not completed, or the proposal was invalid.
    pub failed: Option<FailedDecision>,
    /// The first request of an agent that was inhibited; `None` if no request was inhibited up to and including the
    /// first cycle in which a request was accepted.
    pub inhibited: Option<InhibitedRequest>,
    /// Whether a request of an agent was accepted.
    pub has_accepted: bool,
}

impl RunStatistics {
    /// Whether agents evaluated, and none of them ever proposed anything.
    pub fn is_without_proposals(&self) -> bool {
        let first = &self.first_reasons;
        self.due > 0 && !first.has_accepted && first.inhibited.is_none() && first.failed.is_none()
    }
}

/// A decision that failed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FailedDecision {
    /// When the agent evaluated.
    pub time: Time,
    /// The agent's instance.
    pub instance: InstanceId,
    /// The name of the policy in the scenario.
    pub policy: String,
    /// The cause.
    pub cause: String,
    /// A hint, if any.
    pub hint: Option<String>,
    /// The location in the text of the policy, if known.
    pub place: Option<PolicyLocation>,
}

/// A request that was inhibited.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InhibitedRequest {
    /// When it was judged.
    pub time: Time,
    /// The instance of the agent.
    pub instance: InstanceId,
    /// The request in words: the operation, and the target if it has one.
    pub request: String,
    /// Why it was inhibited.
    pub reason: String,
}

/// Counts decisions, and those that exhausted their budget. Another thread may read the counts during a run, because a
/// single evaluation of many agents whose policies do not terminate can take minutes.
#[derive(Debug, Default)]
pub struct BudgetWatch {
    made: AtomicU64,
    exhausted: AtomicU64,
}

impl BudgetWatch {
    /// Counts a decision.
    pub(super) fn count(&self, decision: &Decision) {
        self.made.fetch_add(1, Ordering::Relaxed);
        if matches!(decision.ending, Ending::Exhausted(_)) {
            self.exhausted.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of decisions, and of those that exhausted their budget.
    pub fn counts(&self) -> (u64, u64) {
        (self.made.load(Ordering::Relaxed), self.exhausted.load(Ordering::Relaxed))
    }
}

/// Why a decision failed; `None` if it did not. [`Simulation::note_failure`] adds the name of the policy.
pub(super) fn failed_decision(
    population: &Population,
    agent: AgentIndex,
    decision: &Decision,
    time: Time,
) -> Option<Box<FailedDecision>> {
    if !decision.has_failed() {
        return None;
    }
    let place =
        |clause: usize| population.policy(population.agent(agent).policy()).clauses().get(clause).map(Into::into);
    let (cause, hint, place) = match (decision.solutions.first(), &decision.ending) {
        (Some(Solution::Invalid(invalid)), _) => {
            let [operation, instance, target] = &invalid.arguments;
            let cause = format!(
                "operation({operation}, {instance}, {target}) is not an operation: {}",
                invalid.fault.description()
            );
            (cause, None, place(invalid.clause))
        }
        (_, Ending::Exception(exception)) => {
            let cause = format!("it raised an exception: {}", exception.message);
            (format!("{cause}, {}", exception.term), exception.hint.clone(), None)
        }
        (_, Ending::Exhausted(resource)) => {
            let hint = "does it loop? `mario policy check` looks for that; --budget sets what a decision may cost";
            (format!("it ran out of {resource}"), Some(hint.to_owned()), None)
        }
        (_, ending) => (ending.to_string(), None, None),
    };
    let instance = population.instance(agent);
    Some(Box::new(FailedDecision { time, instance, policy: String::new(), cause, hint, place }))
}

impl Simulation<'_> {
    /// Stores a failed decision with the name of its policy, if it is the first of the run.
    pub(super) fn note_failure(&mut self, agent: AgentIndex, failed: Option<Box<FailedDecision>>) {
        let (None, Some(mut failed)) = (&self.statistics.first_reasons.failed, failed) else { return };
        let policy = &self.scenario.policies[self.population.agent(agent).policy().position()];
        failed.policy.clone_from(&policy.name);
        // The exception has no location, but the call of an undefined predicate can be found in the text.
        let called = failed.cause.split("existence_error(procedure, ").nth(1).and_then(|rest| rest.split("), ").next());
        if let (Some(called), Some((name, text))) = (called, policy.main())
            && let Some(finding) = find_unknown_call(engine(), name, text, &|| policy.resolver(), called)
        {
            failed.place = Some(PolicyLocation::from(&finding.place));
            failed.hint = finding.hint.or(failed.hint);
        }
        self.statistics.first_reasons.failed = Some(*failed);
    }

    /// Stores the first inhibited request, unless a request was accepted in an earlier cycle.
    pub(super) fn note_inhibited(&mut self, label: &CycleLabel) {
        if self.statistics.first_reasons.has_accepted {
            return;
        }
        let accepted = |outcome: Outcome| matches!(outcome, Outcome::Judged(_));
        self.statistics.first_reasons.has_accepted = label.accepted().any(accepted);
        if self.statistics.first_reasons.inhibited.is_some() {
            return;
        }
        let population = &self.population;
        self.statistics.first_reasons.inhibited = label.iter().find_map(|outcome| {
            let Outcome::Judged(judged) = outcome else { return None };
            let agent = population.agent(judged.agent);
            let Verdict::Inhibited(inhibition) = population.verdict(&judged.verdict, agent.application()) else {
                return None;
            };
            let operation = judged.proposal.operation;
            let request = match &judged.proposal.target {
                _ if !operation.has_target() => operation.to_string(),
                Target::Own => format!("{operation} to its own node"),
                Target::Node(node) => format!("{operation} to {}", population.node(*node).id()),
                Target::Unknown(id) => format!("{operation} to {id}"),
                Target::Flavour(id) => format!("{operation} to {id}"),
            };
            let (time, instance) = (self.queue.now(), population.instance(judged.agent));
            Some(InhibitedRequest { time, instance, request, reason: inhibition.to_string() })
        });
    }
}
