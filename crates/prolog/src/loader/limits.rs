//! Limits on the cost of loading a program.
//!
//! The limits apply to a [`Loader`] as a whole, so that a text cannot exceed them with many directives or files.

use super::Loader;
use crate::meter::{Budget, Resource};
use std::ops::Range;

/// The maximum number of errors reported. At the next one, loading stops, and a final error says so.
pub const ERRORS_MAX: usize = 100;

/// The maximum number of warnings of one topic that are reported. One further warning gives the number of the others.
pub const WARNINGS_MAX: usize = 100;

/// The maximum nesting depth of sources that load sources.
pub const INCLUDE_DEPTH_MAX: usize = 32;

/// The maximum number of files that the sources may load by directives; a file counts each time it is named.
pub const INCLUDE_COUNT_MAX: usize = 1_000;

/// The maximum total size in bytes of the sources that other sources load.
pub const INCLUDE_BYTES_MAX: usize = 64 << 20;

/// The maximum number of clauses linked to run directives, summed over all directives. A directive after new clauses
/// links all clauses before it; each directive also has a small fixed cost.
const LINKED_CLAUSES_MAX: usize = 2_000_000;

/// The fixed cost of a directive, counted in linked clauses: running it may copy the library.
pub(super) const LINK_CLAUSES: usize = 64;

/// The inferences and the memory with which any program may be loaded, even if the budget of its directives is smaller.
const LOADING_INFERENCES: u64 = 10_000_000;
const LOADING_BYTES: usize = 64 << 20;
/// The work of compiling to one instruction, in cells.
const INSTRUCTION_CELLS: usize = 6;
/// The work of reading this many bytes of text is that of one cell.
const BYTES_PER_CELL: usize = 2;

/// The budget for reading and compiling the clauses of a program whose directives have `budget`.
pub(super) fn loading_budget(budget: &Budget) -> Budget {
    Budget {
        inferences: budget.inferences.max(LOADING_INFERENCES),
        heap_bytes: budget.heap_bytes.max(LOADING_BYTES),
        ..Budget::UNLIMITED
    }
}

/// The resources that loading has used so far.
#[derive(Default)]
pub(super) struct Spent {
    /// Inferences of directives.
    inferences: u64,
    /// Inferences of the translation of grammar rules.
    translation: u64,
    /// Bytes that directives wrote.
    output_bytes: usize,
    linked_clauses: usize,
    /// The current nesting depth of sources that load sources.
    depth: usize,
    include_count: usize,
    include_bytes: usize,
}

impl Spent {
    /// The budget of the directives, reduced by the inferences and the output used so far. The other limits, such as
    /// that on memory, apply to each directive and are not reduced.
    pub(super) fn left_of(&self, budget: &Budget) -> Budget {
        Budget {
            inferences: budget.inferences.saturating_sub(self.inferences),
            output_bytes: budget.output_bytes.saturating_sub(self.output_bytes),
            ..*budget
        }
    }

    /// The remaining budget for the translation of grammar rules. It is separate from the budget of directives, so that
    /// grammar rules load even if the host allows no directives.
    pub(super) fn left_of_translation(&self) -> Budget {
        let default = Budget::default();
        Budget { inferences: default.inferences.saturating_sub(self.translation), ..default }
    }

    pub(super) fn add_directive(&mut self, inferences: u64, output_bytes: usize) {
        self.inferences = self.inferences.saturating_add(inferences);
        self.output_bytes = self.output_bytes.saturating_add(output_bytes);
    }

    pub(super) fn add_translation(&mut self, inferences: u64) {
        self.translation = self.translation.saturating_add(inferences);
    }
}

impl Loader {
    /// Whether loading has ended, so that nothing more is read or run.
    pub(super) fn is_over(&self) -> bool {
        self.halted.is_some() || self.is_stopped
    }

    /// Reports an error and ends loading.
    pub(super) fn stop(&mut self, source: usize, span: Range<usize>, message: String, hint: &str) {
        self.error(source, span, message, Some(hint));
        self.is_stopped = true;
    }

    /// Ends loading because a directive exhausted the budget that all directives share or the allowance, or was
    /// interrupted.
    pub(super) fn stop_exhausted(&mut self, resource: Resource, source: usize, span: Range<usize>) {
        let (message, hint) = match resource {
            Resource::OutputBytes => (
                format!("the directives wrote more than {} bytes", self.budget.output_bytes),
                "look for an endless loop, or write less while loading",
            ),
            Resource::Time => ("loading was interrupted in this directive".to_owned(), "load the program again"),
            _ => (
                format!("the directives used up their {} inferences", self.budget.inferences),
                "look for an endless loop, or do less while loading: all directives of a program share one budget",
            ),
        };
        self.stop(source, span, message, hint);
    }

    /// Charges the reading of a text.
    pub(super) fn charge_text(&mut self, bytes: usize) {
        self.store.meter.walk((bytes / BYTES_PER_CELL) as u64);
    }

    /// Charges a clause of this many cells, which is kept in memory.
    pub(super) fn charge_clause(&mut self, cells: usize) {
        self.store.meter.walk(cells as u64);
        self.store.meter.hold(cells);
        if self.store.words() > self.store.meter.cell_limit {
            self.store.meter.exhaust(Resource::HeapBytes);
        }
    }

    /// Charges the compilation of a clause to this many instructions.
    pub(super) fn charge_code(&mut self, instructions: usize) {
        self.store.meter.walk((instructions * INSTRUCTION_CELLS) as u64);
    }

    /// Ends loading if reading and compiling the clauses exhausted its budget.
    pub(super) fn check_charges(&mut self, source: usize, span: &Range<usize>) {
        let Some(resource) = self.store.meter.exhausted() else { return };
        if self.is_over() {
            return;
        }
        let budget = self.store.meter.budget();
        let (message, hint) = match resource {
            Resource::Time => ("loading was interrupted here".to_owned(), "load the program again"),
            Resource::HeapBytes => (
                format!("the clauses need more than {} MiB of memory", budget.heap_bytes >> 20),
                "load fewer clauses, or smaller ones",
            ),
            _ => (
                format!("reading and compiling the clauses used up {} inferences", budget.inferences),
                "load fewer clauses, or smaller ones; directives between clauses have all clauses before them compiled",
            ),
        };
        self.stop(source, span.clone(), message, hint);
    }

    /// Counts the clauses that a directive links. If they exceed the limit, ends loading and returns false.
    pub(super) fn may_link(&mut self, source: usize, span: &Range<usize>, clauses: usize) -> bool {
        self.spent.linked_clauses += clauses + LINK_CLAUSES;
        let is_allowed = self.spent.linked_clauses <= LINKED_CLAUSES_MAX;
        if !is_allowed {
            let message = "too many directives stand between clauses: each has all clauses before it linked".to_owned();
            self.stop(source, span.clone(), message, "move the directives behind the clauses");
        }
        is_allowed
    }

    /// Counts an attempt of a source to load another. If a limit is exceeded, ends loading and returns false.
    pub(super) fn may_include(&mut self, source: usize, span: &Range<usize>) -> bool {
        self.spent.include_count += 1;
        let message = if self.spent.depth >= INCLUDE_DEPTH_MAX {
            format!("files load files more than {INCLUDE_DEPTH_MAX} deep here")
        } else if self.spent.include_count > INCLUDE_COUNT_MAX {
            format!("files load files more than {INCLUDE_COUNT_MAX} times here")
        } else {
            return true;
        };
        self.stop(source, span.clone(), message, "load each file once, from one place");
        false
    }

    /// Reads a source that another source loads. If the total size of such sources exceeds the limit, loading ends.
    pub(super) fn read_included(&mut self, source: usize, span: &Range<usize>, name: &str, text: &str) {
        self.spent.include_bytes = self.spent.include_bytes.saturating_add(text.len());
        if self.spent.include_bytes > INCLUDE_BYTES_MAX {
            let message = format!("the files that files load have more than {} MiB together", INCLUDE_BYTES_MAX >> 20);
            self.stop(source, span.clone(), message, "load each file once, from one place");
            return;
        }
        self.spent.depth += 1;
        let nested = self.add_source(name, text);
        self.read_source(nested);
        self.spent.depth -= 1;
    }
}
