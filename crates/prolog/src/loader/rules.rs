//! Loads rules with single-sided unification: `Head => Body`, and `Head, Guard => Body`.

use super::Loader;
use crate::compiler::{Neck, head_arguments};
use crate::store::View;
use crate::symbols::atoms;
use crate::term::{Functor, Term};
use std::ops::Range;

impl Loader {
    /// Adds a rule.
    pub(super) fn rule(&mut self, source: usize, head: Term, body: Term, span: Range<usize>) {
        let Some((head, guard)) = self.head_and_guard(head) else {
            self.add_clause(source, head, Neck::Rule, body, span);
            return;
        };
        let goals = self.rest_of_guard(head, guard);
        let Some((&last, before)) = goals.split_last() else {
            self.add_clause(source, head, Neck::Rule, body, span);
            return;
        };
        let rest = self.store.structure(atoms::COMMA, &[Term::atom(atoms::CUT), body]);
        let join = |guard, &goal: &Term| self.store.structure(atoms::COMMA, &[goal, guard]);
        let guard = before.iter().rev().fold(last, join);
        let body = self.store.structure(atoms::COMMA, &[guard, rest]);
        self.add_clause(source, head, Neck::GuardedRule, body, span);
    }

    fn head_and_guard(&self, head: Term) -> Option<(Term, Term)> {
        match self.store.view(head) {
            View::Compound(functor, arguments) if functor == Functor::new(atoms::COMMA, 2) => {
                Some((self.store.argument(arguments, 0), self.store.argument(arguments, 1)))
            }
            _ => None,
        }
    }

    /// Moves unifications from the guard into the head, and returns the other goals of the guard, without leading
    /// `true`. As in SWI-Prolog, a unification of a head argument with a non-variable term is moved if only `true` and
    /// unifications precede it, and if the two terms unify. It then binds no variable of the call.
    fn rest_of_guard(&mut self, head: Term, guard: Term) -> Vec<Term> {
        let goals = self.conjuncts(guard);
        let head = self.store.without_module(head);
        let arguments = head_arguments(&self.store, head);
        let is_match = |place: Term, pattern: Term| arguments.contains(&place) && !pattern.is_variable();
        let mut rest = Vec::new();
        for (index, &goal) in goals.iter().enumerate() {
            let (a, b) = match self.store.view(goal) {
                View::Atom(atoms::TRUE) => continue,
                View::Compound(functor, start) if functor == Functor::new(atoms::EQUALS, 2) => {
                    (self.store.argument(start, 0), self.store.argument(start, 1))
                }
                _ => {
                    rest.extend_from_slice(&goals[index..]);
                    break;
                }
            };
            let is_in_head = is_match(a, b) || is_match(b, a);
            if !(is_in_head && self.store.unify_with_occurs_check(a, b)) {
                rest.push(goal);
            }
        }
        rest
    }
}
