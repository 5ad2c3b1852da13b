//! `catch/3` and `throw/1`.
//!
//! `catch/3` has an environment, to which its goal returns, and a choice point, whose state is restored when an
//! exception reaches it. It is active while its environment is in the return chain of the running goal. Its choice
//! point may exist longer.

use super::Machine;
use super::choices::ChoiceKind;
use crate::fault::{Fault, Raised};
use crate::instruction::CATCH_EXIT;
use crate::stored::{Attributes, StoredTerm};
use crate::symbols::{Atom, atoms};
use crate::term::{Functor, Term};

/// Cost of creating the error term of a builtin, in cells; it takes as long as a few calls.
const ERROR_CELLS: u64 = 16;

/// The predicate that raised an error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Culprit {
    pub(super) functor: Functor,
}

impl Machine {
    /// Enters the scope of `catch(X0, X1, X2)`; the goal is left in `X0`.
    pub(super) fn enter_catch(&mut self) {
        self.allocate(3);
        let slots = self.slots();
        self.environments[slots] = Term::small(self.choices.len() as i64);
        self.environments[slots + 1] = Term::small(self.core.collectors.depth() as i64);
        self.environments[slots + 2] = Term::small(self.core.output.diversions() as i64);
        self.push_choice(ChoiceKind::Catch, 0, 0, 3);
        self.continuation = CATCH_EXIT;
    }

    /// Leaves the scope of `catch/3` after its goal succeeded. Drops its choice point if that is the newest.
    pub(super) fn exit_catch(&mut self) {
        let height = self.slot(0).small_value() as usize;
        if self.choices.len() == height + 1 {
            self.pop_choice();
        }
    }

    /// Unwinds to the innermost active `catch/3` whose catcher unifies with the ball, and loads its recovery goal into
    /// `X0`. Cleanups that become due are called before the recovery goal. Without such a `catch/3`, `X0` gets a goal
    /// that calls the cleanups and throws the ball again. Returns the ball as `Err` if there are no cleanups either, or
    /// if the budget is exhausted.
    pub(super) fn unwind(&mut self, ball: Box<StoredTerm>) -> Result<(), Box<StoredTerm>> {
        self.parts.clear();
        let cleanups = self.save_cleanups();
        let mut reachable = self.environment;
        while let Some(&choice) = self.choices.last() {
            if choice.kind == ChoiceKind::Bottom {
                self.restore(&choice);
                if cleanups.is_empty() {
                    return Err(ball);
                }
                let throw = self.core.atoms.intern("throw");
                let Ok(thrown) = self.core.store.paste_within_budget(&ball) else { return Err(ball) };
                let again = self.core.store.structure(throw, &[thrown]);
                self.x[0] = self.after_cleanups(&cleanups, again);
                return Ok(());
            }
            let scope = choice.environment as usize;
            while choice.kind == ChoiceKind::Catch && reachable > scope {
                reachable = self.previous_environment(reachable);
            }
            self.restore(&choice);
            if choice.kind != ChoiceKind::Catch || reachable != scope {
                self.pop_choice();
                continue;
            }
            self.restore_arguments(&choice);
            let (catcher, recovery) = (self.x[1], self.x[2]);
            let slots = self.slots();
            let depth = self.environments[slots + 1].small_value() as usize;
            let diversions = self.environments[slots + 2].small_value() as usize;
            self.deallocate();
            let (environment, continuation) = (self.environment, self.continuation);
            let mark = self.core.store.trail_length();
            let Ok(thrown) = self.core.store.paste_within_budget(&ball) else { return Err(ball) };
            if self.core.store.unify(catcher, thrown) {
                let words = self.core.collectors.abandon(depth);
                self.core.store.meter.release(words);
                self.core.output.drop_diversions(diversions);
                self.pop_choice();
                (self.environment, self.continuation) = (environment, continuation);
                self.x[0] = self.after_cleanups(&cleanups, recovery);
                return Ok(());
            }
            self.core.store.undo_to(mark);
            self.pop_choice();
            reachable = reachable.min(environment);
            self.environment = environment;
        }
        Err(ball)
    }

    /// The ball to throw; `Err` for conditions that cannot be caught.
    pub(super) fn ball(&mut self, raised: Raised, culprit: Culprit) -> Result<Box<StoredTerm>, Raised> {
        let (fault, context) = match raised {
            Raised::Fault(fault) => (fault, culprit.functor),
            Raised::FaultIn(fault, name, arity) => (fault, Functor::new(name, arity)),
            Raised::Ball(ball) => return Ok(ball),
            uncatchable => return Err(uncatchable),
        };
        self.core.store.meter.walk(ERROR_CELLS);
        let term = self.error_term(fault, context);
        let stored = self.core.store.copy_out(term, Attributes::Drop);
        stored.map(Box::new).ok_or(Raised::Exhausted(crate::meter::Resource::HeapBytes))
    }

    fn error_term(&mut self, fault: Fault, context: Functor) -> Term {
        let formal = self.formal_term(fault);
        let store = &mut self.core.store;
        // A text that learnt the name of a helper predicate could call it.
        if self.core.atoms.is_internal(context.name()) {
            let context = store.variable();
            return store.structure(atoms::ERROR, &[formal, context]);
        }
        let indicator =
            store.structure(atoms::SLASH, &[Term::atom(context.name()), Term::small(context.arity() as i64)]);
        let unknown = matches!(fault, Fault::Existence("procedure", _));
        let context = if unknown {
            indicator
        } else {
            let qualified = store.structure(atoms::COLON, &[Term::atom(atoms::SYSTEM), indicator]);
            let message = store.variable();
            store.structure(atoms::CONTEXT, &[qualified, message])
        };
        store.structure(atoms::ERROR, &[formal, context])
    }

    fn formal_term(&mut self, fault: Fault) -> Term {
        let core = &mut self.core;
        let mut named = |text: &'static str| Term::atom(core.atoms.intern(text));
        let (name, arguments): (Atom, Vec<Term>) = match fault {
            Fault::Instantiation => (atoms::INSTANTIATION_ERROR, Vec::new()),
            Fault::Uninstantiation(culprit) => (atoms::UNINSTANTIATION_ERROR, vec![culprit]),
            Fault::Type(kind, culprit) => (atoms::TYPE_ERROR, vec![named(kind), culprit]),
            Fault::Domain(domain, culprit) => (atoms::DOMAIN_ERROR, vec![named(domain), culprit]),
            Fault::Existence(kind, culprit) => (atoms::EXISTENCE_ERROR, vec![named(kind), culprit]),
            Fault::Permission(action, kind, culprit) => {
                (atoms::PERMISSION_ERROR, vec![named(action), named(kind), culprit])
            }
            Fault::Representation(limit) => (atoms::REPRESENTATION_ERROR, vec![named(limit)]),
            Fault::Evaluation(what) => (atoms::EVALUATION_ERROR, vec![named(what)]),
            Fault::Resource(what) => (atoms::RESOURCE_ERROR, vec![named(what)]),
            Fault::Syntax(message) => (atoms::SYNTAX_ERROR, vec![Term::atom(message)]),
            Fault::Evaluable(name, arity) => {
                let evaluable = named("evaluable");
                let indicator = core.store.structure(atoms::SLASH, &[Term::atom(name), Term::small(arity as i64)]);
                (atoms::TYPE_ERROR, vec![evaluable, indicator])
            }
        };
        core.store.structure(name, &arguments)
    }
}
