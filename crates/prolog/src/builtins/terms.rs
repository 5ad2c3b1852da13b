//! Constructing, decomposing and modifying terms.

use super::{Builtin, Code, FIRST, State, Step, arguments, det, nondet};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::number::Number;
use crate::store::{ListEnd, View};
use crate::symbols::Atom;
use crate::term::{Functor, MAX_ARITY, Term};

pub(crate) const TABLE: &[Builtin] = &[
    det("functor", Code::D3(functor)),
    nondet("arg", 3, arg),
    det("=..", Code::D2(univ)),
    det("compound_name_arity", Code::D3(compound_name_arity)),
    det("compound_name_arguments", Code::D3(compound_name_arguments)),
    det("setarg", Code::D3(setarg)),
    det("nb_setarg", Code::D3(nb_setarg)),
];

/// The name as a term, and the arity; an atomic term is its own name.
fn name_and_arity(core: &Core, term: Term) -> (Term, usize) {
    match core.store.compound(term) {
        Some((functor, _)) => (Term::atom(functor.name()), functor.arity()),
        None => (term, 0),
    }
}

/// The value of an argument that must be a valid arity. Reserves the memory of a compound of that arity, and charges
/// its construction.
fn arity(core: &mut Core, term: Term) -> Solved<usize> {
    let number = arguments::integer(core, term)?;
    if number.signum() < 0 {
        return Err(Fault::Domain("not_less_than_zero", term).into());
    }
    match number {
        Number::Int(value) if value <= MAX_ARITY as i64 => {
            core.store.reserve(value as usize + 1)?;
            core.store.charge(value as u64)?;
            Ok(value as usize)
        }
        _ => Err(Fault::Representation("max_arity").into()),
    }
}

/// The name of a compound to construct; an error if it is not an atom.
fn compound_name(core: &Core, term: Term) -> Solved<Atom> {
    match core.store.view(term) {
        View::Atom(name) => Ok(name),
        View::Variable(_) => Err(Fault::Instantiation.into()),
        _ => Err(Fault::Type("atom", term).into()),
    }
}

fn functor(core: &mut Core, term: Term, name: Term, count: Term) -> Solved {
    if !core.store.deref(term).is_variable() {
        let (found, found_arity) = name_and_arity(core, term);
        return Ok(core.store.unify(name, found) && core.store.unify(count, Term::small(found_arity as i64)));
    }
    let name = core.store.deref(name);
    if name.is_variable() {
        return Err(Fault::Instantiation.into());
    }
    if core.store.compound(name).is_some() {
        return Err(Fault::Type("atomic", name).into());
    }
    let count = arity(core, count)?;
    let made = if count == 0 {
        name
    } else {
        let name = compound_name(core, name)?;
        core.store.structure_of_variables(Functor::new(name, count))
    };
    core.unify(term, made)
}

/// The arity of a compound and the address of its first argument; an error for any other term.
fn compound(core: &Core, term: Term) -> Solved<(usize, usize)> {
    match core.store.compound(term) {
        Some((functor, start)) => Ok((functor.arity(), start)),
        None if core.store.deref(term).is_variable() => Err(Fault::Instantiation.into()),
        None => Err(Fault::Type("compound", term).into()),
    }
}

/// Converts the one-based position of an argument to a zero-based index; `None` if there is no such argument. An error
/// if the position is not an integer or is negative.
fn index_of_argument(core: &Core, position: Term, count: usize) -> Solved<Option<usize>> {
    let number = arguments::integer(core, position)?;
    if number.signum() < 0 {
        return Err(Fault::Domain("not_less_than_zero", position).into());
    }
    Ok(match number {
        Number::Int(value @ 1..) if value <= count as i64 => Some(value as usize - 1),
        _ => None,
    })
}

/// `arg(?Position, +Term, ?Argument)`. If the position is unbound, the state is the number of arguments tried.
fn arg(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    let &[position, term, value] = arguments else { return Ok(Step::Fail) };
    let (count, start) = compound(core, term)?;
    if state == FIRST && !core.store.deref(position).is_variable() {
        let Some(index) = index_of_argument(core, position, count)? else { return Ok(Step::Fail) };
        let argument = core.store.argument(start, index);
        return Ok(if core.store.unify(argument, value) { Step::Last } else { Step::Fail });
    }
    for index in state.0 as usize..count {
        let argument = core.store.argument(start, index);
        core.store.charge(2)?;
        let matches = |store: &mut crate::store::Store| {
            store.unify(argument, value) && store.unify(position, Term::small(index as i64 + 1))
        };
        if core.store.attempt(matches) {
            return Ok(if index + 1 == count { Step::Last } else { Step::More((index as u64 + 1, 0)) });
        }
    }
    Ok(Step::Fail)
}

fn univ(core: &mut Core, term: Term, list: Term) -> Solved {
    let found = core.store.compound(term);
    if found.is_none() && core.store.deref(term).is_variable() {
        return assemble(core, term, list);
    }
    if let ListEnd::Other(_) = core.store.skip_list(list).1 {
        return Err(Fault::Type("list", list).into());
    }
    let (name, _) = name_and_arity(core, term);
    let parts = argument_list(core, term)?;
    let parts = core.store.cons(name, parts);
    core.unify(list, parts)
}

/// The arguments of a compound as a list; the empty list for an atomic term.
fn argument_list(core: &mut Core, term: Term) -> Solved<Term> {
    let Some((functor, start)) = core.store.compound(term) else { return Ok(Term::NIL) };
    core.store.reserve(2 * functor.arity() + 2)?;
    core.store.charge(2 * functor.arity() as u64)?;
    let items: Vec<Term> = (0..functor.arity()).map(|index| core.store.argument(start, index)).collect();
    Ok(core.store.list(&items, Term::NIL))
}

/// `Term =.. List` with an unbound term.
fn assemble(core: &mut Core, term: Term, list: Term) -> Solved {
    let mut items = core.proper_list(list)?;
    let Some(&name) = items.first() else { return Err(Fault::Domain("non_empty_list", list).into()) };
    if name.is_variable() {
        return Err(Fault::Instantiation.into());
    }
    if items.len() == 1 {
        if core.store.compound(name).is_some() {
            return Err(Fault::Type("atomic", name).into());
        }
        return core.unify(term, name);
    }
    let name = compound_name(core, name)?;
    let made = structure(core, name, &items.split_off(1))?;
    core.unify(term, made)
}

/// A compound with the given arguments; without arguments, a compound of arity 0.
fn structure(core: &mut Core, name: Atom, items: &[Term]) -> Solved<Term> {
    if items.len() > MAX_ARITY {
        return Err(Fault::Representation("max_arity").into());
    }
    core.store.reserve(items.len() + 1)?;
    Ok(if items.is_empty() {
        core.store.structure_of_variables(Functor::new(name, 0))
    } else {
        core.store.structure(name, items)
    })
}

fn compound_name_arity(core: &mut Core, term: Term, name: Term, count: Term) -> Solved {
    if !core.store.deref(term).is_variable() {
        compound(core, term)?;
        let (found, found_arity) = name_and_arity(core, term);
        return Ok(core.store.unify(name, found) && core.store.unify(count, Term::small(found_arity as i64)));
    }
    let name = compound_name(core, name)?;
    let count = arity(core, count)?;
    let made = core.store.structure_of_variables(Functor::new(name, count));
    core.unify(term, made)
}

fn compound_name_arguments(core: &mut Core, term: Term, name: Term, list: Term) -> Solved {
    if !core.store.deref(term).is_variable() {
        compound(core, term)?;
        let (found, _) = name_and_arity(core, term);
        let items = argument_list(core, term)?;
        return Ok(core.store.unify(name, found) && core.store.unify(list, items));
    }
    let name = compound_name(core, name)?;
    let items = core.proper_list(list)?;
    let made = structure(core, name, &items)?;
    core.unify(term, made)
}

/// The address of the cell of an argument to change; `None` if there is no such argument.
fn argument_cell(core: &Core, position: Term, term: Term) -> Solved<Option<usize>> {
    if core.store.deref(term).is_variable() {
        return Err(Fault::Instantiation.into());
    }
    // As in SWI-Prolog, an atom counts as a term without arguments; numbers and strings are errors.
    let (count, start) = if core.store.deref(term).as_atom().is_some() { (0, 0) } else { compound(core, term)? };
    Ok(index_of_argument(core, position, count)?.map(|index| start + index))
}

fn setarg(core: &mut Core, position: Term, term: Term, value: Term) -> Solved {
    let Some(address) = argument_cell(core, position, term)? else { return Ok(false) };
    let value = core.store.deref(value);
    // Setting an unbound argument to itself changes nothing.
    if value != Term::reference(address) {
        core.store.assign(address, value);
    }
    Ok(true)
}

fn nb_setarg(core: &mut Core, position: Term, term: Term, value: Term) -> Solved {
    let Some(address) = argument_cell(core, position, term)? else { return Ok(false) };
    let copy = super::copying::duplicate(core, value)?;
    core.store.assign_forever(address, copy);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn relates_functors() {
        check_goals(
            TABLE,
            &[
                ("functor(foo(a,b),N,A)", "functor(foo(a,b),foo,2)"),
                ("functor(T,foo,2)", "functor(foo(_,_),foo,2)"),
                ("functor(T,foo,0)", "functor(foo,foo,0)"),
                ("functor(T,1.5,0)", "functor(1.5,1.5,0)"),
                ("functor(T,'.',2)", "functor([_|_],.,2)"),
                ("functor([a],N,A)", "functor([a],.,2)"),
                ("functor(\"s\",N,A)", "functor(\"s\",\"s\",0)"),
                ("functor(foo(a),foo,2)", "false"),
                ("functor(T,1,1)", "type_error(atom,1)"),
                ("functor(T,foo(a),0)", "type_error(atomic,foo(a))"),
                ("functor(T,foo(a),N)", "type_error(atomic,foo(a))"),
                ("functor(T,foo,-1)", "domain_error(not_less_than_zero,-1)"),
                ("functor(T,foo,a)", "type_error(integer,a)"),
                ("functor(T,N,-1)", "instantiation_error"),
                ("functor(T,foo,N)", "instantiation_error"),
                ("functor(T,foo,1000000000)", "representation_error(max_arity)"),
                ("functor(T,foo,134217727)", "exhausted heap bytes"),
            ],
        );
    }

    #[test]
    fn reads_and_enumerates_arguments() {
        check_goals(
            TABLE,
            &[
                ("arg(1,foo(a,b),X)", "arg(1,foo(a,b),a)"),
                ("arg(2,[a],X)", "arg(2,[a],[])"),
                ("arg(3,foo(a,b),X)", "false"),
                ("arg(0,foo(a,b),X)", "false"),
                ("arg(N,foo(a,b),X)", "arg(1,foo(a,b),a); arg(2,foo(a,b),b)"),
                ("arg(N,foo(a,b,a),a)", "arg(1,foo(a,b,a),a); arg(3,foo(a,b,a),a)"),
                ("arg(N,foo(a,b),c)", "false"),
                ("arg(-1,foo(a),X)", "domain_error(not_less_than_zero,-1)"),
                ("arg(a,foo(a),X)", "type_error(integer,a)"),
                ("arg(1,X,Y)", "instantiation_error"),
                ("arg(a,b,Y)", "type_error(compound,b)"),
                ("arg(100000000000000000000,foo(a),X)", "false"),
            ],
        );
    }

    #[test]
    fn takes_terms_apart_and_together() {
        check_goals(
            TABLE,
            &[
                ("=..(foo(a,B),L)", "=..(foo(a,B),[foo,a,B])"),
                ("=..([a,b],L)", "=..([a,b],[.,a,[b]])"),
                ("=..(1,L)", "=..(1,[1])"),
                ("=..(X,[foo,1,2])", "=..(foo(1,2),[foo,1,2])"),
                ("=..(X,[foo])", "=..(foo,[foo])"),
                ("=..(X,['.',a,[]])", "=..([a],[.,a,[]])"),
                ("=..(foo(a),[X|Y])", "=..(foo(a),[foo,a])"),
                ("=..(X,[1,2])", "type_error(atom,1)"),
                ("=..(X,[foo(a),b])", "type_error(atom,foo(a))"),
                ("=..(X,[foo(a)])", "type_error(atomic,foo(a))"),
                ("=..(X,[])", "domain_error(non_empty_list,[])"),
                ("=..(X,Y)", "instantiation_error"),
                ("=..(X,[Y])", "instantiation_error"),
                ("=..(X,[foo|Y])", "instantiation_error"),
                ("=..(X,[foo|bar])", "type_error(list,[foo|bar])"),
                ("=..(foo(a),bar)", "type_error(list,bar)"),
                ("compound_name_arity(X,foo,0)", "compound_name_arity(foo(),foo,0)"),
                ("compound_name_arity(foo,N,A)", "type_error(compound,foo)"),
                ("compound_name_arity(X,f(a),2)", "type_error(atom,f(a))"),
                ("compound_name_arguments(X,foo,[])", "compound_name_arguments(foo(),foo,[])"),
                ("compound_name_arguments(X,foo,[a,b])", "compound_name_arguments(foo(a,b),foo,[a,b])"),
                ("compound_name_arguments(f(a),N,A)", "compound_name_arguments(f(a),f,[a])"),
                ("compound_name_arguments(X,foo,[a|Y])", "instantiation_error"),
            ],
        );
    }

    #[test]
    fn changes_arguments() {
        check_goals(
            TABLE,
            &[
                ("setarg(1,f(a),b)", "setarg(1,f(b),b)"),
                ("setarg(2,f(a),b)", "false"),
                ("setarg(1,a,b)", "false"),
                ("setarg(1,3,b)", "type_error(compound,3)"),
                ("setarg(1,X,b)", "instantiation_error"),
                ("setarg(X,f(a),b)", "instantiation_error"),
                ("setarg(-1,f(a),b)", "domain_error(not_less_than_zero,-1)"),
                ("nb_setarg(1,f(a),g(X))", "nb_setarg(1,f(g(_)),g(X))"),
            ],
        );
    }

    #[test]
    fn backtracking_undoes_one_kind_of_change_only() {
        for (goal, expected) in [("setarg(1,X,g(b))", "f(a)"), ("nb_setarg(1,X,g(b))", "f(g(b))")] {
            let mut fixture = Fixture::new();
            let (variable, term) = (fixture.term("X"), fixture.term("f(a)"));
            fixture.core.store.bind(variable, term);
            let mark = fixture.core.store.trail_length();
            let _ = fixture.solve(TABLE, goal);
            fixture.core.store.undo_to(mark);
            assert_eq!(fixture.show(term), expected);
        }
    }
}
