//! Terms and texts with a million levels, clauses with 100,000 levels, lists with a million elements, and a million
//! pending calls.

use super::{LARGE, Victim};
use mario_prolog::Outcome;
use std::fmt::Write as _;

const MILLION: usize = 1_000_000;

fn answers(goals: &[&str]) {
    let mut victim = Victim::new();
    for goal in goals {
        assert_eq!(victim.first(goal, &LARGE), Outcome::Answer, "{goal}");
    }
    victim.is_unharmed("deep terms");
}

#[test]
fn deep_terms_are_built_and_unified() {
    answers(&[
        "nested(1000000, T), nested(1000000, U), T = U",
        "nested(1000000, T), nested(1000000, U), T == U, compare(=, T, U), unify_with_occurs_check(T, U)",
        "nested(1000000, T), U = s(T), T \\= U, T @< U",
        "nested(1000000, T), ground(T), acyclic_term(T), term_variables(T, []), subsumes_term(T, T), T =@= T",
    ]);
}

#[test]
fn deep_terms_are_copied_kept_and_thrown() {
    answers(&[
        "nested(1000000, T), copy_term(T, U), T == U",
        "nested(1000000, T), findall(T, true, [U]), T == U",
        "nested(1000000, T), assertz(kept(T, 1)), kept(U, 1), T == U, retract(kept(T, _))",
        "nested(1000000, T), catch(throw(T), U, true), T == U",
        "nested(1000000, T), nb_setval(k, T), nb_getval(k, U), T == U",
        "nested(1000000, T), msort([T, T, a], L), sort(0, @>=, L, [_, _, a]), sort(L, [a, _])",
        "nested(1000000, T), bagof(T, member(T, [T]), [U]), T == U",
    ]);
}

#[test]
fn deep_terms_are_written_and_read_back() {
    answers(&[
        "nested(1000000, T), term_to_atom(T, A), term_to_atom(U, A), T == U",
        "nested(1000000, T), write_canonical(T), print(T), format(\"~w ~q\", [T, T])",
        "numlist(1, 100000, L), foldl([X, A, A - X]>>true, L, 0, T), term_to_atom(T, A), term_to_atom(U, A), T == U",
    ]);
}

#[test]
fn deep_text_is_read() {
    let mut victim = Victim::new();
    for (open, inside, close) in
        [("f(", "x", ")"), ("[", "", "]"), ("{", "x", "}"), ("(", "x", ")"), ("- ", "x", ""), ("1 + (", "x", ")")]
    {
        let text = format!("X = {}{inside}{}", open.repeat(MILLION), close.repeat(MILLION));
        assert_eq!(victim.first(&text, &LARGE), Outcome::Answer, "a million of `{open}`");
    }
    let mut text = "X = [0".to_owned();
    (0..MILLION).for_each(|element| write!(text, ",{element}").expect("a string takes it"));
    assert_eq!(victim.first(&(text + "]"), &LARGE), Outcome::Answer);
    victim.is_unharmed("deep text");
}

#[test]
fn deep_clauses_are_compiled_or_refused() {
    let engine = mario_prolog::Engine::new();
    for (open, inside, close) in [
        ("f(", "x", ")"),
        ("\\+ (", "true", ")"),
        ("(a, ", "b", ")"),
        ("(a ; ", "b", ")"),
        ("X = [", "", "]"),
        ("call(", "true", ")"),
    ] {
        let mut loader = engine.loader();
        loader.load("deep.pl", &format!("p :- {}{inside}{}.\nq.\n", open.repeat(100_000), close.repeat(100_000)));
        // A clause that is too deep to compile may be an error, but must not crash the host.
        let _ = loader.finish();
    }
}

#[test]
fn deep_recursion_and_long_lists() {
    answers(&[
        "numlist(1, 1000000, L), length_of(L, 1000000)",
        "numlist(1, 1000000, L), length(L, 1000000), last(L, 1000000), sum_list(L, _), max_list(L, 1000000)",
        "numlist(1, 1000000, L), append(L, [x], M), reverse(M, [x|_]), msort(M, _)",
        "numlist(1, 1000000, L), maplist([X, Y]>>(Y = f(X)), L, M), length(M, 1000000)",
        "numlist(1, 1000000, L), foldl([X, A, B]>>(B is A + X), L, 0, 500000500000)",
        "findall(X, between(1, 1000000, X), L), length(L, 1000000)",
        "numlist(1, 1000000, L), copy_term(L, M), L == M, atomic_list_concat(L, ',', A), atom_length(A, 6888895)",
        "length(L, 1000000), bind_all(L), sort(L, [a])",
        "count(1000000)",
        "length(L, 300000), maplist([X]>>freeze(X, true), L), bind_all(L)",
    ]);
}
