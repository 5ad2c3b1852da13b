//! Joining lists of atomic terms into one atom or string, and splitting text at a separator.

use super::{Accept, Kind, charge, reserve, text_of};
use crate::builtins::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::store::{ListEnd, View};
use crate::term::Term;

pub(crate) const TABLE: &[Builtin] = &[
    det("atomic_list_concat", Code::D2(atomic_list_concat)),
    det("atomic_list_concat", Code::D3(atomic_list_concat_separated)),
    det("atomics_to_string", Code::D2(atomics_to_string)),
];

/// Cost of each part that a text is split into, in addition to its text.
const PART_CELLS: u64 = 8;
/// Cost of each element that is joined, in addition to its text.
const ITEM_CELLS: u64 = 3;

fn atomic_list_concat(core: &mut Core, list: Term, joined: Term) -> Solved {
    match join(core, list, "")? {
        Some(text) => Kind::Atom.unify(core, joined, &text),
        None => Err(Fault::Instantiation.into()),
    }
}

fn atomics_to_string(core: &mut Core, list: Term, joined: Term) -> Solved {
    match join(core, list, "")? {
        Some(text) => Kind::String.unify(core, joined, &text),
        None => Err(Fault::Instantiation.into()),
    }
}

/// `atomic_list_concat(?List, +Separator, ?Joined)`: joins the list, or splits `Joined` if the list is partial or has
/// an unbound element.
fn atomic_list_concat_separated(core: &mut Core, list: Term, separator: Term, joined: Term) -> Solved {
    let separator_text = text_of(core, separator, Accept::Atomic, "text")?;
    if let Some(text) = join(core, list, &separator_text)? {
        return Kind::Atom.unify(core, joined, &text);
    }
    if separator_text.is_empty() {
        return Err(Fault::Domain("non_empty_atom", separator).into());
    }
    if core.store.deref(joined).is_variable() {
        return Err(Fault::Instantiation.into());
    }
    let text = text_of(core, joined, Accept::Atomic, "atomic")?;
    let mut parts = Vec::new();
    for part in text.split(separator_text.as_str()) {
        core.store.charge(PART_CELLS)?;
        parts.push(Kind::Atom.make(core, part)?);
    }
    reserve(core, 16 * parts.len())?;
    let parts = core.store.list(&parts, Term::NIL);
    core.unify(list, parts)
}

/// The texts of the elements with `separator` between them; `None` if an element, or the end of the list, is unbound.
fn join(core: &mut Core, list: Term, separator: &str) -> Solved<Option<String>> {
    let mut items = Vec::new();
    let end = core.store.list_items(list, &mut items);
    let mut joined = String::new();
    for (index, &item) in items.iter().enumerate() {
        if index > 0 {
            joined.push_str(separator);
        }
        match core.store.view(item) {
            View::Variable(_) => return Ok(None),
            View::Atom(atom) => joined.push_str(core.atoms.name(atom)),
            _ => joined.push_str(&text_of(core, item, Accept::Atomic, "text")?),
        }
        core.store.charge(ITEM_CELLS)?;
        // Checked at each step: a short list that repeats one long atom must not exceed the budget.
        reserve(core, joined.len())?;
    }
    charge(core, joined.len())?;
    match end {
        ListEnd::Nil => Ok(Some(joined)),
        ListEnd::Variable(_) => Ok(None),
        ListEnd::Other(end) => Err(Fault::Type("list", end).into()),
    }
}
