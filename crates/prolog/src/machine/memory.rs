//! Memory accounting of the machine's vectors.
//!
//! The budget limits the current lengths of the vectors. But a vector that shrinks keeps the pages that it has touched,
//! so its maximum length determines the memory that the operating system sees. So [`Machine::measure`] also returns the
//! unused pages of the vectors to the system when the sum of the maximum lengths exceeds the budget.

use super::Machine;
use super::choices::Choice;
use crate::store::give_back;
use crate::term::Term;

/// If the vectors of a query exceeded this number of words in total, most of their memory is freed before the next
/// query.
const KEPT_WORDS: usize = 1 << 17;
/// The size of a choice point in words.
const CHOICE_WORDS: usize = size_of::<Choice>() / size_of::<Term>();

/// The maximum length of each vector, in words, since its pages were last returned.
#[derive(Clone, Copy, Default)]
pub(super) struct Longest {
    cells: usize,
    trail: usize,
    environments: usize,
    choices: usize,
    collected: usize,
}

impl Longest {
    fn sum(&self) -> usize {
        self.cells + self.trail + self.environments + self.choices + self.collected
    }
}

impl Machine {
    /// Measures the memory of stacks, atoms, clauses and diverted output for the budget. Returns unused pages to the
    /// system if the vectors may take more than the budget.
    pub(super) fn measure(&mut self) {
        let environments = self.environments_top();
        let choices = self.choices.len() * CHOICE_WORDS + self.saved.len();
        let core = &mut self.core;
        let elsewhere = (core.atoms.local_bytes() + core.database.bytes() + core.output.diverted_bytes()) / 8;
        let store = &mut core.store;
        store.meter.stacks = environments + choices + elsewhere;
        store.grow_within_budget(&mut self.choices);
        store.grow_within_budget(&mut self.saved);
        let cells = store.grow();
        let longest = &mut self.longest;
        longest.cells = longest.cells.max(cells);
        longest.trail = longest.trail.max(store.trail_length());
        longest.environments = longest.environments.max(self.environments.len());
        longest.choices = longest.choices.max(choices);
        longest.collected = longest.collected.max(core.collectors.words());
        if longest.sum() + elsewhere > store.meter.cell_limit {
            self.give_back(environments);
        }
    }

    /// Returns unused pages of vectors to the system; `environments` words of the environments are in use.
    #[cold]
    fn give_back(&mut self, environments: usize) {
        self.environments.truncate(environments);
        give_back(&mut self.environments);
        give_back(&mut self.choices);
        give_back(&mut self.saved);
        self.core.store.give_back();
        self.core.collectors.give_back();
        self.longest = Longest::default();
    }

    /// Called between two queries. Returns the unused pages of all vectors to the system if the sum of their maximum
    /// lengths exceeds [`KEPT_WORDS`].
    pub(super) fn give_back_large(&mut self) {
        if self.longest.sum() > KEPT_WORDS {
            self.give_back(0);
        }
    }
}
