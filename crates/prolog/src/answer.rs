//! Answers as text, in the format of SWI-Prolog's prompt.
//!
//! Variables with the same value are shown as equal. An unnamed variable is written `_` if it occurs once; otherwise it
//! gets a name: `_A`, `_B` and so on. A cyclic value is cut where it contains itself. Suspended goals follow the
//! bindings.

mod names;
pub(crate) mod shape;

use crate::core::Core;
use crate::fault::Raised;
use crate::machine::{Machine, Stopped};
use crate::meter::{Budget, Meter, Resource};
use crate::query::{Parts, Query};
use crate::reader::characters::is_symbol;
use crate::store::{ListEnd, View};
use crate::symbols::atoms;
use crate::term::{Functor, Term};
use crate::writer::{Limit, Terms, WriteOptions, write_term};
use names::Names;
use shape::{Cut, Shape, groups};
use std::fmt;

/// Priority of the right-hand argument of `=`, at which values are written.
const VALUE_PRIORITY: u16 = 699;
/// Priority of an argument, at which suspended goals are written.
const GOAL_PRIORITY: u16 = 999;
/// Depth to which an abbreviated answer shows a term.
const ABBREVIATED_DEPTH: usize = 10;

/// The heap limit for writing is this number of bytes above the query's heap budget, or above the memory in use if that
/// is larger.
const ASIDE_BYTES: usize = 16 << 20;

/// The number of bytes of a term that a message shows.
pub(crate) const DESCRIPTION_BYTES: usize = 1_000;

/// How much of large values to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// Everything.
    Whole,
    /// The first few elements and levels, then `...`.
    Abbreviated,
}

/// One answer to a query, as text. `Display` writes it on one line, without the final full stop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// The bindings of the query's variables. An unbound variable appears only if it is equal to a later one, as in
    /// `X = Y`.
    pub bindings: Vec<Binding>,
    /// Goals that are still suspended on a variable.
    pub waiting: Vec<String>,
}

/// A value, and the variables of the query that are bound to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    /// The names of the variables, at least one, in order of appearance.
    pub names: Vec<String>,
    /// The value that they share.
    pub value: String,
    /// Names that stand for cyclic parts of the value, each with its part. Names that an earlier binding explains are
    /// left out.
    pub cycles: Vec<(String, String)>,
}

impl Answer {
    /// The answer on one line, with its full stop.
    pub fn sentence(&self) -> String {
        self.ended(self.to_string())
    }

    /// The answer with one line for each binding and goal, without the final full stop. The cyclic parts of a value
    /// follow it on indented lines.
    pub fn lines(&self) -> String {
        self.text(",\n", ", % where\n    ", ",\n    ")
    }

    /// `text` with a full stop after it. A space separates them if the last character would otherwise merge with the
    /// full stop.
    pub fn ended(&self, mut text: String) -> String {
        if text.chars().next_back().is_some_and(is_symbol) {
            text.push(' ');
        }
        text.push('.');
        text
    }

    fn text(&self, separator: &str, before_cycles: &str, between_cycles: &str) -> String {
        if self.bindings.is_empty() && self.waiting.is_empty() {
            return "true".to_owned();
        }
        let bindings = self.bindings.iter().map(|binding| binding.text(before_cycles, between_cycles));
        let parts: Vec<String> = bindings.chain(self.waiting.iter().cloned()).collect();
        parts.join(separator)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text(", ", ", ", ", "))
    }
}

impl Binding {
    fn text(&self, before_cycles: &str, between_cycles: &str) -> String {
        let equal = |left: &str, right: &str| format!("{left} = {right}");
        let mut parts: Vec<String> = self.names.windows(2).map(|pair| equal(&pair[0], &pair[1])).collect();
        parts.extend(self.names.last().map(|name| equal(name, &self.value)));
        let mut text = parts.join(", ");
        let cycles: Vec<String> = self.cycles.iter().map(|(name, value)| equal(name, value)).collect();
        if !cycles.is_empty() {
            text.push_str(before_cycles);
            text.push_str(&cycles.join(between_cycles));
        }
        text
    }
}

impl Query<'_> {
    /// The current answer as text.
    ///
    /// Writing is not charged to the query. It starts with an unused budget, which is that of the query with a larger
    /// heap, because a value with much sharing may be small in memory and enormous as text. `Err` is the resource whose
    /// limit was exceeded.
    pub fn answer(&mut self, detail: Detail) -> Result<Answer, Resource> {
        let Parts { machine, relations, variables } = self.parts();
        let meter = machine.core.start_aside();
        let values = || variables.iter().map(|(_, term)| *term);
        let shape = Shape::of(&mut machine.core.store, values());
        let answer = if shape.waiting.is_empty() {
            write_answer(&mut machine.core, &shape, variables, &[], detail)
        } else {
            let (goal, goals) = residual_goals(&mut machine.core, &shape.waiting);
            machine.solve_aside(goal, relations, |core, stopped| {
                if let Stopped::Exhausted(resource) = stopped {
                    return Err(resource);
                }
                let waiting = unqualified_goals(core, goals);
                // The goals may be cyclic, too.
                let shape = Shape::of(&mut core.store, values().chain(waiting.iter().copied()));
                write_answer(core, &shape, variables, &waiting, detail)
            })
        };
        machine.core.end_aside(meter);
        answer
    }
}

impl Core {
    /// Replaces the query's meter by a new one, so that the work that follows is not charged to the query. The budget
    /// is the same except for a larger heap. Returns the query's meter, for [`Core::end_aside`].
    pub(crate) fn start_aside(&mut self) -> Meter {
        // Return unused memory first, so that it does not add to the memory used next.
        self.store.give_back();
        let meter = std::mem::take(&mut self.store.meter);
        self.store.meter.host_interrupt.clone_from(&meter.host_interrupt);
        // Data that is in memory already must not exhaust the budget for writing it.
        let budget = meter.budget();
        let heap_bytes = budget.heap_bytes.max(self.store.cells.len() * 8).saturating_add(ASIDE_BYTES);
        self.store.meter.start(&Budget { heap_bytes, ..budget });
        meter
    }

    /// Restores the query's own meter.
    pub(crate) fn end_aside(&mut self, meter: Meter) {
        self.store.meter = meter;
    }

    /// Appends a term to `text`. On `Err`, which names the exhausted resource, `text` may end with a part of the term.
    pub(crate) fn write_aside(
        &mut self,
        text: &mut String,
        term: Term,
        options: &WriteOptions,
    ) -> Result<(), Resource> {
        let Core { store, atoms, operators, .. } = self;
        let limit = Limit { bytes: store.meter.output_limit, resource: Resource::OutputBytes };
        write_term(text, term, options, limit, &mut Terms { store, atoms, operators }).map_err(|raised| match raised {
            Raised::Exhausted(resource) => resource,
            _ => Resource::OutputBytes,
        })
    }

    /// A term as `writeq/1` writes it. If writing exceeds a limit, `...` follows the part written so far.
    pub(crate) fn quoted_text(&mut self, term: Term) -> String {
        let meter = self.start_aside();
        let mut text = String::new();
        if self.write_aside(&mut text, term, &WriteOptions::writeq()).is_err() {
            text.push_str("...");
        }
        self.end_aside(meter);
        text
    }

    /// Like [`Core::quoted_text`], with at most [`DESCRIPTION_BYTES`] of the term: for messages, which a host keeps for
    /// each of many queries.
    pub(crate) fn described(&mut self, term: Term) -> String {
        let meter = self.start_aside();
        let mut text = String::new();
        self.write_description(&mut text, term, &WriteOptions::writeq());
        self.end_aside(meter);
        text
    }

    /// Appends at most [`DESCRIPTION_BYTES`] of a term, then `...` if that is not all of it.
    pub(crate) fn write_description(&mut self, text: &mut String, term: Term, options: &WriteOptions) {
        let start = text.len();
        let limit = std::mem::replace(&mut self.store.meter.output_limit, DESCRIPTION_BYTES);
        let written = self.write_aside(text, term, options);
        self.store.meter.output_limit = limit;
        if written.is_err() {
            // The last piece may be long.
            cut(text, start + DESCRIPTION_BYTES);
            text.push_str("...");
        }
    }
}

impl Machine {
    /// Runs `goal` in the state of the current answer until its first answer, or until it stops without one. Then calls
    /// `then` with the way in which it stopped, undoes the bindings of `goal`, and returns the result of `then`.
    pub(crate) fn solve_aside<T>(
        &mut self,
        goal: Term,
        relations: &dyn crate::host::Relations,
        then: impl FnOnce(&mut Core, Stopped) -> T,
    ) -> T {
        let height = self.choice_height();
        self.start(goal);
        self.aside = true;
        let stopped = self.run(relations, crate::machine::Entry::Goal);
        self.aside = false;
        let value = then(&mut self.core, stopped);
        self.return_to(height);
        value
    }
}

/// Shortens a text to at most this many bytes, at the end of a character.
pub(crate) fn cut(text: &mut String, bytes: usize) {
    text.truncate(text.floor_char_boundary(bytes));
}

/// A goal that lists the goals suspended on these variables, and the variable that receives the list.
fn residual_goals(core: &mut Core, waiting: &[Term]) -> (Term, Term) {
    let variables = core.store.list(waiting, Term::NIL);
    let goals = core.store.variable();
    let name = core.atoms.internal("$residual_goals");
    (core.store.structure(name, &[variables, goals]), goals)
}

/// The goals of a list, with the qualifier `user:` removed inside `freeze/2` and `when/2`. Empty if `goals` is not a
/// proper list.
fn unqualified_goals(core: &mut Core, goals: Term) -> Vec<Term> {
    let mut items = Vec::new();
    if core.store.list_items(goals, &mut items) != ListEnd::Nil {
        return Vec::new();
    }
    items.into_iter().map(|goal| unqualified_goal(core, goal)).collect()
}

fn unqualified_goal(core: &mut Core, goal: Term) -> Term {
    if let View::Compound(functor, arguments) = core.store.view(goal)
        && functor.arity() == 2
        && matches!(core.atoms.name(functor.name()), "freeze" | "when")
        && let View::Compound(inner, inner_arguments) = core.store.view(core.store.argument(arguments, 1))
        && inner == Functor::new(atoms::COLON, 2)
        && core.store.argument(inner_arguments, 0) == Term::atom(atoms::USER)
    {
        let (variable, plain) = (core.store.argument(arguments, 0), core.store.argument(inner_arguments, 1));
        return core.store.structure(functor.name(), &[variable, plain]);
    }
    goal
}

/// A binding whose value has not been converted to text yet.
struct Draft {
    names: Vec<String>,
    value: Term,
    cycles: Vec<(String, Term)>,
}

fn write_answer(
    core: &mut Core,
    shape: &Shape,
    variables: &[(Box<str>, Term)],
    waiting: &[Term],
    detail: Detail,
) -> Result<Answer, Resource> {
    let mut names = Names::new(variables, Budget::default().output_bytes);
    let mut parts = shape.cut();
    let drafts = drafts(core, &mut parts, variables, &mut names);
    let mut goals = Vec::new();
    let mut goal_cycles = Vec::new();
    for &goal in waiting {
        let (goal, cycles) = parts.value(&mut core.store, goal, "", &mut names);
        goals.push(goal);
        goal_cycles.extend(cycles);
    }
    for draft in &drafts {
        names.count(&core.store, draft.value)?;
        for (_, value) in &draft.cycles {
            names.count(&core.store, *value)?;
        }
    }
    for goal in goals.iter().chain(goal_cycles.iter().map(|(_, value)| value)) {
        names.count(&core.store, *goal)?;
    }
    let mut options = WriteOptions {
        priority: VALUE_PRIORITY,
        max_depth: if detail == Detail::Abbreviated { ABBREVIATED_DEPTH } else { 0 },
        variable_names: names.finish(),
        ..WriteOptions::answer()
    };
    let text = |core: &mut Core, term, options: &WriteOptions| {
        let mut text = String::new();
        core.write_aside(&mut text, term, options).map(|()| text)
    };
    let mut answer = Answer::default();
    for draft in drafts {
        let mut value = text(core, draft.value, &options)?;
        if let View::Atom(atom) = core.store.view(draft.value)
            && core.operators.is_operator(atom)
        {
            value = format!("({value})");
        }
        let cycles = draft.cycles.into_iter().map(|(name, term)| Ok((name, text(core, term, &options)?)));
        answer.bindings.push(Binding { names: draft.names, value, cycles: cycles.collect::<Result<_, Resource>>()? });
    }
    options.priority = GOAL_PRIORITY;
    for goal in goals {
        answer.waiting.push(text(core, goal, &options)?);
    }
    for (name, value) in goal_cycles {
        let value = text(core, value, &options)?;
        answer.waiting.push(format!("{name} = {value}"));
    }
    Ok(answer)
}

/// The bindings to show, in the order of the variables. An unbound variable appears only if it is equal to a later one.
fn drafts(core: &mut Core, parts: &mut Cut<'_>, variables: &[(Box<str>, Term)], names: &mut Names) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (mut group, value) in groups(&mut core.store, variables) {
        let value = core.store.deref(value);
        let last = group[group.len() - 1].clone();
        if value.is_variable() {
            group.pop();
            names.give(value, &last);
        }
        if group.is_empty() {
            continue;
        }
        let value_and_cycles = parts.value(&mut core.store, value, &last, names);
        drafts.push(Draft { names: group, value: value_and_cycles.0, cycles: value_and_cycles.1 });
    }
    drafts
}

#[cfg(test)]
mod tests;
