//! The machine that runs compiled programs.
//!
//! Registers and stacks live here; terms live in the [`Store`](crate::store::Store). Start at [`Machine::run`](run): it
//! executes instructions until the query succeeds, fails, or stops for another reason.
//!
//! An *environment* is a range of words in `environments`. The first word contains the address of the previous
//! environment and the number of slots, the second the return address. The slots follow. Environments are reclaimed on
//! return unless a choice point is newer.

mod calls;
mod choices;
mod cleanup;
mod exceptions;
mod flow;
mod garbage;
mod inline;
mod liveness;
mod memory;
mod parts;
mod relations;
mod run;
mod wake;

use crate::allowance::Allowance;
use crate::core::{Core, Globals};
use crate::engine::Engine;
use crate::instruction::{Label, STOP};
use crate::interrupt::Interrupt;
use crate::meter::Budget;
use crate::output::Sink;
use crate::program::Program;
use crate::stored::StoredTerm;
use crate::symbols::Scope;
use crate::term::Term;
use choices::{Choice, ChoiceKind};
use garbage::Pace;
pub use garbage::collect_eagerly;
use memory::Longest;
pub(crate) use run::{Entry, prelude};
use std::sync::Arc;

/// The number of header words of an environment.
const FRAME: usize = 2;
/// The initial number of words of the environment stack.
const FIRST_ENVIRONMENTS: usize = 1024;
/// The number of spare words that the environment stack gets when it grows.
const ENVIRONMENTS_STEP: usize = 1024;
/// The number of cells at the bottom of the store for variables of `b_setval/2`. A query that sets more variables gets
/// a resource error.
pub(crate) const GLOBAL_CELLS: usize = 16;
/// The address of the cell with the pending cleanups: see [`cleanup`].
pub(crate) const CLEANUPS: usize = GLOBAL_CELLS;

/// Why a run ended.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stopped {
    Answer,
    NoMore,
    Uncaught(Box<StoredTerm>),
    Exhausted(crate::meter::Resource),
    Halted(i32),
}

/// Memory for running queries, reused from one query to the next; keep one per thread.
pub struct Machine {
    pub(crate) core: Core,
    x: [Term; 256],
    environments: Vec<Term>,
    environment: usize,
    /// The return address of the running clause.
    continuation: Label,
    /// The height of the choice stack when the running predicate was called: a cut returns to it.
    barrier: usize,
    choices: Vec<Choice>,
    saved: Vec<Term>,
    /// The cells at which to continue after nested compounds, each with the mode (true in write mode).
    parts: Vec<(usize, bool)>,
    /// The arguments of a goal that the host called by name, or the variables of a goal given as text.
    pub(crate) arguments: Vec<Term>,
    longest: Longest,
    pace: Pace,
    /// Whether an auxiliary goal is running instead of the query. No garbage is collected then, because that would move
    /// terms to which the code that builds the answer refers.
    pub(crate) aside: bool,
}

impl Machine {
    /// A machine for programs of `engine`.
    pub fn new(engine: &Engine) -> Machine {
        Machine::with_scope(engine, Scope::Local)
    }

    /// A machine for directives and sessions. Its atoms outlive its queries, because asserted clauses remain in the
    /// program.
    pub(crate) fn for_loading(engine: &Engine) -> Machine {
        Machine::with_scope(engine, Scope::Shared)
    }

    fn with_scope(engine: &Engine, scope: Scope) -> Machine {
        let program = Arc::clone(engine.library());
        Machine {
            core: Core::new(program, scope),
            x: [Term::NIL; 256],
            environments: Vec::new(),
            environment: 0,
            continuation: STOP,
            barrier: 0,
            choices: Vec::new(),
            saved: Vec::new(),
            parts: Vec::new(),
            arguments: Vec::new(),
            longest: Longest::default(),
            pace: Pace::default(),
            aside: false,
        }
    }

    /// Clears the previous query and prepares for a query on `program`.
    pub(crate) fn reset(&mut self, program: &Arc<Program>, budget: &Budget) {
        let core = &mut self.core;
        core.store.reset();
        core.store.meter.start(budget);
        core.atoms.reset();
        core.flags = program.flags;
        if !Arc::ptr_eq(&core.program, program) {
            core.program = Arc::clone(program);
        }
        core.operators.clone_from(&program.operators);
        core.output.reset();
        core.database.reset(program);
        if !core.globals.variables.is_empty() {
            core.globals = Globals::default();
        }
        core.collectors.reset();
        for _ in 0..GLOBAL_CELLS {
            core.store.variable();
        }
        core.store.cells.push(Term::NIL);
        self.saved.clear();
        self.choices.clear();
        self.give_back_large();
        if self.environments.len() < FIRST_ENVIRONMENTS {
            self.environments.resize(FIRST_ENVIRONMENTS, Term(0));
        }
        self.environments[..FRAME].fill(Term(0));
        self.environment = 0;
        self.continuation = STOP;
        self.parts.clear();
        self.arguments.clear();
        self.barrier = 0;
        self.pace = Pace::start(self.core.store.meter.cell_limit, self.core.store.meter.trail_limit);
        self.core.store.meter.check_every_inference(self.pace.is_eager());
    }

    /// Sets the sink for the output of the following queries; `None` drops the output.
    pub fn set_sink(&mut self, sink: Option<Box<dyn Sink>>) {
        self.core.output.set_sink(sink);
    }

    /// Removes the sink and returns it; `None` if there was none.
    pub fn take_sink(&mut self) -> Option<Box<dyn Sink>> {
        self.core.output.set_sink(None)
    }

    /// Lets the host stop the following queries through `interrupt`; `None` removes it.
    pub fn set_interrupt(&mut self, interrupt: Option<Interrupt>) {
        self.core.store.meter.host_interrupt = interrupt;
    }

    /// Sets a limit on inferences that the following queries share with every other user of the allowance; `None`
    /// removes the limit.
    pub fn set_allowance(&mut self, allowance: Option<Allowance>) {
        self.core.store.meter.allowance = allowance;
    }

    /// The address of the first slot of the current environment.
    #[inline(always)]
    fn slots(&self) -> usize {
        self.environment + FRAME
    }

    #[inline(always)]
    fn slot(&self, y: u16) -> Term {
        self.environments[self.environment + FRAME + y as usize]
    }

    #[inline(always)]
    fn set_slot(&mut self, y: u16, term: Term) {
        let index = self.environment + FRAME + y as usize;
        self.environments[index] = term;
    }

    /// One past the last word of the environment stack that is in use.
    #[inline(always)]
    fn environments_top(&self) -> usize {
        let size = (self.environments[self.environment].0 >> 32) as usize;
        let top = self.environment + FRAME + size;
        match self.choices.last() {
            Some(choice) => top.max(choice.environments_top as usize),
            None => top,
        }
    }

    /// Pushes a new environment.
    #[inline]
    fn allocate(&mut self, slots: usize) {
        let top = self.environments_top();
        let needed = top + FRAME + slots;
        if self.environments.len() < needed {
            self.grow_environments(needed);
        }
        self.environments[top] = Term(self.environment as u64 | (slots as u64) << 32);
        self.environments[top + 1] = Term(u64::from(self.continuation));
        self.environment = top;
    }

    #[cold]
    fn grow_environments(&mut self, needed: usize) {
        if needed > self.core.store.meter.cell_limit {
            self.core.store.meter.exhaust(crate::meter::Resource::HeapBytes);
        }
        self.core.store.grow_within_budget(&mut self.environments);
        self.environments.resize(needed + ENVIRONMENTS_STEP, Term(0));
    }

    /// Returns to the previous environment. Counts the exit, because it takes time although it is not a call.
    #[inline(always)]
    fn deallocate(&mut self) {
        self.core.store.meter.exits += 1;
        self.continuation = self.environments[self.environment + 1].0 as Label;
        self.environment = (self.environments[self.environment].0 & 0xffff_ffff) as usize;
    }

    /// The environment before the one at `environment`.
    fn previous_environment(&self, environment: usize) -> usize {
        (self.environments[environment].0 & 0xffff_ffff) as usize
    }

    /// Prepares a run that solves `goal`, a term of the store.
    pub(crate) fn start(&mut self, goal: Term) {
        self.push_choice(ChoiceKind::Bottom, 0, 0, 0);
        self.x[0] = goal;
        self.continuation = STOP;
    }
}

impl Machine {
    /// Whether backtracking may find another answer.
    pub(crate) fn has_alternatives(&self) -> bool {
        self.choices
            .iter()
            .any(|choice| !matches!(choice.kind, ChoiceKind::Bottom | ChoiceKind::Catch | ChoiceKind::Dead))
    }

    /// The number of open choice points.
    pub(crate) fn choice_height(&self) -> usize {
        self.choices.len()
    }

    /// Undoes everything since the choice point at `height` was created, and drops it and all newer ones.
    pub(crate) fn return_to(&mut self, height: usize) {
        if let Some(&choice) = self.choices.get(height) {
            self.restore(&choice);
            self.cut_to(height);
        }
    }
}
