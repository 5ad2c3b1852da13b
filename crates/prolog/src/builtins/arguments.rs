//! What builtins expect of their arguments.

use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::number::Number;
use crate::store::View;
use crate::term::Term;

/// The integer that an argument must be.
pub(super) fn integer(core: &Core, term: Term) -> Solved<Number> {
    match core.store.view(term) {
        View::Small(value) => Ok(Number::Int(value)),
        View::Big => Ok(Number::Big(core.store.big(term))),
        View::Variable(_) => Err(Fault::Instantiation.into()),
        _ => Err(Fault::Type("integer", term).into()),
    }
}

/// The integer that an argument is, or `None` when it is unbound.
pub(super) fn integer_or_variable(core: &Core, term: Term) -> Solved<Option<Number>> {
    match core.store.view(term) {
        View::Variable(_) => Ok(None),
        _ => integer(core, term).map(Some),
    }
}
