//! Writes terms as text.
//!
//! Quotes, spaces and parentheses are placed so that quoted output can be read back. The layout is that of SWI-Prolog's
//! `writeq/1` and related predicates.

mod cycles;
mod floats;
mod quoting;
mod terms;
mod tokens;

pub(crate) use floats::format_float;
pub(crate) use quoting::Escapes;

use crate::core::Core;
use crate::fault::Solved;
use crate::meter::Resource;
use crate::operators::Operators;
use crate::store::Store;
use crate::symbols::Atoms;
use crate::term::Term;
use cycles::Finite;
use rustc_hash::FxHashMap;
use terms::{ARGUMENT_PRIORITY, Progress, Work};

/// What follows the comma between arguments and list elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spacing {
    /// Nothing.
    Standard,
    /// A space.
    NextArgument,
}

/// How to write a term. The constructors `write`, `print` and `writeq` are named after the predicates whose options
/// they return.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "these are the options of write_term/2")]
pub(crate) struct WriteOptions {
    /// Quotes strings, and atoms that cannot be read back without quotes.
    pub(crate) quoted: bool,
    /// Writes operators in functional notation.
    pub(crate) ignore_ops: bool,
    /// Writes `'$VAR'(1)` as `B`.
    pub(crate) numbervars: bool,
    /// Writes `{}(X)` as `{X}`.
    pub(crate) brace_terms: bool,
    /// Writes lists as `'.'(Head,Tail)`.
    pub(crate) dotlists: bool,
    /// With `quoted`, also quotes atoms with characters beyond Latin-1.
    pub(crate) quote_non_ascii: bool,
    pub(crate) escapes: Escapes,
    /// Deeper parts are written as `...`; 0 is unlimited.
    pub(crate) max_depth: usize,
    pub(crate) spacing: Spacing,
    /// A term of a higher priority is enclosed in parentheses.
    pub(crate) priority: u16,
    /// Names of unbound variables; other variables are written as `_` and a number.
    pub(crate) variable_names: FxHashMap<Term, Box<str>>,
}

impl WriteOptions {
    /// The options of `write_term(Term, [])`.
    pub(crate) fn plain() -> WriteOptions {
        WriteOptions {
            quoted: false,
            ignore_ops: false,
            numbervars: false,
            brace_terms: true,
            dotlists: false,
            quote_non_ascii: false,
            escapes: Escapes::Unicode,
            max_depth: 0,
            spacing: Spacing::Standard,
            priority: 1200,
            variable_names: FxHashMap::default(),
        }
    }

    pub(crate) fn write() -> WriteOptions {
        WriteOptions { numbervars: true, ..WriteOptions::plain() }
    }

    pub(crate) fn print() -> WriteOptions {
        WriteOptions { quoted: true, ..WriteOptions::write() }
    }

    pub(crate) fn writeq() -> WriteOptions {
        WriteOptions { escapes: Escapes::Hexadecimal, ..WriteOptions::print() }
    }

    /// The options of `write_canonical/1`, which also names variables: see [`name_variables`].
    pub(crate) fn canonical() -> WriteOptions {
        WriteOptions {
            ignore_ops: true,
            numbervars: false,
            brace_terms: false,
            quote_non_ascii: true,
            ..WriteOptions::writeq()
        }
    }

    /// The format of answers shown to users.
    pub(crate) fn answer() -> WriteOptions {
        WriteOptions { spacing: Spacing::NextArgument, ..WriteOptions::print() }
    }
}

/// The store, atoms and operators needed to write a term.
pub(crate) struct Terms<'t> {
    pub(crate) store: &'t mut Store,
    pub(crate) atoms: &'t Atoms,
    pub(crate) operators: &'t Operators,
}

/// The maximum number of bytes to write, and the resource that is exhausted by more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limit {
    pub(crate) bytes: usize,
    pub(crate) resource: Resource,
}

impl Limit {
    /// No limit, for tests, whose terms are finite.
    #[cfg(test)]
    pub(crate) const NONE: Limit = Limit { bytes: usize::MAX, resource: Resource::OutputBytes };
}

/// Appends a term to `text`. `limit` bounds the text, and the walk is charged to the store's meter. A cyclic term is
/// written `@(Template,Substitutions)`, as in SWI-Prolog, unless `max_depth` is set.
pub(crate) fn write_term(
    text: &mut String,
    term: Term,
    options: &WriteOptions,
    limit: Limit,
    terms: &mut Terms<'_>,
) -> Solved<()> {
    let start = text.len();
    let patience = if options.max_depth > 0 { usize::MAX } else { terms.store.patience() };
    if Work::new(terms, options, text, limit, patience).run(term)? == Progress::All {
        return Ok(());
    }
    // Writing stopped early, because it took many steps or exceeded a limit: the term may be cyclic.
    text.truncate(start);
    if terms.store.is_acyclic(term)? {
        return Work::new(terms, options, text, limit, usize::MAX).run(term).map(|_| ());
    }
    let finite = Finite::of(terms.store, term)?;
    let mut options = WriteOptions { priority: ARGUMENT_PRIORITY, ..options.clone() };
    if options.numbervars {
        let named = finite.markers.iter().enumerate();
        options.variable_names.extend(named.map(|(index, marker)| (*marker, format!("S_{}", index + 1).into())));
    }
    text.push_str("@(");
    Work::new(terms, &options, text, limit, usize::MAX).run(finite.template)?;
    text.push(',');
    Work::new(terms, &options, text, limit, usize::MAX).run(finite.substitutions)?;
    text.push(')');
    Ok(())
}

impl Core {
    /// The text of a term. Its length is limited by the heap budget.
    pub(crate) fn text_of(&mut self, term: Term, options: &WriteOptions) -> Solved<String> {
        let Core { store, atoms, operators, .. } = self;
        let cells = store.meter.cell_limit.saturating_sub(store.cells.len());
        let limit = Limit { bytes: cells.saturating_mul(8), resource: Resource::HeapBytes };
        let mut text = String::new();
        write_term(&mut text, term, options, limit, &mut Terms { store, atoms, operators })?;
        Ok(text)
    }
}

/// The name of the variable `number`, counted from 0: `A` to `Z`, then `A1` to `Z1` and so on.
pub(crate) fn variable_name(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// Names for the variables of a term: `_` for those that occur once, letters for the others. In a cyclic term, all
/// variables get letters.
pub(crate) fn name_variables(store: &mut Store, term: Term) -> Solved<FxHashMap<Term, Box<str>>> {
    let mut order = Vec::new();
    let mut occurrences: FxHashMap<Term, usize> = FxHashMap::default();
    if !count_variables(store, term, &mut order, &mut occurrences)? {
        // A variable with one occurrence in a cyclic term may be written several times.
        order.clear();
        store.term_variables(term, &mut order)?;
        occurrences = order.iter().map(|&variable| (variable, 2)).collect();
    }
    let mut named = 0;
    let names = order.into_iter().map(|variable| {
        if occurrences[&variable] == 1 {
            return (variable, "_".into());
        }
        named += 1;
        (variable, variable_name(named - 1).into())
    });
    Ok(names.collect())
}

/// Counts how often each variable is written, and records the order of the first occurrences; returns false if the term
/// is cyclic.
fn count_variables(
    store: &mut Store,
    term: Term,
    order: &mut Vec<Term>,
    occurrences: &mut FxHashMap<Term, usize>,
) -> Solved<bool> {
    /// Cost of looking up a variable, in cells walked.
    const VARIABLE_CELLS: u64 = 8;
    let patience = store.patience();
    let mut steps = 0;
    let mut pending = vec![term];
    while let Some(next) = pending.pop() {
        steps += 1;
        store.charge(1)?;
        if steps == patience && !store.is_acyclic(term)? {
            return Ok(false);
        }
        if pending.len() + 8 * occurrences.capacity() > store.room() {
            return Err(store.out_of_room());
        }
        let next = store.deref(next);
        if next.is_variable() {
            store.charge(VARIABLE_CELLS)?;
            let count = occurrences.entry(next).or_default();
            *count += 1;
            if *count == 1 {
                order.push(next);
            }
        }
        let (start, end) = store.argument_range(next);
        store.reserve(end - start)?;
        pending.extend(store.cells[start..end].iter().rev());
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
