//! Facts of a host in the representation that the machine reads fastest.

use crate::host::Value;
use crate::store::Store;
use crate::stored::{Attributes, StoredTerm};
use crate::term::{Tag, Term};

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
    }
}

impl Table {
    /// An empty table with this number of columns.
    pub fn new(columns: usize) -> Table {
        Table { columns, rows: 0, words: Vec::new(), others: Vec::new(), items: Vec::new() }
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

    /// The first row at or after `from` with each of these words in its column; a variable matches everything. `None`
    /// if there is no such row.
    #[inline]
    pub(crate) fn find(&self, from: usize, columns: &[u8], words: &[Term]) -> Option<usize> {
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
        (from..self.rows).find(|row| {
            let cells = &self.words[row * self.columns..];
            columns.iter().zip(words).all(|(&column, word)| word.is_variable() || cells[column as usize] == *word)
        })
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
