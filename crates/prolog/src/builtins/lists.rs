//! Lists: length and membership.

use super::{Builtin, Code, State, Step, arguments, det, nondet};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::number::Number;
use crate::store::ListEnd;
use crate::term::{Tag, Term};

pub(crate) const TABLE: &[Builtin] =
    &[nondet("length", 2, length), nondet("memberchk", 2, memberchk), det("$skip_list", Code::D3(skip_list))];

/// `length(?List, ?Length)`. For a partial list and an unbound length, the state is the number of answers so far.
fn length(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    let &[list, count] = arguments else { return Ok(Step::Fail) };
    let wanted = arguments::integer_or_variable(core, count)?;
    if wanted.as_ref().is_some_and(|number| number.signum() < 0) {
        return Err(Fault::Domain("not_less_than_zero", count).into());
    }
    let (known, end) = core.store.skip_list(list);
    core.check_budget()?;
    match (end, wanted) {
        (ListEnd::Other(_), _) => Err(Fault::Type("list", list).into()),
        (ListEnd::Nil, Some(wanted)) => Ok(if wanted == Number::Int(known as i64) { Step::Last } else { Step::Fail }),
        (ListEnd::Nil, None) => {
            core.store.unify(count, Term::small(known as i64));
            Ok(Step::Last)
        }
        (ListEnd::Variable(tail), Some(wanted)) => match wanted {
            Number::Int(wanted) if wanted < known as i64 => Ok(Step::Fail),
            Number::Int(wanted) => {
                let rest = list_of_variables(core, wanted as usize - known)?;
                core.store.unify(tail, rest);
                Ok(Step::Last)
            }
            _ => Err(core.store.out_of_room()),
        },
        // The tail cannot be both a list and an integer.
        (ListEnd::Variable(tail), None) if tail == core.store.deref(count) => Ok(Step::Fail),
        (ListEnd::Variable(tail), None) => {
            let extra = state.0 as usize;
            let rest = list_of_variables(core, extra)?;
            core.store.unify(tail, rest);
            core.store.unify(count, Term::small((known + extra) as i64));
            Ok(Step::More((state.0 + 1, 0)))
        }
    }
}

/// A list of `length` fresh variables.
fn list_of_variables(core: &mut Core, length: usize) -> Solved<Term> {
    core.store.reserve(length.saturating_mul(2))?;
    core.store.charge(length as u64)?;
    let start = core.store.cells.len();
    for index in 0..length {
        core.store.variable();
        core.store.cells.push(Term::list(start + 2 * (index + 1)));
    }
    if length == 0 {
        return Ok(Term::NIL);
    }
    let last = core.store.cells.len() - 1;
    core.store.cells[last] = Term::NIL;
    Ok(Term::list(start))
}

/// `memberchk(?Item, ?List)`: unifies the item with the first element that unifies with it. If a partial list has no
/// such element, the item is appended.
///
/// If the unification wakes suspended goals and they fail, the search continues with the next element.
fn memberchk(core: &mut Core, arguments: &[Term], _: State) -> Solved<Step> {
    let &[item, list] = arguments else { return Ok(Step::Fail) };
    let item = core.store.deref(item);
    let mut rest = core.store.deref(list);
    let mut steps = 0;
    while rest.has_tag(Tag::Lis) {
        steps += 1;
        if steps == 1024 {
            steps = 0;
            core.store.charge(1024)?;
        }
        let element = core.store.argument(rest.address(), 0);
        let tail = core.store.cells[rest.address() + 1];
        rest = core.store.deref(tail);
        if element == item {
            core.store.charge(steps)?;
            return Ok(Step::Last);
        }
        if !may_unify(core, item, element) {
            continue;
        }
        let woken = core.store.woken.len();
        if core.store.attempt(|store| store.unify(item, element)) {
            core.store.charge(steps)?;
            return Ok(if core.store.woken.len() > woken { Step::MoreOf(rest) } else { Step::Last });
        }
        core.check_budget()?;
    }
    core.store.charge(steps)?;
    if rest.is_variable() {
        let tail = core.store.variable();
        let extension = core.store.cons(item, tail);
        core.store.unify(rest, extension);
        return Ok(Step::Last);
    }
    if rest == Term::NIL { Ok(Step::Fail) } else { Err(Fault::Type("list", rest).into()) }
}

/// Whether two dereferenced terms, which are not the same word, may unify. This cheap test compares tags and functors,
/// and avoids most unification attempts.
fn may_unify(core: &Core, a: Term, b: Term) -> bool {
    if a.is_variable() || b.is_variable() {
        return true;
    }
    if a.tag() != b.tag() {
        return false;
    }
    match a.tag() {
        Tag::Str | Tag::Box => core.store.cells[a.address()] == core.store.cells[b.address()],
        Tag::Lis => true,
        _ => false,
    }
}

/// `'$skip_list'(Length, List, Tail)`: the number of elements before the tail, and the tail: `[]` for a proper list.
fn skip_list(core: &mut Core, count: Term, list: Term, tail: Term) -> Solved {
    let (length, end) = core.store.skip_list(list);
    core.check_budget()?;
    let end = match end {
        ListEnd::Nil => Term::NIL,
        ListEnd::Variable(end) | ListEnd::Other(end) => end,
    };
    Ok(core.store.unify(count, Term::small(length as i64)) && core.store.unify(tail, end))
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::builtins::{Code, FIRST, Step};
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn relates_lists_and_lengths() {
        check_goals(
            TABLE,
            &[
                ("length([a,b],N)", "length([a,b],2)"),
                ("length([a,b],3)", "false"),
                ("length(L,2)", "length([_,_],2)"),
                ("length([a|T],3)", "length([a,_,_],3)"),
                ("length([a|T],0)", "false"),
                ("length([a|T],1)", "length([a],1)"),
                ("length([a|T],N)", "length([a],1); length([a,_],2); length([a,_,_],3); length([a,_,_,_],4)"),
                ("length(L,L)", "false"),
                ("length([a,b|L],L)", "false"),
                ("length(a,a)", "type_error(integer,a)"),
                ("length(a,-1)", "domain_error(not_less_than_zero,-1)"),
                ("length(a,N)", "type_error(list,a)"),
                ("length([a|b],2)", "type_error(list,[a|b])"),
                ("length(L,1.0)", "type_error(integer,1.0)"),
                ("length(L,1000000000000)", "exhausted heap bytes"),
                ("length(L,100000000000000000000)", "exhausted heap bytes"),
                ("$skip_list(N,[a,b|T],E)", "$skip_list(2,[a,b|T],T)"),
                ("$skip_list(N,foo,E)", "$skip_list(0,foo,foo)"),
            ],
        );
    }

    #[test]
    fn finds_the_first_member_that_unifies() {
        check_goals(
            TABLE,
            &[
                ("memberchk(b,[a,b])", "memberchk(b,[a,b])"),
                ("memberchk(c,[a,b])", "false"),
                ("memberchk(X,[a,b])", "memberchk(a,[a,b])"),
                ("memberchk(f(X,b),[f(a,c),f(d,b)])", "memberchk(f(d,b),[f(a,c),f(d,b)])"),
                ("memberchk(\"b\",[\"a\",\"b\"])", "memberchk(\"b\",[\"a\",\"b\"])"),
                ("memberchk(a,[b|L])", "memberchk(a,[b,a|_])"),
                ("memberchk(a,L)", "memberchk(a,[a|_])"),
                ("memberchk(a,[b|foo])", "type_error(list,foo)"),
                ("memberchk(a,[a|foo])", "memberchk(a,[a|foo])"),
                ("memberchk(X,[])", "false"),
            ],
        );
    }

    #[test]
    fn woken_goals_can_reject_a_member() {
        let mut fixture = Fixture::new();
        let (variable, goals) = (fixture.term("X"), fixture.term("[dif(X,a)]"));
        fixture.core.store.set_suspended(variable, goals);
        let Code::N(run) = TABLE[1].code else { panic!("memberchk can continue") };
        let arguments = [variable, fixture.term("[a,b]")];
        let mark = fixture.core.store.trail_length();
        let Ok(Step::MoreOf(rest)) = run(&mut fixture.core, &arguments, FIRST) else { panic!("there is more") };
        fixture.core.store.undo_to(mark);
        fixture.core.store.woken.clear();
        assert!(run(&mut fixture.core, &[variable, rest], FIRST).is_ok());
        assert_eq!(fixture.show(variable), "b");
    }

    #[test]
    fn a_cyclic_list_is_not_a_list() {
        let mut fixture = Fixture::new();
        let (list, tail) = (fixture.term("[a,b|X]"), fixture.term("X"));
        fixture.core.store.bind(tail, list);
        let count = fixture.core.store.variable();
        let Code::N(run) = TABLE[0].code else { panic!("length can continue") };
        assert!(run(&mut fixture.core, &[list, count], FIRST).is_err());
    }
}
