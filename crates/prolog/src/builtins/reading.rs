//! Conversion between text and terms: `term_to_atom/2` and related predicates. `read/1` and similar predicates raise
//! errors, because there is no input stream.

use super::text::{Accept, text_of};
use super::writing::options;
use super::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::reader::{FullStop, ReadTerm, Reader, Syntax, SyntaxError, SyntaxErrorKind};
use crate::store::View;
use crate::symbols::atoms;
use crate::term::Term;
use crate::writer::WriteOptions;
use rustc_hash::FxHashSet;

pub(crate) const TABLE: &[Builtin] = &[
    det("term_to_atom", Code::D2(term_to_atom)),
    det("atom_to_term", Code::D3(atom_to_term)),
    det("read_term_from_atom", Code::D3(read_term_from_atom)),
    det("term_string", Code::D2(term_string)),
    det("term_string", Code::D3(term_string_with_options)),
    det("read", Code::D1(read)),
    det("read", Code::D2(read_from)),
    det("read_term", Code::D2(read_term)),
    det("read_term", Code::D3(read_term_from)),
];

/// Cost of parsing a byte of text, in cells walked.
const READ_CELLS: u64 = 8;

/// The text of an argument: an atom, a string, a number, or a list of codes or characters.
fn text_argument(core: &mut Core, term: Term) -> Solved<String> {
    text_of(core, term, Accept::Any, "text")
}

// ---- reading -------------------------------------------------------------------------------------

/// The first term of a text; `end_of_file` if the text has no term.
fn read_text(core: &mut Core, text: &str) -> Solved<ReadTerm> {
    // A byte of text becomes at most three cells, and the parser uses at most 16 words of memory for it.
    core.store.reserve(text.len().saturating_mul(16))?;
    core.store.charge(text.len() as u64 * READ_CELLS)?;
    let Core { store, atoms, operators, flags, .. } = core;
    let read = Reader::new(text, FullStop::Optional).next(store, &mut Syntax { atoms, operators, flags });
    match read {
        Ok(Some(read)) => Ok(read),
        Ok(None) => Ok(ReadTerm {
            term: Term::atom(atoms::END_OF_FILE),
            variables: Vec::new(),
            singletons: Vec::new(),
            span: 0..0,
            goals: Vec::new(),
        }),
        Err(error) => Err(raise(core, &error)),
    }
}

/// Converts a syntax error of the reader to `error(syntax_error(What), _)`.
pub(crate) fn raise(core: &mut Core, error: &SyntaxError) -> Raised {
    let (name, character) = match error.kind {
        SyntaxErrorKind::Named(name) => return Fault::Syntax(core.atoms.intern(name)).into(),
        SyntaxErrorKind::Escape(character) => ("undefined_char_escape", character),
        SyntaxErrorKind::OpenQuote(quote) => ("end_of_file_in_quoted", quote),
    };
    let name = core.atoms.intern(name);
    let character = Term::atom(core.atoms.character(character));
    let what = core.store.structure(name, &[character]);
    let formal = core.store.structure(atoms::SYNTAX_ERROR, &[what]);
    core.error(formal)
}

/// The named variables of a term, as the list `['X'=X, ...]`.
fn bindings(core: &mut Core, read: &ReadTerm) -> Term {
    let mut items = Vec::with_capacity(read.variables.len());
    for (name, variable) in &read.variables {
        let name = Term::atom(core.atoms.intern(name));
        items.push(core.store.structure(atoms::EQUALS, &[name, *variable]));
    }
    core.store.list(&items, Term::NIL)
}

fn term_to_atom(core: &mut Core, term: Term, atom: Term) -> Solved {
    if matches!(core.store.view(atom), View::Variable(_)) {
        let text = core.text_of(term, &quoted())?;
        let written = Term::atom(core.atoms.intern(&text));
        return core.unify(atom, written);
    }
    let text = text_argument(core, atom)?;
    let read = read_text(core, &text)?;
    core.unify(term, read.term)
}

fn atom_to_term(core: &mut Core, atom: Term, term: Term, variables: Term) -> Solved {
    let text = text_argument(core, atom)?;
    let read = read_text(core, &text)?;
    let bindings = bindings(core, &read);
    Ok(core.store.unify(term, read.term) && core.store.unify(variables, bindings))
}

fn read_term_from_atom(core: &mut Core, atom: Term, term: Term, options: Term) -> Solved {
    let text = text_of(core, atom, Accept::Text, "text")?;
    let options = core.proper_list(options)?;
    read_with_options(core, &text, term, &options)
}

fn term_string(core: &mut Core, term: Term, string: Term) -> Solved {
    if matches!(core.store.view(string), View::Variable(_)) {
        return write_string(core, term, string, &quoted());
    }
    let text = text_argument(core, string)?;
    let read = read_text(core, &text)?;
    core.unify(term, read.term)
}

fn term_string_with_options(core: &mut Core, term: Term, string: Term, list: Term) -> Solved {
    if matches!(core.store.view(string), View::Variable(_)) {
        let mut options = options::parse(core, list)?.write;
        options.quoted |= !options::mentions(core, list, "quoted")?;
        return write_string(core, term, string, &options);
    }
    let text = text_argument(core, string)?;
    let options = core.proper_list(list)?;
    read_with_options(core, &text, term, &options)
}

fn quoted() -> WriteOptions {
    WriteOptions { quoted: true, ..WriteOptions::plain() }
}

fn write_string(core: &mut Core, term: Term, string: Term, options: &WriteOptions) -> Solved {
    let text = core.text_of(term, options)?;
    let written = core.store.string(&text);
    core.unify(string, written)
}

/// Reads a term and unifies it with `term`. Also unifies the argument of each option with the information it requests.
fn read_with_options(core: &mut Core, text: &str, term: Term, options: &[Term]) -> Solved {
    let mut wanted = Vec::new();
    for &option in options {
        let (name, value) = match core.store.view(option) {
            View::Variable(_) => return Err(Fault::Instantiation.into()),
            View::Compound(functor, arguments) if functor.arity() == 1 => {
                (core.atoms.name(functor.name()), core.store.argument(arguments, 0))
            }
            _ => return Err(Fault::Domain("read_option", option).into()),
        };
        wanted.push(match name {
            "variables" => (Wanted::Variables, value),
            "variable_names" => (Wanted::Names, value),
            "singletons" => (Wanted::Singletons, value),
            _ => return Err(Fault::Domain("read_option", option).into()),
        });
    }
    let read = read_text(core, text)?;
    for (wanted, value) in wanted {
        let found = match wanted {
            Wanted::Names => bindings(core, &read),
            Wanted::Variables => {
                let mut variables = Vec::new();
                core.store.term_variables(read.term, &mut variables)?;
                core.store.list(&variables, Term::NIL)
            }
            Wanted::Singletons => {
                let once: FxHashSet<&str> = read.singletons.iter().map(|(name, _)| &**name).collect();
                let variables = read.variables.iter().filter(|(name, _)| once.contains(&**name)).cloned().collect();
                bindings(core, &ReadTerm { variables, singletons: Vec::new(), span: 0..0, goals: Vec::new(), ..read })
            }
        };
        if !core.store.unify(value, found) {
            return Ok(false);
        }
    }
    core.unify(term, read.term)
}

/// The information that a read option requests.
enum Wanted {
    Variables,
    Names,
    Singletons,
}

// ---- no input ------------------------------------------------------------------------------------

/// The error for reading from a stream, since programs have no input: a permission error for a standard stream, an
/// existence error for any other atom, an instantiation error for a variable, and a domain error for any other term.
/// Without `from`, the stream is `user_input`.
fn no_input(core: &mut Core, from: Option<Term>) -> Solved {
    let user_input = Term::atom(core.atoms.intern("user_input"));
    let from = from.unwrap_or(user_input);
    match core.store.view(from) {
        View::Variable(_) => Err(Fault::Instantiation.into()),
        View::Atom(atom) => match core.atoms.name(atom) {
            "user_input" | "current_input" | "user_output" | "user_error" => {
                Err(Fault::Permission("input", "stream", from).into())
            }
            _ => Err(Fault::Existence("stream", from).into()),
        },
        _ => Err(Fault::Domain("stream_or_alias", from).into()),
    }
}

fn read(core: &mut Core, _term: Term) -> Solved {
    no_input(core, None)
}

fn read_from(core: &mut Core, from: Term, _term: Term) -> Solved {
    no_input(core, Some(from))
}

fn read_term(core: &mut Core, _term: Term, options: Term) -> Solved {
    core.proper_list(options)?;
    no_input(core, None)
}

fn read_term_from(core: &mut Core, from: Term, _term: Term, options: Term) -> Solved {
    core.proper_list(options)?;
    no_input(core, Some(from))
}
