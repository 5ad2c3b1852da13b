//! Conversions between the kinds of text: atoms, strings, lists of codes and of characters.

use super::{Accept, Kind, Misfit, read_text, single_character, text_of};
use crate::builtins::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::store::View;
use crate::term::Term;

pub(crate) const TABLE: &[Builtin] = &[
    det("atom_codes", Code::D2(atom_codes)),
    det("atom_chars", Code::D2(atom_chars)),
    det("char_code", Code::D2(char_code)),
    det("atom_string", Code::D2(atom_string)),
    det("string_to_atom", Code::D2(string_to_atom)),
    det("string_codes", Code::D2(string_codes)),
    det("string_chars", Code::D2(string_chars)),
    det("text_to_string", Code::D2(text_to_string)),
];

fn atom_codes(core: &mut Core, atom: Term, codes: Term) -> Solved {
    atom_list(core, atom, codes, Kind::Codes)
}

fn atom_chars(core: &mut Core, atom: Term, characters: Term) -> Solved {
    atom_list(core, atom, characters, Kind::Characters)
}

fn atom_list(core: &mut Core, atom: Term, list: Term, kind: Kind) -> Solved {
    if core.store.deref(atom).is_variable() {
        let text = text_of(core, list, Accept::List, "list")?;
        return Kind::Atom.unify(core, atom, &text);
    }
    let text = text_of(core, atom, Accept::Atomic, "atom")?;
    unify_list(core, list, &text, kind)
}

/// Unifies `list` with the codes or characters of `text`, according to `kind`. A string or a complete list of either
/// kind is compared as text. Any other term is an error, unless reading it stops at an unbound element or tail.
pub(super) fn unify_list(core: &mut Core, list: Term, text: &str, kind: Kind) -> Solved {
    match read_text(core, list, Accept::List) {
        Ok(other) => Ok(other == text),
        Err(Misfit::Unbound) => kind.unify(core, list, text),
        Err(misfit) => Err(misfit.raise("list", list)),
    }
}

/// `char_code(?Character, ?Code)`.
fn char_code(core: &mut Core, character: Term, code: Term) -> Solved {
    let known_character = match core.store.view(character) {
        View::Variable(_) => None,
        _ => match single_character(core, character) {
            Some(known) => Some(known),
            None => return Err(Fault::Type("character", character).into()),
        },
    };
    let known_code = match core.store.view(code) {
        View::Variable(_) => None,
        View::Small(value) => match u32::try_from(value).ok().and_then(char::from_u32) {
            Some(known) => Some(known),
            None => return Err(Fault::Representation("character_code").into()),
        },
        View::Big => return Err(Fault::Representation("int").into()),
        _ => return Err(Fault::Type("integer", code).into()),
    };
    match (known_character, known_code) {
        (Some(known), Some(other)) => Ok(known == other),
        (Some(known), None) => core.unify(code, Term::small(i64::from(u32::from(known)))),
        (None, Some(known)) => Kind::Atom.unify(core, character, known.encode_utf8(&mut [0; 4])),
        (None, None) => Err(Fault::Instantiation.into()),
    }
}

/// `atom_string(?Atom, ?String)`.
fn atom_string(core: &mut Core, atom: Term, string: Term) -> Solved {
    if core.store.deref(atom).is_variable() {
        return atom_from(core, atom, string, "string");
    }
    string_from(core, string, atom, "atom")
}

/// `string_to_atom(?String, ?Atom)`.
fn string_to_atom(core: &mut Core, string: Term, atom: Term) -> Solved {
    if core.store.deref(string).is_variable() {
        return string_from(core, string, atom, "atom");
    }
    atom_from(core, atom, string, "string")
}

/// Unifies `atom` with the text of `source`: an unbound `atom` is bound to a new atom, any text is compared as text,
/// and any other term does not unify.
fn atom_from(core: &mut Core, atom: Term, source: Term, expected: &'static str) -> Solved {
    let text = whole_text(core, source, expected)?;
    unify_any(core, atom, &text, Kind::Atom)
}

fn string_from(core: &mut Core, string: Term, source: Term, expected: &'static str) -> Solved {
    let text = whole_text(core, source, expected)?;
    unify_any(core, string, &text, Kind::String)
}

fn whole_text(core: &mut Core, source: Term, expected: &'static str) -> Solved<String> {
    if core.store.deref(source).is_variable() {
        return Err(Fault::Instantiation.into());
    }
    read_text(core, source, Accept::Any).map_err(|misfit| misfit.raise_whole(expected, source))
}

/// Unifies `term` with `text`: any text is compared as text, any other term is unified with a new term.
fn unify_any(core: &mut Core, term: Term, text: &str, kind: Kind) -> Solved {
    match read_text(core, term, Accept::Any) {
        Ok(other) => Ok(other == text),
        Err(Misfit::Raised(raised)) => Err(raised),
        Err(_) => kind.unify(core, term, text),
    }
}

fn string_codes(core: &mut Core, string: Term, codes: Term) -> Solved {
    string_list(core, string, codes, Kind::Codes)
}

fn string_chars(core: &mut Core, string: Term, characters: Term) -> Solved {
    string_list(core, string, characters, Kind::Characters)
}

fn string_list(core: &mut Core, string: Term, list: Term, kind: Kind) -> Solved {
    if core.store.deref(string).is_variable() {
        let text = text_of(core, list, Accept::List, "list")?;
        return Kind::String.unify(core, string, &text);
    }
    let text = text_of(core, string, Accept::Any, "text")?;
    unify_any(core, list, &text, kind)
}

/// `text_to_string(+Text, ?String)`.
fn text_to_string(core: &mut Core, text: Term, string: Term) -> Solved {
    let text = text_of(core, text, Accept::Text, "text")?;
    unify_any(core, string, &text, Kind::String)
}
