//! Rules with single sided unification: `Head => Body`, and `Head, Guard => Body`.

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
        let goals = self.conjuncts(guard);
        let matched = goals.iter().take_while(|&&goal| self.match_in_head(head, goal)).count();
        let Some((&last, before)) = goals[matched..].split_last() else {
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

    /// Whether a goal at the beginning of a guard is `true`, or unifies an argument of the head with a term. The latter is
    /// done here: it is part of the head, and binds nothing of a call either.
    fn match_in_head(&mut self, head: Term, goal: Term) -> bool {
        let (a, b) = match self.store.view(goal) {
            View::Atom(atoms::TRUE) => return true,
            View::Compound(functor, start) if functor == Functor::new(atoms::EQUALS, 2) => {
                (self.store.argument(start, 0), self.store.argument(start, 1))
            }
            _ => return false,
        };
        let head = self.store.without_module(head);
        let arguments = head_arguments(&self.store, head);
        let is_argument = |term: Term| term.is_variable() && arguments.contains(&term);
        is_argument(a) != is_argument(b) && self.store.unify_with_occurs_check(a, b)
    }
}
