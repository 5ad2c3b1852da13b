//! A session at a prompt, in which queries can change the program.

use crate::core::Core;
use crate::database::DynamicPredicate;
use crate::engine::Engine;
use crate::host::Relations;
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::meter::Budget;
use crate::output::Sink;
use crate::program::{Definition, Origin, Program};
use crate::query::Query;
use crate::reader::{self, Syntax, SyntaxError, read_goal};
use crate::store::{ListEnd, View};
use crate::symbols::{Atom, atoms};
use crate::term::{Functor, Term};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A machine whose queries build on each other.
///
/// The changes that a query makes to dynamic predicates, operators and flags are kept for later queries. A plain
/// [`Machine`] discards them, because a policy must answer the same way each time.
pub struct Session {
    machine: Machine,
    program: Arc<Program>,
    /// Dynamic predicates created by queries, with their current clauses.
    own: FxHashMap<Functor, Arc<DynamicPredicate>>,
}

/// The kinds of input at a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Nothing: the text is empty, or a comment.
    Nothing,
    /// A goal to solve: see [`Session::query`].
    Answers,
    /// The atom `help`, unless the program defines `help/0`.
    Help,
    /// Load these files and reload those loaded before: `[a, b]`, `consult(a)`, `ensure_loaded(a)`, `use_module(a)`,
    /// `use_module(a, _)`, or `make`, which names no files. Libraries are not included, because they are always loaded.
    Load(Vec<String>),
}

impl Session {
    /// A session that starts with `program`.
    pub fn new(engine: &Engine, program: Arc<Program>) -> Session {
        Session { machine: Machine::for_loading(engine), program, own: FxHashMap::default() }
    }

    /// The program with the changes of all queries so far.
    pub fn program(&mut self) -> &Arc<Program> {
        self.keep_changes();
        &self.program
    }

    /// Switches to another program. Predicates that queries created are kept, unless the program defines them. Other
    /// changes of queries, such as those of flags, operators and predicates of the previous program, are dropped.
    pub fn replace_program(&mut self, program: &Program) {
        self.keep_changes();
        self.own.retain(|&functor, _| !program.is_defined(functor));
        let mut program = program.clone();
        for (&functor, predicate) in &self.own {
            let id = program.add_predicate(functor, Definition::Dynamic, Origin::User);
            program.dynamic.insert(id, Arc::clone(predicate));
        }
        self.set_program(program);
    }

    /// Classifies the input `text`.
    pub fn request(&mut self, text: &str) -> Result<Request, SyntaxError> {
        self.keep_changes();
        self.machine.reset(&self.program, &Budget::default());
        let Core { store, atoms, operators, flags, .. } = &mut self.machine.core;
        let Some(read) = read_goal(text, store, &mut Syntax { atoms, operators, flags })? else {
            return Ok(Request::Nothing);
        };
        if let View::Atom(name) = store.view(read.term)
            && atoms.name(name) == "help"
            && !self.program.is_defined(Functor::new(name, 0))
        {
            return Ok(Request::Help);
        }
        Ok(self.files_to_load(read.term).map_or(Request::Answers, Request::Load))
    }

    /// The byte position after the first goal of `text` and its full stop; `None` if the full stop is missing. A line
    /// with an unclosed quote ends the goal if it ends in `.`.
    pub fn goal_end(&mut self, text: &str) -> Option<usize> {
        reader::clause_end(text, &mut self.machine.core.atoms)
    }

    /// Starts a query of a goal given as text.
    pub fn query<'s>(
        &'s mut self,
        goal: &str,
        relations: &'s dyn Relations,
        budget: &Budget,
    ) -> Result<Query<'s>, SyntaxError> {
        self.keep_changes();
        self.machine.query(&self.program, goal, relations, budget)
    }

    /// Sets the sink for the output of the following queries; `None` drops the output.
    pub fn set_sink(&mut self, sink: Option<Box<dyn Sink>>) {
        self.machine.set_sink(sink);
    }

    /// Lets the host stop the following queries through `interrupt`; `None` removes it.
    pub fn set_interrupt(&mut self, interrupt: Option<Interrupt>) {
        self.machine.set_interrupt(interrupt);
    }

    /// Makes the changes of the previous query part of the program.
    fn keep_changes(&mut self) {
        let core = &self.machine.core;
        if !Arc::ptr_eq(&core.program, &self.program) {
            return;
        }
        let changes = core.database.changes();
        if changes.is_empty() && core.flags == self.program.flags && core.operators == self.program.operators {
            return;
        }
        let mut program = Program::clone(&self.program);
        program.flags = core.flags;
        program.operators = core.operators.clone();
        for (id, created, predicate) in changes {
            let predicate = Arc::new(predicate);
            let functor = created.unwrap_or_else(|| program.predicates[id as usize].functor);
            let is_new = created.is_some() || !program.is_defined(functor);
            let id = if is_new { program.add_predicate(functor, Definition::Dynamic, Origin::User) } else { id };
            if is_new || self.own.contains_key(&functor) {
                self.own.insert(functor, Arc::clone(&predicate));
            }
            program.dynamic.insert(id, predicate);
        }
        self.set_program(program);
    }

    fn set_program(&mut self, mut program: Program) {
        program.take_shortcuts();
        self.program = Arc::new(program);
    }

    /// The files, without libraries, named by a goal such as `[a, 'b.pl']` or `consult(a)`; empty for `make`, and
    /// `None` for any other goal.
    fn files_to_load(&mut self, goal: Term) -> Option<Vec<String>> {
        let core = &mut self.machine.core;
        let named = match core.store.view(goal) {
            View::Atom(name) if core.atoms.name(name) == "make" => return Some(Vec::new()),
            View::List(_) => goal,
            View::Compound(functor, arguments) if loads_files(functor) => core.store.argument(arguments, 0),
            _ => return None,
        };
        let mut items = Vec::new();
        if !matches!(core.store.view(named), View::List(_)) {
            items.push(named);
        } else if core.store.list_items(named, &mut items) != ListEnd::Nil {
            return None;
        }
        let mut files = Vec::new();
        for item in items {
            match core.store.view(item) {
                View::Atom(name) => files.push(core.atoms.name(name).to_owned()),
                View::Text => files.push(core.store.text(item)),
                View::Compound(functor, _) if functor == Functor::new(atoms::LIBRARY, 1) => {}
                _ => return None,
            }
        }
        Some(files)
    }
}

fn loads_files(functor: Functor) -> bool {
    let is = |name: Atom, arity| functor == Functor::new(name, arity);
    is(atoms::CONSULT, 1) || is(atoms::ENSURE_LOADED, 1) || is(atoms::USE_MODULE, 1) || is(atoms::USE_MODULE, 2)
}

#[cfg(test)]
mod tests;
