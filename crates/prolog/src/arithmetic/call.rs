//! The context of a call of an arithmetic function: the store that is charged for it and the functor that its errors
//! name.

use crate::arithmetic::from_number;
use crate::fault::{Fault, Raised, Solved};
use crate::number::Number;
use crate::store::Store;
use crate::symbols::atoms;
use crate::term::Functor;

/// The context of one call.
pub(super) struct Call<'a> {
    pub(super) store: &'a mut Store,
    pub(super) functor: Functor,
}

impl Call<'_> {
    /// The error of `fault` with this function as its context.
    pub(super) fn blame(&self, fault: Fault) -> Raised {
        Raised::FaultIn(fault, self.functor.name(), self.functor.arity())
    }

    pub(super) fn type_error(&mut self, kind: &'static str, culprit: Number) -> Raised {
        let culprit = from_number(self.store, culprit);
        self.blame(Fault::Type(kind, culprit))
    }

    pub(super) fn domain_error(&mut self, domain: &'static str, culprit: Number) -> Raised {
        let culprit = from_number(self.store, culprit);
        self.blame(Fault::Domain(domain, culprit))
    }

    pub(super) fn zero_divisor(&self) -> Raised {
        self.blame(Fault::Evaluation("zero_divisor"))
    }

    /// The error for zero to a negative power, which both `**` and `^` attribute to `**`.
    pub(super) fn zero_power() -> Raised {
        Raised::FaultIn(Fault::Evaluation("zero_divisor"), atoms::POWER, 2)
    }

    /// The operand of a function on integers; an error if it is a float: a type error, or an evaluation error if it is
    /// infinite or NaN.
    pub(super) fn integer(&mut self, number: Number) -> Solved<Number> {
        match number {
            Number::Float(value) if value.is_nan() => Err(Fault::Evaluation("undefined").into()),
            Number::Float(value) if value.is_infinite() => Err(Fault::Evaluation("float_overflow").into()),
            Number::Float(_) => Err(self.type_error("integer", number)),
            integer => Ok(integer),
        }
    }

    /// Returns an error unless the heap budget has room for a number of this many bits.
    pub(super) fn reserve_bits(&mut self, bits: u64) -> Solved<()> {
        let words = bits / 64 + 1;
        if words <= self.store.room() as u64 { Ok(()) } else { Err(self.store.out_of_room()) }
    }

    /// Charges work on this many words, one cell per word, before it is done; an error if the budget is exhausted.
    pub(super) fn charge(&mut self, words: u64) -> Solved<()> {
        // The cap exceeds any practical budget, but is far from overflowing the counter.
        self.store.meter.walk(words.min(1 << 48));
        match self.store.meter.exhausted() {
            Some(resource) => Err(Raised::Exhausted(resource)),
            None => Ok(()),
        }
    }
}

/// Cost of multiplying numbers of `a` and `b` words: quadratic if one is short, otherwise slightly more than Toom-Cook.
pub(super) fn multiplication_cost(a: u64, b: u64) -> u64 {
    let (short, long) = (a.min(b), a.max(b));
    if short <= 32 { short * long } else { long.saturating_mul(6 * short.isqrt()) }
}
