//! Queries of a program: goals in, answers out.

use crate::answer::{DESCRIPTION_BYTES, cut};
use crate::core::Core;
use crate::host::{Relations, Value};
use crate::machine::{Entry, Machine, Stopped};
use crate::meter::{Budget, Resource};
use crate::program::Program;
use crate::reader::{Syntax, SyntaxError, read_goal};
use crate::store::View;
use crate::stored::StoredTerm;
use crate::symbols::{Atom, Atoms};
use crate::term::Term;
use crate::writer::WriteOptions;
use std::sync::Arc;

/// The result of asking for the next answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// An answer; its bindings can be read until the next one is requested.
    Answer,
    /// There is no (further) answer.
    NoMore,
    /// An exception that the program did not catch.
    Exception(Exception),
    /// This resource ran out.
    Exhausted(Resource),
    /// The program called `halt/0,1` with this status.
    Halted(i32),
}

/// An uncaught exception.
#[derive(Clone, PartialEq, Debug)]
pub struct Exception {
    /// The exception term (ball) as text, as `writeq/1` writes it.
    pub text: String,
    pub(crate) ball: StoredTerm,
}

/// An argument of a goal that a host calls by name with [`Machine::ask`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Argument<'a> {
    /// A value.
    Value(Value<'a>),
    /// A fresh variable, whose value can be read from the answer.
    Unknown,
}

/// A running query. Dropping it leaves the machine ready for the next one.
pub struct Query<'m> {
    machine: &'m mut Machine,
    relations: &'m dyn Relations,
    variables: Vec<(Box<str>, Term)>,
    state: State,
    answers: u64,
}

/// The parts from which an answer is built: the machine, the host's facts, and the named variables.
pub(crate) struct Parts<'q> {
    pub(crate) machine: &'q mut Machine,
    pub(crate) relations: &'q dyn Relations,
    pub(crate) variables: &'q [(Box<str>, Term)],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    New,
    Open,
    Ended,
}

impl Machine {
    /// Starts a query of a goal given as text.
    pub fn query<'m>(
        &'m mut self,
        program: &Arc<Program>,
        goal: &str,
        relations: &'m dyn Relations,
        budget: &Budget,
    ) -> Result<Query<'m>, SyntaxError> {
        self.reset(program, budget);
        let Core { store, atoms, operators, flags, .. } = &mut self.core;
        let read = read_goal(goal, store, &mut Syntax { atoms, operators, flags })?;
        let (term, variables) = match read {
            Some(read) => (read.term, read.variables),
            None => (Term::atom(crate::symbols::atoms::TRUE), Vec::new()),
        };
        self.arguments.extend(variables.iter().map(|(_, term)| *term));
        self.start(term);
        Ok(Query { machine: self, relations, variables, state: State::New, answers: 0 })
    }

    /// Starts a query of `name(arguments…)`.
    pub fn ask<'m>(
        &'m mut self,
        program: &Arc<Program>,
        name: Atom,
        arguments: &[Argument<'_>],
        relations: &'m dyn Relations,
        budget: &Budget,
    ) -> Query<'m> {
        self.reset(program, budget);
        let store = &mut self.core.store;
        self.arguments.clear();
        for argument in arguments {
            let term = match *argument {
                Argument::Unknown => store.variable(),
                Argument::Value(value) => store.host_value(value),
            };
            self.arguments.push(term);
        }
        let goal = store.structure(name, &self.arguments);
        self.start(goal);
        Query { machine: self, relations, variables: Vec::new(), state: State::New, answers: 0 }
    }

    /// The text of a stored term, as `writeq/1` writes it, cut with `...` if it is long.
    pub(crate) fn stored_text(&mut self, stored: &StoredTerm) -> String {
        let term = self.core.store.paste(stored);
        self.core.described(term)
    }
}

impl Query<'_> {
    /// The parts from which an answer is built.
    pub(crate) fn parts(&mut self) -> Parts<'_> {
        Parts { machine: self.machine, relations: self.relations, variables: &self.variables }
    }

    /// Runs until the next answer or the end of the query. After the end, returns [`Outcome::NoMore`].
    pub fn next_answer(&mut self) -> Outcome {
        let entry = match self.state {
            State::New => Entry::Goal,
            State::Open => Entry::Retry,
            State::Ended => return Outcome::NoMore,
        };
        if self.answers >= self.machine.core.store.meter.answer_limit {
            self.state = State::Ended;
            return Outcome::Exhausted(Resource::Answers);
        }
        let stopped = self.machine.run(self.relations, entry);
        // A garbage collection may have moved the variables.
        for ((_, term), moved) in self.variables.iter_mut().zip(&self.machine.arguments) {
            *term = *moved;
        }
        self.state = if stopped == Stopped::Answer { State::Open } else { State::Ended };
        match stopped {
            Stopped::Answer => {
                self.answers += 1;
                Outcome::Answer
            }
            Stopped::NoMore => Outcome::NoMore,
            Stopped::Uncaught(ball) => {
                let text = self.machine.stored_text(&ball);
                Outcome::Exception(Exception { text, ball: *ball })
            }
            Stopped::Exhausted(resource) => Outcome::Exhausted(resource),
            Stopped::Halted(status) => Outcome::Halted(status),
        }
    }

    /// Whether another answer may follow the current one.
    pub fn may_have_more(&self) -> bool {
        self.state == State::Open && self.machine.has_alternatives()
    }

    /// Inferences so far.
    pub fn inferences(&self) -> u64 {
        self.machine.core.store.meter.inferences
    }

    /// The value of an argument of [`Machine::ask`] if it is an atom, a float or an integer that fits in 64 bits,
    /// otherwise `None`.
    pub fn argument(&self, index: usize) -> Option<Value<'static>> {
        let term = self.machine.arguments[index];
        match self.machine.core.store.view(term) {
            View::Atom(atom) => Some(Value::Atom(atom)),
            View::Small(value) => Some(Value::Integer(value)),
            View::Float(value) => Some(Value::Float(value)),
            View::Big => i64::try_from(self.machine.core.store.big(term)).ok().map(Value::Integer),
            _ => None,
        }
    }

    /// Whether an argument of [`Machine::ask`] is still an unbound variable.
    pub fn is_unbound(&self, index: usize) -> bool {
        matches!(self.machine.core.store.view(self.machine.arguments[index]), View::Variable(_))
    }

    /// Whether an atom was created by this query and is not valid after it. Always false in a session, which keeps the
    /// atoms of its queries.
    pub fn is_made_up(&self, atom: Atom) -> bool {
        Atoms::is_local(atom)
    }

    /// An argument of [`Machine::ask`] as text, as `writeq/1` writes it. If that is longer than 1,000 bytes, `...`
    /// follows the first part.
    pub fn argument_text(&mut self, index: usize) -> String {
        let term = self.machine.arguments[index];
        self.machine.core.described(term)
    }

    /// An argument of [`Machine::ask`] for a message: a name without quotes, and any other term like
    /// [`Query::argument_text`]. A long name that the query created is cut in the same way.
    pub fn argument_words(&mut self, index: usize) -> String {
        let Some(Value::Atom(atom)) = self.argument(index) else { return self.argument_text(index) };
        let mut name = self.atom_name(atom).to_owned();
        if self.is_made_up(atom) && name.len() > DESCRIPTION_BYTES {
            cut(&mut name, DESCRIPTION_BYTES);
            name.push_str("...");
        }
        name
    }

    /// The name of an atom of this query.
    pub fn atom_name(&self, atom: Atom) -> &str {
        self.machine.core.atoms.name(atom)
    }

    /// The names of the variables of the goal, in order of appearance.
    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|(name, _)| &**name)
    }

    /// The list of the values of the variables with these names, in a form that does not depend on operators or on the
    /// names of variables; `None` if the budget is exhausted. Names that the goal does not contain are skipped. Tests
    /// use it to compare engines.
    #[doc(hidden)]
    pub fn comparable_answer(&mut self, names: &[String]) -> Option<String> {
        let values: Vec<Term> = names
            .iter()
            .filter_map(|name| self.variables.iter().find(|(known, _)| **known == **name))
            .map(|(_, value)| *value)
            .collect();
        let core = &mut self.machine.core;
        let list = core.store.list(&values, Term::NIL);
        core.comparable_text(list)
    }

    /// The ball of an exception, in the form of [`Query::comparable_answer`].
    #[doc(hidden)]
    pub fn comparable_ball(&mut self, exception: &Exception) -> Option<String> {
        let core = &mut self.machine.core;
        let ball = core.store.paste(&exception.ball);
        core.comparable_text(ball)
    }

    /// The named variables of the goal, in order of appearance, and their values as `writeq/1` writes them.
    pub fn bindings(&mut self) -> Vec<(String, String)> {
        let variables = self.variables.clone();
        variables.into_iter().map(|(name, term)| (name.into(), self.machine.core.quoted_text(term))).collect()
    }
}

impl Core {
    /// A term in the form in which engines are compared: quoted, in functional notation, with variables numbered `_0`,
    /// `_1` and so on from the left. `None` if the budget is exhausted.
    fn comparable_text(&mut self, term: Term) -> Option<String> {
        let mut variables = Vec::new();
        self.store.term_variables(term, &mut variables).ok()?;
        let name = |(number, variable)| (variable, format!("_{number}").into());
        let variable_names = variables.into_iter().enumerate().map(name).collect();
        let options = WriteOptions { quoted: true, ignore_ops: true, variable_names, ..WriteOptions::plain() };
        self.text_of(term, &options).ok()
    }
}
