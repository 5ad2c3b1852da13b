//! Dynamic predicates: clauses that change while a query runs.
//!
//! Changes are local to one query. The view is the logical one: a goal sees the clauses there were
//! when it was called, whatever it asserts or retracts meanwhile.

use crate::instruction::PredicateId;
use crate::program::Program;
use crate::program::index::Key;
use crate::stored::StoredTerm;
use crate::term::Functor;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Counts changes; a goal sees what was there at its generation.
pub(crate) type Generation = u64;
/// Place of a clause among its predicate's; never reused.
pub(crate) type Position = i64;

/// A clause of a dynamic predicate.
#[derive(Clone, Debug)]
pub(crate) struct DynamicClause {
    /// `Head :- Body`.
    pub(crate) term: Arc<StoredTerm>,
    /// What clause selection may know of the first argument.
    pub(crate) key: Key,
    born: Generation,
    died: Generation,
}

impl DynamicClause {
    pub(crate) fn is_visible(&self, generation: Generation) -> bool {
        self.born <= generation && generation < self.died
    }
}

/// The clauses of one dynamic predicate.
#[derive(Clone, Debug, Default)]
pub(crate) struct DynamicPredicate {
    clauses: BTreeMap<Position, DynamicClause>,
    dead: usize,
    /// Whether `abolish/1` took the predicate away, and nothing brought it back.
    pub(crate) abolished: bool,
}

/// At which end a clause is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    First,
    Last,
}

impl DynamicPredicate {
    /// The first clause at or after `from` that is visible and may match.
    pub(crate) fn next(&self, from: Position, generation: Generation, key: Key) -> Option<(Position, &DynamicClause)> {
        self.clauses
            .range(from..)
            .find(|(_, clause)| clause.key.may_match(key) && clause.is_visible(generation))
            .map(|(&position, clause)| (position, clause))
    }

    pub(crate) fn add(&mut self, end: End, term: Arc<StoredTerm>, key: Key, generation: Generation) {
        let position = match end {
            End::First => self.clauses.first_key_value().map_or(0, |(&first, _)| first - 1),
            End::Last => self.clauses.last_key_value().map_or(0, |(&last, _)| last + 1),
        };
        self.clauses.insert(position, DynamicClause { term, key, born: generation, died: Generation::MAX });
    }

    /// Marks a clause as gone; false when it was already.
    fn remove(&mut self, position: Position, generation: Generation) -> bool {
        match self.clauses.get_mut(&position) {
            Some(clause) if clause.died == Generation::MAX => {
                clause.died = generation;
                self.dead += 1;
                true
            }
            _ => false,
        }
    }

    /// The clauses of a finished run, all of them young again.
    fn settled(&self) -> DynamicPredicate {
        let live = self.clauses.iter().filter(|(_, clause)| clause.died == Generation::MAX);
        let clauses = live.map(|(&position, clause)| (position, DynamicClause { born: 0, ..clause.clone() })).collect();
        DynamicPredicate { clauses, dead: 0, abolished: self.abolished }
    }

    /// The clauses that are there, in order.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Arc<StoredTerm>> {
        self.clauses.values().filter(|clause| clause.died == Generation::MAX).map(|clause| &clause.term)
    }
}

/// What a clause is charged: its cells, and its place in the predicate.
fn clause_bytes(term: &StoredTerm) -> usize {
    term.cells().len() * 8 + 96
}

/// The dynamic predicates as one query sees them.
#[derive(Default)]
pub(crate) struct Database {
    changed: FxHashMap<PredicateId, DynamicPredicate>,
    /// Predicates that the query made up.
    names: FxHashMap<Functor, PredicateId>,
    made_up: Vec<Functor>,
    first_made_up: PredicateId,
    generation: Generation,
    /// Bytes held by clauses added in this query; counted against the heap budget.
    bytes: usize,
    /// Dead clauses are worth collecting.
    pub(crate) wants_sweep: bool,
}

impl Database {
    /// Starts a query on `program`.
    pub(crate) fn reset(&mut self, program: &Program) {
        self.changed.clear();
        self.names.clear();
        self.made_up.clear();
        self.first_made_up = program.predicates.len() as PredicateId;
        self.generation = 1;
        self.bytes = 0;
        self.wants_sweep = false;
    }

    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The clauses of a predicate, if it is dynamic.
    pub(crate) fn get<'a>(&'a self, program: &'a Program, predicate: PredicateId) -> Option<&'a DynamicPredicate> {
        if !self.changed.is_empty()
            && let Some(changed) = self.changed.get(&predicate)
        {
            return Some(changed);
        }
        program.dynamic.get(&predicate).map(Arc::as_ref)
    }

    /// A predicate made up in this query.
    pub(crate) fn made_up(&self, functor: Functor) -> Option<PredicateId> {
        self.names.get(&functor).copied()
    }

    /// The name of a predicate made up in this query.
    pub(crate) fn made_up_functor(&self, predicate: PredicateId) -> Functor {
        self.made_up[(predicate - self.first_made_up) as usize]
    }

    pub(crate) fn made_up_predicates(&self) -> impl Iterator<Item = (Functor, PredicateId)> + '_ {
        self.made_up.iter().map(|&functor| (functor, self.names[&functor]))
    }

    /// The number of a new dynamic predicate.
    pub(crate) fn make_up(&mut self, functor: Functor) -> PredicateId {
        let predicate = self.first_made_up + self.made_up.len() as PredicateId;
        self.made_up.push(functor);
        self.names.insert(functor, predicate);
        self.changed.insert(predicate, DynamicPredicate::default());
        predicate
    }

    /// The number of a new dynamic predicate that hides a library predicate of the same name.
    pub(crate) fn make_up_over(&mut self, functor: Functor) -> PredicateId {
        match self.made_up(functor) {
            Some(predicate) => predicate,
            None => self.make_up(functor),
        }
    }

    /// Whether a query's own predicate hides one of the library.
    pub(crate) fn is_empty_of_names(&self) -> bool {
        self.names.is_empty()
    }

    /// Makes an undefined predicate dynamic.
    pub(crate) fn declare(&mut self, program: &Program, predicate: PredicateId) {
        self.edit(program, predicate).abolished = false;
    }

    fn edit(&mut self, program: &Program, predicate: PredicateId) -> &mut DynamicPredicate {
        self.changed.entry(predicate).or_insert_with(|| {
            program.dynamic.get(&predicate).map(|shared| DynamicPredicate::clone(shared)).unwrap_or_default()
        })
    }

    pub(crate) fn add(&mut self, program: &Program, predicate: PredicateId, end: End, term: StoredTerm, key: Key) {
        self.bytes += clause_bytes(&term);
        self.generation += 1;
        let generation = self.generation;
        let edited = self.edit(program, predicate);
        edited.abolished = false;
        edited.add(end, Arc::new(term), key, generation);
    }

    /// Takes a predicate away whose clauses were removed.
    pub(crate) fn abolish(&mut self, program: &Program, predicate: PredicateId) {
        self.edit(program, predicate).abolished = true;
    }

    pub(crate) fn remove(&mut self, program: &Program, predicate: PredicateId, position: Position) -> bool {
        self.generation += 1;
        let generation = self.generation;
        let edited = self.edit(program, predicate);
        let removed = edited.remove(position, generation);
        let many_dead = edited.dead > 32 + edited.clauses.len() / 2;
        self.wants_sweep |= many_dead;
        removed
    }

    /// Drops dead clauses that no goal called at or after `oldest` can see.
    pub(crate) fn sweep(&mut self, oldest: Generation) {
        self.wants_sweep = false;
        for predicate in self.changed.values_mut() {
            if predicate.dead > 0 {
                let bytes = &mut self.bytes;
                predicate.clauses.retain(|_, clause| {
                    let stays = clause.died > oldest;
                    // Clauses of the program itself were not charged.
                    if !stays && clause.born > 0 {
                        *bytes = bytes.saturating_sub(clause_bytes(&clause.term));
                    }
                    stays
                });
                predicate.dead = predicate.clauses.values().filter(|clause| clause.died != Generation::MAX).count();
            }
        }
    }

    /// What the query changed, for a program that is to keep it.
    pub(crate) fn changes(&self) -> Vec<(PredicateId, Option<Functor>, DynamicPredicate)> {
        let made_up = |predicate: PredicateId| {
            predicate.checked_sub(self.first_made_up).and_then(|index| self.made_up.get(index as usize)).copied()
        };
        let mut changes: Vec<_> =
            self.changed.iter().map(|(&id, predicate)| (id, made_up(id), predicate.settled())).collect();
        changes.sort_by_key(|(id, _, _)| *id);
        changes
    }
}
