//! Global variables, local to one query.

use super::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::machine::GLOBAL_CELLS;
use crate::meter::Resource;
use crate::store::View;
use crate::stored::Attributes;
use crate::symbols::Atom;
use crate::term::Term;

pub(crate) const TABLE: &[Builtin] = &[
    det("b_setval", Code::D2(b_setval)),
    det("b_getval", Code::D2(getval)),
    det("nb_setval", Code::D2(nb_setval)),
    det("nb_getval", Code::D2(getval)),
];

fn key(core: &Core, term: Term) -> Solved<Atom> {
    match core.store.view(term) {
        View::Atom(atom) => Ok(atom),
        View::Variable(_) => Err(Fault::Instantiation.into()),
        _ => Err(Fault::Type("atom", term).into()),
    }
}

/// Sets a variable; backtracking restores what it was.
fn b_setval(core: &mut Core, name: Term, value: Term) -> Solved {
    let name = key(core, name)?;
    let used = core.globals.values().filter(|global| global.cell.is_some()).count();
    let global = core.globals.entry(name).or_default();
    let cell = match global.cell {
        Some(cell) => cell,
        None if used == GLOBAL_CELLS => return Err(Fault::Resource("global_variables").into()),
        None => *global.cell.insert(used),
    };
    let value = core.store.deref(value);
    core.store.assign(cell, value);
    Ok(true)
}

/// Sets a variable to a copy of a value; backtracking does not change it.
fn nb_setval(core: &mut Core, name: Term, value: Term) -> Solved {
    let name = key(core, name)?;
    let stored = core.store.copy_out(value, Attributes::Copy).ok_or(Raised::Exhausted(Resource::HeapBytes))?;
    let global = core.globals.entry(name).or_default();
    global.kept = Some(stored);
    if let Some(cell) = global.cell {
        core.store.cells[cell] = Term::reference(cell);
    }
    Ok(true)
}

fn getval(core: &mut Core, name: Term, value: Term) -> Solved {
    let atom = key(core, name)?;
    let global = core.globals.get(&atom);
    let cell = global.and_then(|global| global.cell).filter(|&cell| core.store.cells[cell] != Term::reference(cell));
    let current = match (cell, global.and_then(|global| global.kept.as_ref())) {
        (Some(cell), _) => core.store.cells[cell],
        (None, Some(kept)) => core.store.paste(kept),
        (None, None) => return Err(Fault::Existence("variable", name).into()),
    };
    core.unify(value, current)
}
