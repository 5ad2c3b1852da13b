//! Searches for small changes of facts that make a clause fire.
//!
//! This is a beam search. Each round applies single changes to facts that the evaluation read, some of them derived from
//! the failed comparisons, and evaluates the policy with each. The first round starts from the actual facts. If no
//! change suffices, the next round starts from the situations in which the clause gets furthest. Of a change that
//! suffices, every part that is not needed is taken back. The search is bounded, so it may miss a change, but every
//! change that it returns works, and no part of it can be left out.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use mario_domain::{AgentOperation, FactPredicate};
use mario_prolog::Value;
use rustc_hash::FxHashSet;

use super::change::{Change, condition, fact_changes};
use super::edit::{Candidate, Edits};
use super::situation::{Difference, Situation, as_number};
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
/// The maximum number of situations in which the clause fires that are made smaller.
const REDUCED_MAX: usize = 60;
/// The maximum number of differences that are taken back one by one.
const DIFFERENCES_MAX: usize = 40;
/// Quantities that differ by less are considered equal.
const PRECISION: f64 = 0.000_5;
/// The maximum number of changes shown for one clause.
const SHOWN_MAX: usize = 3;
/// The number of rows that a trial rewrites, or of changes that the search weighs, that cost as much as one inference.
const ROWS_PER_INFERENCE: usize = 4;

/// The clause whose failure is explained.
#[derive(Clone, Copy)]
pub(super) struct Miss<'a> {
    pub(super) facts: &'a KnowledgeBase,
    pub(super) instance: Constant,
    pub(super) operation: AgentOperation,
    pub(super) clause: usize,
}

struct Search<'a> {
    explainer: &'a mut Explainer,
    miss: Miss<'a>,
    real: Situation,
    /// The facts of the current trial, and its situation.
    trial: KnowledgeBase,
    current: Situation,
}

/// A situation from which a round starts, with the steps at which the clause fails in it.
type Start = (Situation, Vec<ProofStep>);

/// Changes of facts that make the clause propose the operation, at most [`SHOWN_MAX`], the smallest first. For each
/// target, only the smallest one found. `steps` are those at which the clause fails.
pub(super) fn changes(explainer: &mut Explainer, miss: Miss<'_>, steps: &[ProofStep]) -> Vec<Change> {
    let real = Situation::of(miss.facts, &explainer.policy);
    let mut trial = KnowledgeBase::new(miss.facts.symbols());
    trial.copy_from(miss.facts);
    // The facts about earlier evaluations of a trial are sorted.
    real.fill(FactPredicate::Earlier, miss.facts, &mut trial);
    let mut search = Search { explainer, miss, current: real.clone(), real, trial };
    let mut fired = search.run(steps);
    fired.sort_by(|one, other| one.0.cost().total_cmp(&other.0.cost()));
    fired.truncate(REDUCED_MAX);
    let mut found: Vec<(Situation, Proposal)> = Vec::new();
    for (mut situation, proposal) in fired {
        // A smaller change for the same target is known already.
        let least = search.least_cost(&situation);
        if found.iter().any(|(known, by)| by.target == proposal.target && known.cost() <= least) {
            continue;
        }
        if search.explainer.is_spent() {
            break;
        }
        search.take_back(&mut situation, proposal.target);
        search.shrink(&mut situation, proposal.target);
        found.push((situation, proposal));
    }
    found.sort_by(|one, other| one.0.cost().total_cmp(&other.0.cost()));
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
    fn run(&mut self, steps: &[ProofStep]) -> Vec<(Situation, Proposal)> {
        let mut starts: Vec<Start> = vec![(self.real.clone(), steps.to_vec())];
        let mut seen = FxHashSet::from_iter([self.real.hash()]);
        for _ in 0..CHANGES_MAX {
            let (mut fired, mut failed) = (Vec::new(), Vec::new());
            let candidates = self.candidates(&starts);
            let mut trials = 0;
            for (start, candidate) in candidates {
                if trials == TRIALS_MAX || self.explainer.is_spent() {
                    break;
                }
                let trial = self.made(&starts[start].0, &candidate);
                if !seen.insert(trial.hash()) {
                    continue;
                }
                trials += 1;
                match self.fires(&trial, None) {
                    Some(proposal) => fired.push((trial, proposal)),
                    None => failed.push((start, candidate)),
                }
            }
            if !fired.is_empty() {
                return fired;
            }
            failed.sort_by(|one, other| one.1.cost.total_cmp(&other.1.cost));
            starts = self.best(&starts, &failed);
            if starts.is_empty() {
                break;
            }
        }
        Vec::new()
    }

    fn made(&self, start: &Situation, candidate: &Candidate) -> Situation {
        let Miss { facts, instance, .. } = self.miss;
        let reads = super::reads::Reads::everything();
        Edits { situation: start, real: &self.real, base: facts, instance, reads: &reads }.made(&candidate.edit)
    }

    /// The single changes of the situations, the best first: the cheapest of each sort in turn, so that many facts of
    /// one sort do not use up all trials.
    fn candidates(&mut self, starts: &[Start]) -> Vec<(usize, Candidate)> {
        let mut strata: BTreeMap<(u8, u8), Vec<(usize, Candidate)>> = BTreeMap::new();
        let by_cost = |one: &(usize, Candidate), other: &(usize, Candidate)| one.1.cost.total_cmp(&other.1.cost);
        let mut count = 0;
        for (index, (situation, steps)) in starts.iter().enumerate() {
            self.fill(situation);
            let Miss { facts, instance, .. } = self.miss;
            let reads = self.explainer.reads(&self.miss, &self.trial);
            let edits = Edits { situation, real: &self.real, base: facts, instance, reads: &reads };
            edits.each(steps, &mut |candidate| {
                count += 1;
                let stratum = strata.entry(candidate.stratum).or_default();
                stratum.push((index, candidate));
                // The memory is bounded, however many facts there are. Both sorts are stable.
                if stratum.len() >= 4 * TRIALS_MAX {
                    stratum.sort_by(by_cost);
                    stratum.truncate(2 * TRIALS_MAX);
                }
            });
        }
        self.explainer.charge(count / ROWS_PER_INFERENCE);
        let mut all: Vec<(usize, (usize, Candidate))> = Vec::new();
        for mut stratum in strata.into_values() {
            stratum.sort_by(by_cost);
            all.extend(stratum.into_iter().enumerate());
        }
        if all.len() <= TRIALS_MAX {
            all.sort_by(|one, other| by_cost(&one.1, &other.1));
        } else {
            all.sort_by(|one, other| one.0.cmp(&other.0).then_with(|| by_cost(&one.1, &other.1)));
        }
        all.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// The situations in which the clause gets furthest before it fails, at most [`STARTS_MAX`]. Only a sample of the
    /// trials is analysed.
    fn best(&mut self, starts: &[Start], failed: &[(usize, Candidate)]) -> Vec<Start> {
        let mut ranked: Vec<(Vec<f64>, Start)> = Vec::new();
        for (start, candidate) in spread(failed, ANALYSED_MAX) {
            if self.explainer.is_spent() {
                break;
            }
            let trial = self.made(&starts[*start].0, candidate);
            self.fill(&trial);
            let Miss { instance, operation, clause, .. } = self.miss;
            let Some(steps) = self.explainer.failure(&self.trial, instance, operation, clause) else { continue };
            ranked.push((rank_of(&steps), (trial, steps)));
        }
        // The sort is stable: of equal ranks, the smaller change comes first.
        ranked.sort_by(|one, other| compare_ranks(&other.0, &one.0));
        ranked.into_iter().take(STARTS_MAX).map(|(_, start)| start).collect()
    }

    /// Makes `self.trial` have the facts of a situation.
    fn fill(&mut self, situation: &Situation) {
        for kind in FactPredicate::CHANGEABLE {
            if !situation.shares(kind, &self.current) {
                situation.fill(kind, self.miss.facts, &mut self.trial);
                self.explainer.charge(situation.rows(kind).len() / ROWS_PER_INFERENCE);
            }
        }
        self.current = situation.clone();
    }

    /// The first proposal of the clause in a situation, restricted to a target if one is given; `None` if the clause
    /// does not fire.
    fn fires(&mut self, situation: &Situation, target: Option<Constant>) -> Option<Proposal> {
        self.fill(situation);
        let Miss { instance, operation, clause, .. } = self.miss;
        // Most trials fail here, without an evaluation of the other clauses.
        if !self.explainer.may_propose(&self.miss, &self.trial) {
            return None;
        }
        let Explainer { decider, policy, .. } = &mut *self.explainer;
        let decision = decider.decide(policy, &self.trial, instance, SolutionLimit::All);
        let inferences = decision.inferences;
        let found = decision.solutions.iter().find_map(|solution| match solution {
            Solution::Proposal(proposal)
                if proposal.clause == clause
                    && proposal.operation == operation
                    && target.is_none_or(|target| target == proposal.target) =>
            {
                Some(*proposal)
            }
            _ => None,
        });
        self.explainer.charge(inferences as usize);
        found
    }

    /// Takes back every difference without which the clause still proposes `target`.
    fn take_back(&mut self, situation: &mut Situation, target: Constant) {
        for kind in FactPredicate::CHANGEABLE
            .into_iter()
            .filter(|&kind| !situation.shares(kind, &self.real))
            .collect::<Vec<FactPredicate>>()
        {
            let trial = situation.without_kind(kind, &self.real);
            if self.fires(&trial, Some(target)).is_some() {
                *situation = trial;
            }
        }
        let differences: Vec<Difference> = situation.differences(&self.real);
        if !(2..=DIFFERENCES_MAX).contains(&differences.len()) {
            return;
        }
        for difference in differences {
            let trial = situation.without(&difference, &self.real);
            if self.fires(&trial, Some(target)).is_some() {
                *situation = trial;
            }
        }
    }

    /// The cost that the situation would have if each changed quantity could almost keep its actual value.
    fn least_cost(&self, situation: &Situation) -> f64 {
        let quantities = situation.changed_quantities(&self.real);
        let slack = |(cell, real): &(_, Constant)| super::situation::distance(*real, situation.quantity(*cell)) - 1.0;
        situation.cost() - quantities.iter().map(slack).filter(|slack| *slack > 0.0).sum::<f64>()
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
                let trial = situation.with_quantity(cell, value, &self.real);
                if self.fires(&trial, Some(target)).is_some() {
                    (inside, *situation) = (middle, trial);
                } else {
                    outside = middle;
                }
            }
        }
    }

    fn change(&mut self, situation: &Situation, proposal: &Proposal) -> Change {
        let base = self.miss.facts;
        let proposes = proposal.texts(base.symbols());
        let comparisons = self.comparisons(situation, &proposes);
        let operation = self.miss.operation;
        let word = operation.as_str();
        let wish =
            if operation.has_target() { format!("would {word} to {}", proposes[2]) } else { format!("would {word}") };
        let mut text = format!("{wish} if {}", condition(&self.real, situation, base));
        if !comparisons.is_empty() {
            text = format!("{text}: {}", comparisons.join(", "));
        }
        Change { facts: fact_changes(&self.real, situation, base), proposes, comparisons, text }
    }

    /// The comparisons, as text, in the proof of the proposal `proposes`.
    fn comparisons(&mut self, situation: &Situation, proposes: &[String; 3]) -> Vec<String> {
        self.fill(situation);
        let mut found = Vec::new();
        let Miss { instance, clause, .. } = self.miss;
        self.explainer.each_answer(&self.trial, instance, |texts, by, steps| {
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
fn spread<T>(trials: &[T], count: usize) -> impl Iterator<Item = &T> {
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
