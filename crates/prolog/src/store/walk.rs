//! Walks over all subterms of one term.

use super::Store;
use crate::fault::{Raised, Solved};
use crate::term::{Tag, Term};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// How many subterms are walked between two looks at the budget.
const STRIDE: u64 = 1024;

impl Store {
    /// The cells of a compound's arguments, as start and end; empty for anything else.
    pub(crate) fn argument_range(&self, term: Term) -> (usize, usize) {
        let address = term.address();
        match term.tag() {
            Tag::Lis => (address, address + 2),
            Tag::Str => (address + 1, address + 1 + self.functor_at(address).arity()),
            _ => (0, 0),
        }
    }

    /// Shows each subterm, dereferenced, to `visit`, depth first and from the left, until it breaks.
    pub(crate) fn visit_subterms(
        &mut self,
        term: Term,
        mut visit: impl FnMut(&mut Store, Term) -> ControlFlow<()>,
    ) -> Solved<ControlFlow<()>> {
        // Arguments still to visit; the last one of a compound leaves nothing behind, so that a
        // list takes no space.
        let mut pending: Vec<(usize, usize)> = Vec::new();
        let mut next = term;
        let mut steps = 0;
        loop {
            steps += 1;
            if steps == STRIDE {
                steps = 0;
                self.charge(STRIDE)?;
                self.reserve(2 * pending.len())?;
            }
            let term = self.deref(next);
            if visit(self, term).is_break() {
                self.meter.walk(steps);
                return Ok(ControlFlow::Break(()));
            }
            let (mut start, mut end) = self.argument_range(term);
            if start == end {
                let Some(range) = pending.pop() else { break };
                (start, end) = range;
            }
            next = self.cells[start];
            if end - start > 1 {
                pending.push((start + 1, end));
            }
        }
        self.charge(steps)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Charges a walk over `cells` cells; an error when the budget is spent.
    pub(crate) fn charge(&mut self, cells: u64) -> Solved<()> {
        self.meter.walk(cells);
        match self.meter.exhausted() {
            Some(resource) => Err(Raised::Exhausted(resource)),
            None => Ok(()),
        }
    }

    /// The leftmost unbound variable of a term.
    pub(crate) fn first_variable(&mut self, term: Term) -> Solved<Option<Term>> {
        let mut found = None;
        let _ = self.visit_subterms(term, |_, subterm| {
            if subterm.is_variable() {
                found = Some(subterm);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Whether a term has no unbound variable.
    pub(crate) fn is_ground(&mut self, term: Term) -> Solved {
        if !term.is_pointer() {
            return Ok(true);
        }
        Ok(self.first_variable(term)?.is_none())
    }

    /// Appends the variables of a term to `variables`, each once, in the order in which they are
    /// first seen.
    pub(crate) fn term_variables(&mut self, term: Term, variables: &mut Vec<Term>) -> Solved<()> {
        let known = variables.len();
        for &variable in variables.iter() {
            self.mark(variable);
        }
        let walked = self.visit_subterms(term, |store, subterm| {
            if subterm.is_variable() {
                store.mark(subterm);
                variables.push(subterm);
            }
            ControlFlow::Continue(())
        });
        for &variable in variables.iter() {
            self.unmark(variable);
        }
        if walked.is_err() {
            variables.truncate(known);
        }
        walked.map(|_| ())
    }

    /// Hides an unbound variable: until it is unmarked, references to it lead to a header word,
    /// which is no term.
    pub(crate) fn mark(&mut self, variable: Term) {
        self.cells[variable.address()] = Term::new(Tag::Hdr, 0);
    }

    /// Undoes [`Store::mark`].
    pub(crate) fn unmark(&mut self, variable: Term) {
        self.cells[variable.address()] = variable;
    }

    /// Whether a term is a finite tree. Each compound is entered once, however often it is shared.
    pub(crate) fn is_acyclic(&mut self, term: Term) -> Solved {
        let mut finished: FxHashMap<usize, bool> = FxHashMap::default();
        let mut path: Vec<(usize, usize, usize)> = Vec::new();
        let mut next = self.deref(term);
        let mut steps = 0;
        loop {
            steps += 1;
            if steps == STRIDE {
                steps = 0;
                self.charge(STRIDE)?;
                self.reserve(3 * path.len())?;
            }
            let (start, end) = self.argument_range(next);
            if start < end {
                match finished.get(&next.address()) {
                    None => {
                        finished.insert(next.address(), false);
                        path.push((next.address(), start, end));
                    }
                    Some(false) => return Ok(false),
                    Some(true) => {}
                }
            }
            next = loop {
                let Some((compound, start, end)) = path.last_mut() else {
                    self.charge(steps)?;
                    return Ok(true);
                };
                if start < end {
                    *start += 1;
                    let argument = *start - 1;
                    break self.deref(self.cells[argument]);
                }
                finished.insert(*compound, true);
                path.pop();
            };
        }
    }
}
