//! The options of `write_term/2,3`.

use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::reader::characters::{is_name_part, is_symbol, is_variable_start};
use crate::store::{ListEnd, View};
use crate::symbols::atoms;
use crate::term::{Functor, Term};
use crate::writer::{Escapes, Spacing, WriteOptions};

/// How to write a term, and what to append to it.
pub(crate) struct TermOptions {
    pub(crate) write: WriteOptions,
    full_stop: bool,
    new_line: bool,
}

impl TermOptions {
    /// Appends the full stop and the newline, if requested. A full stop without a newline is followed by a space.
    pub(super) fn finish(&self, text: &mut String) {
        if self.full_stop {
            if text.ends_with(is_symbol) {
                text.push(' ');
            }
            text.push('.');
        }
        if self.new_line {
            text.push('\n');
        } else if self.full_stop {
            text.push(' ');
        }
    }
}

/// Reads a list of options. A later option overrides an earlier one of the same name, but `variable_names` accumulate.
pub(crate) fn parse(core: &mut Core, list: Term) -> Solved<TermOptions> {
    let mut options = TermOptions { write: WriteOptions::plain(), full_stop: false, new_line: false };
    for option in core.proper_list(list)? {
        let (name, value) = match core.store.view(option) {
            View::Variable(_) => return Err(Fault::Instantiation.into()),
            View::Compound(functor, arguments) if functor.arity() == 1 => {
                (core.atoms.name(functor.name()).to_owned(), core.store.argument(arguments, 0))
            }
            _ => return Err(wrong(option)),
        };
        if value.is_variable() {
            return Err(Fault::Instantiation.into());
        }
        set(core, &mut options, &name, value, option)?;
    }
    Ok(options)
}

/// Whether an option of this name is in a list that [`parse`] accepts.
pub(crate) fn mentions(core: &mut Core, list: Term, name: &str) -> Solved<bool> {
    let options = core.proper_list(list)?;
    Ok(options.iter().any(|&option| match core.store.view(option) {
        View::Compound(functor, _) => core.atoms.name(functor.name()) == name,
        _ => false,
    }))
}

fn wrong(option: Term) -> Raised {
    Fault::Domain("write_option", option).into()
}

fn set(core: &mut Core, options: &mut TermOptions, name: &str, value: Term, option: Term) -> Solved<()> {
    let write = &mut options.write;
    match name {
        "quoted" => write.quoted = truth(value, option)?,
        "ignore_ops" => write.ignore_ops = truth(value, option)?,
        "numbervars" => write.numbervars = truth(value, option)?,
        "brace_terms" => write.brace_terms = truth(value, option)?,
        "dotlists" | "no_lists" => write.dotlists = truth(value, option)?,
        "quote_non_ascii" => write.quote_non_ascii = truth(value, option)?,
        "character_escapes_unicode" => {
            write.escapes = if truth(value, option)? { Escapes::Unicode } else { Escapes::Hexadecimal };
        }
        "fullstop" => options.full_stop = truth(value, option)?,
        "nl" => options.new_line = truth(value, option)?,
        "max_depth" => write.max_depth = number(core, value, usize::MAX, option)?,
        "priority" => write.priority = number(core, value, 1200, option)? as u16,
        "spacing" => {
            write.spacing = match value.as_atom().map(|atom| core.atoms.name(atom)) {
                Some("standard") => Spacing::Standard,
                Some("next_argument") => Spacing::NextArgument,
                _ => return Err(wrong(option)),
            }
        }
        "variable_names" => set_variable_names(core, write, value, option)?,
        // The values of these options and of the next ones are checked, but have no effect.
        "portray" | "portrayed" | "cycles" | "partial" => {
            truth(value, option)?;
        }
        "attributes" | "blobs" | "module" => {
            value.as_atom().ok_or_else(|| wrong(option))?;
        }
        _ => return Err(wrong(option)),
    }
    Ok(())
}

fn truth(value: Term, option: Term) -> Solved<bool> {
    match value.as_atom() {
        Some(atoms::TRUE) => Ok(true),
        Some(atoms::FALSE) => Ok(false),
        _ => Err(wrong(option)),
    }
}

fn number(core: &Core, value: Term, largest: usize, option: Term) -> Solved<usize> {
    match core.store.view(value) {
        View::Small(value) => usize::try_from(value).ok().filter(|&value| value <= largest),
        _ => None,
    }
    .ok_or_else(|| wrong(option))
}

/// `['X' = X, ...]`: if a variable has several names, the first is used.
fn set_variable_names(core: &mut Core, write: &mut WriteOptions, list: Term, option: Term) -> Solved<()> {
    let equation = Functor::new(atoms::EQUALS, 2);
    let mut items = Vec::new();
    match core.store.list_items(list, &mut items) {
        ListEnd::Nil => {}
        ListEnd::Variable(_) => return Err(Fault::Instantiation.into()),
        ListEnd::Other(_) => return Err(wrong(option)),
    }
    for item in items {
        let (name, variable) = match core.store.view(item) {
            View::Variable(_) => return Err(Fault::Instantiation.into()),
            View::Compound(functor, arguments) if functor == equation => {
                (core.store.argument(arguments, 0), core.store.argument(arguments, 1))
            }
            _ => return Err(wrong(option)),
        };
        if name.is_variable() {
            return Err(Fault::Instantiation.into());
        }
        let name = name.as_atom().map(|atom| core.atoms.name(atom)).filter(|name| is_variable_name(name));
        let name = name.ok_or_else(|| wrong(option))?;
        if variable.is_variable() {
            write.variable_names.entry(variable).or_insert_with(|| name.into());
        }
    }
    Ok(())
}

fn is_variable_name(name: &str) -> bool {
    name.starts_with(is_variable_start) && name.chars().all(is_name_part)
}
