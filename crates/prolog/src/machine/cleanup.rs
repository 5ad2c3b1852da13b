//! Cleanups of `setup_call_cleanup/3` that become due because a cut or a later exception drops the choice points of
//! their goal. If the goal fails, throws, or exits without choice points, the library calls the cleanup.
//!
//! The cell at [`CLEANUPS`] contains a list of `Height-Goal`, newest first. `Goal`, the cleanup, is due when there are
//! fewer than `Height` choice points. Changes to the cell are undone on backtracking.

use super::{CLEANUPS, Machine};
use crate::core::Core;
use crate::meter::CELLS_PER_INFERENCE;
use crate::store::View;
use crate::stored::{Attributes, StoredTerm};
use crate::symbols::atoms;
use crate::term::{Functor, Term};

/// Words of a saved cleanup in addition to its cells.
const SAVED_WORDS: usize = 8;

impl Core {
    /// The height and goal of the newest pending cleanup; `None` if there is none.
    fn newest_cleanup(&self) -> Option<(usize, Term)> {
        self.cleanup_of(self.store.cells[CLEANUPS])
    }

    fn cleanup_of(&self, list: Term) -> Option<(usize, Term)> {
        let View::List(address) = self.store.view(list) else { return None };
        match self.store.view(self.store.cells[address]) {
            View::Compound(functor, pair) if functor == Functor::new(atoms::MINUS, 2) => {
                let View::Small(height) = self.store.view(self.store.cells[pair]) else { return None };
                Some((height as usize, self.store.cells[pair + 1]))
            }
            _ => None,
        }
    }

    /// Adds the cleanup `goal`, which is due when there are fewer than `height` choice points.
    pub(crate) fn open_cleanup(&mut self, height: Term, goal: Term) {
        let pair = self.store.structure(atoms::MINUS, &[height, goal]);
        let older = self.store.cells[CLEANUPS];
        let list = self.store.cons(pair, older);
        self.store.assign(CLEANUPS, list);
    }

    /// Removes the newest cleanup.
    pub(crate) fn close_cleanup(&mut self) {
        if let View::List(address) = self.store.view(self.store.cells[CLEANUPS]) {
            let older = self.store.cells[address + 1];
            self.store.assign(CLEANUPS, older);
        }
    }
}

impl Machine {
    /// Called after a cut to `height`. Wakes the cleanups of goals whose choice points were dropped; returns whether
    /// there were any.
    #[cold]
    pub(super) fn wake_cleanups(&mut self, height: usize) -> bool {
        let mut woken = false;
        while let Some((_, goal)) = self.core.newest_cleanup().filter(|(other, _)| *other > height) {
            self.core.close_cleanup();
            let goals = self.core.store.list(&[goal], Term::NIL);
            self.core.store.woken.push(goals);
            self.core.store.meter.interrupt();
            woken = true;
        }
        woken
    }

    /// Copies the cleanups, with their heights, out of the store before an exception restores an earlier state. Stops
    /// early if the budget is exhausted.
    pub(super) fn save_cleanups(&mut self) -> Vec<(usize, StoredTerm)> {
        let mut saved = Vec::new();
        let mut words = 0;
        let mut list = self.core.store.cells[CLEANUPS];
        while let Some((height, goal)) = self.core.cleanup_of(list)
            && self.core.store.meter.walk(CELLS_PER_INFERENCE)
        {
            let Some(stored) = self.core.store.copy_out(goal, Attributes::Drop) else { break };
            words += stored.cells().len() + SAVED_WORDS;
            if self.core.store.reserve(words).is_err() {
                break;
            }
            saved.push((height, stored));
            let View::List(address) = self.core.store.view(list) else { break };
            list = self.core.store.cells[address + 1];
        }
        saved
    }

    /// The goal to call after an exception: the cleanups that are due now, whose exceptions are ignored, then `goal`.
    pub(super) fn after_cleanups(&mut self, saved: &[(usize, StoredTerm)], goal: Term) -> Term {
        let height = self.choices.len();
        let mut goal = goal;
        let quietly = self.core.atoms.internal("$cleanup_quietly");
        for (_, stored) in saved.iter().rev().filter(|(other, _)| *other > height) {
            let Ok(cleanup) = self.core.store.paste_within_budget(stored) else { break };
            let quiet = self.core.store.structure(quietly, &[cleanup]);
            goal = self.core.store.structure(atoms::COMMA, &[quiet, goal]);
        }
        goal
    }
}
