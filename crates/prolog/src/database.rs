//! Dynamic predicates: clauses that change while a query runs.
//!
//! Changes are local to one query, unless a session or a loader adopts them ([`Database::changes`]). The logical update
//! view applies: a goal sees the clauses that existed when it was called, regardless of later changes.

mod index;
mod predicate;

pub(crate) use index::End;
pub(crate) use predicate::{DynamicPredicate, Generation, Position, SearchFrom, is_rule};

use crate::instruction::PredicateId;
use crate::program::Program;
use crate::program::index::Key;
use crate::store::Store;
use crate::stored::StoredTerm;
use crate::term::{Functor, Term};
use predicate::{clause_bytes, copy_bytes};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Memory charged for a predicate that a query creates or changes, without its clauses: its entries in two hash tables
/// that may be half empty.
const PREDICATE_BYTES: usize = 2 * (size_of::<DynamicPredicate>() + 64);

/// A clause that a goal tries.
pub(crate) struct Found {
    /// `Head :- Body`, or a rule with `=>`.
    pub(crate) term: Arc<StoredTerm>,
    pub(crate) position: Position,
    /// The position of the next clause to try; `None` if this is the last.
    pub(crate) following: Option<Position>,
}

/// The dynamic predicates as one query sees them.
#[derive(Default)]
pub(crate) struct Database {
    changed: FxHashMap<PredicateId, DynamicPredicate>,
    /// Predicates created by the query.
    names: FxHashMap<Functor, PredicateId>,
    created: Vec<Functor>,
    first_created: PredicateId,
    generation: Generation,
    /// Bytes charged for the predicates, clauses and indexes of this query; counted against the heap budget.
    bytes: usize,
    /// Work that is not charged yet, as a number of clauses visited, copied, indexed or abolished.
    work: usize,
    /// Whether some predicate has enough dead clauses for a sweep.
    pub(crate) wants_sweep: bool,
}

impl Database {
    /// Starts a query on `program`.
    pub(crate) fn reset(&mut self, program: &Program) {
        self.changed.clear();
        self.names.clear();
        self.created.clear();
        self.first_created = program.predicates.len() as PredicateId;
        self.generation = 1;
        self.bytes = 0;
        self.work = 0;
        self.wants_sweep = false;
    }

    /// Returns the number of clauses visited, copied, indexed or abolished since the last call.
    #[inline]
    pub(crate) fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.work)
    }

    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The clauses of a dynamic predicate; `None` if neither the query nor the program has an entry for it.
    pub(crate) fn get<'a>(&'a self, program: &'a Program, predicate: PredicateId) -> Option<&'a DynamicPredicate> {
        if !self.changed.is_empty()
            && let Some(changed) = self.changed.get(&predicate)
        {
            return Some(changed);
        }
        program.dynamic.get(&predicate).map(Arc::as_ref)
    }

    /// The predicate with this name and arity that the query created; `None` if it created none.
    pub(crate) fn created(&self, functor: Functor) -> Option<PredicateId> {
        self.names.get(&functor).copied()
    }

    /// The name and arity of a predicate created in this query.
    pub(crate) fn created_functor(&self, predicate: PredicateId) -> Functor {
        self.created[(predicate - self.first_created) as usize]
    }

    pub(crate) fn made_up_predicates(&self) -> impl Iterator<Item = (Functor, PredicateId)> + '_ {
        self.created.iter().map(|&functor| (functor, self.names[&functor]))
    }

    /// Creates a dynamic predicate without clauses and returns its id.
    pub(crate) fn create(&mut self, functor: Functor) -> PredicateId {
        let predicate = self.first_created + self.created.len() as PredicateId;
        self.created.push(functor);
        self.names.insert(functor, predicate);
        self.changed.insert(predicate, DynamicPredicate::default());
        self.bytes += PREDICATE_BYTES;
        predicate
    }

    /// Returns the dynamic predicate that hides the library predicate `functor`; creates it if needed.
    pub(crate) fn create_over(&mut self, functor: Functor) -> PredicateId {
        match self.created(functor) {
            Some(predicate) => predicate,
            None => self.create(functor),
        }
    }

    /// Whether the query has created no predicates. If so, no library predicate is hidden.
    pub(crate) fn is_empty_of_names(&self) -> bool {
        self.names.is_empty()
    }

    /// Makes a predicate dynamic if it is undefined or abolished. In any case, the query gets a copy of its clauses if
    /// it has none yet.
    pub(crate) fn declare(&mut self, program: &Program, predicate: PredicateId) {
        self.edit(program, predicate).abolished = false;
    }

    fn edit(&mut self, program: &Program, predicate: PredicateId) -> &mut DynamicPredicate {
        self.changed.entry(predicate).or_insert_with(|| {
            self.bytes += PREDICATE_BYTES;
            let Some(shared) = program.dynamic.get(&predicate) else { return DynamicPredicate::default() };
            self.work += shared.len();
            self.bytes += copy_bytes(shared.len());
            DynamicPredicate::clone(shared)
        })
    }

    pub(crate) fn add(&mut self, program: &Program, predicate: PredicateId, end: End, term: StoredTerm, key: Key) {
        self.bytes += clause_bytes(&term);
        self.generation += 1;
        let generation = self.generation;
        let edited = self.edit(program, predicate);
        edited.abolished = false;
        let indexes = edited.add(end, Arc::new(term), key, generation);
        self.bytes += index::ENTRY_BYTES * indexes;
    }

    /// The first clause at or after `from` that is visible in this generation and may match a goal with these
    /// arguments; `None` if there is none.
    pub(crate) fn find(
        &mut self,
        program: &Program,
        predicate: PredicateId,
        store: &Store,
        arguments: &[Term],
        from: SearchFrom,
        generation: Generation,
    ) -> Option<Found> {
        let changed = if self.changed.is_empty() { None } else { self.changed.get(&predicate) };
        let is_own = changed.is_some();
        let clauses = changed.or_else(|| program.dynamic.get(&predicate).map(Arc::as_ref))?;
        let mut matching = clauses.matching(store, arguments, from, generation);
        let found = matching.next().map(|clause| (Arc::clone(&clause.term), clause.position));
        let following = found.is_some().then(|| matching.next()).flatten().map(|clause| clause.position);
        self.work += matching.visited;
        // The indexes of the program are shared by all its queries, so no query is charged for building one.
        if is_own {
            self.work += matching.index_entries;
            self.bytes += index::ENTRY_BYTES * matching.index_entries;
        }
        found.map(|(term, position)| Found { term, position, following })
    }

    /// Removes a predicate and its clauses.
    pub(crate) fn abolish(&mut self, program: &Program, predicate: PredicateId) {
        self.generation += 1;
        let generation = self.generation;
        let edited = self.edit(program, predicate);
        let removed = edited.remove_all(generation);
        edited.abolished = true;
        self.wants_sweep |= edited.wants_sweep();
        self.work += removed;
    }

    pub(crate) fn remove(&mut self, program: &Program, predicate: PredicateId, position: Position) -> bool {
        self.generation += 1;
        let generation = self.generation;
        let edited = self.edit(program, predicate);
        let removed = edited.remove(position, generation);
        let wants_sweep = edited.wants_sweep();
        self.wants_sweep |= wants_sweep;
        removed
    }

    /// Sweeps the predicates with enough dead clauses: drops the dead clauses that no goal called at one of the `open`
    /// generations can see.
    pub(crate) fn sweep(&mut self, mut open: Vec<Generation>) {
        self.wants_sweep = false;
        open.sort_unstable();
        for predicate in self.changed.values_mut().filter(|predicate| predicate.wants_sweep()) {
            self.bytes = self.bytes.saturating_sub(predicate.sweep(&open));
        }
    }

    /// The dynamic predicates that the query changed, with their final clauses, for a program that adopts them. The
    /// functor is given only for predicates that the query created.
    pub(crate) fn changes(&self) -> Vec<(PredicateId, Option<Functor>, DynamicPredicate)> {
        let created = |predicate: PredicateId| {
            predicate.checked_sub(self.first_created).and_then(|index| self.created.get(index as usize)).copied()
        };
        let mut changes: Vec<_> =
            self.changed.iter().map(|(&id, predicate)| (id, created(id), predicate.settled())).collect();
        changes.sort_by_key(|(id, _, _)| *id);
        changes
    }
}
