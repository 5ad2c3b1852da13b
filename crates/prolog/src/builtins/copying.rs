//! Copies of terms, and goals suspended on variables.

use super::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::store::ListEnd;
use crate::stored::{Attributes, Block};
use crate::term::{Tag, Term};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

pub(crate) const TABLE: &[Builtin] = &[
    det("copy_term", Code::D2(copy_term)),
    det("copy_term_nat", Code::D2(copy_term_nat)),
    det("duplicate_term", Code::D2(copy_term)),
    det("term_attvars", Code::D2(term_attvars)),
    det("$suspend", Code::D2(suspend)),
    det("$suspended", Code::D2(suspended)),
];

/// Cost of each attributed variable that is found, in cells walked.
const ATTRIBUTED_CELLS: u64 = 16;
/// Words of memory per attributed variable during the search.
const ATTRIBUTED_WORDS: usize = 4;

fn copied(core: &mut Core, term: Term, attributes: Attributes) -> Solved<Term> {
    let term = core.store.deref(term);
    if !term.is_pointer() {
        return Ok(term);
    }
    let mut block = Block::default();
    match block.copy(&mut core.store, term, attributes) {
        Some(root) => core.store.paste_block(&block, root),
        None => Err(core.store.out_of_room()),
    }
}

/// A copy with fresh variables, including the goals suspended on them.
pub(super) fn duplicate(core: &mut Core, term: Term) -> Solved<Term> {
    copied(core, term, Attributes::Copy)
}

fn copy_term(core: &mut Core, term: Term, copy: Term) -> Solved {
    let made = duplicate(core, term)?;
    core.unify(copy, made)
}

fn copy_term_nat(core: &mut Core, term: Term, copy: Term) -> Solved {
    let made = copied(core, term, Attributes::Drop)?;
    core.unify(copy, made)
}

/// The attributed variables of a term, including those in the goals suspended on them.
fn attributed_variables(core: &mut Core, term: Term) -> Solved<Vec<Term>> {
    let mut found: Vec<Term> = Vec::new();
    let mut seen = FxHashSet::default();
    let mut looked_at = 0;
    let mut next = term;
    loop {
        core.store.charge(ATTRIBUTED_CELLS)?;
        core.store.reserve(ATTRIBUTED_WORDS * found.len())?;
        let _ = core.store.visit_subterms(next, |store, subterm| {
            if store.suspended(subterm).is_some() && seen.insert(subterm) {
                found.push(subterm);
            }
            ControlFlow::Continue(())
        })?;
        let Some(&variable) = found.get(looked_at) else { return Ok(found) };
        looked_at += 1;
        next = core.store.suspended(variable).unwrap_or(Term::NIL);
    }
}

fn term_attvars(core: &mut Core, term: Term, list: Term) -> Solved {
    let variables = attributed_variables(core, term)?;
    core.store.reserve(2 * variables.len())?;
    let variables = core.store.list(&variables, Term::NIL);
    core.unify(list, variables)
}

fn unbound(core: &Core, variable: Term) -> Solved<Term> {
    let variable = core.store.deref(variable);
    if variable.is_variable() { Ok(variable) } else { Err(Fault::Uninstantiation(variable).into()) }
}

/// `'$suspend'(Variable, Goal)`: suspends a goal until the variable is bound. The goal is called after those that were
/// suspended on the variable earlier.
fn suspend(core: &mut Core, variable: Term, goal: Term) -> Solved {
    let variable = unbound(core, variable)?;
    let goal = core.store.deref(goal);
    let last = core.store.cons(goal, Term::NIL);
    let Some(list) = core.store.suspended(variable) else {
        core.store.set_suspended(variable, last);
        return Ok(true);
    };
    // `'$suspended'/2` returns copies of this list, so it may be extended in place.
    let mut end = variable.address() + 1;
    let mut rest = core.store.deref(list);
    while rest.has_tag(Tag::Lis) {
        core.store.charge(1)?;
        end = rest.address() + 1;
        rest = core.store.deref(core.store.cells[end]);
    }
    core.store.assign(end, last);
    Ok(true)
}

/// `'$suspended'(Variable, Goals)`: the goals suspended on a variable; an empty list for any other term.
fn suspended(core: &mut Core, variable: Term, goals: Term) -> Solved {
    let variable = core.store.deref(variable);
    let mut items = Vec::new();
    if let Some(list) = core.store.suspended(variable) {
        let end = core.store.list_items(list, &mut items);
        debug_assert_eq!(end, ListEnd::Nil, "suspended goals are a proper list");
    }
    core.store.reserve(2 * items.len())?;
    let copy = core.store.list(&items, Term::NIL);
    core.unify(goals, copy)
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::meter::Budget;
    use crate::term::Term;
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn copies_with_fresh_variables() {
        check_goals(
            TABLE,
            &[
                ("copy_term(f(X,\"s\",1.5,[a]),Y)", "copy_term(f(X,\"s\",1.5,[a]),f(_,\"s\",1.5,[a]))"),
                ("copy_term(f(X,X),f(a,Y))", "copy_term(f(X,X),f(a,a))"),
                ("copy_term(f(X,X),f(a,b))", "false"),
            ],
        );
    }

    #[test]
    fn suspends_goals_in_order() {
        let mut fixture = Fixture::new();
        for goal in ["$suspend(X,one(X))", "$suspend(X,two(X,Y))", "$suspend(Y,two(X,Y))"] {
            fixture.solve(TABLE, goal);
        }
        assert_eq!(fixture.solve(TABLE, "$suspended(X,G)"), "$suspended(X,[one(X),two(X,Y)])");
        assert_eq!(fixture.solve(TABLE, "term_attvars(f(X),L)"), "term_attvars(f(X),[X,Y])");
        assert_eq!(fixture.solve(TABLE, "copy_term_nat(X,N)"), "copy_term_nat(X,N)");
        assert_eq!(fixture.solve(TABLE, "$suspended(N,[])"), "$suspended(N,[])");
        assert_eq!(fixture.solve(TABLE, "copy_term(X,A)"), "copy_term(X,A)");
        assert_eq!(fixture.solve(TABLE, "$suspended(A,B)"), "$suspended(A,[one(A),two(A,_)])");
        assert_eq!(fixture.solve(TABLE, "$suspend(a,g)"), "uninstantiation_error(a)");
    }

    #[test]
    fn backtracking_removes_suspended_goals() {
        let mut fixture = Fixture::new();
        fixture.solve(TABLE, "$suspend(X,one)");
        let mark = fixture.core.store.trail_length();
        fixture.solve(TABLE, "$suspend(X,two)");
        fixture.core.store.undo_to(mark);
        assert_eq!(fixture.solve(TABLE, "$suspended(X,G)"), "$suspended(X,[one])");
    }

    #[test]
    fn a_copy_stays_within_the_budget() {
        let mut fixture = Fixture::with_budget(&Budget { heap_bytes: 1 << 16, ..Budget::default() });
        let items = vec![Term::NIL; 3000];
        let list = fixture.core.store.list(&items, Term::NIL);
        let copy = fixture.core.store.variable();
        let raised = super::copy_term(&mut fixture.core, list, copy).unwrap_err();
        assert_eq!(fixture.show_error(&raised), "exhausted heap bytes");
    }

    #[test]
    fn a_copy_of_a_cyclic_term_is_cyclic() {
        let mut fixture = Fixture::new();
        let cycle = fixture.term("f(X,\"s\",[X|Y],Y)");
        let variable = fixture.term("X");
        fixture.core.store.bind(variable, cycle);
        let copy = fixture.core.store.variable();
        assert_eq!(super::copy_term(&mut fixture.core, cycle, copy), Ok(true));
        let copy = fixture.core.store.deref(copy);
        assert_ne!(copy, cycle);
        assert_eq!(fixture.core.store.argument(copy.address(), 1), copy);
        assert_eq!(fixture.core.store.is_variant(copy, cycle), Ok(true));
        let size = fixture.core.store.cells.len();
        assert!(size < 3000, "{size} cells");
    }

    #[test]
    fn a_copy_of_a_shared_term_shares() {
        let mut fixture = Fixture::new();
        let name = fixture.core.atoms.intern("f");
        let mut term = fixture.core.store.variable();
        for _ in 0..200 {
            term = fixture.core.store.structure(name, &[term, term]);
        }
        let copy = fixture.core.store.variable();
        assert_eq!(super::copy_term(&mut fixture.core, term, copy), Ok(true));
        assert_eq!(fixture.core.store.is_variant(term, copy), Ok(true));
        let size = fixture.core.store.cells.len();
        assert!(size < 5000, "{size} cells");
    }
}
