//! Goals on relations provided by the host.

use super::Machine;
use super::calls::Flow;
use super::choices::{Choice, ChoiceKind};
use crate::compiler::MAX_COLUMNS;
use crate::host::{Relation, Relations, Value};
use crate::instruction::PredicateId;
use crate::meter::CELLS_PER_INFERENCE;
use crate::program::{Place, RowCall, Wanted};
use crate::table::{Search, Table};
use crate::term::{Tag, Term};

/// The work of a search that the inference of its goal covers, in cells.
const FREE_CELLS: usize = 2;
/// The work of comparing a row with the variables of a negated goal, in cells.
const ROW_CELLS: u64 = CELLS_PER_INFERENCE;

/// Searches a relation of the host.
fn search(relation: &dyn Relation, from: usize, bound: &[(usize, Value<'_>)]) -> Search {
    if let Some(table) = relation.as_table() {
        return table.find_values(from, bound);
    }
    let row = relation.next_row(from, bound);
    Search { row, cells: relation.rows_visited(from, row) }
}

/// The columns with a required value.
struct Bound {
    values: [(usize, Value<'static>); MAX_COLUMNS],
    count: usize,
}

impl Bound {
    fn new() -> Bound {
        Bound { values: [(0, Value::Integer(0)); MAX_COLUMNS], count: 0 }
    }

    #[inline]
    fn push(&mut self, column: usize, value: Value<'static>) {
        self.values[self.count] = (column, value);
        self.count += 1;
    }

    fn get(&self) -> &[(usize, Value<'static>)] {
        &self.values[..self.count]
    }
}

impl Machine {
    // ---- called as a predicate -------------------------------------------------------------

    pub(super) fn enter_rows(
        &mut self,
        host: &dyn Relations,
        position: usize,
        predicate: PredicateId,
        arity: usize,
    ) -> Flow {
        match host.relation(position) {
            Some(relation) => self.called_row(relation, 0, predicate, arity, None),
            None => Flow::Fail,
        }
    }

    /// Backtracks into the relation of the newest choice point.
    pub(super) fn retry_rows(&mut self, host: &dyn Relations, position: usize, arity: usize) -> Flow {
        let Some(&choice) = self.choices.last() else { return Flow::Fail };
        self.restore_arguments(&choice);
        match host.relation(position) {
            Some(relation) => self.called_row(relation, choice.next as usize, choice.end, arity, Some(choice)),
            None => Flow::Fail,
        }
    }

    fn called_row(
        &mut self,
        relation: &dyn Relation,
        from: usize,
        predicate: PredicateId,
        arity: usize,
        retried: Option<Choice>,
    ) -> Flow {
        let mut bound = Bound::new();
        for column in 0..arity.min(MAX_COLUMNS) {
            let term = self.core.store.deref(self.x[column]);
            if let Some(value) = self.core.store.searchable(term) {
                bound.push(column, value);
            }
        }
        let found = if retried.is_some() { Some(from) } else { self.charged(search(relation, from, bound.get())) };
        let Some(row) = found else { return Flow::Fail };
        // Searching for the next row now avoids leaving a choice point at the last row.
        match (self.charged(search(relation, row + 1, bound.get())), retried) {
            (Some(next), Some(_)) => self.set_next(next as u32),
            (Some(next), None) => self.push_choice(ChoiceKind::Rows, next as u32, predicate, arity),
            (None, Some(_)) => self.pop_choice(),
            (None, None) => {}
        }
        for column in 0..arity {
            let value = self.core.store.host_value(relation.value(row, column));
            if !self.core.store.unify(self.x[column], value) {
                return Flow::Fail;
            }
        }
        Flow::Goto(self.continuation)
    }

    // ---- enumerated inline -----------------------------------------------------------------

    /// Takes the first row that may match; if a later row may match, too, pushes a choice point for the instruction at
    /// `at`. Returns false if no row may match, or if the row taken does not unify with the goal.
    #[inline]
    pub(super) fn first_row(&mut self, host: &dyn Relations, call: &RowCall, at: usize) -> bool {
        let kept = self.saved.len();
        self.save_wanted(call);
        let rows = self.rows_of(host, call, kept);
        let Some(row) = self.find_row(&rows, call, kept, 0) else {
            self.saved.truncate(kept);
            return false;
        };
        let Some(next) = self.find_row(&rows, call, kept, row + 1) else {
            let taken = self.take_row(&rows, call, kept, row);
            self.saved.truncate(kept);
            return taken;
        };
        // The values just saved become part of the choice point.
        self.push_choice(ChoiceKind::InlineRows, next as u32, at as u32, 0);
        if let Some(choice) = self.choices.last_mut() {
            choice.saved = kept as u32;
        }
        self.take_row(&rows, call, kept, row)
    }

    /// Whether the relation has a row that matches the goal. Leaves no bindings.
    #[inline]
    pub(super) fn has_row(&mut self, host: &dyn Relations, call: &RowCall) -> bool {
        let kept = self.saved.len();
        self.save_wanted(call);
        // Two of the variables may be the same, so the row must be unified with all of them at once.
        let rows = if self.saved[kept..].iter().any(|wanted| wanted.is_variable()) {
            host.relation(call.relation as usize).map_or(Rows::None, Rows::Values)
        } else {
            self.rows_of(host, call, kept)
        };
        let mut found = self.find_row(&rows, call, kept, 0);
        if let Rows::Values(relation) = rows {
            // The search compares only atoms, small integers and floats; other values are compared here.
            while let Some(row) = found {
                if self.row_unifies(relation, call, kept, row) || !self.core.store.meter.walk(ROW_CELLS) {
                    break;
                }
                found = self.find_row(&rows, call, kept, row + 1);
            }
        }
        self.saved.truncate(kept);
        found.is_some()
    }

    #[cold]
    fn row_unifies(&mut self, relation: &dyn Relation, call: &RowCall, kept: usize, row: usize) -> bool {
        let wanted = &self.saved[kept..];
        self.core.store.tentatively(|store| {
            call.known.iter().zip(wanted).all(|(&column, &wanted)| {
                let value = store.host_value(relation.value(row, column as usize));
                store.unify(wanted, value)
            })
        })
    }

    /// Pushes the required values of the columns on `saved`.
    #[inline]
    fn save_wanted(&mut self, call: &RowCall) {
        for &wanted in &call.wanted {
            let term = match wanted {
                Wanted::Constant(term) => term,
                Wanted::X(x) => self.core.store.deref(self.x[x as usize]),
                Wanted::Y(y) => self.core.store.deref(self.slot(y)),
            };
            self.saved.push(term);
        }
    }

    /// Takes the next row of the newest choice point, and drops the choice point at the last row. Returns false if the
    /// row does not unify with the goal. The caller has restored the state of the choice point.
    #[inline]
    pub(super) fn retry_inline_rows(&mut self, host: &dyn Relations, call: &RowCall, choice: &Choice) -> bool {
        let (row, kept) = (choice.next as usize, choice.saved as usize);
        let rows = self.rows_of(host, call, kept);
        if let Some(next) = self.find_row(&rows, call, kept, row + 1) {
            self.set_next(next as u32);
            return self.take_row(&rows, call, kept, row);
        }
        let taken = self.take_row(&rows, call, kept, row);
        self.pop_choice();
        taken
    }

    /// The access path to the rows for the values saved from `kept` on.
    #[inline]
    fn rows_of<'h>(&self, host: &'h dyn Relations, call: &RowCall, kept: usize) -> Rows<'h> {
        let is_word = |term: &Term| !matches!(term.tag(), Tag::Box | Tag::Lis | Tag::Str);
        match host.table(call.relation as usize) {
            Some(table) if self.saved[kept..kept + call.known.len()].iter().all(is_word) => Rows::Words(table),
            _ => host.relation(call.relation as usize).map_or(Rows::None, Rows::Values),
        }
    }

    /// The first row at or after `from` that may match: atoms, small integers and floats are compared, other values are
    /// not. `None` if there is none.
    #[inline]
    fn find_row(&mut self, rows: &Rows<'_>, call: &RowCall, kept: usize, from: usize) -> Option<usize> {
        let wanted = &self.saved[kept..kept + call.known.len()];
        let found = match rows {
            Rows::Words(table) => table.find(from, &call.known, wanted),
            Rows::Values(relation) => self.find_value_row(*relation, call, wanted, from),
            Rows::None => return None,
        };
        self.charged(found)
    }

    /// Charges a search, and returns the row found.
    #[inline]
    fn charged(&mut self, found: Search) -> Option<usize> {
        if found.cells > FREE_CELLS {
            self.core.store.meter.walk(found.cells as u64);
        }
        found.row
    }

    #[cold]
    fn find_value_row(&self, relation: &dyn Relation, call: &RowCall, wanted: &[Term], from: usize) -> Search {
        let mut bound = Bound::new();
        for (&column, &term) in call.known.iter().zip(wanted) {
            if let Some(value) = self.core.store.searchable(term) {
                bound.push(column as usize, value);
            }
        }
        search(relation, from, bound.get())
    }

    /// Stores the values of a row in the places of new variables, and unifies other values with the goal; false if that
    /// fails.
    #[inline]
    fn take_row(&mut self, rows: &Rows<'_>, call: &RowCall, kept: usize, row: usize) -> bool {
        let Rows::Words(table) = rows else { return self.take_value_row(rows, call, kept, row) };
        let words = table.row(row);
        for &(column, place) in &call.new {
            let term = table.resolve(&mut self.core.store, words[column as usize]);
            self.put(place, term);
        }
        for (index, &column) in call.known.iter().enumerate() {
            let wanted = self.saved[kept + index];
            // Atoms and small integers were compared during the search.
            if wanted.is_variable() {
                let term = table.resolve(&mut self.core.store, words[column as usize]);
                if !self.core.store.unify(wanted, term) {
                    return false;
                }
            }
        }
        true
    }

    #[cold]
    fn take_value_row(&mut self, rows: &Rows<'_>, call: &RowCall, kept: usize, row: usize) -> bool {
        let Rows::Values(relation) = rows else { return false };
        for &(column, place) in &call.new {
            let term = self.core.store.host_value(relation.value(row, column as usize));
            self.put(place, term);
        }
        call.known.iter().enumerate().all(|(index, &column)| {
            let wanted = self.saved[kept + index];
            let term = self.core.store.host_value(relation.value(row, column as usize));
            self.core.store.unify(wanted, term)
        })
    }

    #[inline(always)]
    fn put(&mut self, place: Place, term: Term) {
        match place {
            Place::X(x) => self.x[x as usize] = term,
            Place::Y(y) => self.set_slot(y, term),
        }
    }
}

/// The rows of a relation, by the fastest access path available.
enum Rows<'h> {
    Words(&'h Table),
    Values(&'h dyn Relation),
    None,
}
