//! Global variables, which exist until the end of the query.

use super::{Builtin, Code, det};
use crate::core::{Core, Global};
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

/// Words of memory that a variable takes in addition to its value: its table entry and a share of the table's free
/// slots.
const VARIABLE_WORDS: usize = 24;

fn key(core: &Core, term: Term) -> Solved<Atom> {
    match core.store.view(term) {
        View::Atom(atom) => Ok(atom),
        View::Variable(_) => Err(Fault::Instantiation.into()),
        _ => Err(Fault::Type("atom", term).into()),
    }
}

/// Sets a variable; backtracking restores the previous value.
fn b_setval(core: &mut Core, name: Term, value: Term) -> Solved {
    let name = key(core, name)?;
    let used = core.globals.cells;
    let global = global(core, name)?;
    let cell = match global.cell {
        Some(cell) => cell,
        None if used == GLOBAL_CELLS => return Err(Fault::Resource("global_variables").into()),
        None => {
            let cell = *global.cell.insert(used);
            core.globals.cells += 1;
            cell
        }
    };
    let value = core.store.deref(value);
    core.store.assign(cell, value);
    Ok(true)
}

/// The variable of this name; created if it does not exist.
fn global(core: &mut Core, name: Atom) -> Solved<&mut Global> {
    if !core.globals.variables.contains_key(&name) {
        core.store.reserve(VARIABLE_WORDS)?;
        core.store.meter.hold(VARIABLE_WORDS);
    }
    Ok(core.globals.variables.entry(name).or_default())
}

/// Sets a variable to a copy of a value; backtracking does not undo this.
fn nb_setval(core: &mut Core, name: Term, value: Term) -> Solved {
    let name = key(core, name)?;
    let stored = core.store.copy_out(value, Attributes::Copy).ok_or(Raised::Exhausted(Resource::HeapBytes))?;
    core.store.meter.hold(stored.cells().len());
    let global = global(core, name)?;
    let cell = global.cell;
    if let Some(old) = global.kept.replace(stored) {
        core.store.meter.release(old.cells().len());
    }
    if let Some(cell) = cell {
        core.store.cells[cell] = Term::reference(cell);
    }
    Ok(true)
}

fn getval(core: &mut Core, name: Term, value: Term) -> Solved {
    let atom = key(core, name)?;
    let global = core.globals.variables.get(&atom);
    let cell = global.and_then(|global| global.cell).filter(|&cell| core.store.cells[cell] != Term::reference(cell));
    let current = match (cell, global.and_then(|global| global.kept.as_ref())) {
        (Some(cell), _) => core.store.cells[cell],
        (None, Some(kept)) => core.store.paste_within_budget(kept)?,
        (None, None) => return Err(Fault::Existence("variable", name).into()),
    };
    core.unify(value, current)
}
