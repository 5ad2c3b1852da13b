//! Evaluates arithmetic expressions.
//!
//! Integers are unbounded and never wrap; floats are IEEE doubles. There are two entry points: [`evaluate`] takes any
//! term, and compiled code calls the functions on *evaluated words* ([`add`] and others) step by step. Both compute the
//! same values.
//!
//! [`evaluate`] evaluates arguments from right to left and before the functor is looked up, so that, if an expression
//! has two errors, the same error is reported as in SWI-Prolog. Compiled code computes nested expressions from left to
//! right, so it may report the other error.

mod apply;
mod call;
mod evaluable;
mod float;
mod integer;
mod precise;
mod quick;
mod words;

#[cfg(test)]
mod tests;

use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::number::Number;
use crate::store::{Store, View};
use crate::symbols::atoms;
use crate::term::{BoxHeader, Functor, Tag, Term};
use call::Call;

pub(crate) use evaluable::{Binary, Evaluable};
pub(crate) use words::{
    add, and, binary, compare, divide, evaluated, int_divide, max, min, modulo, multiply, or, remainder, shift_left,
    shift_right, subtract, xor,
};

/// `number` as a term.
pub(crate) fn from_number(store: &mut Store, number: Number) -> Term {
    match number {
        Number::Int(value) => store.integer(value),
        Number::Big(value) => store.big_integer(&value),
        Number::Float(value) => store.float(value),
    }
}

/// Cost of one evaluation step, in cells walked.
const STEP_COST: u64 = 4;

/// The value of an expression.
pub(crate) fn evaluate(core: &mut Core, term: Term) -> Solved<Number> {
    let mut steps = 0;
    let value = quick::evaluate(&core.store, term, &mut steps);
    core.store.charge(STEP_COST * steps)?;
    match value {
        Some(value) => Ok(value),
        None => evaluate_generally(core, term),
    }
}

fn evaluate_generally(core: &mut Core, term: Term) -> Solved<Number> {
    let mut evaluation = Evaluation { pending: vec![term], values: Vec::new(), held: 0 };
    while let Some(next) = evaluation.pending.pop() {
        if !core.store.meter.walk(STEP_COST) {
            break;
        }
        if next.has_tag(Tag::Hdr) {
            evaluation.apply(core, Functor(next.0))?;
        } else {
            evaluation.visit(core, next)?;
        }
    }
    core.check_budget()?;
    Ok(evaluation.pop())
}

/// An evaluation in progress, with explicit stacks, because expressions may be millions of levels deep.
struct Evaluation {
    /// Terms to evaluate, and functor headers, each below its arguments. When a header is popped, the values of its
    /// arguments are on top of `values`.
    pending: Vec<Term>,
    values: Vec<Number>,
    /// The words of the big integers in `values`, which must fit in the heap budget.
    held: u64,
}

impl Evaluation {
    fn visit(&mut self, core: &mut Core, term: Term) -> Solved<()> {
        let value = match core.store.view(term) {
            View::Small(value) => Number::Int(value),
            View::Float(value) => Number::Float(value),
            View::Big => {
                let value = Number::Big(core.store.big(term));
                core.store.meter.walk(value.words());
                value
            }
            View::Variable(_) => return Err(Fault::Instantiation.into()),
            View::Atom(atom) => {
                let functor = Functor::new(atom, 0);
                match Evaluable::find(functor) {
                    Some(Evaluable::Constant(op)) => apply::constant(op),
                    _ => return Err(apply::unknown(functor).into()),
                }
            }
            View::Text => character_of_string(core, term)?,
            View::List(address) => character_of_list(core, address)?,
            View::Compound(functor, arguments) => {
                core.store.reserve(self.pending.len() + functor.arity())?;
                self.pending.push(functor.header());
                self.pending.extend_from_slice(&core.store.cells[arguments..arguments + functor.arity()]);
                return Ok(());
            }
        };
        self.push(core, value)
    }

    fn apply(&mut self, core: &mut Core, functor: Functor) -> Solved<()> {
        let mut call = Call { store: &mut core.store, functor };
        let value = match Evaluable::find(functor) {
            Some(Evaluable::Unary(op)) => {
                let a = self.pop();
                apply::unary(&mut call, op, a)?
            }
            Some(Evaluable::Binary(op)) => {
                let (a, b) = (self.pop(), self.pop());
                apply::binary(&mut call, op, a, b)?
            }
            Some(Evaluable::PowerModulo) => {
                let (a, b, c) = (self.pop(), self.pop(), self.pop());
                apply::power_modulo(&mut call, a, b, c)?
            }
            Some(Evaluable::Constant(_)) | None => return Err(apply::unknown(functor).into()),
        };
        self.push(core, value)
    }

    fn push(&mut self, core: &mut Core, value: Number) -> Solved<()> {
        if matches!(value, Number::Big(_)) {
            self.held += value.words();
            core.store.reserve(self.held as usize)?;
        }
        self.values.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Number {
        let value = self.values.pop().unwrap_or(Number::Int(0));
        if matches!(value, Number::Big(_)) {
            self.held -= value.words();
        }
        value
    }
}

/// Evaluates a string of one character to its code.
fn character_of_string(core: &Core, term: Term) -> Solved<Number> {
    let term = core.store.deref(term);
    let bytes = BoxHeader::read(core.store.cells[term.address()]).length();
    // A character has at most four bytes.
    let text = if bytes <= 4 { core.store.text(term) } else { String::new() };
    only_character(&text).map_or_else(|| Err(Fault::Type("[]", term).into()), |code| Ok(Number::Int(code)))
}

/// Evaluates `[X]`, where `X` is a character or a character code, to the code.
fn character_of_list(core: &Core, address: usize) -> Solved<Number> {
    if core.store.argument(address, 1) != Term::NIL {
        return Err(apply::unknown(Functor::new(atoms::DOT, 2)).into());
    }
    let item = core.store.argument(address, 0);
    let code = match core.store.view(item) {
        View::Variable(_) => return Err(Fault::Instantiation.into()),
        View::Small(code) if (0..=i64::from(u32::from(char::MAX))).contains(&code) => Some(code),
        View::Atom(atom) => only_character(core.atoms.name(atom)),
        _ => None,
    };
    code.map_or_else(|| Err(Fault::Type("character", item).into()), |code| Ok(Number::Int(code)))
}

fn only_character(text: &str) -> Option<i64> {
    let mut characters = text.chars();
    let code = i64::from(u32::from(characters.next()?));
    characters.next().is_none().then_some(code)
}
