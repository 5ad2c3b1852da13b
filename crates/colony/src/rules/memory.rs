//! The operations that an agent remembers: inhibited ones, and accepted ones in its history.

use mario_domain::AgentOperation;
use serde::{Deserialize, Serialize};

/// An operation that an agent remembers: an inhibited one (`inhibited/3`), or an accepted one in its history
/// (`done/4`).
///
/// `T` identifies a target: an id on a node, an index into a table in the simulator.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RememberedOperation<T> {
    /// The number of the evaluation that proposed it, counted from 1. For a migration that an operator requested, the
    /// number of the last evaluation before that; 0 if there was none.
    pub evaluation: u32,
    /// The operation.
    pub operation: AgentOperation,
    /// Its target, as the policy wrote it.
    pub target: T,
}

/// Adds an operation to a memory of the last `cycles` evaluations. Does nothing if `cycles` is 0.
pub fn remember<T>(memory: &mut Vec<RememberedOperation<T>>, cycles: u32, inhibited: RememberedOperation<T>) {
    if cycles > 0 {
        memory.push(inhibited);
    }
}

/// Drops the entries that evaluation `next` must not see: it sees only the operations of the `cycles` evaluations
/// before it. Returns whether any entry was dropped.
pub fn expire<T>(memory: &mut Vec<RememberedOperation<T>>, cycles: u32, next: u32) -> bool {
    let before = memory.len();
    memory.retain(|remembered| remembered.evaluation.saturating_add(cycles) >= next);
    memory.len() != before
}

/// Returns a memory as a policy sees it: in standard order, without repeats. `order` returns the position of a target
/// in the standard order of terms.
pub fn visible<T: PartialEq, O: Ord>(
    memory: &[RememberedOperation<T>],
    order: impl Fn(&T) -> O,
) -> Vec<&RememberedOperation<T>> {
    let mut visible: Vec<&RememberedOperation<T>> = memory.iter().collect();
    visible.sort_by_cached_key(|remembered| (remembered.operation.as_str(), order(&remembered.target)));
    visible.dedup_by(|one, other| one.operation == other.operation && one.target == other.target);
    visible
}

#[cfg(test)]
mod tests {
    use AgentOperation::{Migrate, Replicate, Undeploy};

    use super::*;

    fn remembered(evaluation: u32, operation: AgentOperation, target: i32) -> RememberedOperation<i32> {
        RememberedOperation { evaluation, operation, target }
    }

    #[test]
    fn a_memory_of_k_cycles_holds_the_inhibitions_of_the_last_k_evaluations() {
        for cycles in 0..4 {
            let mut memory = Vec::new();
            for evaluation in 1..8 {
                expire(&mut memory, cycles, evaluation);
                let seen: Vec<u32> = memory.iter().map(|one: &RememberedOperation<i32>| one.evaluation).collect();
                let expected: Vec<u32> = (evaluation.saturating_sub(cycles).max(1)..evaluation).collect();
                assert_eq!(seen, expected, "memory of {cycles} at evaluation {evaluation}");
                remember(&mut memory, cycles, remembered(evaluation, Migrate, 1));
            }
        }
    }

    #[test]
    fn a_policy_sees_its_memory_in_standard_order_without_repeats() {
        let memory = [
            remembered(1, Undeploy, 0),
            remembered(1, Replicate, 2),
            remembered(2, Replicate, 1),
            remembered(3, Replicate, 2),
            remembered(3, Migrate, 9),
        ];
        let seen: Vec<(AgentOperation, i32)> =
            visible(&memory, |target| *target).iter().map(|one| (one.operation, one.target)).collect();
        assert_eq!(seen, [(Migrate, 9), (Replicate, 1), (Replicate, 2), (Undeploy, 0)]);
    }
}
