//! Indexes of the rows of a table, one for each column that is searched.

use crate::term::Term;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The end of a chain of rows.
const END: u32 = u32::MAX;

/// The indexes of a table. Building one takes time in proportion to the rows, as filling the table did, so it is not
/// charged to the query that happens to search first.
#[derive(Debug)]
pub(super) struct Indexes {
    columns: Box<[OnceLock<Index>]>,
}

impl Indexes {
    pub(super) fn new(columns: usize) -> Indexes {
        Indexes { columns: (0..columns).map(|_| OnceLock::new()).collect() }
    }

    /// The index of a column; `words` are the words in it, row by row.
    pub(super) fn of<'t, W: Iterator<Item = &'t Term>>(&self, column: u8, words: impl FnOnce() -> W) -> &Index {
        self.columns[column as usize].get_or_init(|| Index::new(words()))
    }
}

/// The rows with the same word in a column form a chain, in order.
#[derive(Debug, Default)]
pub(super) struct Index {
    chains: FxHashMap<u64, Chain>,
    next: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
    count: u32,
}

impl Index {
    fn new<'t>(words: impl Iterator<Item = &'t Term>) -> Index {
        let mut index = Index::default();
        for (row, word) in words.enumerate() {
            let row = row as u32;
            index.next.push(END);
            let chain = index.chains.entry(word.0).or_insert(Chain { first: row, last: row, count: 0 });
            if chain.count > 0 {
                index.next[chain.last as usize] = row;
            }
            chain.last = row;
            chain.count += 1;
        }
        index
    }

    /// The number of rows with this word.
    pub(super) fn count(&self, word: Term) -> u32 {
        self.chains.get(&word.0).map_or(0, |chain| chain.count)
    }

    /// The first row with this word.
    pub(super) fn first(&self, word: Term) -> Option<usize> {
        self.chains.get(&word.0).map(|chain| chain.first as usize)
    }

    /// The next row with the same word as `row`.
    pub(super) fn after(&self, row: usize) -> Option<usize> {
        self.next.get(row).filter(|&&next| next != END).map(|&next| next as usize)
    }
}
