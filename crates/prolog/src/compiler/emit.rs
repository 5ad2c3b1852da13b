//! Writes the instructions of one clause.

use super::goals::{CompileError, Goal, Level, Scope};
use super::registers::Registers;
use super::variables::{Analysis, VariableId};
use crate::instruction::{Aggregation, FAIL, Instruction, Label};
use crate::store::Store;
use crate::symbols::Atom;
use crate::term::{Functor, Tag, Term};

mod terms;

pub(super) use terms::Operand;

/// Whether anything follows a goal in its clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Last,
    Inner,
}

/// What is known at one point of the clause; branches start from a copy.
#[derive(Clone)]
struct State {
    seen: Vec<bool>,
    location: Vec<Option<u8>>,
    registers: Registers,
}

pub(super) struct Emitter<'a> {
    pub(super) store: &'a Store,
    pub(super) scope: &'a mut dyn Scope,
    analysis: Analysis,
    code: &'a mut Vec<Instruction>,
    state: State,
    /// Occurrences not written yet, by variable.
    remaining: Vec<usize>,
    slots: Vec<Option<u16>>,
    level_slots: Vec<Option<u16>>,
    neck_slot: Option<u16>,
    slot_count: usize,
    environment: Option<usize>,
    /// Argument registers of a call are being loaded: they are not for anything else.
    loading: bool,
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
        let state = State {
            seen: vec![false; count],
            location: vec![None; count],
            registers: Registers::new(analysis.max_arguments),
        };
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

    /// Sets the label of the jump at `position` to here.
    fn patch(&mut self, position: usize) {
        let here = self.label();
        match &mut self.code[position] {
            Instruction::TryElse { otherwise }
            | Instruction::RetryElse { otherwise }
            | Instruction::Jump { to: otherwise }
            | Instruction::Test { otherwise, .. }
            | Instruction::CompareTerms { otherwise, .. }
            | Instruction::CompareNumbers { otherwise, .. }
            | Instruction::CompareWithSmall { otherwise, .. } => *otherwise = here,
            other => unreachable!("{other:?} has no label"),
        }
    }

    /// The clause is done: return to its caller.
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

    /// After a call no register keeps its value.
    fn forget_registers(&mut self) {
        self.state.registers.clear();
        self.state.location.fill(None);
    }

    fn goal(&mut self, goal: &Goal, place: Place) -> Written {
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
            Goal::CutTo(term) => {
                let operand = self.operand(*term)?;
                self.code.push(Instruction::CutToX { x: operand.register });
                self.release(operand);
            }
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

    /// A goal that is interpreted: `'$body'(Goal, Barrier)`.
    fn body(&mut self, term: Term, level: Level, place: Place) -> Written {
        let y = match level {
            Level::Clause => self.neck_slot.ok_or(CompileError::TooLarge)?,
            Level::Local(level) => self.level_slot(level)?,
        };
        let name = self.scope.symbols().intern("$body");
        let predicate = self.scope.predicate(Functor::new(name, 2));
        self.load_arguments(&[term])?;
        self.code.push(Instruction::PutValueY { y, x: 1 });
        self.call(predicate, place);
        Ok(())
    }

    /// Gives slots to variables that a construct mentions first and something later mentions too.
    fn initialize(&mut self, construct: &Goal) -> Written {
        let mut inside = vec![0usize; self.analysis.variables.len()];
        let mut pending: Vec<Term> = Vec::new();
        construct.for_each_term(&mut |term| pending.push(term));
        while let Some(term) = pending.pop() {
            let term = self.store.deref(term);
            match term.tag() {
                Tag::Ref | Tag::Att => inside[self.analysis.ids[&term.address()]] += 1,
                Tag::Lis => pending.extend_from_slice(&self.store.cells[term.address()..term.address() + 2]),
                Tag::Str => {
                    let arity = self.store.functor_at(term.address()).arity();
                    pending.extend_from_slice(&self.store.cells[term.address() + 1..=term.address() + arity]);
                }
                _ => {}
            }
        }
        for (id, count) in inside.into_iter().enumerate() {
            if count > 0 && !self.state.seen[id] && self.remaining[id] > count {
                let y = self.slot_of(id)?;
                self.code.push(Instruction::InitializeY { y });
                self.state.seen[id] = true;
            }
        }
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

    fn disjunction(&mut self, whole: &Goal, alternatives: &[Goal], place: Place) -> Written {
        self.initialize(whole)?;
        self.forget_registers();
        let before = self.state.clone();
        let mut exits = Vec::new();
        let mut previous: Option<usize> = None;
        for (index, alternative) in alternatives.iter().enumerate() {
            if let Some(position) = previous {
                self.patch(position);
            }
            let position = self.code.len();
            self.code.push(match index {
                0 => Instruction::TryElse { otherwise: FAIL },
                _ if index + 1 < alternatives.len() => Instruction::RetryElse { otherwise: FAIL },
                _ => Instruction::TrustElse,
            });
            previous = (index + 1 < alternatives.len()).then_some(position);
            self.state = before.clone();
            self.goal(alternative, place)?;
            if place == Place::Inner && index + 1 < alternatives.len() {
                exits.push(self.code.len());
                self.code.push(Instruction::Jump { to: FAIL });
            }
        }
        exits.into_iter().for_each(|position| self.patch(position));
        self.state = before;
        Ok(())
    }

    /// A condition that needs no choice point: each test jumps to the other branch.
    fn simple_if(&mut self, whole: &Goal, condition: &Goal, then: &Goal, otherwise: &Goal, place: Place) -> Written {
        self.initialize(whole)?;
        let before = self.state.clone();
        let tests = self.tests(condition)?;
        self.goal(then, place)?;
        let exit = (place == Place::Inner).then_some(self.code.len());
        if exit.is_some() {
            self.code.push(Instruction::Jump { to: FAIL });
        }
        tests.into_iter().for_each(|position| self.patch(position));
        self.state = before.clone();
        self.goal(otherwise, place)?;
        if let Some(position) = exit {
            self.patch(position);
        }
        self.state = before;
        self.forget_registers();
        Ok(())
    }

    /// Writes simple tests; returns the positions of the instructions that jump when one fails.
    fn tests(&mut self, condition: &Goal) -> Written<Vec<usize>> {
        let start = self.code.len();
        self.goal(condition, Place::Inner)?;
        let mut jumps = Vec::new();
        for position in start..self.code.len() {
            match &mut self.code[position] {
                Instruction::Test { .. }
                | Instruction::CompareTerms { .. }
                | Instruction::CompareNumbers { .. }
                | Instruction::CompareWithSmall { .. } => jumps.push(position),
                instruction @ Instruction::Fail => {
                    *instruction = Instruction::Jump { to: FAIL };
                    jumps.push(position);
                }
                _ => {}
            }
        }
        Ok(jumps)
    }

    fn if_then_else(
        &mut self,
        whole: &Goal,
        condition: &Goal,
        then: &Goal,
        otherwise: &Goal,
        level: usize,
        place: Place,
    ) -> Written {
        self.initialize(whole)?;
        self.forget_registers();
        let before = self.state.clone();
        let y = self.level_slot(level)?;
        let choice = self.code.len();
        self.code.push(Instruction::TryElse { otherwise: FAIL });
        self.code.push(Instruction::SaveCut { y });
        self.goal(condition, Place::Inner)?;
        let live = self.state.registers.live();
        self.code.push(match whole {
            Goal::SoftIfThenElse(..) => Instruction::SoftCut { y, live },
            _ => Instruction::CutTo { y, below: 1, live },
        });
        self.goal(then, place)?;
        let exit = (place == Place::Inner).then_some(self.code.len());
        if exit.is_some() {
            self.code.push(Instruction::Jump { to: FAIL });
        }
        self.patch(choice);
        self.state = before.clone();
        self.code.push(Instruction::TrustElse);
        self.goal(otherwise, place)?;
        if let Some(position) = exit {
            self.patch(position);
        }
        self.state = before;
        Ok(())
    }

    fn not(&mut self, whole: &Goal, inner: &Goal, level: usize) -> Written {
        self.initialize(whole)?;
        let before;
        if inner.is_simple_test() {
            before = self.state.clone();
            let tests = self.tests(inner)?;
            self.code.push(Instruction::Fail);
            tests.into_iter().for_each(|position| self.patch(position));
            // Registers of variables that do not occur again stay reserved until the next call.
            self.state = before;
            return Ok(());
        }
        self.forget_registers();
        before = self.state.clone();
        let y = self.level_slot(level)?;
        let choice = self.code.len();
        self.code.push(Instruction::TryElse { otherwise: FAIL });
        self.code.push(Instruction::SaveCut { y });
        self.goal(inner, Place::Inner)?;
        let live = self.state.registers.live();
        self.code.push(Instruction::CutTo { y, below: 1, live });
        self.code.push(Instruction::Fail);
        self.patch(choice);
        self.code.push(Instruction::TrustElse);
        self.state = before;
        Ok(())
    }

    fn collect(
        &mut self,
        whole: &Goal,
        aggregation: Aggregation,
        value: Option<Term>,
        inner: &Goal,
        result: Term,
        level: usize,
    ) -> Written {
        self.initialize(whole)?;
        if matches!(aggregation, Aggregation::Bag | Aggregation::Set) {
            self.check_result_list(result)?;
        }
        self.forget_registers();
        let before = self.state.clone();
        self.code.push(Instruction::CollectStart { aggregation });
        let choice = self.code.len();
        self.code.push(Instruction::TryElse { otherwise: FAIL });
        if inner.cuts_to(Level::Local(level)) {
            let y = self.level_slot(level)?;
            self.code.push(Instruction::SaveCut { y });
        }
        self.goal(inner, Place::Inner)?;
        let operand = match value {
            Some(term) => Some(self.operand(term)?),
            None => None,
        };
        let x = operand.as_ref().map_or(0, |operand| operand.register);
        let live = self.state.registers.live();
        self.code.push(Instruction::CollectAdd { x, live });
        self.patch(choice);
        self.state = before;
        self.code.push(Instruction::TrustElse);
        let register = self.take_register(None)?;
        self.code.push(Instruction::CollectEnd { x: register });
        self.assign(register, result)
    }

    /// `findall/3` with a result that is not a fresh variable checks it before the goal runs.
    fn check_result_list(&mut self, result: Term) -> Written {
        let term = self.store.deref(result);
        if term.is_variable() && !self.state.seen[self.analysis.ids[&term.address()]] || term.has_tag(Tag::Lis) {
            return Ok(());
        }
        let check: Atom = self.scope.symbols().intern("$check_result_list");
        let Some(builtin) = self.scope.builtin(Functor::new(check, 1)) else { return Ok(()) };
        if term.is_variable() {
            // The occurrence belongs to the result; the check only looks at it.
            self.remaining[self.analysis.ids[&term.address()]] += 1;
        }
        self.builtin(builtin, &[result])
    }
}

/// Whether the goal has a construct that saves a choice point height in a slot.
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
