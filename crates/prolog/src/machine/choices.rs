//! Choice points: the alternative to try next, and the state to restore.

use super::{CLEANUPS, Machine};
use crate::instruction::Label;
use crate::meter::Resource;
use crate::program::Program;
use crate::term::Term;

/// The alternative of a choice point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ChoiceKind {
    /// The bottom of a query or auxiliary goal: there are no more answers.
    Bottom,
    /// Further clauses: a range of the program's clause lists.
    Clauses,
    /// Another branch of a disjunction or an if-then-else, or the end of a negation or aggregation: a label.
    Label,
    /// A non-deterministic builtin: its predicate. Its state, two words, is saved after the arguments.
    Builtin,
    /// Further clauses of a dynamic predicate: its id. Position and generation are saved after the arguments.
    Dynamic,
    /// Further rows of a host relation that was called as a predicate: the next row, and the predicate.
    Rows,
    /// Further rows of a host relation that is enumerated inline: the next row, and the position of the instruction.
    InlineRows,
    /// The scope of a `catch/3`.
    Catch,
    /// No alternative: a branch abandoned by `*->`.
    Dead,
}

/// One choice point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) kind: ChoiceKind,
    pub(super) argument_count: u8,
    /// Depends on the kind: the next clause or row, the label, or the predicate.
    pub(super) next: u32,
    /// Depends on the kind: the end of the clauses, the predicate of rows, or the position of the instruction.
    pub(super) end: u32,
    pub(super) environment: u32,
    pub(super) environments_top: u32,
    pub(super) continuation: Label,
    pub(super) barrier: u32,
    pub(super) cells: u32,
    pub(super) trail: u32,
    /// The position of its saved arguments or values in the `saved` of the machine.
    pub(super) saved: u32,
}

impl Machine {
    /// Pushes a choice point that saves the first `arguments` registers.
    #[inline]
    pub(super) fn push_choice(&mut self, kind: ChoiceKind, next: u32, end: u32, arguments: usize) {
        if self.choices.len() >= self.core.store.meter.choice_limit {
            self.core.store.meter.exhaust(Resource::ChoicePoints);
        }
        let environments_top = if self.choices.is_empty() { 0 } else { self.environments_top() };
        let store = &mut self.core.store;
        self.choices.push(Choice {
            kind,
            argument_count: arguments as u8,
            next,
            end,
            environment: self.environment as u32,
            environments_top: environments_top as u32,
            continuation: self.continuation,
            barrier: self.barrier as u32,
            cells: store.cells.len() as u32,
            trail: store.trail_length() as u32,
            saved: self.saved.len() as u32,
        });
        store.boundary = store.cells.len();
        self.saved.extend_from_slice(&self.x[..arguments]);
    }

    /// Sets the next alternative of the newest choice point.
    #[inline]
    pub(super) fn set_next(&mut self, next: u32) {
        if let Some(choice) = self.choices.last_mut() {
            choice.next = next;
        }
    }

    /// Drops the newest choice point.
    #[inline]
    pub(super) fn pop_choice(&mut self) {
        if let Some(choice) = self.choices.pop() {
            self.saved.truncate(choice.saved as usize);
            self.reset_boundary();
        }
    }

    /// Updates the boundary below which bindings are trailed: cells older than the newest choice point, and those
    /// protected by `nb_setarg/3`, outlive backtracking.
    #[inline(always)]
    fn reset_boundary(&mut self) {
        let store = &mut self.core.store;
        store.boundary = self.choices.last().map_or(0, |choice| (choice.cells as usize).max(store.frozen));
    }

    /// Drops choice points down to `height`. Returns true if that woke cleanups, which must be called before anything
    /// can fail.
    #[inline]
    pub(super) fn cut_to(&mut self, height: usize) -> bool {
        if self.choices.len() > height {
            self.saved.truncate(self.choices[height].saved as usize);
            self.choices.truncate(height);
            self.reset_boundary();
            return self.core.store.cells[CLEANUPS] != Term::NIL && self.wake_cleanups(height);
        }
        false
    }

    /// Restores the state that the machine had when the choice point was created, except for the argument registers.
    #[inline]
    pub(super) fn restore(&mut self, choice: &Choice) {
        let store = &mut self.core.store;
        store.undo_to(choice.trail as usize);
        store.cells.truncate((choice.cells as usize).max(store.frozen));
        if !store.woken.is_empty() {
            store.woken.clear();
            store.meter.resume();
        }
        // A failed unification may have left entries for nested compounds.
        self.parts.clear();
        self.environment = choice.environment as usize;
        self.continuation = choice.continuation;
        self.barrier = choice.barrier as usize;
    }

    /// Reloads the argument registers that the choice point saved.
    #[inline]
    pub(super) fn restore_arguments(&mut self, choice: &Choice) {
        let start = choice.saved as usize;
        let count = choice.argument_count as usize;
        self.x[..count].copy_from_slice(&self.saved[start..start + count]);
    }

    /// A word that was saved after the arguments of a choice point.
    pub(super) fn saved_word(&self, choice: &Choice, index: usize) -> u64 {
        self.saved[choice.saved as usize + choice.argument_count as usize + index].0
    }

    pub(super) fn set_saved_word(&mut self, choice: &Choice, index: usize, word: u64) {
        self.saved[choice.saved as usize + choice.argument_count as usize + index] = Term(word);
    }

    /// The database generations that open choice points refer to.
    pub(super) fn open_generations(&self, program: &Program) -> Vec<u64> {
        let looks_back = |choice: &Choice| match choice.kind {
            ChoiceKind::Dynamic => true,
            ChoiceKind::Builtin => {
                let name = program.symbols.name(program.predicates[choice.next as usize].functor.name());
                matches!(name, "retract" | "clause")
            }
            _ => false,
        };
        let open = self.choices.iter().filter(|choice| looks_back(choice));
        open.map(|choice| self.saved_word(choice, 1)).collect()
    }
}
