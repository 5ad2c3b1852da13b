//! Upper and lower case.

use super::{Accept, Kind, charge, text_of};
use crate::builtins::characters::{lower, upper};
use crate::builtins::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::Solved;
use crate::term::Term;

/// The number of bytes charged for each byte of text that is converted.
const BYTES_PER_CHARACTER: usize = 4;

pub(crate) const TABLE: &[Builtin] = &[
    det("upcase_atom", Code::D2(upcase_atom)),
    det("downcase_atom", Code::D2(downcase_atom)),
    det("string_upper", Code::D2(string_upper)),
    det("string_lower", Code::D2(string_lower)),
];

fn upcase_atom(core: &mut Core, text: Term, result: Term) -> Solved {
    map(core, text, result, upper, Kind::Atom)
}

fn downcase_atom(core: &mut Core, text: Term, result: Term) -> Solved {
    map(core, text, result, lower, Kind::Atom)
}

fn string_upper(core: &mut Core, text: Term, result: Term) -> Solved {
    map(core, text, result, upper, Kind::String)
}

fn string_lower(core: &mut Core, text: Term, result: Term) -> Solved {
    map(core, text, result, lower, Kind::String)
}

fn map(core: &mut Core, text: Term, result: Term, change: fn(char) -> char, kind: Kind) -> Solved {
    let text = text_of(core, text, Accept::Atomic, "atomic")?;
    charge(core, BYTES_PER_CHARACTER * text.len())?;
    let changed: String = text.chars().map(change).collect();
    kind.unify_text(core, result, &changed, if kind == Kind::Atom { "atom" } else { "string" })
}
