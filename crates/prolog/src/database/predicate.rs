//! The clauses of one dynamic predicate.

use super::index::{Candidates, ENTRY_BYTES, End, Index};
use crate::compiler::Neck;
use crate::program::index::Key;
use crate::store::Store;
use crate::stored::StoredTerm;
use crate::term::{Tag, Term};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// A counter that is incremented whenever clauses are added or removed. A goal sees the clauses that existed in the
/// generation in which it was called. Clauses of the program itself have generation 0.
pub(crate) type Generation = u64;
/// The position of a clause in its predicate; not reused while a goal may refer to it.
pub(crate) type Position = i64;

/// The number of leading arguments that can be indexed, as for compiled predicates.
const INDEXED_ARGUMENTS: usize = 4;
/// A predicate with at most this number of clauses is scanned without an index. If an index finds at most this number
/// of candidate clauses, the indexes of the arguments after it are not considered.
const SCANNED: usize = 8;
/// Memory of a clause in addition to its cells: the headers of its two allocations, and its slot in a list that may be
/// half empty.
const CLAUSE_BYTES: usize = 176;

/// A clause of a dynamic predicate.
#[derive(Clone, Debug)]
pub(crate) struct DynamicClause {
    /// `Head :- Body`, or a rule with `=>`.
    pub(crate) term: Arc<StoredTerm>,
    pub(crate) position: Position,
    /// The index key of the first argument.
    key: Key,
    born: Generation,
    died: Generation,
}

impl DynamicClause {
    fn is_visible(&self, generation: Generation) -> bool {
        self.born <= generation && generation < self.died
    }

    fn is_live(&self) -> bool {
        self.died == Generation::MAX
    }

    /// The memory charged to the query that added or copied the clause.
    fn bytes(&self) -> usize {
        if self.born == 0 { copy_bytes(1) } else { clause_bytes(&self.term) }
    }

    /// The index key of one argument of the head.
    fn key_of(&self, argument: usize) -> Key {
        if argument == 0 {
            return self.key;
        }
        let cells = self.term.cells();
        let head = resolved(cells, cells[self.term.root().address() + 1]);
        let address = match head.tag() {
            Tag::Str => head.address() + 1 + argument,
            Tag::Lis => head.address() + argument,
            _ => return Key::Any,
        };
        let term = resolved(cells, cells[address]);
        match term.tag() {
            Tag::Ref | Tag::Att => Key::Any,
            Tag::Lis => Key::List,
            Tag::Box => Key::Boxed,
            Tag::Str => Key::Word(cells[term.address()].0),
            Tag::Atm | Tag::Int | Tag::Hdr => Key::Word(term.0),
        }
    }
}

/// Whether a stored clause is a rule with `=>`.
pub(crate) fn is_rule(term: &StoredTerm) -> bool {
    term.cells()[term.root().address()] != Neck::Clause.functor().header()
}

/// Follows references within a stored block.
fn resolved(cells: &[Term], mut term: Term) -> Term {
    while term.is_variable() && cells[term.address()] != term {
        term = cells[term.address()];
    }
    term
}

/// The memory charged for a new clause.
pub(super) fn clause_bytes(term: &StoredTerm) -> usize {
    term.cells().len() * 8 + CLAUSE_BYTES
}

/// The memory charged for copies of `clauses` clauses, which share their cells with the program.
pub(super) fn copy_bytes(clauses: usize) -> usize {
    clauses * 2 * size_of::<DynamicClause>()
}

/// The clauses of one dynamic predicate.
#[derive(Default)]
pub(crate) struct DynamicPredicate {
    /// Ordered by position.
    clauses: VecDeque<DynamicClause>,
    /// All clauses before this position are removed, although goals called earlier may still see some of them.
    first_live: Position,
    dead: usize,
    /// The number of dead clauses that the last sweep could not drop.
    dead_left: usize,
    /// The indexes, by argument. Built on demand.
    indexes: [OnceLock<Box<Index>>; INDEXED_ARGUMENTS],
    /// Whether the last added clause is a rule. If so, all live clauses are rules, and a call that matches no rule is
    /// an error.
    pub(crate) is_made_of_rules: bool,
    /// Whether `abolish/1` removed the predicate, and nothing has defined it since.
    pub(crate) abolished: bool,
}

impl Clone for DynamicPredicate {
    /// Clones the clauses without the indexes, because the cost that a query is charged for an index must not depend on
    /// other queries.
    fn clone(&self) -> DynamicPredicate {
        DynamicPredicate {
            clauses: self.clauses.clone(),
            first_live: self.first_live,
            dead: self.dead,
            dead_left: self.dead_left,
            indexes: Default::default(),
            is_made_of_rules: self.is_made_of_rules,
            abolished: self.abolished,
        }
    }
}

impl DynamicPredicate {
    /// The number of clauses, including removed ones that are not swept yet.
    pub(super) fn len(&self) -> usize {
        self.clauses.len()
    }

    /// The clauses at or after `from` that are visible and may match a call with these arguments.
    pub(super) fn matching<'a>(
        &'a self,
        store: &Store,
        arguments: &[Term],
        from: SearchFrom,
        generation: Generation,
    ) -> Matching<'a> {
        let from = match from {
            SearchFrom::Start => self.first_live,
            SearchFrom::Position(position) => position,
        };
        let mut made = 0;
        let lookup = self.lookup(store, arguments, from, &mut made);
        Matching { predicate: self, lookup, generation, visited: 0, index_entries: made }
    }

    /// Chooses an index with few candidate clauses, or a linear scan if there are few clauses or no indexed argument is
    /// bound. Builds the indexes that it considers and that do not exist yet, and adds the number of their entries to
    /// `made`.
    fn lookup<'a>(&'a self, store: &Store, arguments: &[Term], from: Position, made: &mut usize) -> Lookup<'a> {
        let key = |argument: usize| Key::of(store, store.deref(arguments[argument]));
        if self.clauses.len() <= SCANNED {
            let key = if arguments.is_empty() { Key::Any } else { key(0) };
            return Lookup::All { next: self.index_of(from), key };
        }
        let mut best: Option<(usize, &Index, Key)> = None;
        for (argument, place) in self.indexes.iter().enumerate().take(arguments.len()) {
            let key = key(argument);
            if key == Key::Any {
                continue;
            }
            let index = place.get_or_init(|| {
                *made += self.clauses.len();
                Box::new(self.index(argument))
            });
            let count = index.count(key);
            if best.is_none_or(|(fewest, _, _)| count < fewest) {
                best = Some((count, index, key));
            }
            if count <= SCANNED {
                break;
            }
        }
        match best {
            Some((_, index, key)) => Lookup::Indexed(index.candidates(key, from)),
            None => Lookup::All { next: self.index_of(from), key: Key::Any },
        }
    }

    fn index(&self, argument: usize) -> Index {
        let mut index = Index::default();
        for clause in &self.clauses {
            index.add(End::Last, clause.position, clause.key_of(argument));
        }
        index
    }

    /// The offset of the clause at `position`, or of the first one after it. Positions increase, with gaps only where
    /// clauses were swept, so the distance between two positions is an upper bound on the distance between their
    /// offsets.
    fn index_of(&self, position: Position) -> usize {
        let Some(first) = self.clauses.front() else { return 0 };
        let Ok(guess) = usize::try_from(position.saturating_sub(first.position)) else { return 0 };
        match self.clauses.get(guess) {
            Some(clause) if clause.position == position => guess,
            _ => self.clauses.partition_point(|clause| clause.position < position),
        }
    }

    fn get(&self, position: Position) -> Option<&DynamicClause> {
        self.clauses.get(self.index_of(position)).filter(|clause| clause.position == position)
    }

    /// Adds a clause; returns the number of indexes that it was added to.
    pub(crate) fn add(&mut self, end: End, term: Arc<StoredTerm>, key: Key, generation: Generation) -> usize {
        let position = match end {
            End::First => self.clauses.front().map_or(0, |first| first.position - 1),
            End::Last => self.clauses.back().map_or(0, |last| last.position + 1),
        };
        let clause = DynamicClause { term, position, key, born: generation, died: Generation::MAX };
        self.is_made_of_rules = is_rule(&clause.term);
        let mut indexed = 0;
        for (argument, index) in self.indexes.iter_mut().enumerate() {
            if let Some(index) = index.get_mut() {
                index.add(end, position, clause.key_of(argument));
                indexed += 1;
            }
        }
        match end {
            End::First => {
                self.clauses.push_front(clause);
                self.first_live = position;
            }
            End::Last => {
                if self.dead == self.clauses.len() {
                    self.first_live = position;
                }
                self.clauses.push_back(clause);
            }
        }
        indexed
    }

    /// Whether the live clauses are rules; `None` if there are none.
    pub(crate) fn has_rules(&self) -> Option<bool> {
        let first = self.index_of(self.first_live);
        self.clauses.range(first..).find(|clause| clause.is_live()).map(|clause| is_rule(&clause.term))
    }

    /// Marks a clause as removed; returns false if there is no live clause at this position.
    pub(super) fn remove(&mut self, position: Position, generation: Generation) -> bool {
        let index = self.index_of(position);
        match self.clauses.get_mut(index) {
            Some(clause) if clause.position == position && clause.is_live() => clause.died = generation,
            _ => return false,
        }
        self.dead += 1;
        if position == self.first_live {
            let next = self.clauses.range(index..).find(|clause| clause.is_live());
            self.first_live = next.map_or(Position::MAX, |clause| clause.position);
        }
        true
    }

    /// Marks all live clauses as removed; returns their number.
    pub(super) fn remove_all(&mut self, generation: Generation) -> usize {
        let mut removed = 0;
        for clause in self.clauses.iter_mut().filter(|clause| clause.is_live()) {
            clause.died = generation;
            removed += 1;
        }
        self.dead += removed;
        self.first_live = Position::MAX;
        removed
    }

    /// Whether enough clauses were removed since the last sweep to amortise another.
    pub(super) fn wants_sweep(&self) -> bool {
        self.dead - self.dead_left > 32 + self.clauses.len() / 2
    }

    /// Drops dead clauses that no goal called at one of the `open` generations, which are sorted, can see. Returns the
    /// bytes freed, including those of the indexes.
    pub(super) fn sweep(&mut self, open: &[Generation]) -> usize {
        if self.dead == self.dead_left {
            return 0;
        }
        let mut bytes = self.index_count() * self.clauses.len() * ENTRY_BYTES;
        let mut dead = 0;
        self.clauses.retain(|clause| {
            if clause.is_live() {
                return true;
            }
            let first = open.partition_point(|&generation| generation < clause.born);
            let stays = open.get(first).is_some_and(|&generation| generation < clause.died);
            dead += usize::from(stays);
            bytes += if stays { 0 } else { clause.bytes() };
            stays
        });
        self.dead = dead;
        self.dead_left = dead;
        self.indexes = Default::default();
        if self.clauses.len() < self.clauses.capacity() / 4 {
            self.clauses.shrink_to_fit();
        }
        bytes
    }

    fn index_count(&self) -> usize {
        self.indexes.iter().filter(|index| index.get().is_some()).count()
    }

    /// The clauses left at the end of a query, as if they had existed from the start.
    pub(super) fn settled(&self) -> DynamicPredicate {
        let live = self.clauses.iter().filter(|clause| clause.is_live());
        let clauses: VecDeque<_> = live.map(|clause| DynamicClause { born: 0, ..clause.clone() }).collect();
        let first_live = clauses.front().map_or(0, |clause| clause.position);
        DynamicPredicate {
            clauses,
            first_live,
            is_made_of_rules: self.is_made_of_rules,
            abolished: self.abolished,
            ..DynamicPredicate::default()
        }
    }

    /// The clauses that are not removed, in order.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Arc<StoredTerm>> {
        self.clauses.iter().filter(|clause| clause.is_live()).map(|clause| &clause.term)
    }

    /// The number of clauses that are not removed.
    pub(crate) fn live_count(&self) -> usize {
        self.clauses.len() - self.dead
    }
}

/// Where a goal starts its search for clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SearchFrom {
    /// At the first live clause.
    Start,
    Position(Position),
}

enum Lookup<'a> {
    All { next: usize, key: Key },
    Indexed(Candidates<'a>),
}

/// The clauses that are visible to a goal and may match it.
pub(crate) struct Matching<'a> {
    predicate: &'a DynamicPredicate,
    lookup: Lookup<'a>,
    generation: Generation,
    /// The number of candidate clauses visited, including those that are not visible.
    pub(super) visited: usize,
    /// The number of entries of the indexes that were built for this goal.
    pub(super) index_entries: usize,
}

impl<'a> Iterator for Matching<'a> {
    type Item = &'a DynamicClause;

    fn next(&mut self) -> Option<&'a DynamicClause> {
        loop {
            let clause = match &mut self.lookup {
                Lookup::All { next, key } => {
                    let clause = self.predicate.clauses.get(*next)?;
                    *next += 1;
                    if !clause.key.may_match(*key) {
                        continue;
                    }
                    clause
                }
                Lookup::Indexed(candidates) => self.predicate.get(candidates.next()?)?,
            };
            self.visited += 1;
            if clause.is_visible(self.generation) {
                return Some(clause);
            }
        }
    }
}
