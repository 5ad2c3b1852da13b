//! Concatenation of two texts, also backwards: splitting a text in two.

use super::{Accept, Kind, bound_text_of, charge, reserve, unify_candidate};
use crate::builtins::{Builtin, FIRST, State, Step, nondet};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::store::View;
use crate::term::Term;

pub(crate) const TABLE: &[Builtin] = &[
    nondet("atom_concat", 3, atom_concat),
    nondet("string_concat", 3, string_concat),
    nondet("text_concat", 3, text_concat),
];

fn atom_concat(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    concat(core, arguments, state, Kind::Atom)
}

fn string_concat(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    concat(core, arguments, state, Kind::String)
}

/// Like `atom_concat/3`, but the texts it makes are strings if an argument is a string, otherwise atoms.
fn text_concat(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    let is_string = |&argument: &Term| core.store.view(argument) == View::Text;
    let kind = if arguments.iter().any(is_string) { Kind::String } else { Kind::Atom };
    concat(core, arguments, state, kind)
}

fn concat(core: &mut Core, arguments: &[Term], state: State, kind: Kind) -> Solved<Step> {
    let &[front, back, whole] = arguments else { return Ok(Step::Fail) };
    if state != FIRST {
        return split(core, arguments, state, kind);
    }
    let front_text = bound_text_of(core, front, Accept::Atomic, "atomic")?;
    let back_text = bound_text_of(core, back, Accept::Atomic, "atomic")?;
    if let (Some(front_text), Some(back_text)) = (&front_text, &back_text) {
        reserve(core, front_text.len() + back_text.len())?;
        let joined = format!("{front_text}{back_text}");
        charge(core, joined.len())?;
        return kind.unify_text(core, whole, &joined, "atomic").map(once);
    }
    let Some(whole_text) = bound_text_of(core, whole, Accept::Atomic, "atomic")? else {
        return Err(Fault::Instantiation.into());
    };
    match (front_text, back_text) {
        (Some(front_text), _) => match whole_text.strip_prefix(&front_text) {
            Some(rest) => kind.unify(core, back, rest).map(once),
            None => Ok(Step::Fail),
        },
        (_, Some(back_text)) => match whole_text.strip_suffix(&back_text) {
            Some(rest) => kind.unify(core, front, rest).map(once),
            None => Ok(Step::Fail),
        },
        (None, None) => split(core, arguments, state, kind),
    }
}

fn once(unified: bool) -> Step {
    if unified { Step::Last } else { Step::Fail }
}

/// Enumerates the ways to split `whole` in two; the state is the byte offset to split at.
fn split(core: &mut Core, arguments: &[Term], state: State, kind: Kind) -> Solved<Step> {
    let &[front, back, whole] = arguments else { return Ok(Step::Fail) };
    let Some(text) = bound_text_of(core, whole, Accept::Atomic, "atomic")? else { return Ok(Step::Fail) };
    let mut at = state.0 as usize;
    loop {
        let (left, right) = text.split_at(at);
        let next = right.chars().next().map(|character| at + character.len_utf8());
        let left = kind.make(core, left)?;
        let right = kind.make(core, right)?;
        let fits = unify_candidate(core, &[(front, left), (back, right)]);
        match (fits, next) {
            (true, Some(next)) => return Ok(Step::More((next as u64, 0))),
            (true, None) => return Ok(Step::Last),
            (false, Some(next)) => at = next,
            (false, None) => return Ok(Step::Fail),
        }
    }
}
