//! What builtins work on: everything of a machine but its registers and stacks.

use crate::fault::{Fault, Raised, Solved};
use crate::flags::Flags;
use crate::operators::Operators;
use crate::output::Output;
use crate::store::{ListEnd, Store};
use crate::symbols::Atoms;
use crate::term::Term;

/// The state that builtins read and change.
pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) atoms: Atoms,
    pub(crate) flags: Flags,
    pub(crate) operators: Operators,
    pub(crate) output: Output,
}

impl Core {
    /// Unifies; the shape in which most builtins end.
    #[inline]
    pub(crate) fn unify(&mut self, a: Term, b: Term) -> Solved {
        Ok(self.store.unify(a, b))
    }

    /// The elements of a proper list; the usual errors for anything else.
    pub(crate) fn proper_list(&mut self, list: Term) -> Solved<Vec<Term>> {
        let mut items = Vec::new();
        match self.store.list_items(list, &mut items) {
            ListEnd::Nil => Ok(items),
            ListEnd::Variable(_) => Err(Fault::Instantiation.into()),
            ListEnd::Other(_) => Err(Fault::Type("list", list).into()),
        }
    }

    /// Stops when the budget ran out during a long walk.
    pub(crate) fn check_budget(&self) -> Solved<()> {
        match self.store.meter.exhausted() {
            Some(resource) => Err(Raised::Exhausted(resource)),
            None => Ok(()),
        }
    }
}
