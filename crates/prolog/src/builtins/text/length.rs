//! The length of a text.

use super::{Accept, charge, text_of};
use crate::builtins::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::store::View;
use crate::term::Term;

pub(crate) const TABLE: &[Builtin] = &[
    det("atom_length", Code::D2(atom_length)),
    det("string_length", Code::D2(text_length)),
    det("text_length", Code::D2(text_length)),
];

/// `atom_length(+Text, ?Length)`: unlike [`text_length`], treats `[]` as an atom.
fn atom_length(core: &mut Core, text: Term, length: Term) -> Solved {
    if let (false, View::Small(..0)) = (core.store.deref(text).is_variable(), core.store.view(length)) {
        return Err(Fault::Domain("not_less_than_zero", length).into());
    }
    let View::Atom(atom) = core.store.view(text) else {
        let characters = text_of(core, text, Accept::Any, "atom")?.chars().count();
        return unify_length(core, length, characters);
    };
    let name = core.atoms.name(atom);
    let (bytes, characters) = (name.len(), name.chars().count());
    charge(core, bytes)?;
    unify_length(core, length, characters)
}

fn text_length(core: &mut Core, text: Term, length: Term) -> Solved {
    let characters = text_of(core, text, Accept::Any, "text")?.chars().count();
    unify_length(core, length, characters)
}

fn unify_length(core: &mut Core, length: Term, characters: usize) -> Solved {
    match core.store.view(length) {
        View::Variable(_) | View::Small(_) | View::Big => core.unify(length, Term::small(characters as i64)),
        _ => Err(Fault::Type("integer", length).into()),
    }
}
