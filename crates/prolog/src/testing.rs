//! Runs builtins in tests. Goals and answers are text in functional notation, without operators: `+(1,[a,"b"|T])`.

use crate::builtins::{Builtin, Code, FIRST, Step};
use crate::core::Core;
use crate::engine::bare_program;
use crate::fault::{Fault, Raised, Solved};
use crate::meter::Budget;
use crate::store::View;
use crate::symbols::{Scope, Symbols, atoms};
use crate::term::Term;
use std::fmt::Write;
use std::sync::Arc;

/// A core with a table of named variables.
pub(crate) struct Fixture {
    pub(crate) core: Core,
    variables: Vec<(String, Term)>,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        Fixture::with_budget(&Budget::default())
    }

    pub(crate) fn with_budget(budget: &Budget) -> Fixture {
        let mut core = Core::new(Arc::new(bare_program(&Symbols::new())), Scope::Local);
        core.store.meter.start(budget);
        Fixture { core, variables: Vec::new() }
    }

    /// Parses `text`. Within one fixture, equal variable names except `_` denote the same variable.
    pub(crate) fn term(&mut self, text: &str) -> Term {
        let mut input = Input { text, fixture: self };
        let term = input.term();
        assert!(input.text.is_empty(), "left over: {}", input.text);
        term
    }

    fn variable(&mut self, name: &str) -> Term {
        if let Some((_, variable)) = self.variables.iter().find(|(known, _)| known == name) {
            return *variable;
        }
        let variable = self.core.store.variable();
        if name != "_" {
            self.variables.push((name.to_owned(), variable));
        }
        variable
    }

    /// The term as text; a variable is shown by its name, or as `_`.
    pub(crate) fn show(&self, term: Term) -> String {
        let mut text = String::new();
        self.show_into(term, &mut text);
        text
    }

    fn show_into(&self, term: Term, out: &mut String) {
        let term = self.core.store.deref(term);
        match self.core.store.view(term) {
            View::Variable(_) => {
                let named = self.variables.iter().find(|(_, variable)| self.core.store.deref(*variable) == term);
                out.push_str(named.map_or("_", |(name, _)| name));
            }
            View::Atom(atom) => out.push_str(self.core.atoms.name(atom)),
            View::Small(value) => write!(out, "{value}").unwrap(),
            View::Big => write!(out, "{}", self.core.store.big(term)).unwrap(),
            View::Float(value) => write!(out, "{value:?}").unwrap(),
            View::Text => write!(out, "{:?}", self.core.store.text(term)).unwrap(),
            View::List(address) => {
                out.push('[');
                self.show_into(self.core.store.argument(address, 0), out);
                let mut tail = self.core.store.argument(address, 1);
                while let View::List(next) = self.core.store.view(tail) {
                    out.push(',');
                    self.show_into(self.core.store.argument(next, 0), out);
                    tail = self.core.store.argument(next, 1);
                }
                if tail != Term::NIL {
                    out.push('|');
                    self.show_into(tail, out);
                }
                out.push(']');
            }
            View::Compound(functor, arguments) => {
                out.push_str(self.core.atoms.name(functor.name()));
                for index in 0..functor.arity() {
                    out.push(if index == 0 { '(' } else { ',' });
                    self.show_into(self.core.store.argument(arguments, index), out);
                }
                out.push_str(if functor.arity() == 0 { "()" } else { ")" });
            }
        }
    }

    pub(crate) fn show_error(&self, raised: &Raised) -> String {
        match raised {
            Raised::Fault(fault) => self.show_fault(fault),
            Raised::FaultIn(fault, name, arity) => {
                format!("{} in {}/{arity}", self.show_fault(fault), self.core.atoms.name(*name))
            }
            Raised::Exhausted(resource) => format!("exhausted {resource}"),
            other => format!("{other:?}"),
        }
    }

    fn show_fault(&self, fault: &Fault) -> String {
        match fault {
            Fault::Instantiation => "instantiation_error".to_owned(),
            Fault::Uninstantiation(term) => format!("uninstantiation_error({})", self.show(*term)),
            Fault::Type(kind, term) => format!("type_error({kind},{})", self.show(*term)),
            Fault::Domain(domain, term) => format!("domain_error({domain},{})", self.show(*term)),
            Fault::Evaluation(what) => format!("evaluation_error({what})"),
            Fault::Representation(what) => format!("representation_error({what})"),
            Fault::Resource(what) => format!("resource_error({what})"),
            Fault::Evaluable(name, arity) => {
                format!("type_error(evaluable,/({},{arity}))", self.core.atoms.name(*name))
            }
            other => format!("{other:?}"),
        }
    }

    /// The first answers of a goal, at most four, each as the text of the instantiated goal, separated by `; `; or the
    /// error. `false` means that the builtin failed: at the first call, or when it was asked for one more answer.
    pub(crate) fn solve(&mut self, table: &[Builtin], goal: &str) -> String {
        let goal = self.term(goal);
        let (name, arguments) = match self.core.store.view(goal) {
            View::Compound(functor, start) => {
                (functor.name(), (0..functor.arity()).map(|index| self.core.store.argument(start, index)).collect())
            }
            View::Atom(atom) => (atom, Vec::new()),
            other => panic!("not a goal: {other:?}"),
        };
        let name = self.core.atoms.name(name).to_owned();
        let code = table
            .iter()
            .find(|builtin| builtin.name == name && builtin.arity == arguments.len())
            .unwrap_or_else(|| panic!("no builtin {name}/{}", arguments.len()))
            .code;
        let answers = self.answers(code, goal, &arguments);
        match answers {
            Ok(answers) if answers.is_empty() => "false".to_owned(),
            Ok(answers) => answers.join("; "),
            Err(raised) => self.show_error(&raised),
        }
    }

    fn answers(&mut self, code: Code, goal: Term, arguments: &[Term]) -> Solved<Vec<String>> {
        let mut answers = Vec::new();
        let core = &mut self.core;
        let succeeded = match (code, arguments) {
            (Code::D0(run), []) => run(core)?,
            (Code::D1(run), &[a]) => run(core, a)?,
            (Code::D2(run), &[a, b]) => run(core, a, b)?,
            (Code::D3(run), &[a, b, c]) => run(core, a, b, c)?,
            (Code::D4(run), &[a, b, c, d]) => run(core, a, b, c, d)?,
            (Code::N(run), arguments) => return self.all_answers(run, goal, arguments),
            _ => panic!("wrong number of arguments"),
        };
        if succeeded {
            answers.push(self.show(goal));
        }
        Ok(answers)
    }

    fn all_answers(
        &mut self,
        run: fn(&mut Core, &[Term], crate::builtins::State) -> Solved<Step>,
        goal: Term,
        arguments: &[Term],
    ) -> Solved<Vec<String>> {
        let mut answers = Vec::new();
        let mut state = FIRST;
        let boundary = std::mem::replace(&mut self.core.store.boundary, usize::MAX);
        let trail = self.core.store.trail_length();
        // Enough answers to recognise an infinite enumeration.
        while answers.len() < 4 {
            let step = run(&mut self.core, arguments, state)?;
            if step != Step::Fail {
                answers.push(self.show(goal));
            }
            match step {
                Step::More(next) => state = next,
                Step::Last | Step::MoreOf(_) => break,
                Step::Fail => {
                    answers.push("false".to_owned());
                    break;
                }
            }
            self.core.store.undo_to(trail);
        }
        self.core.store.boundary = boundary;
        Ok(answers)
    }
}

/// Runs each goal in a new fixture and compares the result.
pub(crate) fn check_goals(table: &[Builtin], cases: &[(&str, &str)]) {
    for (goal, expected) in cases {
        let found = Fixture::new().solve(table, goal);
        assert_eq!(&found, expected, "goal {goal}");
    }
}

struct Input<'a> {
    text: &'a str,
    fixture: &'a mut Fixture,
}

impl Input<'_> {
    fn take(&mut self, prefix: char) -> bool {
        let rest = self.text.strip_prefix(prefix);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let end = self.text.find(|character| !accept(character)).unwrap_or(self.text.len());
        let (taken, rest) = self.text.split_at(end);
        self.text = rest;
        taken.to_owned()
    }

    fn term(&mut self) -> Term {
        let first = self.text.chars().next().expect("a term");
        let digit_follows = self.text[first.len_utf8()..].starts_with(|next: char| next.is_ascii_digit());
        if first.is_ascii_digit() || (first == '-' && digit_follows) {
            return self.number();
        }
        if first.is_uppercase() || first == '_' {
            let name = self.take_while(|character| character.is_alphanumeric() || character == '_');
            return self.fixture.variable(&name);
        }
        if self.take('"') {
            let text = self.take_while(|character| character != '"');
            self.take('"');
            return self.fixture.core.store.string(&text);
        }
        if self.text.starts_with('[') && !self.text.starts_with("[]") {
            return self.list();
        }
        let name = self.name();
        let name = self.fixture.core.atoms.intern(&name);
        if !self.take('(') {
            return Term::atom(name);
        }
        let mut arguments = Vec::new();
        while !self.take(')') {
            arguments.push(self.term());
            self.take(',');
        }
        if name == atoms::DOT || !arguments.is_empty() {
            self.fixture.core.store.structure(name, &arguments)
        } else {
            self.fixture.core.store.structure_of_variables(crate::term::Functor::new(name, 0))
        }
    }

    fn name(&mut self) -> String {
        if self.take('\'') {
            let name = self.take_while(|character| character != '\'');
            self.take('\'');
            return name;
        }
        for special in ["[]", "{}", "!", ",", ";", "|"] {
            if let Some(rest) = self.text.strip_prefix(special) {
                self.text = rest;
                return special.to_owned();
            }
        }
        let symbolic = |character: char| "+-*/\\^<>=~:.?@#&".contains(character);
        if self.text.starts_with(symbolic) {
            return self.take_while(symbolic);
        }
        let name = self.take_while(|character| character.is_alphanumeric() || character == '_' || character == '$');
        assert!(!name.is_empty(), "no term at {}", self.text);
        name
    }

    fn number(&mut self) -> Term {
        let sign = if self.take('-') { "-" } else { "" };
        let digits = self.take_while(|character| character.is_ascii_alphanumeric() || character == '.');
        let mut text = format!("{sign}{digits}");
        if text.ends_with('e') {
            text.push(if self.take('-') { '-' } else { '+' });
            text.push_str(&self.take_while(|character| character.is_ascii_digit()));
        }
        let store = &mut self.fixture.core.store;
        match text.parse() {
            Ok(integer) => store.big_integer(&integer),
            Err(_) => store.float(text.parse().expect("a number")),
        }
    }

    fn list(&mut self) -> Term {
        self.take('[');
        let mut items = vec![self.term()];
        while self.take(',') {
            items.push(self.term());
        }
        let tail = if self.take('|') { self.term() } else { Term::NIL };
        assert!(self.take(']'), "unclosed list at {}", self.text);
        self.fixture.core.store.list(&items, tail)
    }
}
