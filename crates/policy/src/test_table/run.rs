//! Running the tests of a table.

use mario_domain::{Rule, Verdict};
use mario_prolog::Machine;

use super::{DecisionClaim, ExpectedVerdict, Rest, Test, VerdictClaim};
use crate::acceptance::Acceptance;
use crate::decide::{Decider, Ending, Solution, Wanted};
use crate::policy::Policy;

/// What came of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestOutcome {
    /// It is as the test claims.
    Passed,
    /// The policy proposes something else: the difference.
    Differs(Vec<DiffLine>),
    /// The policy raised an exception or ran out of its budget, or the manager's verdict is another: what was found.
    Found(String),
}

/// A line of the difference between expected and proposed operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DiffLine {
    /// Expected and proposed.
    Same([String; 3]),
    /// Expected, and not proposed.
    Missing([String; 3]),
    /// Proposed, and not expected: by this clause, from 0.
    Unexpected([String; 3], usize),
}

impl Test<DecisionClaim> {
    /// Lets the policy decide.
    pub fn run(&self, decider: &mut Decider, policy: &Policy) -> TestOutcome {
        let claim = &self.claim;
        let decision = decider.decide(policy, &claim.facts, claim.instance, Wanted::All);
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
    /// What the manager says to the request.
    pub(crate) fn judge(&self, machine: &mut Machine, acceptance: &Acceptance) -> Verdict {
        acceptance.judge(machine, &self.view, &self.request, self.needed)
    }
}

impl Test<VerdictClaim> {
    /// Lets the manager judge.
    pub fn run(&self, machine: &mut Machine, acceptance: &Acceptance) -> TestOutcome {
        let claim = &self.claim;
        let verdict = claim.judge(machine, acceptance);
        let is_as_expected = match (&claim.expected, &verdict) {
            (ExpectedVerdict::Accepted, Verdict::Accepted) | (ExpectedVerdict::Inhibited, Verdict::Inhibited(_)) => {
                true
            }
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
}

/// The shortest way from what was expected to what was found, by their longest common subsequence.
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
