//! Global variables, local to one query.

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
    let cell = match core.globals.get(&name) {
        Some(Global::Cell(cell)) => *cell,
        other => {
            let before = match other {
                Some(Global::Kept(stored)) => Some(stored.clone()),
                _ => None,
            };
            let used = core.globals.values().filter(|global| matches!(global, Global::Cell(_))).count();
            if used == GLOBAL_CELLS {
                return Err(Fault::Resource("global_variables").into());
            }
            if let Some(stored) = before {
                let value = core.store.paste(&stored);
                core.store.cells[used] = value;
            }
            core.globals.insert(name, Global::Cell(used));
            used
        }
    };
    let value = core.store.deref(value);
    core.store.assign(cell, value);
    Ok(true)
}

/// Sets a variable to a copy of a value; backtracking does not change it.
fn nb_setval(core: &mut Core, name: Term, value: Term) -> Solved {
    let name = key(core, name)?;
    let stored = core.store.copy_out(value, Attributes::Copy).ok_or(Raised::Exhausted(Resource::HeapBytes))?;
    core.globals.insert(name, Global::Kept(stored));
    Ok(true)
}

fn getval(core: &mut Core, name: Term, value: Term) -> Solved {
    let atom = key(core, name)?;
    let current = match core.globals.get(&atom) {
        Some(Global::Cell(cell)) if core.store.cells[*cell] != Term::reference(*cell) => core.store.cells[*cell],
        Some(Global::Kept(stored)) => core.store.paste(stored),
        _ => return Err(Fault::Existence("variable", name).into()),
    };
    core.unify(value, current)
}
