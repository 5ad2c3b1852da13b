//! The history of an agent: earlier client requests, its own accepted operations, and when it arrived on its node.

use std::collections::VecDeque;

use mario_policy::MemoryDeclaration;
use serde::{Deserialize, Serialize};

use super::memory::{RememberedOperation, expire, remember};

/// The history of an agent, limited to the part that its policy declares to read. A migrating agent takes it along; a
/// replica starts with an empty history.
///
/// `R` is a fact about client requests and `T` a target, in the representation of the node or the simulator.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct History<R, T> {
    /// The client requests of earlier evaluations, the latest first: `earlier/5`.
    pub requests: VecDeque<Vec<R>>,
    /// Own operations that were accepted, the oldest first: `done/4`.
    pub done: Vec<RememberedOperation<T>>,
    /// How many evaluations the agent had made when it arrived on its node: `age/2` counts from there.
    pub arrived: u32,
}

impl<R, T> Default for History<R, T> {
    fn default() -> History<R, T> {
        History { requests: VecDeque::new(), done: Vec::new(), arrived: 0 }
    }
}

impl<R: Clone + PartialEq, T: PartialEq> History<R, T> {
    /// Records an evaluation that saw these client requests; `next` is the number of the next evaluation. Returns false
    /// only if the next evaluation will see the same history, apart from `age/2`.
    pub fn evaluated(&mut self, remembers: MemoryDeclaration, seen: &[R], next: u32) -> bool {
        // Operations are shown with their age, which changes with every evaluation.
        let is_new = !self.done.is_empty();
        expire(&mut self.done, remembers.operations, next);
        self.push_requests(remembers.requests as usize, seen) || is_new
    }

    /// Records several evaluations that all saw these client requests and had no proposal accepted; `next` is the
    /// number of the next evaluation. Returns whether [`History::evaluated`] would return true for any of them.
    pub fn evaluated_often(&mut self, remembers: MemoryDeclaration, seen: &[R], times: u32, next: u32) -> bool {
        let is_new = !self.done.is_empty() && times > 0;
        expire(&mut self.done, remembers.operations, next);
        let kept = remembers.requests as usize;
        // Further evaluations would only replace equal entries.
        (0..kept.max(1).min(times as usize)).fold(is_new, |is_new, _| self.push_requests(kept, seen) || is_new)
    }

    fn push_requests(&mut self, kept: usize, seen: &[R]) -> bool {
        if self.requests.len() == kept && self.requests.iter().all(|requests| *requests == seen) {
            return false;
        }
        let mut oldest = Vec::new();
        while self.requests.len() >= kept.max(1) {
            oldest = self.requests.pop_back().unwrap_or_default();
        }
        if kept > 0 {
            oldest.clear();
            oldest.extend_from_slice(seen);
            self.requests.push_front(oldest);
        }
        true
    }

    /// Records an accepted operation, if the policy declares that it reads operations.
    pub fn accepted(&mut self, remembers: MemoryDeclaration, operation: RememberedOperation<T>) {
        remember(&mut self.done, remembers.operations, operation);
    }

    /// Removes the latest entry with the same operation and target, because the operation did not happen after all.
    pub fn undone(&mut self, operation: &RememberedOperation<T>) {
        let is_it =
            |done: &RememberedOperation<T>| done.operation == operation.operation && done.target == operation.target;
        if let Some(position) = self.done.iter().rposition(is_it) {
            self.done.remove(position);
        }
    }

    /// Earlier client requests as a policy sees them, each with its age in evaluations.
    pub fn earlier(&self) -> impl Iterator<Item = (u32, &R)> {
        (1..).zip(&self.requests).flat_map(|(ago, requests)| requests.iter().map(move |fact| (ago, fact)))
    }

    /// Earlier operations as evaluation `now` sees them: the latest first, each with its age in evaluations.
    pub fn done_before(&self, now: u32) -> impl Iterator<Item = (u32, &RememberedOperation<T>)> {
        self.done.iter().rev().map(move |done| (now.saturating_sub(done.evaluation), done))
    }

    /// Whether it has no requests and no operations, whatever `arrived` is.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.done.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use mario_domain::AgentOperation::{Migrate, Replicate};

    use super::*;

    #[test]
    fn a_policy_is_shown_the_client_requests_of_the_evaluations_before() {
        let mut history: History<i32, i32> = History::default();
        let remembers = MemoryDeclaration { requests: 2, ..MemoryDeclaration::default() };
        let mut shown = Vec::new();
        let mut changes = Vec::new();
        for (evaluation, seen) in (1..).zip([&[7, 8][..], &[], &[9], &[9], &[9], &[9]]) {
            shown.push(history.earlier().map(|(ago, fact)| (ago, *fact)).collect::<Vec<_>>());
            changes.push(history.evaluated(remembers, seen, evaluation + 1));
        }
        let expected = [
            vec![],
            vec![(1, 7), (1, 8)],
            vec![(2, 7), (2, 8)],
            vec![(1, 9)],
            vec![(1, 9), (2, 9)],
            vec![(1, 9), (2, 9)],
        ];
        assert_eq!(shown, expected);
        assert_eq!(changes, [true, true, true, true, false, false], "the next evaluation is shown something else");
    }

    #[test]
    fn operations_are_shown_with_their_age_until_forgotten() {
        let mut history: History<i32, i32> = History::default();
        let remembers = MemoryDeclaration { operations: 2, ..MemoryDeclaration::default() };
        let mut shown = Vec::new();
        for evaluation in 1..=6 {
            shown.push(history.done_before(evaluation).map(|(ago, done)| (ago, done.target)).collect::<Vec<_>>());
            history.evaluated(remembers, &[], evaluation + 1);
            if evaluation <= 3 {
                history.accepted(
                    remembers,
                    RememberedOperation { evaluation, operation: Replicate, target: evaluation as i32 },
                );
            }
        }
        assert_eq!(shown, [vec![], vec![(1, 1)], vec![(1, 2), (2, 1)], vec![(1, 3), (2, 2)], vec![(2, 3)], vec![]]);
    }

    #[test]
    fn adding_several_evaluations_equals_adding_them_one_by_one() {
        let remembers = MemoryDeclaration { requests: 3, operations: 4, ..MemoryDeclaration::default() };
        for times in 0..9 {
            let mut one_by_one: History<i32, i32> = History::default();
            for (evaluation, seen) in (1..).zip([[1], [2], [2], [5]]) {
                one_by_one.evaluated(remembers, &seen, evaluation + 1);
                one_by_one.accepted(remembers, RememberedOperation { evaluation, operation: Replicate, target: 7 });
            }
            let mut at_once = one_by_one.clone();
            let mut is_new = false;
            for evaluation in 5..5 + times {
                is_new |= one_by_one.evaluated(remembers, &[8], evaluation + 1);
            }
            assert_eq!(at_once.evaluated_often(remembers, &[8], times, 5 + times), is_new, "{times}");
            assert_eq!(at_once, one_by_one, "{times}");
        }
    }

    #[test]
    fn undeclared_history_is_not_kept() {
        let mut history: History<i32, i32> = History::default();
        for evaluation in 1..5 {
            assert!(!history.evaluated(MemoryDeclaration::default(), &[1, 2], evaluation + 1));
            history.accepted(
                MemoryDeclaration::default(),
                RememberedOperation { evaluation, operation: Migrate, target: 1 },
            );
        }
        assert!(history.is_empty());
    }

    #[test]
    fn an_undone_operation_is_removed_once() {
        let mut history: History<i32, i32> = History::default();
        let remembers = MemoryDeclaration { operations: 9, ..MemoryDeclaration::default() };
        for evaluation in 1..3 {
            history.accepted(remembers, RememberedOperation { evaluation, operation: Migrate, target: 4 });
        }
        history.undone(&RememberedOperation { evaluation: 7, operation: Migrate, target: 4 });
        assert_eq!(history.done.iter().map(|done| done.evaluation).collect::<Vec<_>>(), [1]);
    }
}
