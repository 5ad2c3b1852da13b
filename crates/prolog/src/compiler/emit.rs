//! Writes the instructions of one clause.

use super::goals::{CompileError, Goal, Level, Scope};
use super::registers::Registers;
use super::variables::{Analysis, VariableId};
use crate::instruction::{FAIL, Instruction, Label};
use crate::store::Store;
use crate::term::{Functor, Term};
use state::State;

mod charging;
mod control;
mod goals;
mod state;
mod terms;

pub(super) use terms::Operand;

/// Whether a goal is the last one of its clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Last,
    Inner,
}

pub(super) struct Emitter<'a> {
    pub(super) store: &'a Store,
    pub(super) scope: &'a mut dyn Scope,
    analysis: Analysis,
    code: &'a mut Vec<Instruction>,
    state: State,
    /// The number of occurrences of each variable that are not written yet.
    remaining: Vec<usize>,
    slots: Vec<Option<u16>>,
    level_slots: Vec<Option<u16>>,
    neck_slot: Option<u16>,
    slot_count: usize,
    environment: Option<usize>,
    /// Whether the argument registers of a call are being loaded, so that they must not be used otherwise.
    loading: bool,
    /// Instructions before this position are charged: see [`charging`].
    charged: usize,
}

type Written<T = ()> = Result<T, CompileError>;

impl<'a> Emitter<'a> {
    pub(super) fn new(
        store: &'a Store,
        scope: &'a mut dyn Scope,
        analysis: Analysis,
        levels: usize,
        code: &'a mut Vec<Instruction>,
    ) -> Emitter<'a> {
        let count = analysis.variables.len();
        let state = State::new(count, Registers::new(analysis.max_arguments));
        let charged = code.len();
        let remaining = analysis.variables.iter().map(|variable| variable.occurrences).collect();
        Emitter {
            store,
            scope,
            analysis,
            code,
            state,
            remaining,
            slots: vec![None; count],
            level_slots: vec![None; levels],
            neck_slot: None,
            slot_count: 0,
            environment: None,
            loading: false,
            charged,
        }
    }

    /// Writes a whole clause.
    pub(super) fn clause(mut self, head: &[Term], body: &Goal) -> Written {
        let permanent = self.analysis.variables.iter().any(|variable| variable.permanent && variable.occurrences > 1);
        if permanent || self.analysis.returns || self.analysis.late_cut || needs_slots(body) {
            self.environment = Some(self.code.len());
            self.code.push(Instruction::Allocate { slots: 0 });
        }
        if self.analysis.late_cut {
            let y = self.new_slot()?;
            self.neck_slot = Some(y);
            self.code.push(Instruction::SaveNeck { y });
        }
        self.charge_large(self.size_of(head));
        self.head(head)?;
        self.goal(body, Place::Last)?;
        if let Some(position) = self.environment {
            self.code[position] = Instruction::Allocate { slots: self.slot_count as u16 };
        }
        Ok(())
    }

    fn new_slot(&mut self) -> Written<u16> {
        let slot = u16::try_from(self.slot_count).map_err(|_| CompileError::TooLarge)?;
        self.slot_count += 1;
        Ok(slot)
    }

    fn level_slot(&mut self, level: usize) -> Written<u16> {
        if let Some(slot) = self.level_slots[level] {
            return Ok(slot);
        }
        let slot = self.new_slot()?;
        self.level_slots[level] = Some(slot);
        Ok(slot)
    }

    fn label(&self) -> Label {
        self.code.len() as Label
    }

    /// Sets the target of the jump at `position` to the current position.
    fn patch(&mut self, position: usize) {
        let here = self.label();
        match &mut self.code[position] {
            Instruction::TryElse { otherwise }
            | Instruction::RetryElse { otherwise }
            | Instruction::Jump { to: otherwise }
            | Instruction::Test { otherwise, .. }
            | Instruction::CompareTerms { otherwise, .. }
            | Instruction::CompareNumbers { otherwise, .. }
            | Instruction::CompareWithSmall { otherwise, .. }
            | Instruction::TestNoRows { otherwise, .. } => *otherwise = here,
            other => unreachable!("{other:?} has no label"),
        }
    }

    /// Writes the return to the caller of the clause.
    fn finish(&mut self) {
        if self.environment.is_some() {
            self.code.push(Instruction::Deallocate);
        }
        self.code.push(Instruction::Proceed);
    }

    fn finish_if_last(&mut self, place: Place) {
        if place == Place::Last {
            self.finish();
        }
    }

    /// Frees all registers and forgets which variables live in them, because a call or a branch may overwrite them.
    fn forget_registers(&mut self) {
        self.state.forget_registers();
    }

    fn goal(&mut self, goal: &Goal, place: Place) -> Written {
        self.charge(goal);
        match goal {
            Goal::Conjunction(goals) => {
                let Some((last, rest)) = goals.split_last() else {
                    self.finish_if_last(place);
                    return Ok(());
                };
                for goal in rest {
                    self.goal(goal, Place::Inner)?;
                }
                return self.goal(last, place);
            }
            Goal::Call(predicate, arguments) => {
                self.load_arguments(arguments)?;
                self.call(*predicate, place);
                return Ok(());
            }
            Goal::Body(term, level) => return self.body(*term, *level, place),
            Goal::Disjunction(alternatives) => return self.disjunction(goal, alternatives, place),
            Goal::IfThenElse(condition, then, otherwise, _) if condition.is_simple_test() => {
                return self.simple_if(goal, condition, then, otherwise, place);
            }
            Goal::IfThenElse(condition, then, otherwise, level)
            | Goal::SoftIfThenElse(condition, then, otherwise, level) => {
                return self.if_then_else(goal, condition, then, otherwise, *level, place);
            }
            Goal::Fail => {
                self.code.push(Instruction::Fail);
                return Ok(());
            }
            Goal::True => {}
            Goal::Cut(level) => self.cut(*level)?,
            Goal::Not(inner, level) => self.not(goal, inner, *level)?,
            Goal::Opaque(inner, level) => {
                if inner.cuts_to(Level::Local(*level)) {
                    let y = self.level_slot(*level)?;
                    self.code.push(Instruction::SaveCut { y });
                }
                self.goal(inner, Place::Inner)?;
            }
            Goal::Unify(a, b) => self.unify(*a, *b)?,
            Goal::Test(test, term) => {
                let operand = self.operand(*term)?;
                self.code.push(Instruction::Test { test: *test, x: operand.register, otherwise: FAIL });
                self.release(operand);
            }
            Goal::CompareTerms(comparison, a, b) => {
                let (a, b) = (self.operand(*a)?, self.operand(*b)?);
                self.code.push(Instruction::CompareTerms {
                    comparison: *comparison,
                    a: a.register,
                    b: b.register,
                    otherwise: FAIL,
                });
                self.release(a);
                self.release(b);
            }
            Goal::CompareNumbers(comparison, a, b) => self.compare_numbers(*comparison, *a, *b)?,
            Goal::Is(result, expression) => self.is(*result, *expression)?,
            Goal::Builtin(builtin, arguments) => self.builtin(*builtin, arguments)?,
            Goal::Rows(relation, arguments) => self.rows(*relation, arguments)?,
            Goal::NoRows(relation, arguments) => self.no_rows(*relation, arguments)?,
            Goal::Collect { aggregation, value, goal: inner, result, level } => {
                self.collect(goal, *aggregation, *value, inner, *result, *level)?;
            }
        }
        self.finish_if_last(place);
        Ok(())
    }

    fn call(&mut self, predicate: u32, place: Place) {
        if place == Place::Last {
            if self.environment.is_some() {
                self.code.push(Instruction::Deallocate);
            }
            self.code.push(Instruction::Execute { predicate });
        } else {
            self.code.push(Instruction::Call { predicate });
        }
        self.charged = self.code.len();
        self.forget_registers();
    }

    fn load_arguments(&mut self, arguments: &[Term]) -> Written {
        self.loading = true;
        let loaded = self.call_arguments(arguments);
        self.loading = false;
        loaded
    }

    fn cut(&mut self, level: Level) -> Written {
        let live = self.state.registers.live();
        match (level, self.neck_slot) {
            (Level::Clause, None) => self.code.push(Instruction::NeckCut { live }),
            (Level::Clause, Some(y)) => self.code.push(Instruction::CutTo { y, below: 0, live }),
            (Level::Local(level), _) => {
                let y = self.level_slot(level)?;
                self.code.push(Instruction::CutTo { y, below: 0, live });
            }
        }
        Ok(())
    }

    /// Writes a call of `'$body'(Goal, Barrier)`, which interprets the goal at run time. Cuts in the goal cut to the
    /// barrier, which is in the slot of `level`.
    fn body(&mut self, term: Term, level: Level, place: Place) -> Written {
        let y = match level {
            Level::Clause => self.neck_slot.ok_or(CompileError::TooLarge)?,
            Level::Local(level) => self.level_slot(level)?,
        };
        let name = self.scope.symbols().internal("$body");
        let predicate = self.scope.predicate(Functor::new(name, 2));
        self.load_arguments(&[term])?;
        self.code.push(Instruction::PutValueY { y, x: 1 });
        self.call(predicate, place);
        Ok(())
    }

    fn slot_of(&mut self, id: VariableId) -> Written<u16> {
        if let Some(slot) = self.slots[id] {
            return Ok(slot);
        }
        let slot = self.new_slot()?;
        self.slots[id] = Some(slot);
        Ok(slot)
    }
}

/// Whether the goal contains a construct that saves the choice point height in a slot.
fn needs_slots(goal: &Goal) -> bool {
    match goal {
        Goal::Conjunction(goals) | Goal::Disjunction(goals) => goals.iter().any(needs_slots),
        Goal::IfThenElse(condition, then, otherwise, _) if condition.is_simple_test() => {
            needs_slots(then) || needs_slots(otherwise)
        }
        Goal::IfThenElse(..) | Goal::SoftIfThenElse(..) => true,
        Goal::Not(inner, _) => !inner.is_simple_test(),
        Goal::Opaque(inner, level) => inner.cuts_to(Level::Local(*level)) || needs_slots(inner),
        Goal::Collect { goal, level, .. } => goal.cuts_to(Level::Local(*level)) || needs_slots(goal),
        Goal::Body(..) => true,
        _ => false,
    }
}
