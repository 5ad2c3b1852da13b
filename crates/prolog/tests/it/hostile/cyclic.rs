//! Cyclic terms, which unification without occurs check can create: goals on them terminate, and cyclic terms can be
//! compared and copied.

use super::{SMALL, Victim};
use mario_prolog::Budget;

/// Suffices for walks over 180,000 cells in all. A goal that would not terminate exhausts it quickly.
const BUDGET: Budget = Budget { inferences: 30_000, ..SMALL };

/// Goals about a cyclic `X`, another cyclic term `Y` that is the same infinite tree, and a cyclic list `L`.
const GOALS: &[&str] = &[
    "X = Y",
    "X == Y",
    "X \\== Y",
    "X \\= Y",
    "X @< Y",
    "compare(_, X, Y)",
    "unify_with_occurs_check(X, Y)",
    "copy_term(X, _)",
    "ground(X)",
    "term_variables(X, _)",
    "subsumes_term(X, Y)",
    "X =@= Y",
    "acyclic_term(X)",
    "cyclic_term(X)",
    "X =.. _",
    "functor(X, _, _)",
    "arg(1, X, _)",
    "numbervars(X, 0, _)",
    "write(X)",
    "print(X)",
    "writeq(X)",
    "write_canonical(X)",
    "write_term(X, [max_depth(5)])",
    "format(\"~w\", [X])",
    "term_to_atom(X, _)",
    "with_output_to(string(_), write(X))",
    "format(atom(_), \"~q\", [X])",
    "assertz(kept(X, X))",
    "asserta((kept(X, X) :- X))",
    "findall(X, true, _)",
    "bagof(X, true, _)",
    "setof(X, member(X, [X, Y]), _)",
    "aggregate_all(max(X), true, _)",
    "throw(X)",
    "catch(throw(X), _, true)",
    "nb_setval(k, X)",
    "b_setval(k, X)",
    "msort([X, Y], _)",
    "sort([X, Y], _)",
    "sort(0, @>=, [Y, X], _)",
    "predsort([O, A, B]>>compare(O, A, B), [X, Y], _)",
    "keysort([X-1, Y-2], _)",
    "list_to_set([X, Y], _)",
    "memberchk(X, [Y])",
    "Z is X",
    "X =:= 1",
    "call(X)",
    "call(X, a)",
    "dif(X, Y)",
    "dif(X, Z), Z = Y",
    "freeze(Z, true), Z = X",
    "when(ground(X), true)",
    "when(?=(X, Y), true)",
    "frozen(X, _)",
    "?=(X, Y)",
    "unifiable(X, Y, _)",
    "term_subsumer(X, Y, _)",
    "length(L, _)",
    "is_list(L)",
    "append(L, [a], _)",
    "reverse(L, _)",
    "msort(L, _)",
    "nth1(5, L, _)",
    "last(L, _)",
    "sum_list(L, _)",
    "atom_codes(_, L)",
    "atomic_list_concat(L, _)",
    "maplist(=(a), L)",
    "memberchk(z, L)",
    "member(z, L)",
    "sort(0, @>=, L, _)",
    "list_to_set(L, _)",
    "format(\"~w\", L)",
    "format(L, [])",
    "atom_length(L, _)",
    "T =.. L",
    "phrase(L, [a])",
    "string_codes(_, L)",
    "setarg(1, X, X)",
    "nb_setarg(1, X, X)",
    "duplicate_term(X, _)",
    "term_to_atom(_, X)",
    "retract(X)",
    "clause(X, _)",
    "op(1, xfx, L)",
    "consult(L)",
    "number_codes(_, L)",
    "split_string(L, \"\", \"\", _)",
    "sumlist(L, _)",
    "delete(L, a, _)",
    "exclude([_]>>fail, L, _)",
    "foldl([_, A, A]>>true, L, 0, _)",
    "occurrences_of_term(a, X, _)",
    "sub_term(z, X)",
    "ignore(X = Y), fail",
    "(X, Y)",
    "\\+ X",
    "forall(X, Y)",
    "copy_term(X, _, _)",
    "portray_clause(X)",
    "X = f(Y, Z), Y = g(X, Z), Z = h(X, Y)",
    "flatten(L, _)",
    "sort(1, @<, [X, Y], _)",
    "term_string(_, X)",
    "nb_setval(k, L), nb_getval(k, _)",
    "catch(call_with_depth_limit(X, 1, _), _, true)",
    "tab(X)",
    "atom_string(X, _)",
    "upcase_atom(X, _)",
    "sub_atom(X, _, _, _, _)",
    "number_vars(X)",
    "setof(A-B, X^member(A-B, L), _)",
    "read_term_from_atom(X, _, [])",
    "assertz((X :- Y))",
    "bagof(A, X, _)",
    "must_be(list, L)",
    "pairs_keys(L, _)",
    "permutation(L, _)",
    "length(X, _)",
    "halt(X)",
];

#[test]
fn every_walk_over_a_cyclic_term_terminates() {
    let mut victim = Victim::new();
    for goal in GOALS {
        for setting in ["X = f(X), Y = f(Y)", "X = f(a, X, b), Y = f(a, f(a, Y, b), b)", "X = [a|X], Y = [a, a|Y]"] {
            let goal = format!("{setting}, L = [a|L], {goal}");
            victim.run(&goal, &BUDGET);
            victim.is_unharmed(&goal);
        }
    }
}

/// Goals that are true of equal cyclic terms `X` and `Y`, as in SWI-Prolog.
const TRUE_OF_EQUAL_CYCLES: &[&str] = &[
    "X = Y",
    "X == Y",
    "\\+ X \\== Y",
    "\\+ X \\= Y",
    "compare(=, X, Y)",
    "X @=< Y",
    "\\+ X @< Y",
    "X =@= Y",
    "?=(X, Y)",
    "\\+ dif(X, Y)",
    "unifiable(X, Y, [])",
    "subsumes_term(X, Y)",
    "msort([X, Y], [_, _])",
    "sort([X, Y], [_])",
    "length(L, 3), \\+ L = [X, Y]",
    "memberchk(X, [Y])",
    "ground(X)",
    "term_variables(X, [])",
    "term_variables(X-Z, [Z])",
    "cyclic_term(X)",
    "\\+ acyclic_term(X)",
    "copy_term(X, Z), Z == Y",
    "duplicate_term(X, Z), Z == Y",
    "findall(X, true, [Z]), Z == Y",
    "catch(throw(X), Z, Z == Y)",
    "nb_setval(k, X), nb_getval(k, Z), Z == Y",
    "freeze(Z, true), Z = X, Z == Y",
    "X = Z, Z == Y",
    "f(X, Z) = f(Y, a), Z == a",
    "functor(X, _, N), N > 0",
];

#[test]
fn cyclic_terms_are_compared_and_copied_within_a_small_budget() {
    let mut victim = Victim::new();
    let small = Budget { inferences: 10_000, ..SMALL };
    for goal in TRUE_OF_EQUAL_CYCLES {
        for setting in [
            "X = f(X), Y = f(Y)",
            "X = s(X, 1), Y = s(Y, 1)",
            "X = f(X, X), Y = f(Y, f(X, Y))",
            "X = f(a, X, b), Y = f(a, f(a, Y, b), b)",
            "X = [a|X], Y = [a, a|Y]",
            "X = g(h(X, Y), Y), Y = g(h(Y, X), X)",
        ] {
            let goal = format!("{setting}, {goal}");
            let outcome = victim.first(&goal, &small);
            assert_eq!(outcome, mario_prolog::Outcome::Answer, "{goal}");
        }
    }
}

#[test]
fn different_cyclic_terms_are_distinguished() {
    let mut victim = Victim::new();
    for goal in [
        "X = f(X, 1), Y = f(Y, 2), X \\== Y, X \\= Y, X \\=@= Y, dif(X, Y)",
        "X = [a|X], Y = [a, b|Y], X \\= Y, compare(O, X, Y), O \\== (=)",
        "X = f(X, A), Y = f(Y, B), X \\== Y, X = Y, A == B, X == Y",
        "X = f(X, A), Y = f(Y, B), X =@= Y",
        "X = f(X, A, A), Y = f(Y, B, C), X \\=@= Y",
        "X = f(X, _), \\+ ground(X), term_variables(X, [_])",
    ] {
        assert_eq!(victim.first(goal, &SMALL), mario_prolog::Outcome::Answer, "{goal}");
    }
}
