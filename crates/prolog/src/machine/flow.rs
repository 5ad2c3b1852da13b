//! Control flow outside the fast path: failure, exceptions, interrupts.

use super::calls::Flow;
use super::choices::{Choice, ChoiceKind};
use super::exceptions::Culprit;
use super::{Machine, Stopped};
use crate::fault::Raised;
use crate::host::Relations;
use crate::instruction::{FAIL, Instruction, Label};
use crate::meter::Resource;
use crate::program::{Definition, Program};

/// The budgets are checked when an alternative is tried and the number of clause exits and alternatives is a multiple
/// of this.
const EXITS_PER_CHECK: u64 = 1 << 12;

/// The number of choice points that are looked at, before dead clauses are dropped, in the time of one cell of a walk.
const CHOICES_PER_CELL: u64 = 4;

impl Machine {
    /// The label at which to continue after a call; `Err` if the run ends.
    #[inline]
    pub(super) fn follow(&mut self, program: &Program, host: &dyn Relations, flow: Flow) -> Result<Label, Stopped> {
        match flow {
            Flow::Goto(label) => Ok(label),
            Flow::Fail => self.backtrack(program, host),
            Flow::Raise(raised, culprit) => self.raise(program, host, raised, culprit),
        }
    }

    /// Throws an exception, calls the recovery goal of the `catch/3` that catches it, and returns the label at which to
    /// continue; `Err` if nothing catches it or the run is stopped.
    #[cold]
    pub(super) fn raise(
        &mut self,
        program: &Program,
        host: &dyn Relations,
        raised: Raised,
        culprit: Culprit,
    ) -> Result<Label, Stopped> {
        let mut flow = Flow::Raise(raised, culprit);
        loop {
            match flow {
                Flow::Goto(label) => return Ok(label),
                Flow::Fail => return self.backtrack(program, host),
                Flow::Raise(raised, culprit) => {
                    if let Some(resource) = self.core.store.meter.exhausted() {
                        return Err(Stopped::Exhausted(resource));
                    }
                    let ball = self.ball(raised, culprit).map_err(|raised| match raised {
                        Raised::Halted(status) => Stopped::Halted(status),
                        Raised::Exhausted(resource) => Stopped::Exhausted(resource),
                        _ => Stopped::NoMore,
                    })?;
                    if let Err(ball) = self.unwind(ball) {
                        let exhausted = self.core.store.meter.exhausted();
                        return Err(exhausted.map_or(Stopped::Uncaught(ball), Stopped::Exhausted));
                    }
                    let recovery = self.x[0];
                    flow = self.call_term(program, host, recovery);
                }
            }
        }
    }

    /// Backtracks to the newest choice point with an alternative, and returns the label at which to continue; `Err` if
    /// the run ends.
    pub(super) fn backtrack(&mut self, program: &Program, host: &dyn Relations) -> Result<Label, Stopped> {
        loop {
            if let Some(resource) = self.core.store.meter.exhausted() {
                return Err(Stopped::Exhausted(resource));
            }
            let Some(&choice) = self.choices.last() else { return Err(Stopped::NoMore) };
            self.restore(&choice);
            let flow = match choice.kind {
                ChoiceKind::Clauses => {
                    self.count_alternative()?;
                    self.restore_arguments(&choice);
                    let label = program.clause_lists[choice.next as usize];
                    self.barrier = self.choices.len() - 1;
                    if choice.next + 1 == choice.end {
                        self.pop_choice();
                    } else if let Some(choice) = self.choices.last_mut() {
                        choice.next += 1;
                    }
                    return Ok(label);
                }
                ChoiceKind::Label => {
                    self.count_alternative()?;
                    return Ok(choice.next);
                }
                ChoiceKind::Builtin => {
                    self.count_retry()?;
                    self.retry_builtin(program)
                }
                ChoiceKind::Dynamic => {
                    self.count_retry()?;
                    self.retry_dynamic(program, host)
                }
                ChoiceKind::Rows => {
                    self.count_retry()?;
                    let entry = &program.predicates[choice.end as usize];
                    match entry.definition {
                        Definition::Relation(position) => {
                            self.retry_rows(host, position as usize, entry.functor.arity())
                        }
                        _ => Flow::Fail,
                    }
                }
                ChoiceKind::InlineRows => {
                    self.count_retry()?;
                    if self.retry_in_place(program, host, &choice) {
                        return Ok(choice.end + 1);
                    }
                    continue;
                }
                ChoiceKind::Catch | ChoiceKind::Dead => {
                    self.pop_choice();
                    continue;
                }
                ChoiceKind::Bottom => {
                    return Err(Stopped::NoMore);
                }
            };
            match flow {
                Flow::Goto(label) => return Ok(label),
                Flow::Fail => {}
                Flow::Raise(raised, culprit) => return self.raise(program, host, raised, culprit),
            }
        }
    }

    /// A fast path for the most common retry: the next row of a host relation that is enumerated inline. Returns where
    /// to resume, or [`FAIL`] if the general path must be taken.
    pub(super) fn quick_retry(&mut self, program: &Program, host: &dyn Relations) -> Label {
        match self.choices.last() {
            Some(&choice) if choice.kind == ChoiceKind::InlineRows => {
                let meter = &mut self.core.store.meter;
                if meter.inferences + 1 >= meter.attention_at {
                    return FAIL;
                }
                meter.inferences += 1;
                self.restore(&choice);
                if self.retry_in_place(program, host, &choice) { choice.end + 1 } else { FAIL }
            }
            _ => FAIL,
        }
    }

    #[inline]
    fn retry_in_place(&mut self, program: &Program, host: &dyn Relations, choice: &Choice) -> bool {
        let Instruction::CallRows { call, .. } = program.code[choice.end as usize] else { return false };
        self.retry_inline_rows(host, &program.row_calls[call as usize], choice)
    }

    /// Charges an inference for backtracking into a builtin, relation or dynamic predicate: a failure-driven loop must
    /// not be free.
    #[inline]
    pub(super) fn count_retry(&mut self) -> Result<(), Stopped> {
        let meter = &mut self.core.store.meter;
        meter.inferences += 1;
        if meter.inferences >= meter.attention_at {
            self.check_budgets()?;
            if self.core.store.woken.is_empty() && !self.core.database.wants_sweep {
                self.core.store.meter.resume();
            }
        }
        Ok(())
    }

    /// Counts another clause or branch. Trying one is not a call, but takes time: a clause can fail in many branches
    /// without any call.
    #[inline]
    fn count_alternative(&mut self) -> Result<(), Stopped> {
        let meter = &mut self.core.store.meter;
        meter.exits += 1;
        if meter.exits.is_multiple_of(EXITS_PER_CHECK) { self.check_budgets() } else { Ok(()) }
    }

    /// Checks the inferences, the exits, the memory, the trail, the allowance and the host's interrupt. The number of
    /// choice points is checked when one is pushed.
    #[cold]
    fn check_budgets(&mut self) -> Result<(), Stopped> {
        self.measure();
        let store = &mut self.core.store;
        store.meter.charge_chains();
        if store.words() > store.meter.cell_limit {
            store.meter.exhaust(Resource::HeapBytes);
        }
        if store.trail_length() > store.meter.trail_limit {
            store.meter.exhaust(Resource::TrailEntries);
        }
        store.meter.spent().map_or(Ok(()), |resource| Err(Stopped::Exhausted(resource)))
    }

    /// Charges work of a clause that the inference of its call does not cover.
    pub(super) fn charge_clause(&mut self, cells: u32) -> Result<(), Stopped> {
        let meter = &mut self.core.store.meter;
        meter.walk(u64::from(cells));
        meter.exhausted().map_or(Ok(()), |resource| Err(Stopped::Exhausted(resource)))
    }

    /// Like [`Machine::service_interrupts`], before a call whose arguments are in the first `live` registers. Collects
    /// garbage first if it is due.
    #[cold]
    pub(super) fn service_interrupts_before_call(
        &mut self,
        program: &Program,
        host: &dyn Relations,
        at: Label,
        live: usize,
    ) -> Result<Option<Label>, Stopped> {
        if self.wants_collection() {
            self.collect_garbage(program, live);
        }
        self.service_interrupts(program, host, at, live)
    }

    /// Does the work outside the fast path: checks the budgets, sweeps the database, and calls woken goals. Returns the
    /// label at which to continue if woken goals must run before the instruction at `at`; `None` if the machine can
    /// continue with that instruction.
    #[cold]
    pub(super) fn service_interrupts(
        &mut self,
        program: &Program,
        host: &dyn Relations,
        at: Label,
        live: usize,
    ) -> Result<Option<Label>, Stopped> {
        self.check_budgets()?;
        if self.core.database.wants_sweep {
            let open = self.open_generations(program);
            self.core.store.meter.walk(self.choices.len() as u64 / CHOICES_PER_CELL);
            self.core.database.sweep(open);
        }
        if self.core.store.woken.is_empty() {
            self.core.store.meter.resume();
            return Ok(None);
        }
        let functor = self.suspend_for_wake(at, live);
        // A program that often wakes goals might otherwise never reach a call before which garbage is collected.
        if self.wants_collection() {
            self.collect_garbage(program, functor.arity());
        }
        match program.find(functor) {
            Some(predicate) => {
                let flow = self.enter(program, host, predicate);
                self.follow(program, host, flow).map(Some)
            }
            None => Ok(None),
        }
    }
}
