//! Compiles clause terms to instructions.
//!
//! The loader first turns rules with `=>` into clauses ([`rules`]) and inlines calls of small predicates ([`unfold`]).
//! Then there are three steps. [`goals`] turns the body into a tree of goals. [`variables`] determines which variables
//! must survive a call and so need an environment slot. [`emit`] writes the instructions, and takes its temporaries
//! from [`registers`].

mod arithmetic;
mod emit;
mod goals;
mod registers;
mod rules;
mod unfold;
mod variables;

pub(crate) use goals::{CompileError, MAX_COLUMNS, Scope, is_control};
pub(crate) use rules::{Neck, clause_of_rule, no_rule_clause};
pub(crate) use unfold::{Unfoldable, is_unfoldable, unfold};

use crate::instruction::Instruction;
use crate::program::index::Key;
use crate::store::{Store, View};
use crate::symbols::{Atom, atoms};
use crate::term::Term;
use goals::{Goals, Level};

/// The maximum number of arguments of a clause head or a call.
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
            // Too many temporaries are live at once: keep variables in the environment instead.
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

/// A term as the body of a clause (ISO 7.6.2): a variable `X` as a goal becomes `call(X)`. `None` if a goal is a number
/// or a string. The argument of `\+` is not inspected. If the budget runs out, the body is returned unchanged.
pub(crate) fn body_of(store: &mut Store, body: Term) -> Option<Term> {
    let mut has_variables = false;
    let mut pending = vec![body];
    while let Some(goal) = pending.pop() {
        if !store.afford(pending.len()) {
            return Some(body);
        }
        match store.view(goal) {
            View::Variable(_) => has_variables = true,
            View::Compound(functor, arguments) if joins_goals(functor.name(), functor.arity()) => {
                // The second goal is visited last, so that a long conjunction needs no stack.
                pending.extend([store.cells[arguments + 1], store.cells[arguments]]);
            }
            View::Small(_) | View::Big | View::Float(_) | View::Text => return None,
            _ => {}
        }
    }
    Some(if has_variables { with_calls(store, body) } else { body })
}

/// A copy of the control constructs of a body, with `call/1` around variables that are goals.
fn with_calls(store: &mut Store, body: Term) -> Term {
    let root = store.variable();
    let mut pending = vec![(body, root.address())];
    while let Some((goal, place)) = pending.pop() {
        let goal = store.deref(goal);
        store.cells[place] = match store.view(goal) {
            View::Variable(_) => store.structure(atoms::CALL, &[goal]),
            View::Compound(functor, arguments) if joins_goals(functor.name(), functor.arity()) => {
                let copy = store.structure_of_variables(functor);
                let (left, right) = (store.cells[arguments], store.cells[arguments + 1]);
                pending.push((left, copy.address() + 1));
                pending.push((right, copy.address() + 2));
                copy
            }
            _ => goal,
        };
    }
    store.deref(root)
}

/// Whether a term with this name and arity is a control construct with two goals as arguments.
fn joins_goals(name: Atom, arity: usize) -> bool {
    arity == 2 && is_control(name, arity)
}

/// The index keys of the arguments of a head.
pub(crate) fn head_keys(store: &Store, head: Term) -> Vec<Key> {
    head_arguments(store, head).into_iter().map(|argument| Key::of(store, argument)).collect()
}
