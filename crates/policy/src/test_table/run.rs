//! Runs the tests of a table.

use mario_domain::{FlavourId, InstanceId, Rule, Verdict};
use mario_prolog::Machine;

use super::{Claimed, DecisionClaim, ExpectedAct, ExpectedVerdict, Rest, Test, VerdictClaim};
use crate::acceptance::{Acceptance, AcceptanceFailure, Initiative};
use crate::decide::{Decider, Ending, Solution, SolutionLimit};
use crate::policy::Policy;

/// The result of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestOutcome {
    /// The result is as expected.
    Passed,
    /// The proposals differ from the expected ones; the lines compare both lists.
    Differs(Vec<DiffLine>),
    /// The result differs otherwise; the text says what was found: a failure of the policy, an invalid proposal,
    /// another verdict of the manager, or other shrinks and evictions.
    Found(String),
}

/// A line of the comparison of expected and proposed operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DiffLine {
    /// Expected and proposed.
    Same([String; 3]),
    /// Expected but not proposed.
    Missing([String; 3]),
    /// Proposed but not expected, with the zero-based index of the clause.
    Unexpected([String; 3], usize),
}

impl Test<DecisionClaim> {
    /// Runs the policy and compares its proposals with the expected ones.
    pub fn run(&self, decider: &mut Decider, policy: &Policy) -> TestOutcome {
        let claim = &self.claim;
        let decision = decider.decide(policy, &claim.facts, claim.instance, SolutionLimit::All);
        match &decision.ending {
            Ending::Complete => {}
            other => return TestOutcome::Found(other.to_string()),
        }
        let symbols = claim.facts.symbols();
        let mut solutions: Vec<([String; 3], usize)> =
            decision.solutions.iter().map(|solution| (solution.texts(symbols), solution.clause())).collect();
        if claim.rest == Rest::Any {
            solutions.truncate(claim.expected.len());
        }
        let is_as_expected = solutions.iter().map(|(operation, _)| operation).eq(&claim.expected);
        let invalid = decision.solutions.iter().find_map(|solution| match solution {
            Solution::Invalid(invalid) => Some(invalid.fault),
            Solution::Proposal(_) => None,
        });
        match invalid {
            Some(fault) if is_as_expected => TestOutcome::Found(fault.description().to_owned()),
            _ if is_as_expected => TestOutcome::Passed,
            _ => TestOutcome::Differs(difference(&claim.expected, &solutions)),
        }
    }
}

impl VerdictClaim {
    /// The verdict of the manager on the request of the claim; `None` if the claim is about shrinks and
    /// evictions.
    pub(crate) fn judge(&self, machine: &mut Machine, acceptance: &Acceptance) -> Option<Verdict> {
        match &self.claimed {
            Claimed::Verdict { request, needed, .. } => Some(acceptance.judge(machine, &self.view, request, *needed)),
            Claimed::Initiative(_) => None,
        }
    }
}

impl Test<VerdictClaim> {
    /// Runs the acceptance policy and compares its verdict, or its shrinks and evictions, with the expected ones.
    pub fn run(&self, machine: &mut Machine, acceptance: &Acceptance) -> TestOutcome {
        let VerdictClaim { view, claimed } = &self.claim;
        match claimed {
            Claimed::Verdict { request, needed, expected } => {
                judged(expected, acceptance.judge(machine, view, request, *needed))
            }
            Claimed::Initiative(expected) => wanted(expected, acceptance.initiative(machine, view)),
        }
    }
}

fn judged(expected: &ExpectedVerdict, verdict: Verdict) -> TestOutcome {
    let is_as_expected = match (expected, &verdict) {
        (ExpectedVerdict::Accepted, Verdict::Accepted) | (ExpectedVerdict::Inhibited, Verdict::Inhibited(_)) => true,
        (ExpectedVerdict::InhibitedBecause(reason), Verdict::Inhibited(inhibition)) => match &inhibition.rule {
            Rule::Capacity { .. } => reason == "capacity",
            Rule::Acceptance { reason: given } => reason == given,
            _ => false,
        },
        _ => false,
    };
    match verdict {
        _ if is_as_expected => TestOutcome::Passed,
        Verdict::Accepted => TestOutcome::Found("accepted".to_owned()),
        Verdict::Inhibited(inhibition) => TestOutcome::Found(format!("inhibited: {inhibition}")),
    }
}

fn wanted(expected: &[ExpectedAct], initiative: Result<Initiative, AcceptanceFailure>) -> TestOutcome {
    let initiative = match initiative {
        Ok(initiative) => initiative,
        Err(failure) => return TestOutcome::Found(failure.message),
    };
    let is_it = |act: &ExpectedAct, instance: &InstanceId, flavour: Option<&FlavourId>, reason: &str| {
        act.instance == instance.to_string()
            && act.flavour == flavour.map(ToString::to_string)
            && act.reason.as_ref().is_none_or(|expected| expected == reason)
    };
    let Initiative { shrinks, evictions } = &initiative;
    let (first, then) = expected.split_at(expected.iter().filter(|act| act.flavour.is_some()).count());
    let is_as_expected = first.len() == shrinks.len()
        && then.len() == evictions.len()
        && first
            .iter()
            .zip(shrinks)
            .all(|(act, shrink)| is_it(act, &shrink.instance, Some(&shrink.flavour), &shrink.reason))
        && then.iter().zip(evictions).all(|(act, eviction)| is_it(act, &eviction.instance, None, &eviction.reason));
    if is_as_expected { TestOutcome::Passed } else { TestOutcome::Found(initiative.to_string()) }
}

/// The shortest edit script from the expected to the actual operations, by their longest common subsequence.
fn difference(expected: &[[String; 3]], found: &[([String; 3], usize)]) -> Vec<DiffLine> {
    let columns = found.len() + 1;
    let mut common = vec![0_usize; (expected.len() + 1) * columns];
    for row in (0..expected.len()).rev() {
        for column in (0..found.len()).rev() {
            common[row * columns + column] = if expected[row] == found[column].0 {
                common[(row + 1) * columns + column + 1] + 1
            } else {
                common[(row + 1) * columns + column].max(common[row * columns + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut lines = Vec::new();
    while row < expected.len() || column < found.len() {
        if row < expected.len() && column < found.len() && expected[row] == found[column].0 {
            lines.push(DiffLine::Same(expected[row].clone()));
            row += 1;
            column += 1;
        } else if column == found.len()
            || (row < expected.len() && common[(row + 1) * columns + column] >= common[row * columns + column + 1])
        {
            lines.push(DiffLine::Missing(expected[row].clone()));
            row += 1;
        } else {
            let (operation, clause) = &found[column];
            lines.push(DiffLine::Unexpected(operation.clone(), *clause));
            column += 1;
        }
    }
    lines
}
