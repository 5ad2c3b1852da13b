//! The engine: the language with its builtins and library.

mod image;

use crate::builtins::{self, Code};
use crate::flags::Flags;
use crate::instruction::PredicateId;
use crate::loader::Loader;
use crate::machine::prelude;
use crate::operators::Operators;
use crate::program::{BuiltinEntry, Control, ControlPredicates, Definition, Origin, Predicate, Program};
use crate::symbols::Symbols;
use crate::term::Functor;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The library, in the order in which it is loaded.
const LIBRARY: &[(&str, &str)] = &[
    ("library/goals.pl", include_str!("library/goals.pl")),
    ("library/lists.pl", include_str!("library/lists.pl")),
    ("library/apply.pl", include_str!("library/apply.pl")),
    ("library/pairs.pl", include_str!("library/pairs.pl")),
    ("library/ordsets.pl", include_str!("library/ordsets.pl")),
    ("library/assoc.pl", include_str!("library/assoc.pl")),
    ("library/option.pl", include_str!("library/option.pl")),
    ("library/occurs.pl", include_str!("library/occurs.pl")),
    ("library/error.pl", include_str!("library/error.pl")),
    ("library/bags.pl", include_str!("library/bags.pl")),
    ("library/aggregate.pl", include_str!("library/aggregate.pl")),
    ("library/dcg.pl", include_str!("library/dcg.pl")),
    ("library/yall.pl", include_str!("library/yall.pl")),
    ("library/coroutines.pl", include_str!("library/coroutines.pl")),
    ("library/control.pl", include_str!("library/control.pl")),
    ("library/reflection.pl", include_str!("library/reflection.pl")),
    ("library/listing.pl", include_str!("library/listing.pl")),
    ("library/terms.pl", include_str!("library/terms.pl")),
    ("library/ugraphs.pl", include_str!("library/ugraphs.pl")),
    ("library/solution_sequences.pl", include_str!("library/solution_sequences.pl")),
    ("library/dcg_basics.pl", include_str!("library/dcg_basics.pl")),
    ("library/dcg_high_order.pl", include_str!("library/dcg_high_order.pl")),
];

/// Predicates of the language itself, most of them defined in the library, that a program cannot redefine.
const SYSTEM: &[(&str, usize)] = &[
    ("findall", 3),
    ("findall", 4),
    ("forall", 2),
    ("once", 1),
    ("ignore", 1),
    ("\\+", 1),
    (",", 2),
    (";", 2),
    ("->", 2),
    ("*->", 2),
    ("|", 2),
    ("!", 0),
    (":", 2),
    ("true", 0),
    ("fail", 0),
    ("false", 0),
    ("bagof", 3),
    ("setof", 3),
    ("phrase", 2),
    ("phrase", 3),
    ("dcg_translate_rule", 2),
    ("freeze", 2),
    ("frozen", 2),
    ("copy_term", 3),
    ("apply", 2),
    ("call_cleanup", 2),
    ("setup_call_cleanup", 3),
    ("dif", 2),
    ("when", 2),
    ("repeat", 0),
    ("current_predicate", 1),
    ("current_predicate", 2),
    ("predicate_property", 2),
    ("statistics", 2),
    ("retract", 1),
    ("with_output_to", 2),
];

/// The data that the programs of an engine share: atoms, builtins and library.
///
/// Creating an engine unpacks the library; create one and share it.
#[derive(Clone)]
pub struct Engine {
    library: Arc<Program>,
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}

impl Engine {
    /// A new engine with its own atom table.
    pub fn new() -> Engine {
        match image::program() {
            Some(library) => Engine::finish(library),
            None => Engine::from_text(),
        }
    }

    /// An engine with a library read and compiled from its text.
    fn from_text() -> Engine {
        let symbols = Symbols::new();
        let bare = Engine { library: Arc::new(bare_program(&symbols)) };
        let mut loader = Loader::for_library(&bare);
        for (name, text) in LIBRARY {
            loader.load(name, text);
        }
        let mut library = match loader.finish() {
            Ok(loaded) => Program::clone(&loaded.program),
            Err(problems) => unreachable!("the library does not load: {problems}"),
        };
        for predicate in &mut library.predicates {
            predicate.sources.clear();
        }
        Engine::finish(library)
    }

    /// Completes an engine: marks the predicates of [`SYSTEM`] and the helpers as not redefinable, and finds the control
    /// predicates.
    fn finish(mut library: Program) -> Engine {
        for (name, arity) in SYSTEM {
            let functor = Functor::new(library.symbols.intern(name), *arity);
            if let Some(id) = library.find(functor) {
                library.predicates[id as usize].origin = Origin::System;
            }
        }
        let symbols = Arc::clone(&library.symbols);
        for predicate in library.predicates.iter_mut().filter(|it| symbols.is_internal(it.functor.name())) {
            predicate.origin = Origin::System;
        }
        library.control = control_predicates(&library);
        Engine { library: Arc::new(library) }
    }

    /// The atom table that programs, machines and hosts of this engine share.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.library.symbols
    }

    /// A loader for a new program.
    pub fn loader(&self) -> Loader {
        Loader::new(self)
    }

    /// A program with builtins and library only.
    pub fn library(&self) -> &Arc<Program> {
        &self.library
    }
}

/// A program with builtins and control constructs, but without clauses.
pub(crate) fn bare_program(symbols: &Arc<Symbols>) -> Program {
    let mut program = Program {
        symbols: Arc::clone(symbols),
        code: prelude(),
        predicates: Vec::new(),
        lookup: FxHashMap::default(),
        clause_lists: Vec::new(),
        literals: Vec::new(),
        dynamic: FxHashMap::default(),
        shortcuts: Vec::new(),
        builtins: Vec::new(),
        control: ControlPredicates::default(),
        relations: Vec::new(),
        row_calls: Vec::new(),
        operators: Operators::standard(symbols),
        flags: Flags::default(),
    };
    for builtin in builtins::all() {
        let functor = Functor::new(symbols.internal(builtin.name), builtin.arity);
        let number = program.builtins.len() as u16;
        program.builtins.push(BuiltinEntry { code: builtin.code, functor });
        let origin = if builtins::is_redefinable(builtin) { Origin::Library } else { Origin::System };
        define(&mut program, functor, Definition::Builtin { code: builtin.code, number }, origin);
    }
    let mut control = |name: &str, arity, control| {
        let functor = Functor::new(symbols.internal(name), arity);
        define(&mut program, functor, Definition::Control(control), Origin::System);
    };
    for arity in 1..=8 {
        control("call", arity, Control::Call);
    }
    control("$body", 2, Control::Body);
    control("catch", 3, Control::Catch);
    control("throw", 1, Control::Throw);
    control("halt", 0, Control::Halt);
    control("halt", 1, Control::Halt);
    control("prolog_current_choice", 1, Control::CurrentChoice);
    program.control = control_predicates(&program);
    program.take_shortcuts();
    program
}

fn define(program: &mut Program, functor: Functor, definition: Definition, origin: Origin) {
    let id = program.predicates.len() as PredicateId;
    program.predicates.push(Predicate { functor, definition, origin, sources: Vec::new() });
    program.lookup.insert(functor, id);
}

fn control_predicates(program: &Program) -> ControlPredicates {
    let find = |name: &str, arity| program.find(Functor::new(program.symbols.internal(name), arity));
    ControlPredicates {
        body: find("$body", 2),
        and: find("$and", 3),
        or: find("$or", 3),
        r#if: find("$if", 4),
        then: find("$then", 3),
        soft_if: find("$soft_if", 4),
        soft_then: find("$soft_then", 3),
        not: find("\\+", 1),
    }
}

/// Whether a builtin has at most one answer, so that it can be called inline.
pub(crate) fn is_deterministic(code: Code) -> bool {
    !matches!(code, Code::N(_))
}
