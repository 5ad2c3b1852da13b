//! Compiles rules with single-sided unification, `Head => Body` and `Head, Guard => Body`, to clauses.
//!
//! The head of a rule must match a call without binding variables of the call. So a rule becomes a clause whose head
//! has only distinct variables, and whose body decomposes them. For example, `p(f(X), X) => q` becomes `p(A, X) :-
//! nonvar(A), A = f(B), B == X, !, q`. The goals that match the head are compiled inline.

use super::head_arguments;
use crate::store::{Store, View};
use crate::symbols::atoms;
use crate::term::{Functor, Term};
use rustc_hash::FxHashSet;

/// The connective between the head and the body of a stored clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Neck {
    /// `Head :- Body`.
    Clause,
    /// `Head => Body`: commits when the head matches.
    Rule,
    /// `Head, Guard => Body`; the body is `Guard, !, Body`.
    GuardedRule,
}

impl Neck {
    pub(crate) fn functor(self) -> Functor {
        let name = match self {
            Neck::Clause => atoms::NECK,
            Neck::Rule => atoms::RULE,
            Neck::GuardedRule => atoms::GUARDED_RULE,
        };
        Functor::new(name, 2)
    }

    pub(crate) fn is_rule(self) -> bool {
        self != Neck::Clause
    }

    /// The neck of a stored clause that was pasted as `clause`.
    #[inline]
    pub(crate) fn of(store: &Store, clause: Term) -> Neck {
        match Functor(store.cells[clause.address()].0).name() {
            atoms::RULE => Neck::Rule,
            atoms::GUARDED_RULE => Neck::GuardedRule,
            _ => Neck::Clause,
        }
    }
}

/// Head and body of the clause that is equivalent to a rule.
pub(crate) fn clause_of_rule(store: &mut Store, neck: Neck, head: Term, body: Term) -> (Term, Term) {
    let arguments = head_arguments(store, head);
    let mut matching = Matching { store, bound: FxHashSet::default(), pending: Vec::new(), goals: Vec::new() };
    let mut places = Vec::with_capacity(arguments.len());
    for &argument in &arguments {
        if argument.is_variable() && matching.bound.insert(argument) {
            places.push(argument);
        } else {
            places.push(matching.place_of(argument));
        }
    }
    matching.finish();
    let body = match neck {
        Neck::GuardedRule => matching.guard(body),
        Neck::Clause | Neck::Rule => body,
    };
    let Matching { store, mut goals, .. } = matching;
    goals.push(Term::atom(atoms::CUT));
    let body = conjunction(store, &goals, body);
    let head = match store.view(head) {
        View::Compound(functor, _) => store.structure(functor.name(), &places),
        View::List(_) => store.structure(atoms::DOT, &places),
        _ => head,
    };
    (head, body)
}

/// Head and body of the last clause of a predicate that consists of rules. It raises the error that no rule matches.
pub(crate) fn no_rule_clause(store: &mut Store, functor: Functor) -> (Term, Term) {
    let arguments: Vec<Term> = (0..functor.arity()).map(|_| store.variable()).collect();
    let head = store.structure(functor.name(), &arguments);
    let body = store.structure(atoms::NO_RULE, &[head]);
    (head, body)
}

fn conjunction(store: &mut Store, goals: &[Term], last: Term) -> Term {
    goals.iter().rev().fold(last, |rest, &goal| store.structure(atoms::COMMA, &[goal, rest]))
}

/// Collects the goals that decompose the arguments of a call.
struct Matching<'a> {
    store: &'a mut Store,
    /// Variables of the rule that have a value at this point.
    bound: FxHashSet<Term>,
    /// Variables for parts of the call, each with the pattern that the part must match.
    pending: Vec<(Term, Term)>,
    goals: Vec<Term>,
}

impl Matching<'_> {
    /// A new variable for a part of the call that must match `pattern`.
    fn place_of(&mut self, pattern: Term) -> Term {
        let place = self.store.variable();
        self.pending.push((place, pattern));
        place
    }

    fn finish(&mut self) {
        while let Some((place, pattern)) = self.pending.pop() {
            self.match_place(place, pattern);
        }
    }

    fn match_place(&mut self, place: Term, pattern: Term) {
        let pattern = self.store.deref(pattern);
        let goal = match self.store.view(pattern) {
            View::Compound(functor, start) => self.take_apart(place, functor, start),
            View::List(start) => self.take_apart(place, Functor::new(atoms::DOT, 2), start),
            View::Variable(_) if self.bound.insert(pattern) => self.store.structure(atoms::EQUALS, &[pattern, place]),
            _ => self.store.structure(atoms::IDENTICAL, &[place, pattern]),
        };
        self.goals.push(goal);
    }

    /// Adds a test that `place` is bound. Returns the goal that unifies it with a compound of distinct new variables,
    /// and adds the parts that are not new variables to `pending`.
    fn take_apart(&mut self, place: Term, functor: Functor, start: usize) -> Term {
        let mut parts = Vec::with_capacity(functor.arity());
        for index in 0..functor.arity() {
            let part = self.store.argument(start, index);
            let is_new = part.is_variable() && self.bound.insert(part);
            parts.push(if is_new { part } else { self.place_of(part) });
        }
        let bound = self.store.structure(atoms::NONVAR, &[place]);
        self.goals.push(bound);
        let pattern = self.store.structure(functor.name(), &parts);
        self.store.structure(atoms::EQUALS, &[place, pattern])
    }

    /// Adds the guard of `Guard, !, Body` to the goals; returns the body.
    fn guard(&mut self, body: Term) -> Term {
        let Some((guard, rest)) = self.conjuncts(body) else { return body };
        let Some((_, body)) = self.conjuncts(rest) else { return body };
        // A cut in a guard is local to it.
        let goal = self.store.structure(atoms::ARROW, &[guard, Term::atom(atoms::TRUE)]);
        self.goals.push(goal);
        body
    }

    fn conjuncts(&self, goal: Term) -> Option<(Term, Term)> {
        match self.store.view(goal) {
            View::Compound(functor, start) if functor == Functor::new(atoms::COMMA, 2) => {
                Some((self.store.argument(start, 0), self.store.argument(start, 1)))
            }
            _ => None,
        }
    }
}
