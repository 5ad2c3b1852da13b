//! Type checks of the arguments of builtins.

use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::number::Number;
use crate::store::View;
use crate::term::Term;

/// The value of an argument that must be an integer; an error for any other term.
pub(super) fn integer(core: &Core, term: Term) -> Solved<Number> {
    match core.store.view(term) {
        View::Small(value) => Ok(Number::Int(value)),
        View::Big => Ok(Number::Big(core.store.big(term))),
        View::Variable(_) => Err(Fault::Instantiation.into()),
        _ => Err(Fault::Type("integer", term).into()),
    }
}

/// The value of an argument that must be an integer or unbound; `None` if unbound.
pub(super) fn integer_or_variable(core: &Core, term: Term) -> Solved<Option<Number>> {
    match core.store.view(term) {
        View::Variable(_) => Ok(None),
        _ => integer(core, term).map(Some),
    }
}
