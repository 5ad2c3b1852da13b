//! Predicates written in Rust.
//!
//! Each topic has a module with a table of its predicates. A deterministic builtin is a plain function of its
//! arguments. A non-deterministic builtin is called again for each further answer: see [`Step`].

// All builtins return `Solved`, even those that never raise.
#![allow(clippy::unnecessary_wraps)]

mod arguments;
mod arithmetic;
mod characters;
mod comparison;
mod control;
mod copying;
mod database;
mod flags;
mod format;
mod globals;
mod lists;
mod operators;
mod reading;
mod sorting;
mod terms;
mod text;
mod types;
mod variables;
mod writing;

pub(crate) use sorting::SortSpace;

pub(crate) use sorting::sorted_set;

use crate::core::Core;
use crate::fault::Solved;
use crate::term::Term;

/// The state that a non-deterministic builtin keeps between its answers.
pub(crate) type State = (u64, u64);

/// The state passed to the first call.
pub(crate) const FIRST: State = (0, 0);

/// The result of one call of a non-deterministic builtin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// There is no (further) answer.
    Fail,
    /// The last answer.
    Last,
    /// An answer; for the next one, call again with this state.
    More(State),
    /// An answer; for the next one, call again with this term as the last argument. A `State` must not contain terms,
    /// because garbage collection may move them.
    MoreOf(Term),
}

/// The function of a builtin. Deterministic builtins have a variant for each number of arguments.
#[derive(Clone, Copy)]
pub(crate) enum Code {
    /// Deterministic, without arguments.
    D0(fn(&mut Core) -> Solved),
    D1(fn(&mut Core, Term) -> Solved),
    D2(fn(&mut Core, Term, Term) -> Solved),
    D3(fn(&mut Core, Term, Term, Term) -> Solved),
    D4(fn(&mut Core, Term, Term, Term, Term) -> Solved),
    /// Non-deterministic; takes the arguments, and the last state that a call returned in [`Step::More`], or [`FIRST`]
    /// before that.
    N(fn(&mut Core, &[Term], State) -> Solved<Step>),
}

/// An entry of a table of builtins.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) arity: usize,
    pub(crate) code: Code,
}

/// A deterministic builtin.
pub(crate) const fn det(name: &'static str, code: Code) -> Builtin {
    let arity = match code {
        Code::D0(_) => 0,
        Code::D1(_) => 1,
        Code::D2(_) => 2,
        Code::D3(_) => 3,
        Code::D4(_) => 4,
        Code::N(_) => panic!("use `nondet`"),
    };
    Builtin { name, arity, code }
}

/// A non-deterministic builtin.
pub(crate) const fn nondet(
    name: &'static str,
    arity: usize,
    code: fn(&mut Core, &[Term], State) -> Solved<Step>,
) -> Builtin {
    Builtin { name, arity, code: Code::N(code) }
}

/// Builtins that a program may redefine, because other systems provide them in a library.
const REDEFINABLE: &[(&str, usize)] = &[
    ("sum_list", 2),
    ("sumlist", 2),
    ("max_list", 2),
    ("min_list", 2),
    ("numlist", 3),
    ("list_to_set", 2),
    ("memberchk", 2),
];

/// Whether a program may define its own predicate with the name and arity of this builtin.
pub(crate) fn is_redefinable(builtin: &Builtin) -> bool {
    REDEFINABLE.contains(&(builtin.name, builtin.arity))
}

/// All builtins.
pub(crate) fn all() -> impl Iterator<Item = &'static Builtin> {
    const TABLES: &[&[Builtin]] = &[
        arithmetic::TABLE,
        characters::TABLE,
        comparison::TABLE,
        control::TABLE,
        copying::TABLE,
        database::TABLE,
        flags::TABLE,
        format::TABLE,
        globals::TABLE,
        lists::TABLE,
        operators::TABLE,
        reading::TABLE,
        sorting::TABLE,
        terms::TABLE,
        types::TABLE,
        variables::TABLE,
        writing::TABLE,
    ];
    TABLES.iter().chain(text::TABLES).copied().flatten()
}
