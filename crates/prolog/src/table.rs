//! Facts of a host in the representation that the machine reads fastest.

use crate::compiler::MAX_COLUMNS;
use crate::host::Value;
use crate::store::Store;
use crate::stored::{Attributes, StoredTerm};
use crate::term::{Tag, Term};
use index::Indexes;
use std::sync::OnceLock;

mod index;

/// A table with more rows than this is searched with indexes, which are built when they are first needed.
const SCANNED_MAX: usize = 64;

/// Rows of values. Atoms and small integers are stored as machine words, so that reading them needs no conversion.
///
/// Clearing keeps the memory, so that a host can refill a table without allocating.
#[derive(Debug, Default)]
pub struct Table {
    columns: usize,
    rows: usize,
    words: Vec<Term>,
    /// Values that are neither atoms nor small integers; their words contain an index into this vector.
    others: Vec<Other>,
    /// Items of lists.
    items: Vec<Value<'static>>,
    /// Built when the rows are first searched, and dropped when they change.
    indexes: OnceLock<Indexes>,
}

/// The number of rows that a scan visits in the time of one cell of a walk.
const ROWS_PER_CELL: usize = 8;

/// The result of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Search {
    /// The first row that matches; `None` if there is none.
    pub(crate) row: Option<usize>,
    /// The work of the search, in cells: see [`Meter::walk`](crate::meter::Meter::walk).
    pub(crate) cells: usize,
}

/// A value that does not fit in a word.
#[derive(Clone, Debug)]
enum Other {
    Float(f64),
    /// A list of constants: the range of its items.
    List {
        start: u32,
        end: u32,
    },
    Stored(StoredTerm),
}

impl Clone for Table {
    fn clone(&self) -> Table {
        let mut copy = Table::new(self.columns);
        copy.clone_from(self);
        copy
    }

    /// Copies the rows of another table; reuses the memory.
    fn clone_from(&mut self, other: &Table) {
        self.columns = other.columns;
        self.rows = other.rows;
        self.words.clone_from(&other.words);
        self.others.clone_from(&other.others);
        self.items.clone_from(&other.items);
        self.indexes.take();
    }
}

impl Table {
    /// An empty table with this number of columns.
    pub fn new(columns: usize) -> Table {
        Table { columns, rows: 0, words: Vec::new(), others: Vec::new(), items: Vec::new(), indexes: OnceLock::new() }
    }

    /// Removes all rows but keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        // A host may clear many tables for each query, most of them empty.
        if self.rows > 0 {
            self.clear_rows();
        }
    }

    fn clear_rows(&mut self) {
        self.rows = 0;
        self.words.clear();
        self.others.clear();
        self.items.clear();
        self.indexes.take();
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// Panics if the number of values is not the number of columns.
    pub fn push(&mut self, row: &[Value<'_>]) {
        assert_eq!(row.len(), self.columns, "a row has one value per column");
        for &value in row {
            let word = match value {
                Value::Atom(atom) => Term::atom(atom),
                Value::Integer(value) if Term::fits_small(value) => Term::small(value),
                other => self.keep(other),
            };
            self.words.push(word);
        }
        self.rows += 1;
        if self.indexes.get().is_some() {
            self.indexes.take();
        }
    }

    /// Returns the word for a value that is neither an atom nor a small integer, and stores the value if it does not
    /// fit in a word. Floats and lists of constants need no separate allocation.
    fn keep(&mut self, value: Value<'_>) -> Term {
        let other = match value {
            Value::List([]) => return Term::NIL,
            Value::Float(value) => Other::Float(value),
            Value::List(items) if items.iter().all(|item| constant(*item).is_some()) => {
                let start = self.items.len() as u32;
                self.items.extend(items.iter().filter_map(|&item| constant(item)));
                Other::List { start, end: self.items.len() as u32 }
            }
            other => match stored(other) {
                Some(stored) if stored.root().is_pointer() => {
                    stored.as_float().map_or(Other::Stored(stored), Other::Float)
                }
                Some(stored) => return stored.root(),
                None => return Term::NIL,
            },
        };
        self.others.push(other);
        Term::new(Tag::Hdr, self.others.len() as u64 - 1)
    }

    fn other(&self, word: Term) -> Value<'_> {
        match &self.others[word.address()] {
            Other::Float(value) => Value::Float(*value),
            &Other::List { start, end } => Value::List(&self.items[start as usize..end as usize]),
            Other::Stored(stored) => Value::Term(stored),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The value in a row and column.
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        let word = self.words[row * self.columns + column];
        match word.tag() {
            Tag::Int => Value::Integer(word.small_value()),
            Tag::Hdr => self.other(word),
            _ => Value::Atom(crate::symbols::Atom((word.0 >> 3) as u32)),
        }
    }

    /// Searches for the first row at or after `from` with each of these words in its column; a variable matches
    /// everything.
    #[inline]
    pub(crate) fn find(&self, from: usize, columns: &[u8], words: &[Term]) -> Search {
        if self.rows > SCANNED_MAX {
            return self.find_in_index(from, columns, words);
        }
        let row = self.scan(from, columns, words);
        let scanned = row.map_or(self.rows, |row| row + 1).saturating_sub(from);
        Search { row, cells: scanned / ROWS_PER_CELL }
    }

    #[inline]
    fn scan(&self, from: usize, columns: &[u8], words: &[Term]) -> Option<usize> {
        // A single known column, usually the instance, is by far the most common case.
        if let (&[column], &[word]) = (columns, words) {
            if word.is_variable() {
                return (from < self.rows).then_some(from);
            }
            let mut index = from * self.columns + column as usize;
            for row in from..self.rows {
                if self.words[index] == word {
                    return Some(row);
                }
                index += self.columns;
            }
            return None;
        }
        (from..self.rows).find(|&row| self.matches(row, columns, words))
    }

    #[inline]
    fn matches(&self, row: usize, columns: &[u8], words: &[Term]) -> bool {
        let cells = &self.words[row * self.columns..];
        columns.iter().zip(words).all(|(&column, word)| word.is_variable() || cells[column as usize] == *word)
    }

    /// Like [`Table::find`], with the index of the column whose word is in the fewest rows.
    #[cold]
    fn find_in_index(&self, from: usize, columns: &[u8], words: &[Term]) -> Search {
        let indexes = self.indexes.get_or_init(|| Indexes::new(self.columns));
        let known = columns.iter().zip(words).filter(|(_, word)| !word.is_variable());
        let rarest = known
            .map(|(&column, &word)| {
                let index = indexes.of(column, || self.words.iter().skip(column as usize).step_by(self.columns));
                (index.count(word), index, column, word)
            })
            .min_by_key(|(count, ..)| *count);
        let Some((_, index, column, word)) = rarest else {
            return Search { row: (from < self.rows).then_some(from), cells: 0 };
        };
        // The search usually continues after a row that matched.
        let after = from.checked_sub(1).filter(|&row| self.words[row * self.columns + column as usize] == word);
        let mut next = after.map_or_else(|| index.first(word), |row| index.after(row));
        let mut cells = 0;
        while let Some(row) = next {
            if row >= from && self.matches(row, columns, words) {
                break;
            }
            cells += 1;
            next = index.after(row);
        }
        Search { row: next, cells }
    }

    /// Searches for the first row at or after `from` that has these atoms, integers and floats in their columns.
    pub(crate) fn find_values(&self, from: usize, bound: &[(usize, Value<'_>)]) -> Search {
        let mut columns = [0; MAX_COLUMNS];
        let mut words = [Term::NIL; MAX_COLUMNS];
        let mut count = 0;
        for &(column, value) in bound.iter().take(MAX_COLUMNS) {
            words[count] = match value {
                Value::Atom(atom) => Term::atom(atom),
                Value::Integer(value) if Term::fits_small(value) => Term::small(value),
                _ => continue,
            };
            columns[count] = column as u8;
            count += 1;
        }
        let mut from = from;
        let mut cells = 0;
        loop {
            let found = self.find(from, &columns[..count], &words[..count]);
            cells += found.cells;
            let Some(row) = found.row else { return Search { row: None, cells } };
            if bound.iter().all(|&(column, wanted)| self.value(row, column).equals(wanted)) {
                return Search { row: Some(row), cells };
            }
            from = row + 1;
            cells += 1;
        }
    }

    /// The words of a row.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[Term] {
        &self.words[row * self.columns..(row + 1) * self.columns]
    }

    /// The term for a word of this table.
    #[inline]
    pub(crate) fn resolve(&self, store: &mut Store, word: Term) -> Term {
        if word.has_tag(Tag::Hdr) { store.host_value(self.other(word)) } else { word }
    }
}

/// The value as an owned constant; `None` if it is not a constant.
fn constant(value: Value<'_>) -> Option<Value<'static>> {
    match value {
        Value::Atom(atom) => Some(Value::Atom(atom)),
        Value::Integer(value) => Some(Value::Integer(value)),
        Value::Float(value) => Some(Value::Float(value)),
        Value::List(_) | Value::Compound(..) | Value::Term(_) => None,
    }
}

fn stored(value: Value<'_>) -> Option<StoredTerm> {
    let mut store = Store::default();
    store.meter.start(&crate::meter::Budget::UNLIMITED);
    let term = store.host_value(value);
    store.copy_out(term, Attributes::Drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mario_testing::Random;

    /// A table with this many rows of 3 small integers, which repeat.
    fn table(random: &mut Random, rows: usize) -> Table {
        let mut table = Table::new(3);
        for _ in 0..rows {
            let row = [20, 5, 300].map(|below| Value::Integer(i64::from(random.below(below))));
            table.push(&row);
        }
        table
    }

    #[test]
    fn an_indexed_search_finds_the_rows_that_a_scan_finds() {
        let mut random = Random::new(7);
        for _ in 0..300 {
            let rows = random.below(400);
            let table = table(&mut random, rows);
            let columns: Vec<u8> = (0..3).filter(|_| random.below(2) == 0).collect();
            let words: Vec<Term> = columns.iter().map(|_| Term::small(i64::from(random.below(20)))).collect();
            for from in [0, random.below(rows + 1)] {
                let mut from = from;
                loop {
                    let found = table.find(from, &columns, &words).row;
                    assert_eq!(found, table.scan(from, &columns, &words), "{columns:?} from {from} of {rows}");
                    let Some(row) = found else { break };
                    from = row + 1;
                }
            }
        }
    }

    #[test]
    fn a_changed_table_is_searched_as_it_is() {
        let mut random = Random::new(1);
        let mut table = table(&mut random, 1_000);
        assert_eq!(table.find(0, &[2], &[Term::small(999)]).row, None);
        table.push(&[1, 2, 999].map(Value::Integer));
        assert_eq!(table.find(0, &[2], &[Term::small(999)]).row, Some(1_000));
        let mut copy = Table::new(3);
        copy.clone_from(&table);
        table.clear();
        assert_eq!(table.find(0, &[2], &[Term::small(999)]).row, None);
        assert_eq!(copy.find(0, &[2], &[Term::small(999)]).row, Some(1_000));
    }

    #[test]
    fn a_key_of_a_large_table_is_found_without_a_scan() {
        let mut table = Table::new(2);
        (0..100_000).for_each(|row| table.push(&[Value::Integer(row), Value::Integer(row % 3)]));
        for key in [0, 50_000, 99_999, 100_000] {
            assert_eq!(table.find(0, &[0], &[Term::small(key)]).cells, 0, "{key}");
            assert_eq!(
                table.find(0, &[1, 0], &[Term::small(2), Term::small(key)]).cells,
                usize::from(key % 3 != 2 && key < 100_000)
            );
        }
    }
}
