//! Which facts an evaluation of a policy read: every look-up with the arguments that were bound, and every value.
//!
//! The search for changes edits only facts that the evaluation read, because a decision does not depend on any other.
//! The machine itself reports the reads, so there is no list of predicates or keys to keep.

use std::cell::RefCell;

use mario_domain::FactPredicate;
use mario_prolog::{Atom, Relation, Relations, Table, Value};
use rustc_hash::FxHashSet;

use crate::knowledge_base::{Constant, KnowledgeBase};

/// The maximum number of different look-ups that are recorded for one predicate. Of an evaluation with more of them,
/// every fact of the predicate counts as read.
const LOOKUPS_MAX: usize = 10_000;

/// In the mask of a row: whether a look-up returned the row. The lower bits are the columns that were read.
const RETURNED: u8 = 1 << 7;

/// A hashable form of a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    Atom(Atom),
    Integer(i64),
    Float(u64),
    /// A value that is not a constant.
    Other,
}

/// The facts that one evaluation read.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// By position in [`FactPredicate::OF_AGENTS`].
    relations: Vec<RelationReads>,
    /// Whether every fact counts as read, because the evaluation cannot be observed.
    all: bool,
}

/// What was read of one relation.
#[derive(Debug, Default)]
struct RelationReads {
    /// The bound columns of each look-up, with their values.
    lookups: Vec<Vec<(usize, Constant)>>,
    known: FxHashSet<Vec<(usize, Key)>>,
    /// For each row, the columns that were read, and [`RETURNED`]. Rows beyond the end were not read.
    rows: Vec<u8>,
    /// Whether there were more look-ups than are recorded.
    is_everything: bool,
}

impl Reads {
    /// The reads of an evaluation that cannot be observed: everything.
    pub(super) fn everything() -> Reads {
        Reads { relations: Vec::new(), all: true }
    }

    fn of(&self, kind: FactPredicate) -> impl Iterator<Item = &RelationReads> {
        let relations = self.relations.iter().zip(FactPredicate::OF_AGENTS);
        relations.filter(move |(_, predicate)| predicate.own() == kind).map(|(it, _)| it)
    }

    /// Whether the outcome may depend on this value of a fact: it was read, or a look-up searched for a value in its
    /// column and the rest of the fact matched.
    pub(super) fn reads_value(&self, kind: FactPredicate, row: usize, column: usize, values: &[Constant]) -> bool {
        self.all
            || self
                .of(kind)
                .any(|reads| reads.is_everything || reads.has(row, 1 << column) || reads.searches(column, values))
    }

    /// Whether the outcome may depend on the values in a column.
    pub(super) fn reads_column(&self, kind: FactPredicate, column: usize) -> bool {
        self.all
            || self.of(kind).any(|reads| {
                reads.is_everything
                    || reads.rows.iter().any(|mask| mask & (1 << column) != 0)
                    || reads.lookups.iter().any(|bound| bound.iter().any(|(known, _)| *known == column))
            })
    }

    /// Whether a look-up returned this row, so that the outcome may be another one without it.
    pub(super) fn returns(&self, kind: FactPredicate, row: usize) -> bool {
        self.all || self.of(kind).any(|reads| reads.is_everything || reads.has(row, RETURNED))
    }

    /// Whether a look-up would return a fact with these values if there were one.
    pub(super) fn would_return(&self, kind: FactPredicate, values: &[Constant]) -> bool {
        let matches = |bound: &Vec<(usize, Constant)>| bound.iter().all(|&(column, wanted)| values[column] == wanted);
        self.all || self.of(kind).any(|reads| reads.is_everything || reads.lookups.iter().any(matches))
    }

    /// Whether there was any look-up.
    pub(super) fn looks_up(&self, kind: FactPredicate) -> bool {
        self.all || self.of(kind).any(|reads| !reads.lookups.is_empty())
    }
}

impl RelationReads {
    fn has(&self, row: usize, bit: u8) -> bool {
        self.rows.get(row).is_some_and(|mask| mask & bit != 0)
    }

    /// Whether a look-up searched for a value in `column`, and the other columns of `values` match.
    fn searches(&self, column: usize, values: &[Constant]) -> bool {
        self.lookups.iter().any(|bound| {
            bound.iter().any(|(known, _)| *known == column)
                && bound.iter().all(|&(known, wanted)| known == column || values[known] == wanted)
        })
    }

    fn record(&mut self, bound: &[(usize, Value<'_>)]) {
        if self.lookups.len() >= LOOKUPS_MAX {
            self.is_everything = true;
            return;
        }
        let known = |&(column, value): &(usize, Value<'_>)| (column, key(value));
        if self.known.insert(bound.iter().map(known).collect()) {
            let bound = bound.iter().filter_map(|&(column, value)| Some((column, constant(value)?)));
            self.lookups.push(bound.collect());
        }
    }
}

/// The facts of an agent, with a record of what is read.
pub(super) struct Recorder<'a> {
    relations: Vec<Recorded<'a>>,
}

struct Recorded<'a> {
    table: Option<&'a Table>,
    reads: RefCell<RelationReads>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(facts: &'a KnowledgeBase) -> Recorder<'a> {
        let recorded = |position| Recorded { table: facts.table(position), reads: RefCell::default() };
        Recorder { relations: (0..FactPredicate::OF_AGENTS.len()).map(recorded).collect() }
    }

    pub(super) fn finish(self) -> Reads {
        Reads {
            relations: self.relations.into_iter().map(|recorded| recorded.reads.into_inner()).collect(),
            all: false,
        }
    }
}

impl Relations for Recorder<'_> {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        self.relations.get(position).map(|recorded| recorded as &dyn Relation)
    }
}

impl Recorded<'_> {
    fn mark(&self, row: usize, bit: u8) {
        let rows = &mut self.reads.borrow_mut().rows;
        if row >= rows.len() {
            rows.resize(self.len(), 0);
        }
        if let Some(mask) = rows.get_mut(row) {
            *mask |= bit;
        }
    }
}

impl Relation for Recorded<'_> {
    fn len(&self) -> usize {
        self.table.map_or(0, Table::len)
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.mark(row, 1 << column);
        self.table.map_or(Value::Integer(0), |table| table.value(row, column))
    }

    fn next_row(&self, from: usize, bound: &[(usize, Value<'_>)]) -> Option<usize> {
        if from == 0 {
            self.reads.borrow_mut().record(bound);
        }
        let row = Relation::next_row(self.table?, from, bound)?;
        self.mark(row, RETURNED);
        Some(row)
    }
}

/// The hashable form of a constant.
pub(super) fn key(value: Value<'_>) -> Key {
    match value {
        Value::Atom(atom) => Key::Atom(atom),
        Value::Integer(value) => Key::Integer(value),
        Value::Float(value) => Key::Float(value.to_bits()),
        Value::List(_) | Value::Compound(..) | Value::Term(_) => Key::Other,
    }
}

fn constant(value: Value<'_>) -> Option<Constant> {
    match value {
        Value::Atom(atom) => Some(Value::Atom(atom)),
        Value::Integer(value) => Some(Value::Integer(value)),
        Value::Float(value) => Some(Value::Float(value)),
        Value::List(_) | Value::Compound(..) | Value::Term(_) => None,
    }
}
