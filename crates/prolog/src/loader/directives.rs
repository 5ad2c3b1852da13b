//! Execution of directives.

use super::libraries::{about_missing, is_library};
use super::{Definitions, Loader, Place, SourceTree, Topic, indicator};
use crate::compiler::Neck;
use crate::machine::{Entry, Machine, Stopped};
use crate::meter::{Budget, Resource};
use crate::program::{Definition, Origin, Program};
use crate::store::{ListEnd, View};
use crate::stored::{Attributes, StoredTerm};
use crate::symbols::{Atom, atoms};
use crate::term::{Functor, Term};
use crate::tree::Tree;
use std::ops::Range;
use std::sync::Arc;

impl Loader {
    /// Declares facts that the host supplies with each query, like [`Loader::relation`]. A text may define the
    /// predicate; its clauses then replace the host's facts.
    pub fn default_relation(&mut self, name: &str, arity: usize) -> usize {
        let position = self.relation(name, arity);
        if let Some(predicate) = self.base.predicates.last_mut() {
            predicate.origin = Origin::Library;
        }
        position
    }

    /// Leaves directives of this name and arity to the host: they are not run, but returned in `Loaded::declarations`.
    pub fn declaration(&mut self, name: &str, arity: usize) -> &mut Loader {
        let functor = Functor::new(self.atoms.intern(name), arity);
        self.declared.push(functor);
        self
    }

    pub(super) fn directive(&mut self, source: usize, directive: Term, span: Range<usize>) {
        let (name, arguments, arity) = match self.store.view(directive) {
            View::Atom(name) => (name, 0, 0),
            View::Compound(functor, arguments) => (functor.name(), arguments, functor.arity()),
            View::List(_) => {
                self.load_named(source, directive, &span);
                return;
            }
            _ => {
                self.error(source, span, "a directive is a goal".to_owned(), None);
                return;
            }
        };
        if !self.declared.is_empty() && self.declared.contains(&Functor::new(name, arity)) {
            self.declare(source, directive, span);
            return;
        }
        let argument = |loader: &Loader, index| loader.store.argument(arguments, index);
        match (name, arity) {
            (atoms::COMMA, 2) => {
                let goals = self.conjuncts(directive);
                if goals.iter().any(|&goal| self.is_declaration(goal)) {
                    self.directives(source, &goals, &span);
                } else {
                    self.run_directive(source, directive, span);
                }
            }
            (atoms::DYNAMIC, 1) => {
                for functor in self.indicators(source, argument(self, 0), &span) {
                    self.declare_dynamic(source, functor, &span);
                }
            }
            (atoms::DISCONTIGUOUS, 1) => self.allow_apart(source, argument(self, 0), &span),
            (atoms::MODULE, 2) => drop(self.modules.insert(source)),
            (atoms::INITIALIZATION, 1 | 2) => {
                let goal = argument(self, 0);
                if let Some(stored) = self.store.copy_out(goal, Attributes::Drop) {
                    self.initialization.push((stored, source, span));
                }
            }
            (atoms::USE_MODULE | atoms::ENSURE_LOADED | atoms::CONSULT, _) if arity >= 1 => {
                self.load_named(source, argument(self, 0), &span);
            }
            (atoms::INCLUDE, 1) => self.include(source, argument(self, 0), &span),
            (atoms::NIL, 0) => {}
            _ => match self.atoms.name(name) {
                "multifile" if arity == 1 => self.allow_apart(source, argument(self, 0), &span),
                "style_check" | "license" | "set_stream" | "encoding" | "meta_predicate" | "module_transparent"
                | "public" | "noprofile" | "garbage_collect" => {}
                "table" => self.error(
                    source,
                    span,
                    "tabling is not supported".to_owned(),
                    Some("rewrite the predicate so that it terminates without tabling"),
                ),
                _ => self.run_directive(source, directive, span),
            },
        }
    }

    /// Keeps a directive for the host. A term that is too deep to traverse is dropped.
    fn declare(&mut self, source: usize, directive: Term, span: Range<usize>) {
        if let Some(tree) = Tree::of_term(&mut self.store, &self.atoms, directive) {
            let place = Place::new(&self.sources[source], span);
            self.declarations.push(SourceTree { tree, place });
        }
    }

    /// Runs directives one after the other. They are copied first, because loading or running one reuses the store.
    fn directives(&mut self, source: usize, goals: &[Term], span: &Range<usize>) {
        let stored: Vec<_> = goals.iter().filter_map(|&goal| self.store.copy_out(goal, Attributes::Drop)).collect();
        for goal in stored {
            self.store.reset();
            let goal = self.store.paste(&goal);
            self.directive(source, goal, span.clone());
        }
    }

    /// The goals of a conjunction, flattened.
    pub(super) fn conjuncts(&self, goal: Term) -> Vec<Term> {
        let mut found = Vec::new();
        let mut pending = vec![goal];
        while let Some(goal) = pending.pop() {
            match self.store.view(goal) {
                View::Compound(functor, arguments) if functor == Functor::new(atoms::COMMA, 2) => {
                    pending.push(self.store.argument(arguments, 1));
                    pending.push(self.store.argument(arguments, 0));
                }
                _ => found.push(goal),
            }
        }
        found
    }

    fn is_declaration(&self, term: Term) -> bool {
        let name = match self.store.view(term) {
            View::Compound(functor, _) if self.declared.contains(&functor) => return true,
            View::Compound(functor, _) => functor.name(),
            _ => return false,
        };
        matches!(
            name,
            atoms::DYNAMIC
                | atoms::DISCONTIGUOUS
                | atoms::USE_MODULE
                | atoms::ENSURE_LOADED
                | atoms::CONSULT
                | atoms::INITIALIZATION
        )
    }

    /// The predicates named by `a/1, b/2` or `[a/1, b/2]`. A module before an indicator is ignored, and `c//1` names
    /// `c/3`. Reports an error for each part that is not an indicator.
    fn indicators(&mut self, source: usize, term: Term, span: &Range<usize>) -> Vec<Functor> {
        let mut found = Vec::new();
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            let term = self.store.deref(term);
            if let View::List(_) = self.store.view(term) {
                let mut items = Vec::new();
                if self.store.list_items(term, &mut items) == ListEnd::Nil {
                    pending.extend(items.into_iter().rev());
                    continue;
                }
            }
            match self.indicator_parts(term) {
                Some((atoms::COMMA | atoms::COLON, Parts::Pair(first, second))) => {
                    pending.push(second);
                    if !matches!(self.store.view(first), View::Atom(_)) {
                        pending.push(first);
                    }
                }
                Some((atoms::SLASH, Parts::Functor(functor))) => found.push(functor),
                _ if term == Term::NIL => {}
                _ => {
                    let hint = Some("write `name/arity`, several separated by commas");
                    self.error(source, span.clone(), "expected a predicate indicator".to_owned(), hint);
                }
            }
        }
        found
    }

    fn indicator_parts(&self, term: Term) -> Option<(Atom, Parts)> {
        let View::Compound(functor, arguments) = self.store.view(term) else { return None };
        if functor.arity() != 2 {
            return None;
        }
        let (first, second) = (self.store.argument(arguments, 0), self.store.argument(arguments, 1));
        if functor.name() == atoms::SLASH || self.atoms.name(functor.name()) == "//" {
            let extra = if functor.name() == atoms::SLASH { 0 } else { 2 };
            return match (self.store.view(first), self.store.view(second)) {
                (View::Atom(name), View::Small(arity)) if (0..=100).contains(&arity) => {
                    Some((atoms::SLASH, Parts::Functor(Functor::new(name, arity as usize + extra))))
                }
                _ => None,
            };
        }
        Some((functor.name(), Parts::Pair(first, second)))
    }

    fn declare_dynamic(&mut self, source: usize, functor: Functor, span: &Range<usize>) {
        let known = self.base.find(functor).map(|id| &self.base.predicates[id as usize]);
        // Other systems need the declaration to accept calls of the relation. Here it has no effect, because the host
        // supplies the facts.
        let is_relation = known.is_some_and(|known| matches!(known.definition, Definition::Relation(_)));
        if is_relation || known.is_some_and(|known| known.origin == Origin::System) {
            if !is_relation {
                let message = format!("{} is part of the language", indicator(&self.atoms, functor));
                self.error(source, span.clone(), message, Some("choose another name"));
            }
            return;
        }
        if !self.dynamic.contains_key(&functor) {
            self.linked = None;
            self.dynamic.insert(functor, Arc::default());
            self.dynamic_order.push(functor);
            self.places.remove(&functor);
            let earlier = self.definitions.get_mut(&functor).map(|found| std::mem::take(&mut found.clauses));
            for clause in earlier.into_iter().flatten() {
                self.store.reset();
                let term = self.store.paste(&clause.term);
                let (head, body) = (self.store.argument(term.address(), 1), self.store.argument(term.address(), 2));
                let neck = Neck::of(&self.store, term);
                self.add_clause(clause.source, head, neck, body, clause.span);
            }
        }
    }

    fn allow_apart(&mut self, source: usize, term: Term, span: &Range<usize>) {
        for functor in self.indicators(source, term, span) {
            let order = &mut self.order;
            let definitions = self.definitions.entry(functor).or_insert_with(|| {
                order.push(functor);
                Definitions { source, ..Definitions::default() }
            });
            definitions.discontiguous = true;
        }
    }

    /// Loads the files that a directive names: a list, or the first argument of `use_module/1,2`, `ensure_loaded/1` or
    /// `consult/1`. Files that are loaded already are skipped. For a library, only checks that it exists.
    fn load_named(&mut self, source: usize, term: Term, span: &Range<usize>) {
        let mut items = Vec::new();
        if matches!(self.store.view(term), View::List(_)) {
            self.store.list_items(term, &mut items);
        } else {
            items.push(self.store.deref(term));
        }
        let mut files = Vec::new();
        for item in items {
            match self.store.view(item) {
                View::Compound(functor, arguments) if functor == Functor::new(atoms::LIBRARY, 1) => {
                    let name = self.path_text(self.store.argument(arguments, 0)).unwrap_or_default();
                    if !is_library(&name) {
                        let message = format!("there is no library `{name}`");
                        self.error(source, span.clone(), message, Some(&about_missing(&name)));
                    }
                }
                View::Atom(name) => files.push(self.atoms.name(name).to_owned()),
                View::Text => files.push(self.store.text(item)),
                _ => self.error(source, span.clone(), "expected the name of a file".to_owned(), None),
            }
        }
        for wanted in files {
            if let Some((name, text)) = self.resolve(source, &wanted, span)
                && self.loaded_names.insert(name.clone())
            {
                self.read_included(source, span, &name, &text);
            }
        }
    }

    /// The term `a/b/c` as a path; `None` if it has another form. It may have any number of segments, so it is not
    /// processed recursively.
    fn path_text(&self, term: Term) -> Option<String> {
        let mut steps = Vec::new();
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            match self.store.view(term) {
                View::Atom(name) => steps.push(self.atoms.name(name)),
                View::Compound(functor, arguments) if functor == Functor::new(atoms::SLASH, 2) => {
                    pending.push(self.store.argument(arguments, 1));
                    pending.push(self.store.argument(arguments, 0));
                }
                _ => return None,
            }
        }
        Some(steps.join("/"))
    }

    fn include(&mut self, source: usize, term: Term, span: &Range<usize>) {
        let wanted = match self.store.view(term) {
            View::Atom(name) => self.atoms.name(name).to_owned(),
            _ => {
                self.error(source, span.clone(), "expected the name of a file".to_owned(), None);
                return;
            }
        };
        if let Some((name, text)) = self.resolve(source, &wanted, span) {
            if !self.loaded_names.insert(name.clone()) {
                self.error(source, span.clone(), format!("`{wanted}` includes itself"), None);
                return;
            }
            self.read_included(source, span, &name, &text);
            self.loaded_names.remove(&name);
        }
    }

    fn resolve(&mut self, source: usize, wanted: &str, span: &Range<usize>) -> Option<(String, String)> {
        if self.is_over() || !self.may_include(source, span) {
            return None;
        }
        let from = self.sources[source].name.clone();
        let found = match &mut self.resolver {
            Some(resolver) => resolver.resolve(&from, wanted),
            None => Err("this host gives no access to files".to_owned()),
        };
        match found {
            Ok(found) => Some(found),
            Err(reason) => {
                self.error(source, span.clone(), format!("cannot load `{wanted}`: {reason}"), None);
                None
            }
        }
    }

    /// Runs a goal at load time. Its changes to dynamic predicates, flags and operators become part of the program.
    fn run_directive(&mut self, source: usize, goal: Term, span: Range<usize>) {
        let needs_program = match self.store.view(goal) {
            View::Compound(functor, _) => !matches!(functor.name(), atoms::OP | atoms::SET_PROLOG_FLAG),
            _ => true,
        };
        let Some(stored) = self.store.copy_out(goal, Attributes::Drop) else { return };
        let clauses = if needs_program { self.clauses_to_link() } else { 0 };
        if !self.may_link(source, &span, clauses) {
            return;
        }
        let program = if needs_program { self.link() } else { self.settings_program() };
        self.run_stored(&program, &stored, source, span);
    }

    /// The library with the current flags and operators, which suffices to run `op/3` and `set_prolog_flag/2`.
    fn settings_program(&self) -> Arc<Program> {
        let mut program = Program::clone(self.engine.library());
        program.flags = self.base.flags;
        program.operators = self.base.operators.clone();
        Arc::new(program)
    }

    pub(super) fn run_initialization(&mut self) {
        for (goal, source, span) in std::mem::take(&mut self.initialization) {
            let clauses = self.clauses_to_link();
            if self.is_over() || !self.may_link(source, &span, clauses) {
                return;
            }
            let program = self.link();
            self.run_stored(&program, &goal, source, span);
        }
    }

    fn run_stored(&mut self, program: &Arc<Program>, goal: &StoredTerm, source: usize, span: Range<usize>) {
        // Linking may have exceeded the limit on errors.
        if self.is_over() {
            return;
        }
        let mut machine = self.machine.take().unwrap_or_else(|| Machine::for_loading(&self.engine));
        machine.set_sink(self.sink.take());
        machine.set_interrupt(self.interrupt.clone());
        machine.set_allowance(self.allowance.clone());
        let stopped = run_once(&mut machine, program, goal, &self.spent.left_of(&self.budget));
        self.spent.add_directive(machine.core.store.meter.inferences, machine.core.output.written());
        let mut warn = |message, hint| self.warn(Topic::Directive, source, span.clone(), message, hint);
        match &stopped {
            Stopped::Answer => {}
            Stopped::NoMore => warn("the directive failed".to_owned(), None),
            Stopped::Uncaught(ball) => {
                let explanation = machine.core.explain(ball);
                warn(format!("the directive did not end well: {}", explanation.message), explanation.hint);
            }
            Stopped::Exhausted(resource @ (Resource::Inferences | Resource::OutputBytes | Resource::Time)) => {
                self.stop_exhausted(*resource, source, span);
            }
            Stopped::Exhausted(resource) => warn(format!("the directive ran out of {resource}"), None),
            Stopped::Halted(status) => self.halted = Some(*status),
        }
        self.keep_changes(&machine, program);
        if self.base.flags != machine.core.flags || self.base.operators != machine.core.operators {
            self.base.flags = machine.core.flags;
            self.base.operators = machine.core.operators.clone();
            self.linked = None;
        }
        self.sink = machine.take_sink();
        self.machine = Some(machine);
    }

    /// Adopts a directive's changes to dynamic predicates.
    fn keep_changes(&mut self, machine: &Machine, program: &Program) {
        for (id, created, predicate) in machine.core.database.changes() {
            let functor = created.unwrap_or_else(|| program.predicates[id as usize].functor);
            if !self.dynamic.contains_key(&functor) {
                self.dynamic_order.push(functor);
            }
            self.dynamic.insert(functor, Arc::new(predicate));
            self.places.remove(&functor);
            self.linked = None;
        }
    }

    /// Translates a grammar rule into a clause. `Err` is an error message.
    pub(super) fn translate(&mut self, rule: &StoredTerm) -> Result<StoredTerm, String> {
        let mut machine = self.machine.take().unwrap_or_else(|| Machine::for_loading(&self.engine));
        let library = Arc::clone(self.engine.library());
        machine.reset(&library, &self.spent.left_of_translation());
        let rule = machine.core.store.paste(rule);
        let clause = machine.core.store.variable();
        let name = machine.core.atoms.intern("dcg_translate_rule");
        let goal = machine.core.store.structure(name, &[rule, clause]);
        machine.arguments.push(clause);
        machine.start(goal);
        let result = match machine.run(&(), Entry::Goal) {
            Stopped::Answer => {
                let clause = machine.arguments[0];
                machine.core.store.copy_out(clause, Attributes::Drop).ok_or_else(|| "the rule is too large".to_owned())
            }
            Stopped::Uncaught(ball) => Err(format!("not a grammar rule: {}", machine.stored_text(&ball))),
            Stopped::Exhausted(_) => Err("the grammar rules are too large to be translated".to_owned()),
            _ => Err("not a grammar rule".to_owned()),
        };
        self.spent.add_translation(machine.core.store.meter.inferences);
        self.machine = Some(machine);
        result
    }
}

/// A part of a list of indicators: two smaller parts, or one predicate.
enum Parts {
    Pair(Term, Term),
    Functor(Functor),
}

fn run_once(machine: &mut Machine, program: &Arc<Program>, goal: &StoredTerm, budget: &Budget) -> Stopped {
    machine.reset(program, budget);
    let goal = machine.core.store.paste(goal);
    machine.start(goal);
    machine.run(&(), Entry::Goal)
}
