//! A limit on inferences that several queries share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A limit on inferences that is shared by any number of queries, on any number of machines and threads.
///
/// A [`Budget`](crate::Budget) bounds one query. A host that runs many queries of an untrusted program can bound all of
/// them together. A query checks its allowance at least every few hundred inferences, and stops with
/// [`Resource::Time`](crate::Resource::Time) if the allowance is spent. A query that ends before its first check is not
/// stopped; its inferences are deducted when the next query of its machine starts.
#[derive(Clone, Debug)]
pub struct Allowance {
    left: Arc<AtomicU64>,
}

impl Allowance {
    /// An allowance of `inferences` inferences.
    pub fn new(inferences: u64) -> Allowance {
        Allowance { left: Arc::new(AtomicU64::new(inferences)) }
    }

    /// Whether the allowance is used up.
    pub fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// Deducts inferences from the allowance.
    pub(crate) fn charge(&self, inferences: u64) {
        let take = |left: u64| Some(left.saturating_sub(inferences));
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Allowance, Budget, Engine, Machine, Outcome, Resource};

    fn ask(machine: &mut Machine, engine: &Engine, goal: &str) -> Outcome {
        machine.query(engine.library(), goal, &(), &Budget::UNLIMITED).expect("well-formed").next_answer()
    }

    #[test]
    fn machines_that_share_an_allowance_stop_when_it_is_spent() {
        let engine = Engine::new();
        let allowance = Allowance::new(20_000);
        let mut machines = [Machine::new(&engine), Machine::new(&engine)];
        machines.iter_mut().for_each(|machine| machine.set_allowance(Some(allowance.clone())));
        // A query that ends before its first periodic check is charged when the next query of its machine starts.
        let mut rounds = 0;
        while !allowance.is_spent() {
            let answer = ask(&mut machines[rounds % 2], &engine, "length(L, 50), length(L, N), N > 10");
            assert!(matches!(answer, Outcome::Answer | Outcome::Exhausted(Resource::Time)), "{answer:?}");
            rounds += 1;
            assert!(rounds < 20_000, "queries cost something");
        }
        assert!(rounds > 2, "both had a part of it");
        for machine in &mut machines {
            assert_eq!(ask(machine, &engine, "repeat, fail"), Outcome::Exhausted(Resource::Time));
            machine.set_allowance(None);
            assert_eq!(ask(machine, &engine, "atom(a)"), Outcome::Answer);
        }
    }
}
