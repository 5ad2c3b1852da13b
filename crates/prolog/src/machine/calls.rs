//! Calls of predicates of every kind.

use super::Machine;
use super::choices::{Choice, ChoiceKind};
use super::exceptions::Culprit;
use crate::builtins::{Code, FIRST, Step};
use crate::compiler::{MAX_CALL_ARITY, Neck, body_of, is_control};
use crate::database::{Found, Generation, Position, SearchFrom, is_rule};
use crate::fault::{Fault, Raised, Solved};
use crate::flags::Unknown;
use crate::host::{HostCall, HostCode, HostError, Relations};
use crate::instruction::{Label, PredicateId};
use crate::meter::{CELLS_PER_INFERENCE, Resource};
use crate::program::{Clauses, Control, Definition, Program};
use crate::store::View;
use crate::stored::Attributes;
use crate::symbols::{Atom, atoms};
use crate::term::{Functor, Term};

/// Cost of a retry of a dynamic predicate, in cells, if a further clause may match. It is added to the inference of the
/// retry.
const RETRY_CELLS: u64 = 4;

/// How the machine continues after a call.
pub(super) enum Flow {
    Goto(Label),
    Fail,
    Raise(Raised, Culprit),
}

impl Machine {
    /// Calls a predicate whose arguments are in the registers.
    pub(super) fn enter(&mut self, program: &Program, host: &dyn Relations, predicate: PredicateId) -> Flow {
        let mut predicate = predicate;
        loop {
            let Some(entry) = program.predicates.get(predicate as usize) else {
                return self.enter_dynamic(program, host, predicate);
            };
            let functor = entry.functor;
            let raise = |raised| Flow::Raise(raised, Culprit { functor });
            let next = match &entry.definition {
                Definition::Clauses(clauses) => return self.enter_clauses(program, clauses, functor.arity()),
                Definition::Builtin { code: Code::N(_), .. } => return self.enter_retriable(program, predicate),
                Definition::Builtin { code, .. } => {
                    return match self.call_builtin(*code, 0) {
                        Ok(true) => Flow::Goto(self.continuation),
                        Ok(false) => Flow::Fail,
                        Err(raised) => raise(raised),
                    };
                }
                Definition::Dynamic => return self.enter_dynamic(program, host, predicate),
                Definition::Undefined => {
                    if self.core.database.get(program, predicate).is_some() {
                        return self.enter_dynamic(program, host, predicate);
                    }
                    return self.undefined(functor);
                }
                Definition::Relation(position) => {
                    return self.enter_rows(host, *position as usize, predicate, functor.arity());
                }
                Definition::Host(code) => return self.enter_host(code, functor),
                Definition::Control(control) => self.control(*control, functor),
            };
            match next {
                Ok(Next::Predicate(next)) => {
                    // Each iteration is charged as an inference: otherwise, `X = call(X), call(X)` would never leave
                    // this loop.
                    if !self.core.store.meter.walk(CELLS_PER_INFERENCE) {
                        return raise(Raised::Exhausted(Resource::Inferences));
                    }
                    predicate = next;
                }
                Ok(Next::Done) => return Flow::Goto(self.continuation),
                Ok(Next::Fail) => return Flow::Fail,
                Ok(Next::Undefined(functor)) => return self.undefined(functor),
                Err(raised) => return raise(raised),
            }
        }
    }

    /// Selects the clauses that may match, and enters the first.
    #[inline]
    pub(super) fn enter_clauses(&mut self, program: &Program, clauses: &Clauses, arity: usize) -> Flow {
        let mut candidates = clauses.all.clone();
        for index in &clauses.indexes {
            let argument = self.core.store.deref(self.x[index.argument as usize]);
            if !argument.is_variable() {
                let fewer = index.candidates(&self.core.store, argument);
                if fewer.len() < candidates.len() {
                    candidates = fewer;
                    if candidates.len() <= 1 {
                        break;
                    }
                }
            }
        }
        self.barrier = self.choices.len();
        match candidates.len() {
            0 => Flow::Fail,
            1 => Flow::Goto(program.clause_lists[candidates.start as usize]),
            _ => {
                self.push_choice(ChoiceKind::Clauses, candidates.start + 1, candidates.end, arity);
                Flow::Goto(program.clause_lists[candidates.start as usize])
            }
        }
    }

    pub(super) fn undefined(&mut self, functor: Functor) -> Flow {
        if self.core.flags.unknown == Unknown::Fail {
            return Flow::Fail;
        }
        let indicator =
            self.core.store.structure(atoms::SLASH, &[Term::atom(functor.name()), Term::small(functor.arity() as i64)]);
        Flow::Raise(Fault::Existence("procedure", indicator).into(), Culprit { functor })
    }

    /// Runs a deterministic builtin on the registers from `base` on.
    #[inline]
    pub(super) fn call_builtin(&mut self, code: Code, base: usize) -> Solved {
        let x = &self.x[base..];
        let core = &mut self.core;
        match code {
            Code::D0(run) => run(core),
            Code::D1(run) => run(core, x[0]),
            Code::D2(run) => run(core, x[0], x[1]),
            Code::D3(run) => run(core, x[0], x[1], x[2]),
            Code::D4(run) => run(core, x[0], x[1], x[2], x[3]),
            Code::N(_) => Ok(false),
        }
    }

    // ---- non-deterministic builtins --------------------------------------------------------

    fn enter_retriable(&mut self, program: &Program, predicate: PredicateId) -> Flow {
        let arity = program.predicates[predicate as usize].functor.arity();
        self.push_choice(ChoiceKind::Builtin, predicate, 0, arity);
        self.saved.push(Term(FIRST.0));
        self.saved.push(Term(FIRST.1));
        self.retry_builtin(program)
    }

    /// Asks the builtin of the newest choice point for its next answer.
    pub(super) fn retry_builtin(&mut self, program: &Program) -> Flow {
        let Some(&choice) = self.choices.last() else { return Flow::Fail };
        let entry = &program.predicates[choice.next as usize];
        let Definition::Builtin { code: Code::N(run), .. } = entry.definition else { return Flow::Fail };
        let state = (self.saved_word(&choice, 0), self.saved_word(&choice, 1));
        let arity = choice.argument_count as usize;
        let mut arguments = [Term::NIL; 8];
        arguments[..arity].copy_from_slice(&self.saved[choice.saved as usize..choice.saved as usize + arity]);
        match run(&mut self.core, &arguments[..arity], state) {
            Ok(Step::More(state)) => {
                self.set_saved_word(&choice, 0, state.0);
                self.set_saved_word(&choice, 1, state.1);
                Flow::Goto(self.continuation)
            }
            Ok(Step::MoreOf(last)) => {
                self.saved[choice.saved as usize + arity - 1] = last;
                Flow::Goto(self.continuation)
            }
            Ok(Step::Last) => {
                self.pop_choice();
                Flow::Goto(self.continuation)
            }
            Ok(Step::Fail) => {
                self.pop_choice();
                Flow::Fail
            }
            Err(raised) => {
                self.pop_choice();
                Flow::Raise(raised, Culprit { functor: entry.functor })
            }
        }
    }

    // ---- dynamic predicates ----------------------------------------------------------------

    fn enter_dynamic(&mut self, program: &Program, host: &dyn Relations, predicate: PredicateId) -> Flow {
        let generation = self.core.database.generation();
        self.barrier = self.choices.len();
        self.next_dynamic(program, host, predicate, SearchFrom::Start, generation, None)
    }

    /// Tries the first clause of a dynamic predicate, from a position on, that may match. `retried` is the choice point
    /// of the call when it is retried, and `None` when the predicate is entered.
    fn next_dynamic(
        &mut self,
        program: &Program,
        host: &dyn Relations,
        predicate: PredicateId,
        from: SearchFrom,
        generation: Generation,
        retried: Option<Choice>,
    ) -> Flow {
        let functor = self.functor_of(program, predicate);
        let arity = functor.arity();
        let core = &mut self.core;
        let found = core.database.find(program, predicate, &core.store, &self.x[..arity], from, generation);
        core.charge_database();
        let Some(Found { term, mut following, .. }) = found else {
            if retried.is_some() {
                self.pop_choice();
            }
            return self.no_clause(program, predicate, functor);
        };
        let has_rules = is_rule(&term);
        if has_rules {
            // It is an error if no further rule matches, so keep the choice point until a rule has matched.
            following = following.or(Some(Position::MAX));
        }
        match (following, retried) {
            (Some(next), Some(choice)) => {
                self.core.store.meter.walk(RETRY_CELLS);
                self.set_saved_word(&choice, 0, next as u64);
            }
            (Some(next), None) => {
                self.push_choice(ChoiceKind::Dynamic, predicate, 0, arity);
                self.saved.push(Term(next as u64));
                self.saved.push(Term(generation));
            }
            (None, Some(_)) => self.pop_choice(),
            (None, None) => {}
        }
        let clause = match self.core.store.paste_within_budget(&term) {
            Ok(clause) => clause,
            Err(raised) => return Flow::Raise(raised, Culprit { functor }),
        };
        let head = self.core.store.argument(clause.address(), 1);
        if has_rules {
            if !self.match_rule(clause, head) {
                return Flow::Fail;
            }
        } else if let Some((_, arguments)) = self.core.store.compound(head) {
            for index in 0..arity {
                let argument = self.core.store.cells[arguments + index];
                if !self.core.store.unify(self.x[index], argument) {
                    return Flow::Fail;
                }
            }
        }
        let body = self.core.store.argument(clause.address(), 2);
        if body == Term::atom(atoms::TRUE) {
            return Flow::Goto(self.continuation);
        }
        self.x[0] = body;
        self.x[1] = Term::small(self.barrier as i64);
        match self.body_predicate() {
            Some(body) => self.enter(program, host, body),
            None => Flow::Fail,
        }
    }

    /// The result of a call if no (further) clause of a dynamic predicate matches: that of an undefined predicate if
    /// the predicate was abolished, an error if it consists of rules, otherwise failure.
    fn no_clause(&mut self, program: &Program, predicate: PredicateId, functor: Functor) -> Flow {
        let Some(clauses) = self.core.database.get(program, predicate) else { return Flow::Fail };
        if clauses.abolished {
            return self.undefined(functor);
        }
        if !clauses.is_made_of_rules {
            return Flow::Fail;
        }
        let goal = self.core.store.structure(functor.name(), &self.x[..functor.arity()]);
        Flow::Raise(Fault::Existence("matching_rule", goal).into(), Culprit { functor })
    }

    /// Matches the head of a pasted rule with the registers; returns false if it does not match. Commits to a rule
    /// without a guard.
    fn match_rule(&mut self, clause: Term, head: Term) -> bool {
        let core = &mut self.core;
        if let Some((functor, arguments)) = core.store.compound(head) {
            for index in 0..functor.arity() {
                let pattern = core.store.cells[arguments + index];
                if !core.store.match_one_way(&core.atoms, pattern, self.x[index], clause.address()) {
                    return false;
                }
            }
        }
        if Neck::of(&core.store, clause) == Neck::Rule {
            // The match bound no variable of the call, so it woke no goals, which would have to run before the cut.
            self.cut_to(self.barrier);
        }
        true
    }

    fn functor_of(&self, program: &Program, predicate: PredicateId) -> Functor {
        match program.predicates.get(predicate as usize) {
            Some(entry) => entry.functor,
            None => self.core.database.created_functor(predicate),
        }
    }

    /// Backtracks into the dynamic predicate of the newest choice point.
    pub(super) fn retry_dynamic(&mut self, program: &Program, host: &dyn Relations) -> Flow {
        let Some(&choice) = self.choices.last() else { return Flow::Fail };
        self.restore_arguments(&choice);
        self.barrier = self.choices.len() - 1;
        let position = self.saved_word(&choice, 0) as Position;
        let generation = self.saved_word(&choice, 1);
        self.next_dynamic(program, host, choice.next, SearchFrom::Position(position), generation, Some(choice))
    }

    // ---- host predicates -------------------------------------------------------------------

    fn enter_host(&mut self, code: &HostCode, functor: Functor) -> Flow {
        let arguments: Vec<Term> = self.x[..functor.arity()].to_vec();
        let mut call = HostCall { core: &mut self.core, arguments: &arguments };
        let fault = match code(&mut call) {
            Ok(true) => return Flow::Goto(self.continuation),
            Ok(false) => return Flow::Fail,
            Err(HostError::Instantiation) => Fault::Instantiation,
            Err(HostError::Type(kind, argument)) => Fault::Type(kind, arguments[argument]),
            Err(HostError::Domain(domain, argument)) => Fault::Domain(domain, arguments[argument]),
        };
        Flow::Raise(fault.into(), Culprit { functor })
    }

    // ---- control constructs ----------------------------------------------------------------

    fn control(&mut self, control: Control, functor: Functor) -> Solved<Next> {
        match control {
            Control::Call => {
                let goal = self.x[0];
                self.prepare_call(goal, functor.arity() - 1)
            }
            Control::Body => self.body(),
            Control::Catch => {
                self.enter_catch();
                let goal = self.x[0];
                self.prepare_call(goal, 0)
            }
            Control::Throw => {
                let ball = self.core.store.deref(self.x[0]);
                if ball.is_variable() {
                    return Err(Fault::Instantiation.into());
                }
                match self.core.store.copy_out(ball, Attributes::Drop) {
                    Some(stored) => Err(Raised::Ball(Box::new(stored))),
                    None => Err(Raised::Exhausted(Resource::HeapBytes)),
                }
            }
            Control::CurrentChoice => {
                let height = Term::small(self.choices.len() as i64);
                Ok(if self.core.store.unify(self.x[0], height) { Next::Done } else { Next::Fail })
            }
            Control::Halt => match (functor.arity(), self.core.store.view(self.x[0])) {
                (0, _) => Err(Raised::Halted(0)),
                // A status that does not fit must not wrap around to another status.
                (_, View::Small(status)) => match i32::try_from(status) {
                    Ok(status) => Err(Raised::Halted(status)),
                    Err(_) => Err(Fault::Representation("int").into()),
                },
                (_, View::Variable(_)) => Err(Fault::Instantiation.into()),
                _ => Err(Fault::Type("integer", self.x[0]).into()),
            },
        }
    }

    /// Loads the registers for a call of `goal` with `extra` additional arguments, which are in the registers from `X1`
    /// on, and returns the predicate to call: `'$body'/2` if `goal` is a control construct without additional
    /// arguments.
    pub(super) fn prepare_call(&mut self, goal: Term, extra: usize) -> Solved<Next> {
        let goal = self.core.store.without_module(goal);
        let (name, arguments, arity) = self.callable(goal)?;
        if extra == 0 && is_control(name, arity) {
            self.x[0] = body_of(&mut self.core.store, goal).ok_or(Fault::Type("callable", goal))?;
            self.core.check_budget()?;
            self.x[1] = Term::small(self.choices.len() as i64);
            return Ok(self.body_predicate().map_or(Next::Done, Next::Predicate));
        }
        if arity + extra > MAX_CALL_ARITY {
            return Err(Fault::Representation("max_procedure_arity").into());
        }
        let mut added = [Term::NIL; 8];
        added[..extra].copy_from_slice(&self.x[1..=extra]);
        self.x[..arity].copy_from_slice(&self.core.store.cells[arguments..arguments + arity]);
        self.x[arity..arity + extra].copy_from_slice(&added[..extra]);
        let functor = Functor::new(name, arity + extra);
        Ok(self.core.find_predicate(functor).map_or(Next::Undefined(functor), Next::Predicate))
    }

    /// The name of a goal, the address of its first argument (0 for an atom), and its arity; an error if it is not
    /// callable.
    fn callable(&self, goal: Term) -> Solved<(Atom, usize, usize)> {
        match self.core.store.view(goal) {
            View::Atom(name) => Ok((name, 0, 0)),
            View::Compound(functor, arguments) => Ok((functor.name(), arguments, functor.arity())),
            View::List(address) => Ok((atoms::DOT, address, 2)),
            View::Variable(_) => Err(Fault::Instantiation.into()),
            _ => Err(Fault::Type("callable", goal).into()),
        }
    }

    pub(super) fn body_predicate(&self) -> Option<PredicateId> {
        self.core.program.control.body
    }

    /// `'$body'(Goal, Barrier)`: one step of interpreting a control construct.
    fn body(&mut self) -> Solved<Next> {
        let goal = self.core.store.deref(self.x[0]);
        let barrier = self.core.store.deref(self.x[1]);
        let (functor, arguments) = match self.core.store.view(goal) {
            View::Atom(atoms::CUT) => {
                if self.cut_to(barrier.small_value() as usize) {
                    let woken = std::mem::take(&mut self.core.store.woken);
                    self.x[0] = self.core.store.list(&woken, Term::NIL);
                    self.core.store.meter.resume();
                    let wake = self.core.program.find(Functor::new(atoms::WAKE, 1));
                    return Ok(wake.map_or(Next::Done, Next::Predicate));
                }
                return Ok(Next::Done);
            }
            View::Compound(functor, arguments) => (functor, arguments),
            _ => return self.prepare_call(goal, 0),
        };
        let cells = &self.core.store.cells;
        let first = self.core.store.deref(cells[arguments]);
        let control = &self.core.program.control;
        let (predicate, count) = match (functor.name(), functor.arity()) {
            (atoms::COMMA, 2) => (control.and, 2),
            (atoms::ARROW, 2) => (control.then, 2),
            (atoms::SOFT_ARROW, 2) => (control.soft_then, 2),
            (atoms::NOT, 1) => (control.not, 1),
            (atoms::SEMICOLON | atoms::BAR, 2) => {
                let second = cells[arguments + 1];
                let conditional = match self.core.store.view(first) {
                    View::Compound(inner, start) if inner == Functor::new(atoms::ARROW, 2) => {
                        Some((control.r#if, start))
                    }
                    View::Compound(inner, start) if inner == Functor::new(atoms::SOFT_ARROW, 2) => {
                        Some((control.soft_if, start))
                    }
                    _ => None,
                };
                if let Some((predicate, start)) = conditional {
                    (self.x[0], self.x[1]) = (cells[start], cells[start + 1]);
                    self.x[2] = second;
                    self.x[3] = barrier;
                    return Ok(predicate.map_or(Next::Done, Next::Predicate));
                }
                (control.or, 2)
            }
            _ => return self.prepare_call(goal, 0),
        };
        self.x[..count].copy_from_slice(&cells[arguments..arguments + count]);
        self.x[count] = barrier;
        Ok(predicate.map_or(Next::Done, Next::Predicate))
    }
}

/// The continuation of a control construct.
pub(super) enum Next {
    /// A call, with its arguments loaded.
    Predicate(PredicateId),
    Undefined(Functor),
    /// Success.
    Done,
    Fail,
}
