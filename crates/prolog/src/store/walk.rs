//! Traversals of all subterms of a term.

use super::Store;
use super::memory::CellSet;
use super::room::STRIDE;
use crate::fault::Solved;
use crate::term::{Tag, Term};
use std::ops::ControlFlow;

impl Store {
    /// The range of the cells of a compound's arguments, as start and end; empty for any other term.
    pub(crate) fn argument_range(&self, term: Term) -> (usize, usize) {
        let address = term.address();
        match term.tag() {
            Tag::Lis => (address, address + 2),
            Tag::Str => (address + 1, address + 1 + self.functor_at(address).arity()),
            _ => (0, 0),
        }
    }

    /// Calls `visit` with each subterm, dereferenced, depth first and from the left, until `visit` returns a break.
    /// After [`Store::patience`] steps, a compound whose arguments were visited since then is not entered again. An
    /// error if the budget is exhausted.
    pub(crate) fn visit_subterms(
        &mut self,
        term: Term,
        visit: impl FnMut(&mut Store, Term) -> ControlFlow<()>,
    ) -> Solved<ControlFlow<()>> {
        self.visit_with_patience(term, self.patience(), visit)
    }

    /// Like [`Store::visit_subterms`]; nothing is skipped in the first `patience` steps.
    fn visit_with_patience(
        &mut self,
        term: Term,
        mut patience: usize,
        mut visit: impl FnMut(&mut Store, Term) -> ControlFlow<()>,
    ) -> Solved<ControlFlow<()>> {
        // Arguments still to visit. Nothing is pushed for the last one of a compound, so that a list needs no stack.
        let mut pending: Vec<(usize, usize)> = Vec::new();
        let mut seen: Option<CellSet> = None;
        let mut next = term;
        let mut steps = 0;
        loop {
            steps += 1;
            if steps == STRIDE {
                steps = 0;
                self.visit_on(&mut patience, &mut seen, 2 * pending.len())?;
            }
            let term = self.deref(next);
            if visit(self, term).is_break() {
                self.end_walk(steps);
                return Ok(ControlFlow::Break(()));
            }
            let (mut start, mut end) = self.argument_range(term);
            if start == end || seen.as_mut().is_some_and(|seen| !seen.insert(start)) {
                let Some(range) = pending.pop() else { break };
                (start, end) = range;
            }
            next = self.cells[start];
            if end - start > 1 {
                pending.push((start + 1, end));
            }
        }
        self.end_walk(steps);
        self.charge(0)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Charges a stride of a walk over one term, whose work stack takes `words`; starts to record the visited compounds
    /// when `patience` is used up.
    #[cold]
    fn visit_on(&mut self, patience: &mut usize, seen: &mut Option<CellSet>, words: usize) -> Solved<()> {
        *patience = patience.saturating_sub(STRIDE as usize);
        let remembered = if *patience == 0 { CellSet::words(self.cells.len()) } else { 0 };
        self.may_walk_on(STRIDE, words + remembered);
        self.charge(0)?;
        if *patience == 0 && seen.is_none() {
            *seen = Some(CellSet::new(self.cells.len()));
        }
        Ok(())
    }

    /// The leftmost unbound variable of a term; `None` if the term is ground.
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

    /// Appends those variables of a term that `variables` does not contain yet, each once, in the order of their first
    /// occurrence. On an error, `variables` is unchanged.
    pub(crate) fn term_variables(&mut self, term: Term, variables: &mut Vec<Term>) -> Solved<()> {
        let known = variables.len();
        for &variable in variables.iter() {
            self.mark(variable);
        }
        let walked = self.visit_subterms(term, |store, subterm| {
            if subterm.is_variable() {
                // A full vector doubles its capacity. Meanwhile, the old and the new one need three times the old
                // memory.
                if variables.len() == variables.capacity() && store.reserve(3 * variables.len()).is_err() {
                    return ControlFlow::Break(());
                }
                store.mark(subterm);
                variables.push(subterm);
            }
            ControlFlow::Continue(())
        });
        for &variable in variables.iter() {
            self.unmark(variable);
        }
        let walked = walked.and_then(|_| self.charge(0));
        if walked.is_err() {
            variables.truncate(known);
        }
        walked
    }

    /// Marks an unbound variable by storing a header word, which is not a term, in its cell.
    pub(crate) fn mark(&mut self, variable: Term) {
        self.cells[variable.address()] = Term::new(Tag::Hdr, 0);
    }

    /// Undoes [`Store::mark`].
    pub(crate) fn unmark(&mut self, variable: Term) {
        self.cells[variable.address()] = variable;
    }

    /// Whether a term is a finite tree.
    pub(crate) fn is_acyclic(&mut self, term: Term) -> Solved {
        // A walk that ends without skipping anything proves that the term is acyclic. A walk with as many steps as
        // there are cells may be in a cycle, so a search for cycles replaces it.
        let mut steps_left = self.cells.len();
        let walked = self.visit_with_patience(term, usize::MAX, |_, _| {
            steps_left = steps_left.saturating_sub(1);
            if steps_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if walked.is_continue() { Ok(true) } else { self.has_no_cycle(term) }
    }

    /// Whether a term is a finite tree, by a depth-first search that tracks its path. Each compound is entered once,
    /// regardless of sharing.
    fn has_no_cycle(&mut self, term: Term) -> Solved {
        let mut entered = CellSet::new(self.cells.len());
        let mut finished = CellSet::new(self.cells.len());
        let mut path: Vec<(usize, usize, usize)> = Vec::new();
        let mut next = self.deref(term);
        let mut steps = 0;
        loop {
            steps += 1;
            if steps == STRIDE {
                steps = 0;
                self.may_walk_on(2 * STRIDE, 3 * path.capacity() + 2 * CellSet::words(self.cells.len()));
                self.charge(0)?;
            }
            let (start, end) = self.argument_range(next);
            if start < end {
                if entered.insert(start) {
                    path.push((start, start, end));
                } else if !finished.contains(start) {
                    return Ok(false);
                }
            }
            next = loop {
                let Some((compound, start, end)) = path.last_mut() else {
                    self.end_walk(2 * steps);
                    return Ok(true);
                };
                if start < end {
                    *start += 1;
                    let argument = *start - 1;
                    break self.deref(self.cells[argument]);
                }
                finished.insert(*compound);
                path.pop();
            };
        }
    }
}
