//! Arithmetic predicates.

use super::{Builtin, Code, State, Step, arguments, det, nondet};
use crate::arithmetic::{self, Binary, evaluated, from_number};
use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::number::{Number, compare_numbers};
use crate::store::{ListEnd, View};
use crate::symbols::{Atom, atoms};
use crate::term::Term;
use std::cmp::Ordering;

pub(crate) const TABLE: &[Builtin] = &[
    det("is", Code::D2(is)),
    det("=:=", Code::D2(equal)),
    det("=\\=", Code::D2(not_equal)),
    det("<", Code::D2(less)),
    det("=<", Code::D2(less_or_equal)),
    det(">", Code::D2(greater)),
    det(">=", Code::D2(greater_or_equal)),
    det("succ", Code::D2(succ)),
    det("plus", Code::D3(plus)),
    nondet("between", 3, between),
    det("numlist", Code::D3(numlist)),
    det("sum_list", Code::D2(sum_list)),
    det("sumlist", Code::D2(sum_list)),
    det("max_list", Code::D2(max_list)),
    det("min_list", Code::D2(min_list)),
];

fn is(core: &mut Core, result: Term, expression: Term) -> Solved {
    let value = evaluated(core, expression)?;
    core.unify(result, value)
}

/// Evaluates both sides and compares them; `None` if one of them is NaN.
fn compare(core: &mut Core, a: Term, b: Term) -> Solved<Option<Ordering>> {
    let a = evaluated(core, a)?;
    let b = evaluated(core, b)?;
    Ok(arithmetic::compare(core, a, b))
}

fn equal(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(compare(core, a, b)? == Some(Ordering::Equal))
}

fn not_equal(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(compare(core, a, b)? != Some(Ordering::Equal))
}

fn less(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(compare(core, a, b)? == Some(Ordering::Less))
}

fn less_or_equal(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(compare(core, a, b)?.is_some_and(Ordering::is_le))
}

fn greater(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(compare(core, a, b)? == Some(Ordering::Greater))
}

fn greater_or_equal(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(compare(core, a, b)?.is_some_and(Ordering::is_ge))
}

/// `op(a, b)` on integers, as a term. Errors name the function `name`.
fn combined(core: &mut Core, op: Binary, name: Atom, a: Number, b: Number) -> Solved<Term> {
    let a = from_number(&mut core.store, a);
    let b = from_number(&mut core.store, b);
    arithmetic::binary(core, op, name, a, b)
}

fn natural(number: Option<Number>, term: Term) -> Solved<Option<Number>> {
    match number {
        Some(number) if number.signum() < 0 => Err(Fault::Domain("not_less_than_zero", term).into()),
        number => Ok(number),
    }
}

fn succ(core: &mut Core, smaller: Term, larger: Term) -> Solved {
    let low = arguments::integer_or_variable(core, smaller)?;
    let high = arguments::integer_or_variable(core, larger)?;
    let low = natural(low, smaller)?;
    let high = natural(high, larger)?;
    match (low, high) {
        (Some(low), _) => {
            let next = combined(core, Binary::Add, atoms::PLUS, low, Number::Int(1))?;
            core.unify(larger, next)
        }
        (None, Some(Number::Int(0))) => Ok(false),
        (None, Some(high)) => {
            let previous = combined(core, Binary::Subtract, atoms::MINUS, high, Number::Int(1))?;
            core.unify(smaller, previous)
        }
        (None, None) => Err(Fault::Instantiation.into()),
    }
}

fn plus(core: &mut Core, a: Term, b: Term, sum: Term) -> Solved {
    let x = arguments::integer_or_variable(core, a)?;
    let y = arguments::integer_or_variable(core, b)?;
    let z = arguments::integer_or_variable(core, sum)?;
    let (unknown, value) = match (x, y, z) {
        (Some(x), Some(y), _) => (sum, combined(core, Binary::Add, atoms::PLUS, x, y)?),
        (Some(x), None, Some(z)) => (b, combined(core, Binary::Subtract, atoms::MINUS, z, x)?),
        (None, Some(y), Some(z)) => (a, combined(core, Binary::Subtract, atoms::MINUS, z, y)?),
        _ => return Err(Fault::Instantiation.into()),
    };
    core.unify(unknown, value)
}

/// The upper bound of `between/3`; `None` if it is infinite.
fn upper_bound(core: &Core, term: Term) -> Solved<Option<Number>> {
    match core.store.view(term) {
        View::Atom(atoms::INF | atoms::INFINITE) => Ok(None),
        _ => arguments::integer(core, term).map(Some),
    }
}

/// `between(+Low, +High, ?Value)`. The state is the number of answers so far.
fn between(core: &mut Core, arguments: &[Term], state: State) -> Solved<Step> {
    let &[low, high, value] = arguments else { return Ok(Step::Fail) };
    let first = arguments::integer(core, low)?;
    let last = upper_bound(core, high)?;
    let reached = |number: &Number| last.as_ref().map(|last| compare_numbers(number, last));
    if let Some(number) = arguments::integer_or_variable(core, value)? {
        let inside = compare_numbers(&first, &number).is_some_and(Ordering::is_le)
            && reached(&number).is_none_or(|order| order.is_some_and(Ordering::is_le));
        return Ok(if inside { Step::Last } else { Step::Fail });
    }
    let next = combined(core, Binary::Add, atoms::PLUS, first, Number::Int(state.0 as i64))?;
    let order = core.store.number(next).and_then(|number| reached(&number)).flatten();
    if order == Some(Ordering::Greater) {
        return Ok(Step::Fail);
    }
    core.store.unify(value, next);
    Ok(if order == Some(Ordering::Equal) { Step::Last } else { Step::More((state.0 + 1, 0)) })
}

fn numlist(core: &mut Core, low: Term, high: Term, list: Term) -> Solved {
    let first = arguments::integer(core, low)?;
    let last = arguments::integer(core, high)?;
    if compare_numbers(&first, &last) == Some(Ordering::Greater) {
        return Ok(false);
    }
    let distance = combined(core, Binary::Subtract, atoms::MINUS, last, first.clone())?;
    let View::Small(distance) = core.store.view(distance) else { return Err(core.store.out_of_room()) };
    let length = distance.unsigned_abs() as usize + 1;
    core.store.reserve(length.saturating_mul(2))?;
    core.store.meter.walk(length as u64);
    let mut items = Vec::with_capacity(length);
    let mut next = from_number(&mut core.store, first);
    for _ in 0..length {
        items.push(next);
        next = arithmetic::add(core, next, Term::small(1))?;
    }
    let numbers = core.store.list(&items, Term::NIL);
    core.unify(list, numbers)
}

type Fold = fn(&mut Core, Term, Term) -> Solved<Term>;

/// Folds the elements of a list with an arithmetic function, starting with `start` or else with the first element.
/// Returns `None` for an empty list without `start`; a single element without `start` is not evaluated.
fn fold(core: &mut Core, list: Term, start: Option<Term>, step: Fold) -> Solved<Option<Term>> {
    let mut items = Vec::new();
    match core.store.list_items(list, &mut items) {
        ListEnd::Nil => {}
        ListEnd::Variable(_) => return Err(Fault::Instantiation.into()),
        ListEnd::Other(_) => return Err(Fault::Type("list", list).into()),
    }
    let mut items = items.into_iter();
    let Some(mut value) = start.or_else(|| items.next()) else { return Ok(None) };
    for item in items {
        let a = evaluated(core, value).map_err(blame_is)?;
        let b = evaluated(core, item).map_err(blame_is)?;
        value = step(core, a, b).map_err(blame_is)?;
        core.store.reserve(1)?;
    }
    Ok(Some(value))
}

/// Attributes errors without a context to `is/2`, as SWI-Prolog does.
fn blame_is(raised: Raised) -> Raised {
    match raised {
        Raised::Fault(fault) => Raised::FaultIn(fault, atoms::IS, 2),
        other => other,
    }
}

fn sum_list(core: &mut Core, list: Term, sum: Term) -> Solved {
    let Some(value) = fold(core, list, Some(Term::small(0)), arithmetic::add)? else { return Ok(false) };
    core.unify(sum, value)
}

fn max_list(core: &mut Core, list: Term, largest: Term) -> Solved {
    let Some(value) = fold(core, list, None, arithmetic::max)? else { return Ok(false) };
    core.unify(largest, value)
}

fn min_list(core: &mut Core, list: Term, smallest: Term) -> Solved {
    let Some(value) = fold(core, list, None, arithmetic::min)? else { return Ok(false) };
    core.unify(smallest, value)
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::meter::Budget;
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn compares_and_assigns() {
        check_goals(
            TABLE,
            &[
                ("is(X,+(1,2))", "is(3,+(1,2))"),
                ("is(3.0,+(1,2))", "false"),
                ("is(X,Y)", "instantiation_error"),
                ("=:=(1,1.0)", "=:=(1,1.0)"),
                ("=:=(nan,nan)", "false"),
                ("=\\=(nan,nan)", "=\\=(nan,nan)"),
                ("<(nan,1)", "false"),
                (">=(nan,1)", "false"),
                ("<(foo,X)", "type_error(evaluable,/(foo,0))"),
                ("<(X,foo)", "instantiation_error"),
                ("=<(2,2.0)", "=<(2,2.0)"),
                (">(100000000000000000000,1.0e300)", "false"),
            ],
        );
    }

    #[test]
    fn computes_successors_and_sums_in_any_direction() {
        check_goals(
            TABLE,
            &[
                ("succ(3,X)", "succ(3,4)"),
                ("succ(X,4)", "succ(3,4)"),
                ("succ(X,0)", "false"),
                ("succ(X,Y)", "instantiation_error"),
                ("succ(a,b)", "type_error(integer,a)"),
                ("succ(3,a)", "type_error(integer,a)"),
                ("succ(X,-1)", "domain_error(not_less_than_zero,-1)"),
                ("succ(1152921504606846975,X)", "succ(1152921504606846975,1152921504606846976)"),
                ("plus(1,X,3)", "plus(1,2,3)"),
                ("plus(X,2,3)", "plus(1,2,3)"),
                ("plus(1,2,4)", "false"),
                ("plus(1,X,Y)", "instantiation_error"),
                ("plus(1,2.5,X)", "type_error(integer,2.5)"),
            ],
        );
    }

    #[test]
    fn enumerates_between() {
        check_goals(
            TABLE,
            &[
                ("between(1,3,X)", "between(1,3,1); between(1,3,2); between(1,3,3)"),
                ("between(3,1,X)", "false"),
                ("between(1,inf,X)", "between(1,inf,1); between(1,inf,2); between(1,inf,3); between(1,inf,4)"),
                ("between(1,infinite,5)", "between(1,infinite,5)"),
                ("between(1,2,3)", "false"),
                ("between(2,1,a)", "type_error(integer,a)"),
                ("between(1,foo,X)", "type_error(integer,foo)"),
                ("between(X,1,2)", "instantiation_error"),
                (
                    "between(1152921504606846975,1152921504606846976,X)",
                    "between(1152921504606846975,1152921504606846976,1152921504606846975); \
                     between(1152921504606846975,1152921504606846976,1152921504606846976)",
                ),
            ],
        );
    }

    #[test]
    fn folds_lists_of_numbers() {
        check_goals(
            TABLE,
            &[
                ("numlist(1,3,L)", "numlist(1,3,[1,2,3])"),
                ("numlist(5,1,L)", "false"),
                ("numlist(1,2.0,L)", "type_error(integer,2.0)"),
                ("sum_list([1,+(1,1),2.5],X)", "sum_list([1,+(1,1),2.5],5.5)"),
                ("sum_list([],X)", "sum_list([],0)"),
                ("sum_list([a],X)", "type_error(evaluable,/(a,0)) in is/2"),
                ("sum_list([1|T],X)", "instantiation_error"),
                ("max_list([],X)", "false"),
                ("max_list([2,2.0],X)", "max_list([2,2.0],2.0)"),
                ("max_list([+(1,1),1],X)", "max_list([+(1,1),1],2)"),
                ("min_list([3,1,2],X)", "min_list([3,1,2],1)"),
            ],
        );
    }

    #[test]
    fn builds_no_list_beyond_the_budget() {
        let mut fixture = Fixture::with_budget(&Budget { heap_bytes: 1 << 20, ..Budget::default() });
        assert_eq!(fixture.solve(TABLE, "numlist(1,1000000000000,L)"), "exhausted heap bytes");
    }
}
