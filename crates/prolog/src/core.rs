//! The state that builtins work on: a machine without its registers and stacks.

use crate::builtins::SortSpace;
use crate::collect::Collectors;
use crate::database::Database;
use crate::fault::{Fault, Raised, Solved};
use crate::flags::Flags;
use crate::instruction::PredicateId;
use crate::meter::Resource;
use crate::operators::Operators;
use crate::output::Output;
use crate::program::Program;
use crate::store::{ListEnd, Store};
use crate::stored::{Attributes, StoredTerm};
use crate::symbols::{Atom, Atoms, Scope, atoms};
use crate::term::{Functor, Term};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A global variable of one query.
#[derive(Default)]
pub(crate) struct Global {
    /// The address of the cell for `b_setval/2`, whose value backtracking restores; `None` before the first
    /// `b_setval/2`. The cell takes precedence over `kept` unless it is unbound. A cell is never reused for another
    /// variable.
    pub(crate) cell: Option<usize>,
    /// The value set by `nb_setval/2`, which survives backtracking; `None` before the first `nb_setval/2`.
    pub(crate) kept: Option<StoredTerm>,
}

/// The global variables of one query.
#[derive(Default)]
pub(crate) struct Globals {
    pub(crate) variables: FxHashMap<Atom, Global>,
    /// The number of store cells used for global variables.
    pub(crate) cells: usize,
}

/// The state that builtins read and change.
pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) atoms: Atoms,
    pub(crate) flags: Flags,
    pub(crate) operators: Operators,
    pub(crate) output: Output,
    pub(crate) program: Arc<Program>,
    pub(crate) database: Database,
    pub(crate) globals: Globals,
    pub(crate) collectors: Collectors,
    pub(crate) sort_space: SortSpace,
}

impl Core {
    /// The state for queries on `program`. New names are interned in the table of `scope`.
    pub(crate) fn new(program: Arc<Program>, scope: Scope) -> Core {
        Core {
            store: Store::default(),
            atoms: Atoms::new(Arc::clone(&program.symbols), scope),
            flags: program.flags,
            operators: program.operators.clone(),
            output: Output::default(),
            program,
            database: Database::default(),
            globals: Globals::default(),
            collectors: Collectors::default(),
            sort_space: SortSpace::default(),
        }
    }

    /// Unifies two terms; false if they do not unify.
    #[inline]
    #[allow(clippy::unnecessary_wraps, reason = "builtins return this type")]
    pub(crate) fn unify(&mut self, a: Term, b: Term) -> Solved {
        Ok(self.store.unify(a, b))
    }

    /// The elements of a proper list; an ISO error for any other term.
    pub(crate) fn proper_list(&mut self, list: Term) -> Solved<Vec<Term>> {
        let mut items = Vec::new();
        let end = self.store.list_items(list, &mut items);
        self.check_budget()?;
        match end {
            ListEnd::Nil => Ok(items),
            ListEnd::Variable(_) => Err(Fault::Instantiation.into()),
            ListEnd::Other(_) => Err(Fault::Type("list", list).into()),
        }
    }

    /// Returns an error if the budget is exhausted. Call it after a walk that stops early in this case.
    pub(crate) fn check_budget(&self) -> Solved<()> {
        match self.store.meter.exhausted() {
            Some(resource) => Err(Raised::Exhausted(resource)),
            None => Ok(()),
        }
    }

    /// Charges the work of the database since the last call of this function. Work on at most 4 clauses is free,
    /// because the inference of the call covers it; more work is charged in full.
    #[inline]
    pub(crate) fn charge_database(&mut self) {
        let work = self.database.take_work();
        if work > 4 {
            self.store.meter.walk(work as u64);
        }
    }

    /// The exception `error(Formal, _)`, for formal terms without a [`Fault`].
    pub(crate) fn error(&mut self, formal: Term) -> Raised {
        let context = self.store.variable();
        let ball = self.store.structure(atoms::ERROR, &[formal, context]);
        match self.store.copy_out(ball, Attributes::Drop) {
            Some(ball) => Raised::Ball(Box::new(ball)),
            None => Raised::Exhausted(Resource::HeapBytes),
        }
    }

    /// The predicate that a call of `functor` currently refers to, possibly one that the query created; `None` if there
    /// is none.
    #[inline]
    pub(crate) fn find_predicate(&self, functor: Functor) -> Option<PredicateId> {
        if !self.database.is_empty_of_names()
            && let Some(predicate) = self.database.created(functor)
        {
            return Some(predicate);
        }
        self.program.find(functor)
    }
}
