//! Searches for small changes of facts that make a clause fire.
//!
//! This is a beam search. Each round applies single changes, some of them derived from the failed comparisons, and
//! evaluates the policy with each. The first round starts from the actual facts. If no change suffices, the next round
//! starts from the situations in which the clause gets furthest. The search is bounded, so it may miss a change, but
//! every change that it returns works.

use std::cmp::Ordering;

use mario_domain::AgentOperation;
use mario_prolog::Value;

use super::change::{Change, condition, fact_changes};
use super::edit::{Situation, as_number};
use super::step::ProofStep;
use super::{Explainer, ProofStepKind};
use crate::decide::{Proposal, Solution, SolutionLimit};
use crate::knowledge_base::{Constant, KnowledgeBase};

/// The maximum number of single changes that are combined.
const CHANGES_MAX: usize = 4;
/// The maximum number of situations in which the policy is evaluated in each round.
const TRIALS_MAX: usize = 400;
/// The maximum number of situations in which the failure of the clause is analysed in each round.
const ANALYSED_MAX: usize = 40;
/// The maximum number of situations from which the next round starts.
const STARTS_MAX: usize = 5;
/// The maximum number of evaluations of the policy to minimise the change of one quantity.
const SHRINKS_MAX: usize = 40;
/// Quantities that differ by less are considered equal.
const PRECISION: f64 = 0.000_5;
/// The maximum number of changes shown for one clause.
const SHOWN_MAX: usize = 3;

struct Search<'a> {
    explainer: &'a mut Explainer,
    base: &'a KnowledgeBase,
    instance: Constant,
    operation: AgentOperation,
    clause: usize,
    /// The facts of the current trial.
    trial: KnowledgeBase,
    real: Situation,
}

/// Changes of facts that make the clause propose the operation, at most [`SHOWN_MAX`], the smallest first. For each
/// target, only the smallest one found.
pub(super) fn changes(
    explainer: &mut Explainer,
    base: &KnowledgeBase,
    instance: Constant,
    operation: AgentOperation,
    clause: usize,
) -> Vec<Change> {
    let (trial, real) = (KnowledgeBase::new(base.symbols()), Situation::of(base, &explainer.policy));
    let mut search = Search { explainer, base, instance, operation, clause, trial, real };
    let mut found: Vec<(Situation, Proposal)> = search.run();
    for (situation, proposal) in &mut found {
        search.shrink(situation, proposal.target);
    }
    let real = &search.real;
    found.sort_by(|one, other| one.0.cost(real).total_cmp(&other.0.cost(real)));
    let mut shown: Vec<(Situation, Proposal)> = Vec::new();
    for candidate in found {
        if shown.len() < SHOWN_MAX && shown.iter().all(|(_, proposal)| proposal.target != candidate.1.target) {
            shown.push(candidate);
        }
    }
    shown.iter().map(|(situation, proposal)| search.change(situation, proposal)).collect()
}

impl Search<'_> {
    /// The situations of the first successful round in which the clause fires, each with its first proposal. Empty if
    /// the clause fires in no round.
    fn run(&mut self) -> Vec<(Situation, Proposal)> {
        let mut starts = vec![self.real.clone()];
        let mut seen = starts.clone();
        for _ in 0..CHANGES_MAX {
            let mut trials: Vec<Situation> = Vec::new();
            for start in &starts {
                let steps = self.failure(start);
                for trial in start.neighbours(&steps, self.instance, self.base) {
                    if !seen.contains(&trial) && !trials.contains(&trial) {
                        trials.push(trial);
                    }
                }
            }
            let mut ranked: Vec<(f64, Situation)> =
                trials.into_iter().map(|trial| (trial.cost(&self.real), trial)).collect();
            ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
            ranked.truncate(TRIALS_MAX);
            let trials: Vec<Situation> = ranked.into_iter().map(|(_, trial)| trial).collect();
            let fired: Vec<_> =
                trials.iter().filter_map(|trial| Some((trial.clone(), self.fires(trial, None)?))).collect();
            if !fired.is_empty() {
                return fired;
            }
            starts = self.best(&trials);
            if starts.is_empty() {
                break;
            }
            seen.extend(trials);
        }
        Vec::new()
    }

    /// The situations in which the clause gets furthest before it fails, at most [`STARTS_MAX`]. Only a sample of the
    /// trials is analysed.
    fn best(&mut self, trials: &[Situation]) -> Vec<Situation> {
        let mut ranked: Vec<(Vec<f64>, &Situation)> = Vec::new();
        for trial in spread(trials, ANALYSED_MAX) {
            let steps = self.failure(trial);
            ranked.push((rank_of(&steps), trial));
        }
        // The sort is stable: of equal ranks, the smaller change comes first.
        ranked.sort_by(|one, other| compare_ranks(&other.0, &one.0));
        ranked.into_iter().take(STARTS_MAX).map(|(_, trial)| trial.clone()).collect()
    }

    fn failure(&mut self, situation: &Situation) -> Vec<ProofStep> {
        situation.fill(self.base, &mut self.trial);
        self.explainer.failure(&self.trial, self.instance, self.operation, self.clause)
    }

    /// The first proposal of the clause in a situation, restricted to a target if one is given; `None` if the clause
    /// does not fire.
    fn fires(&mut self, situation: &Situation, target: Option<Constant>) -> Option<Proposal> {
        situation.fill(self.base, &mut self.trial);
        let Explainer { decider, policy, .. } = &mut *self.explainer;
        let decision = decider.decide(policy, &self.trial, self.instance, SolutionLimit::All);
        decision.solutions.iter().find_map(|solution| match solution {
            Solution::Proposal(proposal)
                if proposal.clause == self.clause
                    && proposal.operation == self.operation
                    && target.is_none_or(|target| target == proposal.target) =>
            {
                Some(*proposal)
            }
            _ => None,
        })
    }

    /// Moves each changed quantity towards its actual value, by bisection, as far as the clause still proposes
    /// `target`.
    fn shrink(&mut self, situation: &mut Situation, target: Constant) {
        for (cell, real) in situation.changed_quantities(&self.real) {
            let (Some(mut outside), Some(mut inside)) = (as_number(real), as_number(situation.quantity(cell))) else {
                continue;
            };
            let is_whole = matches!(situation.quantity(cell), Value::Integer(_));
            for _ in 0..SHRINKS_MAX {
                let middle = f64::midpoint(outside, inside);
                let middle = if is_whole { middle.trunc() } else { (middle * 1000.0).round() / 1000.0 };
                if (middle - outside).abs() < PRECISION || (middle - inside).abs() < PRECISION {
                    break;
                }
                let value = if is_whole { Value::Integer(middle as i64) } else { Value::Float(middle) };
                let trial = situation.with_quantity(cell, value);
                if self.fires(&trial, Some(target)).is_some() {
                    (inside, *situation) = (middle, trial);
                } else {
                    outside = middle;
                }
            }
        }
    }

    fn change(&mut self, situation: &Situation, proposal: &Proposal) -> Change {
        let proposes = proposal.texts(self.base.symbols());
        let comparisons = self.comparisons(situation, &proposes);
        let word = self.operation.as_str();
        let wish = if self.operation.has_target() {
            format!("would {word} to {}", proposes[2])
        } else {
            format!("would {word}")
        };
        let mut text = format!("{wish} if {}", condition(&self.real, situation, self.base));
        if !comparisons.is_empty() {
            text = format!("{text}: {}", comparisons.join(", "));
        }
        Change { facts: fact_changes(&self.real, situation, self.base), proposes, comparisons, text }
    }

    /// The comparisons, as text, in the proof of the proposal `proposes`.
    fn comparisons(&mut self, situation: &Situation, proposes: &[String; 3]) -> Vec<String> {
        situation.fill(self.base, &mut self.trial);
        let mut found = Vec::new();
        let clause = self.clause;
        self.explainer.each_answer(&self.trial, self.instance, |texts, by, steps| {
            let is_it = by == clause && texts == [&*proposes[0], &*proposes[2]];
            if is_it {
                collect(&steps.unwrap_or_default(), &mut found);
            }
            !is_it
        });
        found
    }
}

/// A sample of the trials, which are sorted by cost: the first `count / 2`, and up to as many at equal distances among
/// the others, because trials of similar cost are often the same kind of change.
fn spread(trials: &[Situation], count: usize) -> impl Iterator<Item = &Situation> {
    let (first, rest) = trials.split_at(trials.len().min(count / 2));
    let step = (rest.len() / (count / 2)).max(1);
    first.iter().chain(rest.iter().step_by(step).take(count / 2))
}

fn collect(steps: &[ProofStep], found: &mut Vec<String>) {
    for step in steps {
        // Comparisons under `\+` are skipped, because they failed.
        if step.kind == ProofStepKind::Compare && !found.contains(&step.text) {
            found.push(step.text.clone());
        }
        if step.kind != ProofStepKind::Absent {
            collect(&step.steps, found);
        }
    }
}

/// How far a clause got: the position of the furthest goal, then of the furthest goal inside it, and so on; finally how
/// close a comparison is to being true.
fn rank_of(steps: &[ProofStep]) -> Vec<f64> {
    let mut best = Vec::new();
    for step in steps {
        let mut rank: Vec<f64> = step.goal.iter().map(|&goal| goal as f64).collect();
        match &step.comparison {
            Some(comparison) => rank.push(-(comparison.left - comparison.right).abs()),
            None => rank.extend(rank_of(&step.steps)),
        }
        if compare_ranks(&rank, &best) == Ordering::Greater {
            best = rank;
        }
    }
    best
}

fn compare_ranks(one: &[f64], other: &[f64]) -> Ordering {
    one.partial_cmp(other).unwrap_or(Ordering::Equal)
}
