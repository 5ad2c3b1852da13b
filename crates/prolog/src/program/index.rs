//! Finding the clauses that may match a call, by one of its arguments.

use crate::instruction::Label;
use crate::store::Store;
use crate::term::{Tag, Term};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What the head of a clause has at one argument position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Key {
    /// A variable: matches everything.
    Any,
    List,
    /// A number or string with its own cells.
    Boxed,
    /// An atom, a small integer, or the header of a structure.
    Word(u64),
}

impl Key {
    /// The key of a dereferenced term of `store`.
    #[inline]
    pub(crate) fn of(store: &Store, term: Term) -> Key {
        match term.tag() {
            Tag::Ref | Tag::Att => Key::Any,
            Tag::Lis => Key::List,
            Tag::Box => Key::Boxed,
            Tag::Str => Key::Word(store.cells[term.address()].0),
            Tag::Atm | Tag::Int | Tag::Hdr => Key::Word(term.0),
        }
    }

    /// Whether terms with these keys may unify.
    #[inline]
    pub(crate) fn may_match(self, other: Key) -> bool {
        self == Key::Any || other == Key::Any || self == other
    }
}

/// Up to this many distinct keys are searched one by one.
const LINEAR: usize = 4;
/// Only the first few arguments are worth an index.
const INDEXED_ARGUMENTS: usize = 4;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
enum Table {
    Few(Vec<(u64, Range<u32>)>),
    Many(FxHashMap<u64, Range<u32>>),
}

/// Clause lists by the kind and value of one argument.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ArgumentIndex {
    pub(crate) argument: u8,
    list: Range<u32>,
    boxed: Range<u32>,
    /// Clauses with a variable there: all that match a value no clause mentions.
    other: Range<u32>,
    table: Table,
}

impl ArgumentIndex {
    /// The clauses that may match a bound argument.
    #[inline]
    pub(crate) fn candidates(&self, store: &Store, term: Term) -> Range<u32> {
        let word = match term.tag() {
            Tag::Lis => return self.list.clone(),
            Tag::Box => return self.boxed.clone(),
            Tag::Str => store.cells[term.address()].0,
            _ => term.0,
        };
        self.for_word(word)
    }

    /// The clauses that may match an atom, a small integer or a structure's header.
    #[inline]
    pub(crate) fn for_word(&self, word: u64) -> Range<u32> {
        let found = match &self.table {
            Table::Few(rows) => rows.iter().find(|(key, _)| *key == word).map(|(_, range)| range),
            Table::Many(map) => map.get(&word),
        };
        found.unwrap_or(&self.other).clone()
    }

    /// The clauses that may match a list.
    pub(crate) fn for_list(&self) -> Range<u32> {
        self.list.clone()
    }
}

/// Builds the indexes of a predicate from the keys of its clauses (one row of keys per clause).
pub(crate) fn build(clauses: &[(Label, Vec<Key>)], lists: &mut Vec<Label>) -> Vec<ArgumentIndex> {
    if clauses.len() < 2 {
        return Vec::new();
    }
    let arity = clauses[0].1.len().min(INDEXED_ARGUMENTS);
    (0..arity)
        .filter(|&argument| worth_indexing(clauses, argument))
        .map(|argument| build_one(clauses, argument, lists))
        .collect()
}

/// Each clause with a variable is in every bucket: many of both would cost the square.
fn worth_indexing(clauses: &[(Label, Vec<Key>)], argument: usize) -> bool {
    let variables = clauses.iter().filter(|(_, keys)| keys[argument] == Key::Any).count();
    let bound = clauses.len() - variables;
    bound > 0 && variables * bound <= 4 * clauses.len() + 1024
}

fn build_one(clauses: &[(Label, Vec<Key>)], argument: usize, lists: &mut Vec<Label>) -> ArgumentIndex {
    let mut matching = |key: Option<Key>| {
        let start = lists.len() as u32;
        let fits = |own: Key| own == Key::Any || Some(own) == key;
        lists.extend(clauses.iter().filter(|(_, keys)| fits(keys[argument])).map(|(label, _)| *label));
        start..lists.len() as u32
    };
    let list = matching(Some(Key::List));
    let boxed = matching(Some(Key::Boxed));
    let other = matching(None);
    let mut words: Vec<u64> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for (_, keys) in clauses {
        if let Key::Word(word) = keys[argument]
            && seen.insert(word)
        {
            words.push(word);
        }
    }
    let table = if words.len() <= LINEAR {
        Table::Few(words.iter().map(|&word| (word, matching(Some(Key::Word(word))))).collect())
    } else {
        Table::Many(build_many(clauses, argument, lists))
    };
    ArgumentIndex { argument: argument as u8, list, boxed, other, table }
}

/// One pass over the clauses instead of one per key: fact tables may be large.
fn build_many(clauses: &[(Label, Vec<Key>)], argument: usize, lists: &mut Vec<Label>) -> FxHashMap<u64, Range<u32>> {
    let mut variables: Vec<Label> = Vec::new();
    let mut buckets: FxHashMap<u64, Vec<Label>> = FxHashMap::default();
    let mut order: Vec<u64> = Vec::new();
    for (label, keys) in clauses {
        match keys[argument] {
            Key::Any => {
                variables.push(*label);
                buckets.values_mut().for_each(|bucket| bucket.push(*label));
            }
            Key::Word(word) => buckets
                .entry(word)
                .or_insert_with(|| {
                    order.push(word);
                    variables.clone()
                })
                .push(*label),
            Key::List | Key::Boxed => {}
        }
    }
    order
        .into_iter()
        .map(|word| {
            let start = lists.len() as u32;
            lists.extend_from_slice(&buckets[&word]);
            (word, start..lists.len() as u32)
        })
        .collect()
}
