//! Output: `write/1` and related predicates.

pub(super) mod options;

use super::text::charge;
use super::{Builtin, Code, det};
use crate::arithmetic::evaluate;
use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::meter::Resource;
use crate::number::Number;
use crate::store::View;
use crate::term::Term;
use crate::writer::{Limit, Terms, WriteOptions, name_variables, write_term as write_into};

pub(crate) const TABLE: &[Builtin] = &[
    det("write", Code::D1(write)),
    det("write", Code::D2(write_to)),
    det("print", Code::D1(print)),
    det("print", Code::D2(print_to)),
    det("writeln", Code::D1(writeln)),
    det("writeln", Code::D2(writeln_to)),
    det("writeq", Code::D1(writeq)),
    det("writeq", Code::D2(writeq_to)),
    det("write_canonical", Code::D1(write_canonical)),
    det("write_canonical", Code::D2(write_canonical_to)),
    det("write_term", Code::D2(write_term)),
    det("write_term", Code::D3(write_term_to)),
    det("$variable_names", Code::D2(variable_names)),
    det("nl", Code::D0(nl)),
    det("nl", Code::D1(nl_to)),
    det("tab", Code::D1(tab)),
    det("tab", Code::D2(tab_to)),
    det("put_char", Code::D1(put_char)),
    det("put_char", Code::D2(put_char_to)),
    det("flush_output", Code::D0(flush_output)),
    det("flush_output", Code::D1(flush_output_to)),
];

/// The two output streams.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Output,
    Error,
}

/// The output stream that an argument names; an error if there is no such stream.
fn stream(core: &Core, term: Term) -> Solved<Stream> {
    match core.store.view(term) {
        View::Variable(_) => Err(Fault::Instantiation.into()),
        View::Atom(atom) => match core.atoms.name(atom) {
            "user_output" | "current_output" => Ok(Stream::Output),
            "user_error" => Ok(Stream::Error),
            "user_input" => Err(Fault::Permission("output", "stream", term).into()),
            _ => Err(Fault::Existence("stream", term).into()),
        },
        _ => Err(Fault::Domain("stream_or_alias", term).into()),
    }
}

/// The number of bytes that may still be written.
fn output_room(core: &mut Core) -> usize {
    core.store.meter.output_limit.saturating_sub(core.output.write(""))
}

fn exhaust_output(core: &mut Core) -> Raised {
    core.store.meter.exhaust(Resource::OutputBytes);
    Raised::Exhausted(Resource::OutputBytes)
}

fn emit(core: &mut Core, stream: Stream, text: &str) -> Solved {
    if text.len() > output_room(core) {
        return Err(exhaust_output(core));
    }
    charge(core, 2 * text.len())?;
    match stream {
        Stream::Output => core.output.write(text),
        Stream::Error => core.output.write_error(text),
    };
    Ok(true)
}

/// The text of a term; an error if it exceeds the output budget or half of the free heap budget.
fn text_for_output(core: &mut Core, term: Term, options: &WriteOptions) -> Solved<String> {
    // The whole text is built in memory before it is written.
    let (output, heap) = (output_room(core), core.store.room().saturating_mul(8) / 2);
    let limit = if output <= heap {
        Limit { bytes: output, resource: Resource::OutputBytes }
    } else {
        Limit { bytes: heap, resource: Resource::HeapBytes }
    };
    let Core { store, atoms, operators, .. } = core;
    let mut text = String::new();
    write_into(&mut text, term, options, limit, &mut Terms { store, atoms, operators })?;
    Ok(text)
}

fn emit_term(core: &mut Core, stream: Stream, term: Term, options: &WriteOptions) -> Solved {
    let text = text_for_output(core, term, options)?;
    emit(core, stream, &text)
}

// ---- write/1 and related predicates --------------------------------------------------------------

fn write(core: &mut Core, term: Term) -> Solved {
    emit_term(core, Stream::Output, term, &WriteOptions::write())
}

fn write_to(core: &mut Core, to: Term, term: Term) -> Solved {
    let stream = stream(core, to)?;
    emit_term(core, stream, term, &WriteOptions::write())
}

fn print(core: &mut Core, term: Term) -> Solved {
    emit_term(core, Stream::Output, term, &WriteOptions::print())
}

fn print_to(core: &mut Core, to: Term, term: Term) -> Solved {
    let stream = stream(core, to)?;
    emit_term(core, stream, term, &WriteOptions::print())
}

fn emit_line(core: &mut Core, stream: Stream, term: Term) -> Solved {
    let mut text = text_for_output(core, term, &WriteOptions::write())?;
    text.push('\n');
    emit(core, stream, &text)
}

fn writeln(core: &mut Core, term: Term) -> Solved {
    emit_line(core, Stream::Output, term)
}

fn writeln_to(core: &mut Core, to: Term, term: Term) -> Solved {
    let stream = stream(core, to)?;
    emit_line(core, stream, term)
}

fn writeq(core: &mut Core, term: Term) -> Solved {
    emit_term(core, Stream::Output, term, &WriteOptions::writeq())
}

fn writeq_to(core: &mut Core, to: Term, term: Term) -> Solved {
    let stream = stream(core, to)?;
    emit_term(core, stream, term, &WriteOptions::writeq())
}

fn emit_canonical(core: &mut Core, stream: Stream, term: Term) -> Solved {
    let variable_names = name_variables(&mut core.store, term)?;
    emit_term(core, stream, term, &WriteOptions { variable_names, ..WriteOptions::canonical() })
}

/// Cost of naming a variable, in cells walked.
const NAME_CELLS: u64 = 8;

/// `'$variable_names'(Term, Names)`: a list of `Name=Variable`, with the names that `listing/1` uses.
fn variable_names(core: &mut Core, term: Term, names: Term) -> Solved {
    let named = name_variables(&mut core.store, term)?;
    core.store.charge(NAME_CELLS * named.len() as u64)?;
    core.store.reserve(8 * named.len())?;
    let mut pairs = Vec::with_capacity(named.len());
    for (variable, name) in named {
        let name = Term::atom(core.atoms.intern(&name));
        pairs.push(core.store.structure(crate::symbols::atoms::EQUALS, &[name, variable]));
    }
    let list = core.store.list(&pairs, Term::NIL);
    core.unify(names, list)
}

fn write_canonical(core: &mut Core, term: Term) -> Solved {
    emit_canonical(core, Stream::Output, term)
}

fn write_canonical_to(core: &mut Core, to: Term, term: Term) -> Solved {
    let stream = stream(core, to)?;
    emit_canonical(core, stream, term)
}

// ---- write_term/2 --------------------------------------------------------------------------------

fn emit_with_options(core: &mut Core, stream: Stream, term: Term, options: Term) -> Solved {
    let options = options::parse(core, options)?;
    let mut text = text_for_output(core, term, &options.write)?;
    options.finish(&mut text);
    emit(core, stream, &text)
}

fn write_term(core: &mut Core, term: Term, options: Term) -> Solved {
    emit_with_options(core, Stream::Output, term, options)
}

fn write_term_to(core: &mut Core, to: Term, term: Term, options: Term) -> Solved {
    let stream = stream(core, to)?;
    emit_with_options(core, stream, term, options)
}

// ---- characters ----------------------------------------------------------------------------------

fn nl(core: &mut Core) -> Solved {
    emit(core, Stream::Output, "\n")
}

fn nl_to(core: &mut Core, to: Term) -> Solved {
    let stream = stream(core, to)?;
    emit(core, stream, "\n")
}

/// The maximum number of blanks written in one piece.
const BLANKS: usize = 1 << 12;

fn emit_blanks(core: &mut Core, stream: Stream, count: Term) -> Solved {
    let count = match evaluate(core, count)? {
        Number::Int(count) => usize::try_from(count).unwrap_or(0),
        Number::Big(count) => usize::try_from(&count).unwrap_or(if count > 0.into() { usize::MAX } else { 0 }),
        Number::Float(value) => {
            let culprit = core.store.float(value);
            return Err(Fault::Type("integer", culprit).into());
        }
    };
    if count > output_room(core) {
        return Err(exhaust_output(core));
    }
    let blanks = " ".repeat(count.min(BLANKS));
    let mut left = count;
    while left > 0 {
        let now = left.min(BLANKS);
        emit(core, stream, &blanks[..now])?;
        left -= now;
    }
    Ok(true)
}

fn tab(core: &mut Core, count: Term) -> Solved {
    emit_blanks(core, Stream::Output, count)
}

fn tab_to(core: &mut Core, to: Term, count: Term) -> Solved {
    let stream = stream(core, to)?;
    emit_blanks(core, stream, count)
}

fn emit_character(core: &mut Core, stream: Stream, character: Term) -> Solved {
    let name = match core.store.view(character) {
        View::Variable(_) => return Err(Fault::Instantiation.into()),
        View::Atom(atom) => core.atoms.name(atom).chars().take(2).collect::<String>(),
        _ => return Err(Fault::Type("character", character).into()),
    };
    if name.chars().nth(1).is_some() || name.is_empty() {
        return Err(Fault::Type("character", character).into());
    }
    emit(core, stream, &name)
}

fn put_char(core: &mut Core, character: Term) -> Solved {
    emit_character(core, Stream::Output, character)
}

fn put_char_to(core: &mut Core, to: Term, character: Term) -> Solved {
    let stream = stream(core, to)?;
    emit_character(core, stream, character)
}

/// Does nothing, because output is not buffered.
fn flush_output(_core: &mut Core) -> Solved {
    Ok(true)
}

fn flush_output_to(core: &mut Core, to: Term) -> Solved {
    stream(core, to)?;
    Ok(true)
}

#[cfg(test)]
mod tests;
