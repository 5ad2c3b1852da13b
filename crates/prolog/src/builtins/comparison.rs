//! Unification, standard order, equality, variants and subsumption of terms.

use super::{Builtin, Code, det};
use crate::core::Core;
use crate::fault::{Fault, Solved};
use crate::flags::OccursCheck;
use crate::store::View;
use crate::symbols::atoms;
use crate::term::Term;
use std::cmp::Ordering;

pub(crate) const TABLE: &[Builtin] = &[
    det("=", Code::D2(unify)),
    det("\\=", Code::D2(not_unifiable)),
    det("unify_with_occurs_check", Code::D2(unify_with_occurs_check)),
    det("==", Code::D2(identical)),
    det("\\==", Code::D2(not_identical)),
    det("@<", Code::D2(before)),
    det("@=<", Code::D2(not_after)),
    det("@>", Code::D2(after)),
    det("@>=", Code::D2(not_before)),
    det("compare", Code::D3(compare)),
    det("=@=", Code::D2(variant)),
    det("\\=@=", Code::D2(not_variant)),
    det("?=", Code::D2(decided)),
    det("unifiable", Code::D3(unifiable)),
    det("$unifiable", Code::D3(unifiable)),
    det("subsumes_term", Code::D2(subsumes_term)),
];

fn unify(core: &mut Core, a: Term, b: Term) -> Solved {
    let unified = match core.flags.occurs_check {
        OccursCheck::False => core.store.unify(a, b),
        OccursCheck::True => core.store.unify_with_occurs_check(a, b),
        OccursCheck::Error => {
            let unified = core.store.attempt(|store| store.unify_with_occurs_check(a, b));
            core.check_budget()?;
            if !unified && core.store.can_unify(a, b) {
                let name = core.atoms.intern("occurs_check");
                let formal = core.store.structure(name, &[a, b]);
                return Err(core.error(formal));
            }
            unified
        }
    };
    within_budget(core, unified)
}

/// Returns `answer`, or an error if the budget ran out while it was computed.
fn within_budget(core: &Core, answer: bool) -> Solved {
    core.check_budget()?;
    Ok(answer)
}

fn not_unifiable(core: &mut Core, a: Term, b: Term) -> Solved {
    let unifiable = core.store.can_unify(a, b);
    within_budget(core, !unifiable)
}

fn unify_with_occurs_check(core: &mut Core, a: Term, b: Term) -> Solved {
    let unified = core.store.unify_with_occurs_check(a, b);
    within_budget(core, unified)
}

/// The standard order of two terms.
fn order(core: &mut Core, a: Term, b: Term) -> Solved<Ordering> {
    let order = core.store.compare(&core.atoms, a, b);
    core.check_budget()?;
    Ok(order)
}

fn identical(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(order(core, a, b)?.is_eq())
}

fn not_identical(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(order(core, a, b)?.is_ne())
}

fn before(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(order(core, a, b)?.is_lt())
}

fn not_after(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(order(core, a, b)?.is_le())
}

fn after(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(order(core, a, b)?.is_gt())
}

fn not_before(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(order(core, a, b)?.is_ge())
}

fn compare(core: &mut Core, symbol: Term, a: Term, b: Term) -> Solved {
    match core.store.view(symbol) {
        View::Variable(_) | View::Atom(atoms::LESS | atoms::EQUALS | atoms::GREATER) => {}
        View::Atom(_) => return Err(Fault::Domain("order", symbol).into()),
        _ => return Err(Fault::Type("atom", symbol).into()),
    }
    let name = match order(core, a, b)? {
        Ordering::Less => atoms::LESS,
        Ordering::Equal => atoms::EQUALS,
        Ordering::Greater => atoms::GREATER,
    };
    core.unify(symbol, Term::atom(name))
}

fn variant(core: &mut Core, a: Term, b: Term) -> Solved {
    core.store.is_variant(a, b)
}

fn not_variant(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(!core.store.is_variant(a, b)?)
}

/// `?=(A, B)`: A and B are identical, or can never become identical.
fn decided(core: &mut Core, a: Term, b: Term) -> Solved {
    Ok(identical(core, a, b)? || not_unifiable(core, a, b)?)
}

/// `unifiable(A, B, Unifier)`: the bindings that would unify A and B, as a list of `Variable = Value`, newest first.
/// Fails if A and B do not unify.
fn unifiable(core: &mut Core, a: Term, b: Term, list: Term) -> Solved {
    let (a, b) = (core.store.deref(a), core.store.deref(b));
    let bindings = if a == b {
        Some(Vec::new())
    } else if a.is_variable() {
        Some(vec![(a, b)])
    } else if b.is_variable() {
        Some(vec![(b, a)])
    } else {
        core.store.unifier(a, b)
    };
    core.check_budget()?;
    let Some(bindings) = bindings else { return Ok(false) };
    core.store.reserve(5 * bindings.len())?;
    let equations: Vec<Term> =
        bindings.into_iter().map(|(variable, value)| core.store.structure(atoms::EQUALS, &[variable, value])).collect();
    let equations = core.store.list(&equations, Term::NIL);
    core.unify(list, equations)
}

fn subsumes_term(core: &mut Core, general: Term, specific: Term) -> Solved {
    let subsumes = core.store.subsumes(general, specific)?;
    within_budget(core, subsumes)
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use crate::testing::{Fixture, check_goals};

    #[test]
    fn unifies() {
        check_goals(
            TABLE,
            &[
                ("=(f(X,b),f(a,Y))", "=(f(a,b),f(a,b))"),
                ("=(f(X,X),f(a,b))", "false"),
                ("=(f(),f())", "=(f(),f())"),
                ("=(f(),f)", "false"),
                ("=(\"a\",\"a\")", "=(\"a\",\"a\")"),
                ("=(0.0,-0.0)", "false"),
                ("\\=(X,a)", "false"),
                ("\\=(f(X,a),f(b,c))", "\\=(f(X,a),f(b,c))"),
                ("unify_with_occurs_check(X,f(X))", "false"),
                ("unify_with_occurs_check(f(X,Y),f(Y,g(X)))", "false"),
                ("unify_with_occurs_check(X,f(Y))", "unify_with_occurs_check(f(Y),f(Y))"),
            ],
        );
    }

    #[test]
    fn orders_terms() {
        check_goals(
            TABLE,
            &[
                ("compare(O,1.0,1)", "compare(<,1.0,1)"),
                ("compare(O,f(a),a)", "compare(>,f(a),a)"),
                ("compare(O,\"abcdefghi\",\"abcdefgha\")", "compare(>,\"abcdefghi\",\"abcdefgha\")"),
                ("compare(O,\"ab\",\"abc\")", "compare(<,\"ab\",\"abc\")"),
                ("compare(O,g(a),f(a,b))", "compare(<,g(a),f(a,b))"),
                ("compare(foo,1,2)", "domain_error(order,foo)"),
                ("compare(1,1,2)", "type_error(atom,1)"),
                ("==(f(X),f(X))", "==(f(X),f(X))"),
                ("==(f(X),f(Y))", "false"),
                ("@<(a,b)", "@<(a,b)"),
                ("@>=(a,b)", "false"),
            ],
        );
    }

    #[test]
    fn compares_up_to_renaming() {
        check_goals(
            TABLE,
            &[
                ("=@=(f(X,Y,X),f(Y,X,Y))", "=@=(f(X,Y,X),f(Y,X,Y))"),
                ("=@=(f(X,X),f(A,B))", "false"),
                ("=@=(f(X,Y),f(A,A))", "false"),
                ("=@=([X|T],[Y|S])", "=@=([X|T],[Y|S])"),
                ("=@=(X,a)", "false"),
                ("\\=@=(f(X),g(X))", "\\=@=(f(X),g(X))"),
                ("?=(a,b)", "?=(a,b)"),
                ("?=(X,b)", "false"),
                ("?=(f(X,a),f(Y,b))", "?=(f(X,a),f(Y,b))"),
            ],
        );
    }

    #[test]
    fn returns_unifiers_without_binding() {
        check_goals(
            TABLE,
            &[
                ("unifiable(f(X,Y),f(a,b),L)", "unifiable(f(X,Y),f(a,b),[=(Y,b),=(X,a)])"),
                ("unifiable(f(X,Y),f(Y,a),L)", "unifiable(f(X,Y),f(Y,a),[=(X,a),=(Y,X)])"),
                ("unifiable(X,X,L)", "unifiable(X,X,[])"),
                ("unifiable(X,Y,L)", "unifiable(X,Y,[=(X,Y)])"),
                ("unifiable(a,b,L)", "false"),
                ("subsumes_term(f(X,X),f(Y,Y))", "subsumes_term(f(X,X),f(Y,Y))"),
                ("subsumes_term(f(X,X),f(a,b))", "false"),
                ("subsumes_term(f(a),f(X))", "false"),
                ("subsumes_term(X,f(X))", "false"),
                ("subsumes_term(f(X,Y),f(Y,X))", "false"),
            ],
        );
    }

    #[test]
    fn tentative_unification_wakes_no_goal() {
        let mut fixture = Fixture::new();
        let (variable, goals) = (fixture.term("X"), fixture.term("[g]"));
        fixture.core.store.set_suspended(variable, goals);
        assert_eq!(fixture.solve(TABLE, "\\=(f(X),f(a))"), "false");
        assert_eq!(fixture.solve(TABLE, "unifiable(f(X),f(a),L)"), "unifiable(f(X),f(a),[=(X,a)])");
        assert!(fixture.core.store.woken.is_empty());
    }
}
