//! `repeat/0`, the `$…` helpers of the library's predicates for control and output, and directives that may be called as
//! goals, such as `consult/1` and `garbage_collect/0`.

use super::{Builtin, Code, State, Step, det, nondet};
use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::loader::is_library;
use crate::store::{ListEnd, View};
use crate::symbols::atoms;
use crate::term::{Functor, Term};

pub(crate) const TABLE: &[Builtin] = &[
    det("$check_result_list", Code::D1(check_result_list)),
    det("$inferences", Code::D1(inferences)),
    det("consult", Code::D1(consult)),
    det("$divert", Code::D0(divert)),
    det("$end_diversion", Code::D1(end_diversion)),
    det("$check_sink", Code::D1(check_sink)),
    det("$open_cleanup", Code::D2(open_cleanup)),
    det("$close_cleanup", Code::D0(close_cleanup)),
    det("use_module", Code::D1(use_module)),
    det("use_module", Code::D2(use_module_import)),
    det("ensure_loaded", Code::D1(use_module)),
    det("garbage_collect", Code::D0(accept)),
    det("style_check", Code::D1(accept_one)),
    det("discontiguous", Code::D1(accept_one)),
    nondet("repeat", 0, repeat),
];

/// Raises a type error unless `result` is a list or a partial list. The error names `findall/3`, even if the result is
/// that of `aggregate_all/3`.
fn check_result_list(core: &mut Core, result: Term) -> Solved {
    match core.store.skip_list(result).1 {
        ListEnd::Other(_) => Err(Raised::FaultIn(Fault::Type("list", result), atoms::FINDALL, 3)),
        ListEnd::Nil | ListEnd::Variable(_) => Ok(true),
    }
}

fn inferences(core: &mut Core, count: Term) -> Solved {
    let inferences = core.store.integer(core.store.meter.inferences as i64);
    core.unify(count, inferences)
}

fn divert(core: &mut Core) -> Solved {
    core.output.divert();
    Ok(true)
}

/// Ends the innermost diversion of output, and unifies `text` with the diverted text as a string.
fn end_diversion(core: &mut Core, text: Term) -> Solved {
    let collected = core.output.end_diversion();
    let string = core.store.string(&collected);
    core.unify(text, string)
}

fn check_sink(core: &mut Core, sink: Term) -> Solved {
    match core.store.view(sink) {
        View::Variable(_) => Err(Fault::Instantiation.into()),
        View::Compound(functor, _) if is_sink(core, functor) => Ok(true),
        _ => Err(Fault::Domain("output_sink", sink).into()),
    }
}

fn is_sink(core: &Core, functor: Functor) -> bool {
    matches!(
        (core.atoms.name(functor.name()), functor.arity()),
        ("atom" | "string" | "codes" | "chars", 1) | ("codes" | "chars", 2)
    )
}

fn open_cleanup(core: &mut Core, height: Term, goal: Term) -> Solved {
    core.open_cleanup(height, goal);
    Ok(true)
}

fn close_cleanup(core: &mut Core) -> Solved {
    core.close_cleanup();
    Ok(true)
}

/// Raises a permission error: files are loaded only by directives, before a query runs.
fn consult(_: &mut Core, file: Term) -> Solved {
    Err(Fault::Permission("load", "source", file).into())
}

fn accept(_: &mut Core) -> Solved {
    Ok(true)
}

fn accept_one(_: &mut Core, _: Term) -> Solved {
    Ok(true)
}

/// `use_module/1` and `ensure_loaded/1` as goals. They succeed for an available library, because it is always loaded,
/// and raise an error for anything else, because files are loaded only by directives.
fn use_module(core: &mut Core, file: Term) -> Solved {
    match core.store.view(file) {
        View::Variable(_) => Err(Fault::Instantiation.into()),
        View::Compound(functor, arguments) if functor == Functor::new(atoms::LIBRARY, 1) => {
            match core.store.view(core.store.cells[arguments]) {
                View::Variable(_) => Err(Fault::Instantiation.into()),
                View::Atom(name) if is_library(core.atoms.name(name)) => Ok(true),
                View::Compound(path, parts) if path == Functor::new(atoms::SLASH, 2) && is_path(core, parts) => {
                    Ok(true)
                }
                _ => Err(Fault::Existence("source_sink", file).into()),
            }
        }
        _ => Err(Fault::Existence("source_sink", file).into()),
    }
}

/// Whether the two terms at `parts` are the directory and the name of a library, such as `dcg` and `basics`. Takes
/// constant time, however large the terms are.
fn is_path(core: &Core, parts: usize) -> bool {
    let [directory, name] = [parts, parts + 1].map(|part| match core.store.view(core.store.cells[part]) {
        View::Atom(atom) => core.atoms.name(atom),
        _ => "",
    });
    // The longest name of a library is much shorter.
    directory.len() + name.len() < 100 && is_library(&format!("{directory}/{name}"))
}

fn use_module_import(core: &mut Core, file: Term, _: Term) -> Solved {
    use_module(core, file)
}

fn repeat(_: &mut Core, _: &[Term], state: State) -> Solved<Step> {
    Ok(Step::More(state))
}

/// `Name/Arity` as a term.
pub(super) fn indicator(core: &mut Core, functor: Functor) -> Term {
    core.store.structure(atoms::SLASH, &[Term::atom(functor.name()), Term::small(functor.arity() as i64)])
}
