//! Inlines calls of small predicates before a clause is compiled.
//!
//! A policy consists of short rules that call each other, and most of their cost would be the calls. A predicate can be
//! unfolded if it is static and has a single, small clause whose head has only distinct variables and whose body has no
//! variable as a goal. A call without compound arguments is then replaced by the body, unless the call is recursive or
//! a limit on the depth or on the number of unfolded calls is reached. A cut in the body remains local to it.

use crate::store::{Store, View};
use crate::stored::StoredTerm;
use crate::symbols::atoms;
use crate::term::{Functor, Tag, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Clauses that may replace calls of their predicates.
pub(crate) type Unfoldable = FxHashMap<Functor, Arc<StoredTerm>>;

/// The maximum size in cells of a clause that is unfolded. Copies of larger clauses would cost more than calls.
const MAX_CELLS: usize = 80;
/// The nesting limit of unfolded bodies and control constructs.
const MAX_DEPTH: usize = 40;
/// The maximum number of calls unfolded in one clause.
const MAX_UNFOLDED: usize = 64;

/// Whether a clause, the only one of its predicate, may replace calls. `clause` is `stored`, pasted into the store.
pub(crate) fn is_unfoldable(store: &Store, stored: &StoredTerm, clause: Term) -> bool {
    let head = store.argument(clause.address(), 1);
    let body = store.argument(clause.address(), 2);
    let arguments = super::head_arguments(store, head);
    let mut seen = FxHashSet::default();
    // A variable goal of a clause means `call(Variable)`, so a cut in its value is local. In the `call(Body)` that
    // replaces the call, that cut would cut the whole body.
    !super::goals::has_variable_goal(store, body)
        && stored.cells().len() <= MAX_CELLS
        && arguments.iter().all(|term| term.has_tag(Tag::Ref) && seen.insert(*term))
}

/// The body with calls of unfoldable predicates replaced. `redefined` returns whether the program defines a predicate.
/// If the program defines `aggregate_all/3`, its arguments remain unchanged, because they need not be goals.
pub(crate) fn unfold(
    store: &mut Store,
    unfoldable: &Unfoldable,
    redefined: &dyn Fn(Functor) -> bool,
    body: Term,
) -> Term {
    if unfoldable.is_empty() {
        return body;
    }
    Unfolding { store, unfoldable, redefined, open: Vec::new(), left: MAX_UNFOLDED }.goal(body, 0)
}

struct Unfolding<'a> {
    store: &'a mut Store,
    unfoldable: &'a Unfoldable,
    redefined: &'a dyn Fn(Functor) -> bool,
    /// The predicates being unfolded, to detect recursive calls.
    open: Vec<Functor>,
    left: usize,
}

impl Unfolding<'_> {
    fn goal(&mut self, goal: Term, depth: usize) -> Term {
        let goal = self.store.deref(goal);
        if depth > MAX_DEPTH {
            return goal;
        }
        match self.store.view(goal) {
            View::Atom(name) => self.call(goal, Functor::new(name, 0), depth),
            View::Compound(functor, arguments) => {
                let goals = self.goal_arguments(functor);
                if goals.is_empty() {
                    self.call(goal, functor, depth)
                } else {
                    self.rebuild(goal, functor, arguments, goals, depth)
                }
            }
            _ => goal,
        }
    }

    /// The positions of the arguments that are compiled inline as goals; empty for an ordinary call.
    fn goal_arguments(&self, functor: Functor) -> &'static [usize] {
        match (functor.name(), functor.arity()) {
            (atoms::COMMA | atoms::SEMICOLON | atoms::BAR | atoms::ARROW | atoms::SOFT_ARROW | atoms::FORALL, 2) => {
                &[0, 1]
            }
            (atoms::NOT | atoms::CALL | atoms::ONCE | atoms::IGNORE, 1) => &[0],
            (atoms::FINDALL, 3) => &[1],
            (atoms::AGGREGATE_ALL, 3) if !(self.redefined)(functor) => &[1],
            _ => &[],
        }
    }

    fn rebuild(&mut self, goal: Term, functor: Functor, arguments: usize, goals: &[usize], depth: usize) -> Term {
        let mut changed = false;
        let mut parts: Vec<Term> = (0..functor.arity()).map(|index| self.store.argument(arguments, index)).collect();
        for &index in goals {
            let unfolded = self.goal(parts[index], depth + 1);
            changed |= unfolded != parts[index];
            parts[index] = unfolded;
        }
        if changed { self.store.structure(functor.name(), &parts) } else { goal }
    }

    fn call(&mut self, goal: Term, functor: Functor, depth: usize) -> Term {
        let Some(clause) = self.unfoldable.get(&functor) else { return goal };
        let arguments = super::head_arguments(self.store, goal);
        let simple = |term: &Term| !matches!(term.tag(), Tag::Lis | Tag::Str);
        if self.left == 0 || self.open.contains(&functor) || !arguments.iter().all(simple) {
            return goal;
        }
        self.left -= 1;
        let clause = self.store.paste(clause);
        let head = self.store.argument(clause.address(), 1);
        for (parameter, argument) in super::head_arguments(self.store, head).into_iter().zip(arguments) {
            self.store.cells[parameter.address()] = argument;
        }
        let body = self.store.argument(clause.address(), 2);
        self.open.push(functor);
        let body = self.goal(body, depth + 1);
        self.open.pop();
        // `call/1` keeps a cut local. It costs nothing, because its goal is known at compile time.
        self.store.structure(atoms::CALL, &[body])
    }
}
