//! Clause terms to instructions.
//!
//! Three steps: [`goals`] turns the body into a tree of goals, [`variables`] finds out which
//! variables must survive a call and so need an environment slot, and [`emit`] writes the
//! instructions, with [`registers`] handing out temporaries.

mod arithmetic;
mod emit;
mod goals;
mod registers;
mod variables;

pub(crate) use goals::{CompileError, Scope, is_control};

use crate::instruction::Instruction;
use crate::program::index::Key;
use crate::store::{Store, View};
use crate::term::Term;
use goals::{Goals, Level};

/// Largest number of arguments of a predicate.
pub(crate) const MAX_CALL_ARITY: usize = 120;

/// Compiles `head :- body` and appends its instructions to `code`.
pub(crate) fn compile_clause(
    store: &Store,
    scope: &mut dyn Scope,
    head: Term,
    body: Term,
    code: &mut Vec<Instruction>,
) -> Result<(), CompileError> {
    let arguments = head_arguments(store, head);
    if arguments.len() > MAX_CALL_ARITY {
        return Err(CompileError::TooLarge);
    }
    let mut builder = Goals { store, scope, levels: 0 };
    let goal = builder.goal(body, Level::Clause, 0)?;
    let levels = builder.levels;
    let start = code.len();
    for mode in [variables::Mode::Registers, variables::Mode::SlotsOnly] {
        let analysis = variables::analyse(store, &arguments, &goal, mode);
        let written = emit::Emitter::new(store, scope, analysis, levels, code).clause(&arguments, &goal);
        match written {
            Ok(()) => return Ok(()),
            // Too many temporaries at once: keep variables in the environment instead.
            Err(CompileError::TooLarge) => code.truncate(start),
            Err(error) => return Err(error),
        }
    }
    Err(CompileError::TooLarge)
}

/// The arguments of a clause head.
pub(crate) fn head_arguments(store: &Store, head: Term) -> Vec<Term> {
    match store.view(head) {
        View::Compound(functor, start) => (0..functor.arity()).map(|index| store.argument(start, index)).collect(),
        View::List(start) => (0..2).map(|index| store.argument(start, index)).collect(),
        _ => Vec::new(),
    }
}

/// What clause selection may know of a head.
pub(crate) fn head_keys(store: &Store, head: Term) -> Vec<Key> {
    head_arguments(store, head).into_iter().map(|argument| Key::of(store, argument)).collect()
}
