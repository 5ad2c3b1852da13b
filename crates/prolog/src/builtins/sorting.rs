//! Sorting by the standard order, and removal of duplicates.

use super::{Builtin, Code, arguments, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::number::Number;
use crate::store::{ListEnd, View};
use crate::symbols::atoms;
use crate::term::{Functor, Tag, Term};
use std::cmp::Ordering;

pub(crate) const TABLE: &[Builtin] = &[
    det("msort", Code::D2(msort)),
    det("sort", Code::D2(sort)),
    det("sort", Code::D4(sort_by)),
    det("keysort", Code::D2(keysort)),
    det("list_to_set", Code::D2(list_to_set)),
];

/// Cost of each element in each pass of a sort, in addition to the comparison of large terms.
const COMPARISON_CELLS: u64 = 3;
/// Words of memory per element during a sort, including the result.
const SORTED_WORDS: usize = 6;
/// Buffers for more elements than this are freed after a sort.
const KEPT_ITEMS: usize = 1 << 12;

/// Buffers that are reused between sorts: policies often sort a few items.
#[derive(Default)]
pub(crate) struct SortSpace {
    items: Vec<Keyed>,
    merged: Vec<Keyed>,
}

/// A term with its sort key.
#[derive(Clone, Copy)]
struct Keyed {
    key: Term,
    item: Term,
}

/// The direction of a sort.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Ascending,
    Descending,
}

/// The treatment of elements with equal keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Duplicates {
    Keep,
    /// Keep only the first of them.
    Drop,
}

/// Compares by the standard order, with an inlined fast path for equal words and small integers.
#[inline]
fn order(core: &mut Core, a: Term, b: Term) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    if a.has_tag(Tag::Int) && b.has_tag(Tag::Int) {
        return a.small_value().cmp(&b.small_value());
    }
    core.store.compare(&core.atoms, a, b)
}

/// A stable merge sort. The sort of the standard library is not used, because it may panic if comparisons are
/// inconsistent, as they may be after the budget runs out.
fn merge_sort(core: &mut Core, space: &mut SortSpace, direction: Direction) -> Solved<()> {
    const RUN: usize = 8;
    let SortSpace { items, merged } = space;
    let in_order = |core: &mut Core, a: Keyed, b: Keyed| {
        let order = order(core, a.key, b.key);
        if direction == Direction::Ascending { order.is_le() } else { order.is_ge() }
    };
    for run in items.chunks_mut(RUN) {
        core.store.charge(COMPARISON_CELLS * RUN as u64)?;
        for index in 1..run.len() {
            let mut place = index;
            while place > 0 && !in_order(core, run[place - 1], run[place]) {
                run.swap(place - 1, place);
                place -= 1;
            }
        }
    }
    let mut width = RUN;
    while width < items.len() {
        merged.clear();
        for pair in items.chunks(2 * width) {
            core.store.charge(COMPARISON_CELLS * pair.len() as u64)?;
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            if let (Some(&last), Some(&first)) = (left.last(), right.first())
                && in_order(core, last, first)
            {
                merged.extend_from_slice(pair);
                continue;
            }
            while let (Some(&a), Some(&b)) = (left.first(), right.first()) {
                if in_order(core, a, b) {
                    merged.push(a);
                    left = &left[1..];
                } else {
                    merged.push(b);
                    right = &right[1..];
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(items, merged);
        width *= 2;
    }
    core.check_budget()
}

/// A sorted list of the elements of `list`; an error if `list` is not a proper list. `key` returns the sort key of an
/// element.
fn sorted(
    core: &mut Core,
    list: Term,
    direction: Direction,
    duplicates: Duplicates,
    key: impl Fn(&Core, Term) -> Solved<Term>,
) -> Solved<Term> {
    let length = match core.store.skip_list(list) {
        (length, ListEnd::Nil) => length,
        (_, ListEnd::Variable(_)) => return Err(Fault::Instantiation.into()),
        (_, ListEnd::Other(_)) => return Err(Fault::Type("list", list).into()),
    };
    let mut space = std::mem::take(&mut core.sort_space);
    let result = sort_into_list(core, &mut space, list, length, direction, duplicates, key);
    if space.items.capacity() <= KEPT_ITEMS {
        core.sort_space = space;
    }
    result
}

fn sort_into_list(
    core: &mut Core,
    space: &mut SortSpace,
    list: Term,
    length: usize,
    direction: Direction,
    duplicates: Duplicates,
    key: impl Fn(&Core, Term) -> Solved<Term>,
) -> Solved<Term> {
    // Each element is stored twice with its key, and once in the result.
    core.store.reserve(SORTED_WORDS * length)?;
    space.items.clear();
    space.items.reserve(length);
    let mut rest = core.store.deref(list);
    for _ in 0..length {
        let item = core.store.argument(rest.address(), 0);
        space.items.push(Keyed { key: key(core, item)?, item });
        rest = core.store.argument(rest.address(), 1);
    }
    merge_sort(core, space, direction)?;
    if duplicates == Duplicates::Drop {
        space.items.dedup_by(|next, kept| order(core, kept.key, next.key).is_eq());
        core.check_budget()?;
    }
    Ok(core.store.list_of(space.items.iter().map(|keyed| keyed.item)))
}

/// Returns an error unless the result argument is a list or a partial list, as ISO requires.
fn check_result(core: &mut Core, list: Term) -> Solved<()> {
    match core.store.skip_list(list).1 {
        ListEnd::Other(_) => Err(Fault::Type("list", list).into()),
        _ => Ok(()),
    }
}

fn sort_list(core: &mut Core, list: Term, duplicates: Duplicates) -> Solved<Term> {
    sorted(core, list, Direction::Ascending, duplicates, |_, item| Ok(item))
}

fn msort(core: &mut Core, list: Term, result: Term) -> Solved {
    let made = sort_list(core, list, Duplicates::Keep)?;
    core.unify(result, made)
}

fn sort(core: &mut Core, list: Term, result: Term) -> Solved {
    let made = sort_list(core, list, Duplicates::Drop)?;
    check_result(core, result)?;
    core.unify(result, made)
}

/// The elements of a proper list in the standard order, without duplicates.
pub(crate) fn sorted_set(core: &mut Core, list: Term) -> Solved<Term> {
    sort_list(core, list, Duplicates::Drop)
}

/// `sort(Key, Order, List, Sorted)`.
fn sort_by(core: &mut Core, key: Term, order: Term, list: Term, result: Term) -> Solved {
    let (direction, duplicates) = sort_order(core, order)?;
    let position = sort_key(core, key)?;
    let made = sorted(core, list, direction, duplicates, |core, item| {
        if position == 0 { Ok(item) } else { key_argument(core, item, position) }
    })?;
    core.unify(result, made)
}

fn sort_order(core: &Core, order: Term) -> Solved<(Direction, Duplicates)> {
    let name = match core.store.view(order) {
        View::Atom(name) => core.atoms.name(name),
        View::Variable(_) => return Err(Fault::Instantiation.into()),
        _ => return Err(Fault::Type("atom", order).into()),
    };
    match name {
        "@<" => Ok((Direction::Ascending, Duplicates::Drop)),
        "@=<" => Ok((Direction::Ascending, Duplicates::Keep)),
        "@>" => Ok((Direction::Descending, Duplicates::Drop)),
        "@>=" => Ok((Direction::Descending, Duplicates::Keep)),
        _ => Err(Fault::Domain("order", order).into()),
    }
}

/// The position of the argument to sort by; 0 is the whole term.
fn sort_key(core: &Core, key: Term) -> Solved<usize> {
    let number = arguments::integer(core, key)?;
    match number {
        Number::Int(position @ 0..) => Ok(position as usize),
        Number::Int(_) => Err(Fault::Domain("not_less_than_one", key).into()),
        _ => Err(Fault::Representation("max_arity").into()),
    }
}

fn key_argument(core: &Core, item: Term, position: usize) -> Solved<Term> {
    match core.store.compound(item) {
        Some((functor, start)) if position <= functor.arity() => Ok(core.store.argument(start, position - 1)),
        None if item.is_variable() => Err(Fault::Instantiation.into()),
        _ => Err(Fault::Type("compound", item).into()),
    }
}

fn keysort(core: &mut Core, list: Term, result: Term) -> Solved {
    let made = sorted(core, list, Direction::Ascending, Duplicates::Keep, |core, item| {
        pair_key(core, item)?.ok_or_else(|| Fault::Instantiation.into())
    })?;
    check_result(core, result)?;
    let mut rest = core.store.deref(result);
    while rest.has_tag(Tag::Lis) {
        pair_key(core, core.store.argument(rest.address(), 0))?;
        rest = core.store.argument(rest.address(), 1);
    }
    core.unify(result, made)
}

/// The key of `Key-Value`; `None` for an unbound variable, an error for any other term.
fn pair_key(core: &Core, item: Term) -> Solved<Option<Term>> {
    match core.store.view(item) {
        View::Compound(functor, start) if functor == Functor::new(atoms::MINUS, 2) => {
            Ok(Some(core.store.argument(start, 0)))
        }
        View::Variable(_) => Ok(None),
        _ => Err(Fault::Type("pair", item).into()),
    }
}

/// The items in their original order; of equal items, only the first.
fn distinct(core: &mut Core, items: &[Term]) -> Solved<Vec<Term>> {
    core.store.reserve(SORTED_WORDS * items.len())?;
    // Items are sorted together with their positions, so that the original order can be restored.
    let positions = (0_i64..).zip(items).map(|(position, &key)| Keyed { key, item: Term::small(position) });
    let mut space = SortSpace { items: positions.collect(), merged: Vec::new() };
    merge_sort(core, &mut space, Direction::Ascending)?;
    let mut keyed = space.items;
    keyed.dedup_by(|next, kept| order(core, kept.key, next.key).is_eq());
    core.check_budget()?;
    let mut positions: Vec<usize> = keyed.into_iter().map(|keyed| keyed.item.small_value() as usize).collect();
    positions.sort_unstable();
    Ok(positions.into_iter().map(|position| items[position]).collect())
}

fn list_to_set(core: &mut Core, list: Term, set: Term) -> Solved {
    let items = core.proper_list(list)?;
    let items = distinct(core, &items)?;
    core.store.reserve(2 * items.len())?;
    let made = core.store.list(&items, Term::NIL);
    core.unify(set, made)
}

#[cfg(test)]
mod tests {
    use super::{Direction, Keyed, SortSpace, TABLE, merge_sort};
    use crate::meter::Budget;
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn sorts_by_the_standard_order() {
        check_goals(
            TABLE,
            &[
                ("msort([c,a,b,a],L)", "msort([c,a,b,a],[a,a,b,c])"),
                ("sort([c,a,b,a],L)", "sort([c,a,b,a],[a,b,c])"),
                ("sort([f(a,b),1,a,1.0,g(a),X],L)", "sort([f(a,b),1,a,1.0,g(a),X],[X,1.0,1,a,g(a),f(a,b)])"),
                ("sort([b,a],[a|X])", "sort([b,a],[a,b])"),
                ("sort([a|T],L)", "instantiation_error"),
                ("sort([a|foo],L)", "type_error(list,[a|foo])"),
                ("sort([a],foo)", "type_error(list,foo)"),
                ("msort([a],foo)", "false"),
                ("list_to_set([b,a,b,X,Y,X,1,1.0],L)", "list_to_set([b,a,b,X,Y,X,1,1.0],[b,a,X,Y,1,1.0])"),
            ],
        );
    }

    #[test]
    fn sorts_by_key_and_order() {
        check_goals(
            TABLE,
            &[
                ("sort(0,@>=,[1,2,3,2],L)", "sort(0,@>=,[1,2,3,2],[3,2,2,1])"),
                ("sort(0,@>,[1,2,3,2],L)", "sort(0,@>,[1,2,3,2],[3,2,1])"),
                ("sort(1,@<,[f(2,a),f(1,b),f(2,c)],L)", "sort(1,@<,[f(2,a),f(1,b),f(2,c)],[f(1,b),f(2,a)])"),
                ("sort(1,@>=,[f(2,a),f(1,b),f(2,c)],L)", "sort(1,@>=,[f(2,a),f(1,b),f(2,c)],[f(2,a),f(2,c),f(1,b)])"),
                ("sort(1,@<,[a],L)", "type_error(compound,a)"),
                ("sort(1,@<,[X],L)", "instantiation_error"),
                ("sort(a,foo,[],L)", "domain_error(order,foo)"),
                ("sort(1,O,[],L)", "instantiation_error"),
                ("sort(1,1,[],L)", "type_error(atom,1)"),
                ("keysort([-(b,1),-(a,2),-(b,0)],L)", "keysort([-(b,1),-(a,2),-(b,0)],[-(a,2),-(b,1),-(b,0)])"),
                ("keysort([a],L)", "type_error(pair,a)"),
                ("keysort([-(a,1),X],L)", "instantiation_error"),
                ("keysort([-(a,1)],[foo|X])", "type_error(pair,foo)"),
                ("keysort([-(a,1)],foo)", "type_error(list,foo)"),
            ],
        );
    }

    #[test]
    fn agrees_with_the_library_sort() {
        let mut random = mario_testing::Random::new(1);
        for length in 0..100_usize {
            let mut fixture = Fixture::new();
            let items: Vec<_> = (0..length)
                .map(|_| {
                    let item = crate::term::Term::small(random.below(16_i64));
                    Keyed { key: item, item }
                })
                .collect();
            let mut expected: Vec<i64> = items.iter().map(|keyed| keyed.key.small_value()).collect();
            expected.sort_unstable();
            let mut space = SortSpace { items, merged: Vec::new() };
            merge_sort(&mut fixture.core, &mut space, Direction::Ascending).unwrap();
            let found: Vec<i64> = space.items.iter().map(|keyed| keyed.key.small_value()).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn sorting_is_charged() {
        let mut fixture = Fixture::with_budget(&Budget { inferences: 1000, ..Budget::default() });
        let items: Vec<_> = (0..100_000).rev().map(crate::term::Term::small).collect();
        let list = fixture.core.store.list(&items, crate::term::Term::NIL);
        let result = fixture.core.store.variable();
        let raised = super::msort(&mut fixture.core, list, result).unwrap_err();
        assert_eq!(fixture.show_error(&raised), "exhausted inferences");
    }
}
