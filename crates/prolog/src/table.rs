//! Facts of a host in the form that the machine reads fastest.

use crate::host::Value;
use crate::store::Store;
use crate::stored::{Attributes, StoredTerm};
use crate::term::{Tag, Term};

/// Rows of constants, kept as the machine's own words: going through them costs no conversion.
///
/// Clearing keeps the memory, so a host can fill the same table again and again without allocating.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: usize,
    rows: usize,
    words: Vec<Term>,
    /// Values that are no atoms and no small integers; their words hold the position.
    others: Vec<StoredTerm>,
}

impl Table {
    /// No rows yet.
    pub fn new(columns: usize) -> Table {
        Table { columns, rows: 0, words: Vec::new(), others: Vec::new() }
    }

    /// Forgets all rows; keeps the memory.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.words.clear();
        self.others.clear();
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// If the number of values is not the number of columns.
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

    fn keep(&mut self, value: Value<'_>) -> Term {
        let mut store = Store::default();
        store.meter.start(&crate::meter::Budget::UNLIMITED);
        let term = store.host_value(value);
        match store.copy_out(term, Attributes::Drop) {
            Some(stored) if stored.root().is_pointer() => {
                self.others.push(stored);
                Term::new(Tag::Hdr, self.others.len() as u64 - 1)
            }
            Some(stored) => stored.root(),
            None => Term::NIL,
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The value in one place.
    pub fn value(&self, row: usize, column: usize) -> Value<'_> {
        let word = self.words[row * self.columns + column];
        match word.tag() {
            Tag::Int => Value::Integer(word.small_value()),
            Tag::Hdr => {
                let stored = &self.others[word.address()];
                stored.as_float().map_or(Value::Term(stored), Value::Float)
            }
            _ => Value::Atom(crate::symbols::Atom((word.0 >> 3) as u32)),
        }
    }

    /// The first row at or after `from` with each of these words in its column; a word that is a
    /// variable matches everything.
    #[inline]
    pub(crate) fn find(&self, from: usize, columns: &[u8], words: &[Term]) -> Option<usize> {
        (from..self.rows).find(|row| {
            let cells = &self.words[row * self.columns..];
            columns.iter().zip(words).all(|(&column, word)| word.is_variable() || cells[column as usize] == *word)
        })
    }

    /// The term in one place.
    #[inline]
    pub(crate) fn term(&self, store: &mut Store, row: usize, column: u8) -> Term {
        let word = self.words[row * self.columns + column as usize];
        if word.has_tag(Tag::Hdr) { store.paste(&self.others[word.address()]) } else { word }
    }
}
