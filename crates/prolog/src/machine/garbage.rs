//! Garbage collection: when it runs, and the roots in the machine's registers and stacks.
//!
//! The machine collects only before a call, where all roots are known: the arguments of the call, the slots that
//! clauses still read (see [`liveness`](super::liveness)), the choice points, and the terms that the query refers to.
//! When it collects depends only on the memory that the query uses and on its budget, so equal queries collect at equal
//! points. A collection takes time proportional to the number of cells, and happens after that number has grown
//! considerably. The charges for creating the cells cover it; only the surviving cells are charged again, as a walk.

use super::choices::{Choice, ChoiceKind};
use super::liveness::{Ending, Liveness};
use super::wake;
use super::{CLEANUPS, FRAME, Machine};
use crate::instruction::{CATCH_EXIT, Instruction, Label, RESUME};
use crate::program::Program;
use crate::store::{Marks, Store};
use crate::term::Term;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first collection is due at this number of cells (8 MiB), or at half of the heap budget if that is less. It is
/// also the minimum growth of the store between two collections, up to half of the heap budget. A policy decision takes
/// a few kilobytes.
const CELLS_MIN: usize = 1 << 20;
/// Like [`CELLS_MIN`], for the trail and its budget.
const TRAIL_MIN: usize = 1 << 18;
/// Between two collections, the store grows by `1 / GROWTH` of its live cells, or by [`CELLS_MIN`] if that is more, but
/// not beyond half of the heap budget.
const GROWTH: usize = 2;
/// Between two collections, the store grows by at least `1 / GROWTH_MIN` of its live cells, even beyond half of the
/// heap budget.
const GROWTH_MIN: usize = 8;

/// Whether machines collect garbage as often as possible.
static EAGER: AtomicBool = AtomicBool::new(false);

/// Makes all machines of this process collect garbage as often as possible, from their next queries on. For tests,
/// which check that answers do not depend on collections.
#[doc(hidden)]
pub fn collect_eagerly() {
    EAGER.store(true, Ordering::Relaxed);
}

/// The schedule of collections of a machine.
#[derive(Clone, Copy, Default)]
pub(super) struct Pace {
    cells: Threshold,
    trail: Threshold,
    is_eager: bool,
    collections: u64,
}

/// The length of the store or the trail at which a collection is due.
#[derive(Clone, Copy, Default)]
struct Threshold {
    /// The length at which to collect.
    at: usize,
    /// The minimum length at which to collect if the heap budget is exceeded.
    soonest: usize,
}

impl Threshold {
    fn start(least: usize, limit: usize) -> Threshold {
        Threshold { at: least.min(limit / 2), soonest: 0 }
    }

    /// The threshold after a collection that left `left` cells or entries.
    fn next(left: usize, least: usize, limit: usize) -> Threshold {
        let soonest = left + left / GROWTH_MIN + 1;
        // Leave half of the budget free for builtins that need much memory at once, unless more is in use.
        let at = (left + (left / GROWTH).max(least)).min((limit / 2).max(soonest));
        Threshold { at, soonest }
    }
}

impl Pace {
    /// The schedule of a query that may use `cells` cells and `trail` trail entries.
    pub(super) fn start(cells: usize, trail: usize) -> Pace {
        let is_eager = EAGER.load(Ordering::Relaxed);
        let least = if is_eager { 0 } else { CELLS_MIN };
        Pace {
            cells: Threshold::start(least, cells),
            trail: Threshold::start(TRAIL_MIN, trail),
            is_eager,
            collections: 0,
        }
    }

    /// Whether the machine collects as often as possible.
    pub(super) fn is_eager(&self) -> bool {
        self.is_eager
    }

    /// Computes the next thresholds after a collection.
    fn collected(&mut self, store: &Store) {
        self.collections += 1;
        let least = if self.is_eager { 0 } else { CELLS_MIN };
        self.cells = Threshold::next(store.cells.len(), least, store.meter.cell_limit);
        if self.is_eager {
            self.cells.at = self.cells.soonest;
        }
        self.trail = Threshold::next(store.trail_length(), TRAIL_MIN, store.meter.trail_limit);
    }
}

/// Marks on the environments.
struct Frames {
    /// The environments whose callers are marked; the bit at the address of each is set.
    visited: Vec<u64>,
    /// The live slots; the bit at the address of each is set.
    slots: Vec<u64>,
    liveness: Liveness,
}

fn insert(bits: &mut [u64], index: usize) -> bool {
    let (word, bit) = (&mut bits[index / 64], 1 << (index % 64));
    let is_new = *word & bit == 0;
    *word |= bit;
    is_new
}

/// A point at which the machine may resume.
#[derive(Clone, Copy)]
struct Point {
    environment: usize,
    label: Label,
    /// The return address of a clause without an environment.
    continuation: Label,
}

impl Machine {
    /// The number of garbage collections of the current or last query.
    #[doc(hidden)]
    pub fn collections(&self) -> u64 {
        self.pace.collections
    }

    /// Whether a garbage collection is due.
    #[cold]
    pub(super) fn wants_collection(&self) -> bool {
        let store = &self.core.store;
        let (cells, trail) = (store.cells.len(), store.trail_length());
        let must = cells >= self.pace.cells.soonest && store.words() > store.meter.cell_limit;
        (cells >= self.pace.cells.at || trail >= self.pace.trail.at || must) && !self.aside
    }

    /// Collects garbage before a call; its arguments are in the first `live` registers.
    #[cold]
    pub(super) fn collect_garbage(&mut self, program: &Program, live: usize) {
        let mut marks = Marks::new(self.core.store.cells.len());
        let words = self.environments.len() / 64 + 1;
        let mut frames = Frames { visited: vec![0; words], slots: vec![0; words], liveness: Liveness::default() };
        self.mark_registers(&mut marks, live);
        let here = Point { environment: self.environment, label: self.continuation, continuation: self.continuation };
        self.mark_frames(program, &mut marks, &mut frames, here);
        let mut trimming = self.core.store.start_trimming();
        for index in (0..self.choices.len()).rev() {
            let choice = self.choices[index];
            self.core.store.trim_trail(&mut marks, &mut trimming, choice.trail as usize);
            self.choices[index].trail = trimming.kept as u32;
            self.mark_choice(program, &mut marks, &mut frames, &choice);
        }
        self.core.store.trim_trail(&mut marks, &mut trimming, 0);
        self.core.store.compact(&mut marks, &trimming);
        self.move_roots(program, &marks, &frames, live, trimming.kept);
        self.pace.collected(&self.core.store);
        // Garbage was charged when it was created. Live cells are charged here, because the fuller the store is, the
        // more often they are visited.
        if !self.pace.is_eager {
            let left = self.core.store.cells.len() + self.core.store.trail_length();
            self.core.store.meter.walk(left as u64);
        }
    }

    fn mark_registers(&self, marks: &mut Marks, live: usize) {
        let store = &self.core.store;
        for cell in 0..=CLEANUPS {
            marks.mark_cell(&store.cells, cell);
        }
        for &term in self.x[..live].iter().chain(&self.arguments).chain(&store.woken) {
            marks.mark(&store.cells, term);
        }
    }

    /// Marks the terms that a choice point needs when it is restored.
    fn mark_choice(&self, program: &Program, marks: &mut Marks, frames: &mut Frames, choice: &Choice) {
        for &term in &self.saved[saved_terms(program, choice)] {
            marks.mark(&self.core.store.cells, term);
        }
        let label = match choice.kind {
            ChoiceKind::Bottom | ChoiceKind::Dead => return,
            ChoiceKind::Clauses | ChoiceKind::Builtin | ChoiceKind::Dynamic | ChoiceKind::Rows => choice.continuation,
            ChoiceKind::Label => choice.next,
            ChoiceKind::InlineRows => choice.end,
            ChoiceKind::Catch => CATCH_EXIT,
        };
        let point = Point { environment: choice.environment as usize, label, continuation: choice.continuation };
        self.mark_frames(program, marks, frames, point);
    }

    /// Marks the slots that are read when the machine resumes at a point, and those of all callers.
    fn mark_frames(&self, program: &Program, marks: &mut Marks, frames: &mut Frames, point: Point) {
        let cells = &self.core.store.cells;
        let mut point = point;
        loop {
            let slots = point.environment + FRAME;
            if point.label == RESUME {
                if !insert(&mut frames.visited, point.environment) {
                    return;
                }
                let at = self.environments[slots].0 as Label;
                let live = self.environments[slots + 1].0 as usize;
                for index in slots + wake::HEADER..slots + wake::HEADER + live {
                    insert(&mut frames.slots, index);
                    marks.mark(cells, self.environments[index]);
                }
                point = Point { label: at, ..self.caller(point.environment) };
                continue;
            }
            let needed = frames.liveness.from(program, point.label);
            for slot in needed.slots() {
                if insert(&mut frames.slots, slots + slot) {
                    marks.mark(cells, self.environments[slots + slot]);
                }
            }
            match needed.ending {
                Ending::Never => return,
                Ending::InEnvironmentOfCaller if point.label == point.continuation => return,
                Ending::InEnvironmentOfCaller => point.label = point.continuation,
                Ending::InItsOwn => {
                    if !insert(&mut frames.visited, point.environment) {
                        return;
                    }
                    point = self.caller(point.environment);
                }
            }
        }
    }

    /// The point to which the clause of an environment returns.
    fn caller(&self, environment: usize) -> Point {
        let continuation = self.environments[environment + 1].0 as Label;
        Point { environment: self.previous_environment(environment), label: continuation, continuation }
    }

    /// Updates all addresses outside of the store. The first `trimmed` entries of the trail have been removed.
    fn move_roots(&mut self, program: &Program, marks: &Marks, frames: &Frames, live: usize, trimmed: usize) {
        let moved = |term: &mut Term| *term = marks.moved(*term);
        self.x[..live].iter_mut().for_each(moved);
        self.arguments.iter_mut().for_each(moved);
        for (index, &word) in frames.slots.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                moved(&mut self.environments[index * 64 + left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
        for index in 0..self.choices.len() {
            let choice = self.choices[index];
            let terms = saved_terms(program, &choice);
            self.saved[terms].iter_mut().for_each(moved);
            let choice = &mut self.choices[index];
            choice.cells = marks.moved_address(choice.cells as usize) as u32;
            choice.trail -= trimmed as u32;
        }
    }
}

/// The range of the terms that a choice point has saved.
fn saved_terms(program: &Program, choice: &Choice) -> std::ops::Range<usize> {
    let start = choice.saved as usize;
    let count = match (choice.kind, program.code.get(choice.end as usize)) {
        (ChoiceKind::InlineRows, Some(Instruction::CallRows { call, .. })) => {
            program.row_calls[*call as usize].wanted.len()
        }
        _ => choice.argument_count as usize,
    };
    start..start + count
}
