//! Determines which variables of a clause need an environment slot.
//!
//! A *chunk* is a part of the clause in which registers keep their values. Calls, goals on host relations, and most
//! control constructs end a chunk. A variable that occurs in a single chunk lives in a register, unless registers ran
//! out ([`Mode::SlotsOnly`]); any other needs an environment slot.

use super::goals::{Goal, Level};
use crate::store::Store;
use crate::term::{Tag, Term};
use rustc_hash::FxHashMap;

/// Position of a variable in [`Analysis::variables`].
pub(super) type VariableId = usize;

/// Where variables may live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// In registers if possible.
    Registers,
    /// In environment slots only: the fallback when registers run out.
    SlotsOnly,
}

/// The analysis of one variable.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) occurrences: usize,
    chunk: usize,
    pub(super) permanent: bool,
    /// The position of the variable among the arguments of the first call that has it as an argument; `None` if there
    /// is no such call. For a variable in a register, that call ends its chunk.
    pub(super) preferred: Option<u8>,
}

/// The analysis of a clause, made before its instructions are written.
#[derive(Debug)]
pub(super) struct Analysis {
    pub(super) ids: FxHashMap<usize, VariableId>,
    pub(super) variables: Vec<Variable>,
    /// Whether a cut of the clause may follow a call or a goal on a host relation, or occur in a goal that is
    /// interpreted at run time.
    pub(super) late_cut: bool,
    /// Whether some call of a predicate is not the last goal of the clause.
    pub(super) returns: bool,
    /// The largest number of arguments of the head and the calls. A goal that is interpreted at run time counts as a
    /// call with two arguments.
    pub(super) max_arguments: usize,
}

pub(super) fn analyse(store: &Store, head: &[Term], body: &Goal, mode: Mode) -> Analysis {
    let mut walker = Walker {
        store,
        analysis: Analysis {
            ids: FxHashMap::default(),
            variables: Vec::new(),
            late_cut: false,
            returns: false,
            max_arguments: head.len(),
        },
        last_chunk: 0,
        called: false,
        pending: Vec::new(),
    };
    for &argument in head {
        walker.occurs(argument, 0);
    }
    let mut chunk = 0;
    walker.goal(body, &mut chunk, true);
    let mut analysis = walker.analysis;
    if mode == Mode::SlotsOnly {
        analysis.variables.iter_mut().for_each(|variable| variable.permanent = true);
    }
    analysis
}

struct Walker<'a> {
    store: &'a Store,
    analysis: Analysis,
    last_chunk: usize,
    called: bool,
    pending: Vec<Term>,
}

impl Walker<'_> {
    fn fresh_chunk(&mut self) -> usize {
        self.last_chunk += 1;
        self.last_chunk
    }

    fn occurs(&mut self, term: Term, chunk: usize) {
        self.pending.push(term);
        while let Some(term) = self.pending.pop() {
            let term = self.store.deref(term);
            match term.tag() {
                Tag::Ref | Tag::Att => self.variable(term.address(), chunk),
                Tag::Lis => {
                    let start = term.address();
                    self.pending.extend_from_slice(&self.store.cells[start..start + 2]);
                }
                Tag::Str => {
                    let start = term.address();
                    let arity = self.store.functor_at(start).arity();
                    self.pending.extend_from_slice(&self.store.cells[start + 1..=start + arity]);
                }
                _ => {}
            }
        }
    }

    fn variable(&mut self, address: usize, chunk: usize) {
        let variables = &mut self.analysis.variables;
        let id = *self.analysis.ids.entry(address).or_insert_with(|| {
            variables.push(Variable { occurrences: 0, chunk, permanent: false, preferred: None });
            variables.len() - 1
        });
        let variable = &mut variables[id];
        variable.occurrences += 1;
        variable.permanent |= variable.chunk != chunk;
    }

    fn call(&mut self, arguments: &[Term], chunk: &mut usize, tail: bool) {
        self.analysis.max_arguments = self.analysis.max_arguments.max(arguments.len());
        for (position, &argument) in arguments.iter().enumerate() {
            self.occurs(argument, *chunk);
            let argument = self.store.deref(argument);
            if argument.is_variable() {
                let id = self.analysis.ids[&argument.address()];
                self.analysis.variables[id].preferred.get_or_insert(position as u8);
            }
        }
        self.called = true;
        self.analysis.returns |= !tail;
        *chunk = self.fresh_chunk();
    }

    /// A goal on a host relation ends the chunk; variables that are new in the goal belong to the next chunk.
    fn rows(&mut self, arguments: &[Term], chunk: &mut usize) {
        let is_new = |walker: &Walker<'_>, term: Term| {
            let term = walker.store.deref(term);
            term.is_variable() && !walker.analysis.ids.contains_key(&term.address())
        };
        let (new, known): (Vec<Term>, Vec<Term>) = arguments.iter().partition(|&&term| is_new(self, term));
        known.into_iter().for_each(|term| self.occurs(term, *chunk));
        self.called = true;
        *chunk = self.fresh_chunk();
        new.into_iter().for_each(|term| self.occurs(term, *chunk));
    }

    fn goal(&mut self, goal: &Goal, chunk: &mut usize, tail: bool) {
        match goal {
            Goal::True | Goal::Fail => {}
            Goal::Cut(level) => self.analysis.late_cut |= *level == Level::Clause && self.called,
            Goal::Conjunction(goals) => {
                for (index, goal) in goals.iter().enumerate() {
                    self.goal(goal, chunk, tail && index + 1 == goals.len());
                }
            }
            Goal::Disjunction(alternatives) => {
                for alternative in alternatives {
                    *chunk = self.fresh_chunk();
                    self.goal(alternative, chunk, tail);
                }
                *chunk = self.fresh_chunk();
            }
            Goal::IfThenElse(condition, then, otherwise, _) if condition.is_simple_test() => {
                self.goal(condition, chunk, false);
                let mut branch = *chunk;
                self.goal(then, &mut branch, tail);
                branch = *chunk;
                self.goal(otherwise, &mut branch, tail);
                *chunk = self.fresh_chunk();
            }
            Goal::IfThenElse(condition, then, otherwise, _) | Goal::SoftIfThenElse(condition, then, otherwise, _) => {
                *chunk = self.fresh_chunk();
                self.goal(condition, chunk, false);
                self.goal(then, chunk, tail);
                *chunk = self.fresh_chunk();
                self.goal(otherwise, chunk, tail);
                *chunk = self.fresh_chunk();
            }
            Goal::Not(inner, _) if inner.is_simple_test() => self.goal(inner, chunk, false),
            Goal::Not(inner, _) => {
                *chunk = self.fresh_chunk();
                self.goal(inner, chunk, false);
                *chunk = self.fresh_chunk();
            }
            Goal::Opaque(inner, _) => self.goal(inner, chunk, false),
            Goal::Unify(a, b) | Goal::CompareTerms(_, a, b) | Goal::CompareNumbers(_, a, b) | Goal::Is(a, b) => {
                self.occurs(*a, *chunk);
                self.occurs(*b, *chunk);
            }
            Goal::Test(_, term) => self.occurs(*term, *chunk),
            Goal::Builtin(_, arguments) | Goal::NoRows(_, arguments) => {
                arguments.iter().for_each(|&argument| self.occurs(argument, *chunk));
            }
            Goal::Call(_, arguments) => self.call(arguments, chunk, tail),
            Goal::Rows(_, arguments) => self.rows(arguments, chunk),
            Goal::Body(term, level) => {
                self.analysis.late_cut |= *level == Level::Clause;
                self.analysis.max_arguments = self.analysis.max_arguments.max(2);
                self.call(&[*term], chunk, tail);
            }
            Goal::Collect { value, goal, result, .. } => {
                *chunk = self.fresh_chunk();
                self.goal(goal, chunk, false);
                value.iter().for_each(|&term| self.occurs(term, *chunk));
                *chunk = self.fresh_chunk();
                self.occurs(*result, *chunk);
            }
        }
    }
}
