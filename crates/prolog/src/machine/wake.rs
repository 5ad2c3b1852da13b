//! Calls goals woken by a binding or a cut, between two instructions.
//!
//! The live registers are saved in a separate environment; the goals return to an instruction that reloads them and
//! resumes the interrupted code.

use super::{FRAME, Machine};
use crate::instruction::{Label, RESUME};
use crate::symbols::atoms;
use crate::term::{Functor, Term};

/// Slots before the registers: the label to resume at, the number of registers, the cut barrier.
pub(super) const HEADER: usize = 3;

impl Machine {
    /// Saves the first `live` registers and loads the list of woken goals into `X0`; returns the predicate to call. The
    /// machine resumes at `at` afterwards.
    pub(super) fn suspend_for_wake(&mut self, at: Label, live: usize) -> Functor {
        self.allocate(HEADER + live);
        let slots = self.slots();
        self.environments[slots] = Term(u64::from(at));
        self.environments[slots + 1] = Term(live as u64);
        self.environments[slots + 2] = Term(self.barrier as u64);
        self.environments[slots + HEADER..slots + HEADER + live].copy_from_slice(&self.x[..live]);
        let woken = std::mem::take(&mut self.core.store.woken);
        self.x[0] = self.core.store.list(&woken, Term::NIL);
        self.core.store.woken = woken;
        self.core.store.woken.clear();
        self.core.store.meter.resume();
        self.continuation = RESUME;
        Functor::new(atoms::WAKE, 1)
    }

    /// Reloads the registers after the woken goals; returns the label to resume at.
    pub(super) fn resume_after_wake(&mut self) -> Label {
        let slots = self.environment + FRAME;
        let at = self.environments[slots].0 as Label;
        let live = self.environments[slots + 1].0 as usize;
        self.barrier = self.environments[slots + 2].0 as usize;
        self.x[..live].copy_from_slice(&self.environments[slots + HEADER..slots + HEADER + live]);
        self.deallocate();
        at
    }
}
