//! Unification that can be undone.

use super::{Store, TRAIL_VALUE};
use crate::fault::Solved;
use crate::term::Term;

impl Store {
    /// Runs `attempt` with all its bindings trailed, and returns its result. If the result is false, undoes the
    /// bindings and drops the suspended goals that they woke.
    pub(crate) fn attempt(&mut self, attempt: impl FnOnce(&mut Store) -> bool) -> bool {
        let (boundary, trail, woken) = (self.boundary, self.trail.len(), self.woken.len());
        self.boundary = self.cells.len();
        let succeeded = attempt(self);
        if !succeeded {
            self.undo_to(trail);
            self.woken.truncate(woken);
        }
        self.boundary = boundary;
        succeeded
    }

    /// Returns the result of `attempt`, undoes all its bindings, and drops the suspended goals that they woke.
    pub(crate) fn tentatively<T>(&mut self, attempt: impl FnOnce(&mut Store) -> T) -> T {
        let mut found = None;
        self.attempt(|store| {
            found = Some(attempt(store));
            false
        });
        found.expect("the attempt was made")
    }

    /// Whether two terms unify; binds nothing.
    pub(crate) fn can_unify(&mut self, a: Term, b: Term) -> bool {
        self.tentatively(|store| store.unify(a, b))
    }

    /// The bindings that make two terms equal, newest first; `None` if they do not unify, or if the budget is
    /// exhausted.
    pub(crate) fn unifier(&mut self, a: Term, b: Term) -> Option<Vec<(Term, Term)>> {
        let start = self.trail.len();
        self.tentatively(|store| {
            if !store.unify(a, b) {
                return None;
            }
            let count = store.trail.len() - start;
            store.reserve(2 * count).ok()?;
            store.charge(count as u64).ok()?;
            let mut bindings = Vec::new();
            let mut end = store.trail.len();
            while end > start {
                let entry = store.trail[end - 1];
                let address = (entry >> 1) as usize;
                // The old value of an attributed variable is the variable itself.
                let attributed = entry & TRAIL_VALUE != 0;
                let variable = if attributed { Term(store.trail[end - 2]) } else { Term::reference(address) };
                bindings.push((variable, store.cells[address]));
                end -= if attributed { 2 } else { 1 };
            }
            Some(bindings)
        })
    }

    /// Whether `general` can be made equal to `specific` without binding variables of `specific` (ISO 8.2.4). If the
    /// budget is exhausted, the result is an error or false.
    pub(crate) fn subsumes(&mut self, general: Term, specific: Term) -> Solved {
        let mut fixed = Vec::new();
        self.term_variables(specific, &mut fixed)?;
        Ok(self.tentatively(|store| {
            if !store.unify_with_occurs_check(general, specific) {
                return false;
            }
            if store.reserve(2 * fixed.len()).and_then(|()| store.charge(4 * fixed.len() as u64)).is_err() {
                return false;
            }
            let mut left: Vec<Term> = fixed.iter().map(|&variable| store.deref(variable)).collect();
            let unbound = left.iter().all(|term| term.is_variable());
            left.sort_unstable_by_key(|term| term.address());
            left.dedup();
            unbound && left.len() == fixed.len()
        }))
    }
}
