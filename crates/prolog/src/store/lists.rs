//! List traversal.

use super::Store;
use crate::term::{Tag, Term};

/// How a list ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListEnd {
    /// In `[]`: a proper list.
    Nil,
    /// In an unbound variable: a partial list.
    Variable(Term),
    /// In any other term, or never (a cyclic list).
    Other(Term),
}

impl Store {
    /// A proper list of existing terms.
    pub(crate) fn list_of(&mut self, items: impl Iterator<Item = Term>) -> Term {
        let start = self.cells.len();
        for item in items {
            self.cells.push(item);
            let next = Term::list(self.cells.len() + 1);
            self.cells.push(next);
        }
        if self.cells.len() == start {
            return Term::NIL;
        }
        let last = self.cells.len() - 1;
        self.cells[last] = Term::NIL;
        Term::list(start)
    }

    /// The number of list cells from `list` on, and how the list ends. For a cyclic list, the number of steps until the
    /// cycle was found.
    pub(crate) fn skip_list(&mut self, list: Term) -> (usize, ListEnd) {
        let (length, end) = self.follow_list(list);
        self.meter.walk(length as u64);
        (length, end)
    }

    fn follow_list(&self, list: Term) -> (usize, ListEnd) {
        // Brent's cycle detection: the tortoise jumps to the hare at powers of two.
        let mut length = 0;
        let mut hare = self.deref(list);
        let mut tortoise = hare;
        let mut jump_at = 16;
        while hare.has_tag(Tag::Lis) {
            length += 1;
            hare = self.deref(self.cells[hare.address() + 1]);
            if hare == tortoise && hare.has_tag(Tag::Lis) {
                return (length, ListEnd::Other(hare));
            }
            if length == jump_at {
                tortoise = hare;
                jump_at *= 2;
            }
        }
        let end = match hare {
            Term::NIL => ListEnd::Nil,
            end if end.is_variable() => ListEnd::Variable(end),
            end => ListEnd::Other(end),
        };
        (length, end)
    }

    /// Appends the elements of a list to `items` and returns how the list ends. If the budget has no room for them,
    /// appends nothing and marks the budget as exhausted.
    pub(crate) fn list_items(&mut self, list: Term, items: &mut Vec<Term>) -> ListEnd {
        let (length, end) = self.skip_list(list);
        if self.reserve(length).is_err() || !self.meter.walk(length as u64) {
            return end;
        }
        items.reserve(length);
        let mut rest = self.deref(list);
        for _ in 0..length {
            let address = rest.address();
            items.push(self.deref(self.cells[address]));
            rest = self.deref(self.cells[address + 1]);
        }
        end
    }
}
