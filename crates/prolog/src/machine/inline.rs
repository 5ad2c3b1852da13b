//! Executes type tests, comparisons and arithmetic that are compiled inline.

use super::Machine;
use crate::arithmetic;
use crate::fault::Solved;
use crate::instruction::{Arithmetic, Comparison, Instruction, TypeTest};
use crate::store::{ListEnd, View};
use crate::symbols::atoms;
use crate::term::{Functor, Tag, Term};
use std::cmp::Ordering;

impl Machine {
    #[inline]
    pub(super) fn type_test(&mut self, test: TypeTest, term: Term) -> bool {
        let store = &mut self.core.store;
        let term = store.deref(term);
        match test {
            TypeTest::Var => term.is_variable(),
            TypeTest::Nonvar => !term.is_variable(),
            TypeTest::Atom => term.has_tag(Tag::Atm),
            TypeTest::Integer => term.has_tag(Tag::Int) || store.view(term) == View::Big,
            TypeTest::Float => matches!(store.view(term), View::Float(_)),
            TypeTest::Number => term.has_tag(Tag::Int) || matches!(store.view(term), View::Float(_) | View::Big),
            TypeTest::Atomic => matches!(term.tag(), Tag::Atm | Tag::Int | Tag::Box),
            TypeTest::Compound => matches!(term.tag(), Tag::Lis | Tag::Str),
            TypeTest::Callable => matches!(term.tag(), Tag::Atm | Tag::Lis | Tag::Str),
            TypeTest::IsList => store.skip_list(term).1 == ListEnd::Nil,
            TypeTest::String => store.view(term) == View::Text,
        }
    }

    #[inline]
    pub(super) fn compare_terms(&mut self, comparison: Comparison, a: Term, b: Term) -> bool {
        let store = &mut self.core.store;
        let (a, b) = (store.deref(a), store.deref(b));
        if a == b {
            return comparison.holds(Ordering::Equal);
        }
        // Different words are different terms unless both are pointers.
        if !(a.is_pointer() && b.is_pointer()) && matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return comparison == Comparison::NotEqual;
        }
        comparison.holds(store.compare(&self.core.atoms, a, b))
    }

    #[cold]
    pub(super) fn compare_values(&mut self, comparison: Comparison, a: Term, b: Term) -> Solved {
        let a = arithmetic::evaluated(&mut self.core, a)?;
        let b = arithmetic::evaluated(&mut self.core, b)?;
        Ok(match arithmetic::compare(&mut self.core, a, b) {
            Some(order) => comparison.holds(order),
            None => comparison == Comparison::NotEqual,
        })
    }

    #[cold]
    pub(super) fn compute(&mut self, operation: Arithmetic, a: Term, b: Term) -> Solved<Term> {
        let core = &mut self.core;
        let a = arithmetic::evaluated(core, a)?;
        let b = arithmetic::evaluated(core, b)?;
        match operation {
            Arithmetic::Add => arithmetic::add(core, a, b),
            Arithmetic::Subtract => arithmetic::subtract(core, a, b),
            Arithmetic::Multiply => arithmetic::multiply(core, a, b),
            Arithmetic::Divide => arithmetic::divide(core, a, b),
            Arithmetic::IntegerDivide => arithmetic::int_divide(core, a, b),
            Arithmetic::Modulo => arithmetic::modulo(core, a, b),
            Arithmetic::Remainder => arithmetic::remainder(core, a, b),
            Arithmetic::Minimum => arithmetic::min(core, a, b),
            Arithmetic::Maximum => arithmetic::max(core, a, b),
            Arithmetic::ShiftLeft => arithmetic::shift_left(core, a, b),
            Arithmetic::ShiftRight => arithmetic::shift_right(core, a, b),
            Arithmetic::And => arithmetic::and(core, a, b),
            Arithmetic::Or => arithmetic::or(core, a, b),
            Arithmetic::Xor => arithmetic::xor(core, a, b),
        }
    }

    pub(super) fn comparison_functor(comparison: Comparison) -> Functor {
        let name = match comparison {
            Comparison::Equal => atoms::NUMBER_EQ,
            Comparison::NotEqual => atoms::NUMBER_NE,
            Comparison::Less => atoms::LESS,
            Comparison::LessOrEqual => atoms::LESS_EQ,
            Comparison::Greater => atoms::GREATER,
            Comparison::GreaterOrEqual => atoms::GREATER_EQ,
        };
        Functor::new(name, 2)
    }

    /// The goal to which the error of an arithmetic instruction is attributed: the next comparison, if only
    /// instructions that compute values or load constants and slots precede it; otherwise `is/2`.
    #[cold]
    pub(super) fn arithmetic_context(code: &[Instruction], pc: usize) -> Functor {
        for instruction in &code[pc + 1..] {
            match instruction {
                Instruction::CompareNumbers { comparison, .. } | Instruction::CompareWithSmall { comparison, .. } => {
                    return Machine::comparison_functor(*comparison);
                }
                Instruction::Compute { .. }
                | Instruction::ComputeWithSmall { .. }
                | Instruction::PutConstant { .. }
                | Instruction::PutValueY { .. } => {}
                _ => break,
            }
        }
        Functor::new(atoms::IS, 2)
    }
}

/// The result of an operation on small integers, if it is a small integer as well.
#[inline(always)]
pub(super) fn small_operation(operation: Arithmetic, a: i64, b: i64) -> Option<i64> {
    let value = match operation {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a.checked_mul(b)?,
        Arithmetic::IntegerDivide if b != 0 => a / b,
        Arithmetic::Modulo if b != 0 => a.rem_euclid(b) + if b < 0 && a.rem_euclid(b) != 0 { b } else { 0 },
        Arithmetic::Remainder if b != 0 => a % b,
        Arithmetic::Minimum => a.min(b),
        Arithmetic::Maximum => a.max(b),
        Arithmetic::And => a & b,
        Arithmetic::Or => a | b,
        Arithmetic::Xor => a ^ b,
        _ => return None,
    };
    Term::fits_small(value).then_some(value)
}
