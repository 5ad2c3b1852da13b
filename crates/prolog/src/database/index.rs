//! Indexes of dynamic predicates: find the clauses that may match a call, by one of its arguments.
//!
//! An index is built when a call first needs it, extended when a clause is added at either end, and discarded when the
//! predicate is swept. It also contains removed clauses that are not swept yet.

use super::predicate::Position;
use crate::program::index::Key;
use crate::term::Term;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Memory charged for an index, in bytes per clause: an entry of a hash table, or of a list, that is at worst half
/// empty.
pub(super) const ENTRY_BYTES: usize = 72;

/// The end at which a clause is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    First,
    Last,
}

/// The positions of the clauses with one key, in order. Optimised for the common case of one clause per key.
#[expect(clippy::box_collection, reason = "a table of single positions is half as large this way")]
enum Bucket {
    One(Position),
    Many(Box<VecDeque<Position>>),
}

impl Bucket {
    fn add(&mut self, end: End, position: Position) {
        match self {
            Bucket::One(other) => {
                let mut positions = VecDeque::from([*other]);
                insert(&mut positions, end, position);
                *self = Bucket::Many(Box::new(positions));
            }
            Bucket::Many(positions) => insert(positions, end, position),
        }
    }

    fn len(&self) -> usize {
        match self {
            Bucket::One(_) => 1,
            Bucket::Many(positions) => positions.len(),
        }
    }

    fn from(&self, from: Position) -> Positions<'_> {
        match self {
            Bucket::One(position) => Positions::One((*position >= from).then_some(*position)),
            Bucket::Many(positions) => Positions::of(positions, from),
        }
    }
}

fn insert(positions: &mut VecDeque<Position>, end: End, position: Position) {
    match end {
        End::First => positions.push_front(position),
        End::Last => positions.push_back(position),
    }
}

/// The positions of the clauses of a predicate by the key of one argument.
#[derive(Default)]
pub(super) struct Index {
    buckets: FxHashMap<u64, Bucket>,
    /// Clauses with a variable in this argument, which any call may match.
    any: VecDeque<Position>,
}

impl Index {
    pub(super) fn add(&mut self, end: End, position: Position, key: Key) {
        match word(key) {
            None => insert(&mut self.any, end, position),
            Some(word) => {
                self.buckets
                    .entry(word)
                    .and_modify(|bucket| bucket.add(end, position))
                    .or_insert(Bucket::One(position));
            }
        }
    }

    /// The number of clauses that may match a call with this key.
    pub(super) fn count(&self, key: Key) -> usize {
        self.any.len() + self.bucket(key).map_or(0, Bucket::len)
    }

    /// The clauses at or after a position that may match a call with this key.
    pub(super) fn candidates(&self, key: Key, from: Position) -> Candidates<'_> {
        let own = self.bucket(key).map_or(Positions::One(None), |bucket| bucket.from(from));
        Candidates { own, any: Positions::of(&self.any, from) }
    }

    fn bucket(&self, key: Key) -> Option<&Bucket> {
        self.buckets.get(&word(key)?)
    }
}

/// A word for each key, `None` for [`Key::Any`]. The words for lists and boxes differ from those of all atoms, integers
/// and functors.
fn word(key: Key) -> Option<u64> {
    match key {
        Key::Any => None,
        Key::List => Some(Term::list(0).0),
        Key::Boxed => Some(Term::boxed(0).0),
        Key::Word(word) => Some(word),
    }
}

/// The rest of a list of positions.
enum Positions<'a> {
    One(Option<Position>),
    Many { all: &'a VecDeque<Position>, next: usize },
}

impl<'a> Positions<'a> {
    fn of(all: &'a VecDeque<Position>, from: Position) -> Positions<'a> {
        Positions::Many { all, next: all.partition_point(|&position| position < from) }
    }

    fn peek(&self) -> Option<Position> {
        match self {
            Positions::One(position) => *position,
            Positions::Many { all, next } => all.get(*next).copied(),
        }
    }

    fn advance(&mut self) {
        match self {
            Positions::One(position) => *position = None,
            Positions::Many { next, .. } => *next += 1,
        }
    }
}

/// The clauses with the call's key and those with a variable, in the order of their positions.
pub(super) struct Candidates<'a> {
    own: Positions<'a>,
    any: Positions<'a>,
}

impl Iterator for Candidates<'_> {
    type Item = Position;

    fn next(&mut self) -> Option<Position> {
        let first = match (self.own.peek(), self.any.peek()) {
            (Some(own), Some(any)) if any < own => &mut self.any,
            (None, Some(_)) => &mut self.any,
            _ => &mut self.own,
        };
        let position = first.peek();
        first.advance();
        position
    }
}
