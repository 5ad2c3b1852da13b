//! Instructions of disjunctions, conditions, negations and aggregations.

use super::{Emitter, Place, Written};
use crate::compiler::goals::{Goal, Level};
use crate::instruction::{Aggregation, FAIL, Instruction};
use crate::symbols::Atom;
use crate::term::{Functor, Tag, Term};

impl Emitter<'_> {
    /// Writes instructions that initialise the slots of the variables that first occur in the construct and also occur
    /// after it.
    fn initialize(&mut self, construct: &Goal) -> Written {
        let mut inside = Vec::new();
        let mut pending: Vec<Term> = Vec::new();
        construct.for_each_term(&mut |term| pending.push(term));
        while let Some(term) = pending.pop() {
            let term = self.store.deref(term);
            match term.tag() {
                Tag::Ref | Tag::Att => inside.push(self.analysis.ids[&term.address()]),
                Tag::Lis => pending.extend_from_slice(&self.store.cells[term.address()..term.address() + 2]),
                Tag::Str => {
                    let arity = self.store.functor_at(term.address()).arity();
                    pending.extend_from_slice(&self.store.cells[term.address() + 1..=term.address() + arity]);
                }
                _ => {}
            }
        }
        inside.sort_unstable();
        for alike in inside.chunk_by(|a, b| a == b) {
            let (id, count) = (alike[0], alike.len());
            if !self.state.is_seen(id) && self.remaining[id] > count {
                let y = self.slot_of(id)?;
                self.code.push(Instruction::InitializeY { y });
                self.state.see(id);
            }
        }
        Ok(())
    }

    pub(super) fn disjunction(&mut self, whole: &Goal, alternatives: &[Goal], place: Place) -> Written {
        self.initialize(whole)?;
        self.forget_registers();
        let before = self.state.save();
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
            self.state.restore(&before);
            self.goal(alternative, place)?;
            if place == Place::Inner && index + 1 < alternatives.len() {
                exits.push(self.code.len());
                self.code.push(Instruction::Jump { to: FAIL });
            }
        }
        exits.into_iter().for_each(|position| self.patch(position));
        self.state.restore(&before);
        Ok(())
    }

    /// Writes an if-then-else whose condition is a simple test: it needs no choice point, and failure jumps to the else
    /// branch.
    pub(super) fn simple_if(
        &mut self,
        whole: &Goal,
        condition: &Goal,
        then: &Goal,
        otherwise: &Goal,
        place: Place,
    ) -> Written {
        self.initialize(whole)?;
        let before = self.state.save();
        let tests = self.tests(condition)?;
        self.goal(then, place)?;
        let exit = (place == Place::Inner).then_some(self.code.len());
        if exit.is_some() {
            self.code.push(Instruction::Jump { to: FAIL });
        }
        tests.into_iter().for_each(|position| self.patch(position));
        self.state.restore(&before);
        self.goal(otherwise, place)?;
        if let Some(position) = exit {
            self.patch(position);
        }
        self.state.restore(&before);
        self.forget_registers();
        Ok(())
    }

    /// Writes simple tests; returns the positions of the instructions that jump when one fails.
    pub(super) fn tests(&mut self, condition: &Goal) -> Written<Vec<usize>> {
        let start = self.code.len();
        self.goal(condition, Place::Inner)?;
        let mut jumps = Vec::new();
        for position in start..self.code.len() {
            match &mut self.code[position] {
                Instruction::Test { .. }
                | Instruction::CompareTerms { .. }
                | Instruction::CompareNumbers { .. }
                | Instruction::CompareWithSmall { .. }
                | Instruction::TestNoRows { .. } => jumps.push(position),
                instruction @ Instruction::Fail => {
                    *instruction = Instruction::Jump { to: FAIL };
                    jumps.push(position);
                }
                _ => {}
            }
        }
        Ok(jumps)
    }

    pub(super) fn if_then_else(
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
        let before = self.state.save();
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
        self.state.restore(&before);
        self.code.push(Instruction::TrustElse);
        self.goal(otherwise, place)?;
        if let Some(position) = exit {
            self.patch(position);
        }
        self.state.restore(&before);
        Ok(())
    }

    pub(super) fn not(&mut self, whole: &Goal, inner: &Goal, level: usize) -> Written {
        self.initialize(whole)?;
        let before;
        if inner.is_simple_test() {
            before = self.state.save();
            let tests = self.tests(inner)?;
            self.code.push(Instruction::Fail);
            tests.into_iter().for_each(|position| self.patch(position));
            // Registers of variables without further occurrences stay reserved until the next call.
            self.state.restore(&before);
            return Ok(());
        }
        self.forget_registers();
        before = self.state.save();
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
        self.state.restore(&before);
        Ok(())
    }

    pub(super) fn collect(
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
        let before = self.state.save();
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
        self.state.restore(&before);
        self.code.push(Instruction::TrustElse);
        let register = self.take_register(None)?;
        self.code.push(Instruction::CollectEnd { x: register });
        self.assign(register, result)
    }

    /// Writes a check, before the goal of an aggregation into a list (`findall/3`, and `aggregate_all/3` with `bag` or
    /// `set`), that the result argument can be a list. A new variable or a list needs no check.
    pub(super) fn check_result_list(&mut self, result: Term) -> Written {
        let term = self.store.deref(result);
        if term.is_variable() && !self.state.is_seen(self.analysis.ids[&term.address()]) || term.has_tag(Tag::Lis) {
            return Ok(());
        }
        let check: Atom = self.scope.symbols().internal("$check_result_list");
        let Some(builtin) = self.scope.builtin(Functor::new(check, 1)) else { return Ok(()) };
        // Writing the check uses up one occurrence of each variable of the result, but the result is written again
        // after the goal.
        let mut pending = vec![term];
        while let Some(part) = pending.pop() {
            let part = self.store.deref(part);
            if part.is_variable() {
                self.remaining[self.analysis.ids[&part.address()]] += 1;
            } else if let Some((functor, arguments)) = self.store.compound(part) {
                pending.extend_from_slice(&self.store.cells[arguments..arguments + functor.arity()]);
            }
        }
        self.builtin(builtin, &[result])
    }
}
