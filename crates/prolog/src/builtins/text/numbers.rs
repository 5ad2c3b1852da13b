//! Conversions between numbers and text.

use super::convert::unify_list;
use super::{Accept, Kind, Misfit, read_text};
use crate::arithmetic::from_number;
use crate::builtins::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::number::Number;
use crate::reader::characters::is_layout;
use crate::reader::read_number;
use crate::store::View;
use crate::term::Term;
use crate::writer::format_float;

pub(crate) const TABLE: &[Builtin] = &[
    det("atom_number", Code::D2(atom_number)),
    det("number_codes", Code::D2(number_codes)),
    det("number_chars", Code::D2(number_chars)),
    det("number_string", Code::D2(number_string)),
];

/// Cost of finding the shortest decimal form of a float.
const FLOAT_CELLS: u64 = 16;

/// Charges the conversion of an integer with this many digits, which takes more than linear time.
pub(crate) fn charge_digits(core: &mut Core, digits: u64) -> Solved<()> {
    const DIGITS_SQUARED_PER_CELL: u64 = 512;
    let cells = digits.saturating_mul(digits) / DIGITS_SQUARED_PER_CELL;
    if core.store.meter.walk(cells) { Ok(()) } else { core.check_budget() }
}

/// The text of a number; an error for any other term.
pub(crate) fn number_text(core: &mut Core, term: Term) -> Solved<String> {
    match core.store.view(term) {
        View::Small(value) => Ok(value.to_string()),
        View::Big => {
            let value = core.store.big(term);
            // A decimal digit holds more than three bits, so this is at least the number of digits.
            charge_digits(core, value.bits() / 3)?;
            Ok(value.to_string())
        }
        View::Float(value) => {
            core.store.charge(FLOAT_CELLS)?;
            Ok(format_float(value))
        }
        _ => Err(Fault::Type("number", term).into()),
    }
}

/// Parses all of `text` as a number in Prolog syntax; layout, comments and a sign may precede it. `None` if it is not a
/// number.
fn parse_number(core: &mut Core, text: &str) -> Solved<Option<Number>> {
    charge_digits(core, text.len() as u64)?;
    core.store.charge(text.len() as u64 / 2)?;
    Ok(read_number(text).ok())
}

/// Unifies `term` with the number in `text`; fails if the text is not a number, or layout or a comment precedes it.
fn unify_number(core: &mut Core, term: Term, text: &str) -> Solved {
    if text.starts_with(|first| is_layout(first) || first == '/' || first == '%') {
        return Ok(false);
    }
    match parse_number(core, text)? {
        Some(number) => {
            let number = from_number(&mut core.store, number);
            core.unify(term, number)
        }
        None => Ok(false),
    }
}

/// `atom_number(?Atom, ?Number)`: fails for an atom that is not a number.
fn atom_number(core: &mut Core, atom: Term, number: Term) -> Solved {
    match read_text(core, atom, Accept::Name) {
        Ok(text) => unify_number(core, number, &text),
        Err(Misfit::Raised(raised)) => Err(raised),
        Err(_) => {
            let is_unbound = core.store.deref(atom).is_variable();
            match core.store.view(number) {
                View::Small(_) | View::Big | View::Float(_) => {
                    let text = number_text(core, number)?;
                    Kind::Atom.unify(core, atom, &text)
                }
                View::Variable(_) if is_unbound => Err(Fault::Instantiation.into()),
                View::Variable(_) => Err(Fault::Type("atom", atom).into()),
                _ => Err(Fault::Type("number", number).into()),
            }
        }
    }
}

fn number_codes(core: &mut Core, number: Term, codes: Term) -> Solved {
    number_list(core, number, codes, Kind::Codes)
}

fn number_chars(core: &mut Core, number: Term, characters: Term) -> Solved {
    number_list(core, number, characters, Kind::Characters)
}

/// `number_codes/2` and `number_chars/2`. A known list is parsed even if the number is known, because it may use a
/// different notation, such as `0xc`.
fn number_list(core: &mut Core, number: Term, list: Term, kind: Kind) -> Solved {
    let is_unbound = check_number(core, number)?;
    match read_text(core, list, Accept::List) {
        Ok(text) => match parse_number(core, &text)? {
            Some(parsed) => {
                let parsed = from_number(&mut core.store, parsed);
                core.unify(number, parsed)
            }
            None => Err(Fault::Syntax(core.atoms.intern("illegal_number")).into()),
        },
        Err(Misfit::Unbound) if !is_unbound => {
            let text = number_text(core, number)?;
            unify_list(core, list, &text, kind)
        }
        Err(misfit) => Err(misfit.raise("list", list)),
    }
}

/// Whether an argument is unbound; an error if it is neither unbound nor a number.
fn check_number(core: &Core, number: Term) -> Solved {
    match core.store.view(number) {
        View::Variable(_) => Ok(true),
        View::Small(_) | View::Big | View::Float(_) => Ok(false),
        _ => Err(Fault::Type("number", number).into()),
    }
}

/// `number_string(?Number, ?String)`: fails for a string that is not a number.
fn number_string(core: &mut Core, number: Term, string: Term) -> Solved {
    let is_unbound = check_number(core, number)?;
    match read_text(core, string, Accept::List) {
        Ok(text) => unify_number(core, number, &text),
        Err(Misfit::Unbound) if !is_unbound => {
            let text = number_text(core, number)?;
            Kind::String.unify(core, string, &text)
        }
        Err(misfit) => Err(misfit.raise("list", string)),
    }
}
