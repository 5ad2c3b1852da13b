//! The instruction loop.

use super::calls::{Flow, Next};
use super::choices::ChoiceKind;
use super::exceptions::Culprit;
use super::{Machine, Stopped};
use crate::arithmetic;
use crate::fault::{Raised, Solved};
use crate::host::Relations;
use crate::instruction::{Arithmetic, CATCH_EXIT, Comparison, FAIL, Instruction, Label, TypeTest};
use crate::meter::Resource;
use crate::program::{Definition, Program, Shortcut};
use crate::store::View;
use crate::symbols::atoms;
use crate::term::{Functor, Tag, Term};
use std::cmp::Ordering;
use std::sync::Arc;

/// Where a run begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// With the goal in `X0`.
    Goal,
    /// With the next alternative.
    Retry,
}

impl Machine {
    /// Runs until the query has an answer or ends.
    pub(crate) fn run(&mut self, host: &dyn Relations, entry: Entry) -> Stopped {
        let program = Arc::clone(&self.core.program);
        let begin = match entry {
            Entry::Retry => Flow::Fail,
            Entry::Goal => {
                let goal = self.x[0];
                self.call_term(&program, host, goal)
            }
        };
        match self.follow(&program, host, begin) {
            Ok(label) => match self.execute(&program, host, label) {
                Ok(stopped) | Err(stopped) => stopped,
            },
            Err(stopped) => stopped,
        }
    }

    /// Calls a goal given as a term.
    fn call_term(&mut self, program: &Program, host: &dyn Relations, goal: Term) -> Flow {
        let culprit = Culprit { functor: Functor::new(atoms::CALL, 1) };
        match self.prepare_call(goal, 0) {
            Ok(Next::Predicate(predicate)) => self.enter(program, host, predicate),
            Ok(Next::Done) => Flow::Goto(self.continuation),
            Ok(Next::Fail) => Flow::Fail,
            Ok(Next::Undefined(functor)) => self.undefined(functor),
            Err(raised) => Flow::Raise(raised, culprit),
        }
    }

    /// The instruction that a flow leads to.
    #[inline]
    fn follow(&mut self, program: &Program, host: &dyn Relations, flow: Flow) -> Result<Label, Stopped> {
        match flow {
            Flow::Goto(label) => Ok(label),
            Flow::Fail => self.backtrack(program, host),
            Flow::Raise(raised, culprit) => self.raise(program, host, raised, culprit),
        }
    }

    /// Throws what a builtin raised; returns where its handler starts.
    #[cold]
    fn raise(
        &mut self,
        program: &Program,
        host: &dyn Relations,
        raised: Raised,
        culprit: Culprit,
    ) -> Result<Label, Stopped> {
        let mut flow = Flow::Raise(raised, culprit);
        loop {
            match flow {
                Flow::Goto(label) => return Ok(label),
                Flow::Fail => return self.backtrack(program, host),
                Flow::Raise(raised, culprit) => {
                    if let Some(resource) = self.core.store.meter.exhausted() {
                        return Err(Stopped::Exhausted(resource));
                    }
                    let ball = self.ball(raised, culprit).map_err(|raised| match raised {
                        Raised::Halted(status) => Stopped::Halted(status),
                        Raised::Exhausted(resource) => Stopped::Exhausted(resource),
                        _ => Stopped::NoMore,
                    })?;
                    self.unwind(ball).map_err(Stopped::Uncaught)?;
                    let recovery = self.x[0];
                    flow = self.call_term(program, host, recovery);
                }
            }
        }
    }

    /// Goes back to the newest choice point.
    pub(super) fn backtrack(&mut self, program: &Program, host: &dyn Relations) -> Result<Label, Stopped> {
        loop {
            if let Some(resource) = self.core.store.meter.exhausted() {
                return Err(Stopped::Exhausted(resource));
            }
            let Some(&choice) = self.choices.last() else { return Err(Stopped::NoMore) };
            self.restore(&choice);
            let flow = match choice.kind {
                ChoiceKind::Clauses => {
                    self.restore_arguments(&choice);
                    let label = program.clause_lists[choice.next as usize];
                    self.barrier = self.choices.len() - 1;
                    if choice.next + 1 == choice.end {
                        self.pop_choice();
                    } else if let Some(choice) = self.choices.last_mut() {
                        choice.next += 1;
                    }
                    return Ok(label);
                }
                ChoiceKind::Label => return Ok(choice.next),
                ChoiceKind::Builtin => {
                    self.count_retry()?;
                    self.retry_builtin(program)
                }
                ChoiceKind::Dynamic => {
                    self.count_retry()?;
                    self.retry_dynamic(program)
                }
                ChoiceKind::Rows => {
                    self.count_retry()?;
                    let entry = &program.predicates[choice.end as usize];
                    match entry.definition {
                        Definition::Relation(position) => {
                            self.retry_rows(host, position as usize, entry.functor.arity())
                        }
                        _ => Flow::Fail,
                    }
                }
                ChoiceKind::Catch | ChoiceKind::Dead => {
                    self.pop_choice();
                    continue;
                }
                ChoiceKind::Bottom => {
                    return Err(Stopped::NoMore);
                }
            };
            match flow {
                Flow::Goto(label) => return Ok(label),
                Flow::Fail => {}
                Flow::Raise(raised, culprit) => return self.raise(program, host, raised, culprit),
            }
        }
    }

    /// Another answer of something that is no clause costs an inference too: a loop driven by failure
    /// must not be free.
    #[inline]
    fn count_retry(&mut self) -> Result<(), Stopped> {
        let meter = &mut self.core.store.meter;
        meter.inferences += 1;
        if meter.out_of_inferences() {
            return Err(Stopped::Exhausted(Resource::Inferences));
        }
        Ok(())
    }

    /// Leaves the fast path: the budget is spent, goals were woken, or the database wants a sweep.
    #[cold]
    fn attend(
        &mut self,
        program: &Program,
        host: &dyn Relations,
        at: Label,
        live: usize,
    ) -> Result<Option<Label>, Stopped> {
        if self.core.store.meter.out_of_inferences() {
            return Err(Stopped::Exhausted(Resource::Inferences));
        }
        if let Some(resource) = self.core.store.meter.exhausted() {
            return Err(Stopped::Exhausted(resource));
        }
        if self.core.database.wants_sweep {
            let oldest = self.oldest_generation();
            self.core.database.sweep(oldest);
        }
        if self.core.store.woken.is_empty() {
            self.core.store.meter.resume();
            return Ok(None);
        }
        let functor = self.suspend_for_wake(at, live);
        match program.find(functor) {
            Some(predicate) => {
                let flow = self.enter(program, host, predicate);
                self.follow(program, host, flow).map(Some)
            }
            None => Ok(None),
        }
    }

    fn execute(&mut self, program: &Program, host: &dyn Relations, start: Label) -> Result<Stopped, Stopped> {
        let code = &program.code[..];
        let mut pc = start as usize;
        // The cell that the next part of a compound is in, or goes to when writing.
        let mut part = 0;
        let mut writing = false;

        macro_rules! goto {
            ($label:expr) => {{
                pc = $label as usize;
                continue;
            }};
        }
        macro_rules! fail {
            () => {
                goto!(self.backtrack(program, host)?)
            };
        }
        macro_rules! unless {
            ($held:expr, $otherwise:expr) => {
                if !$held {
                    if $otherwise == FAIL {
                        fail!();
                    }
                    goto!($otherwise);
                }
            };
        }
        macro_rules! raise {
            ($raised:expr, $functor:expr) => {
                goto!(self.raise(program, host, $raised, Culprit { functor: $functor })?)
            };
        }
        // Goals woken by the unifications before must have their say first.
        macro_rules! wake {
            ($live:expr) => {
                if !self.core.store.woken.is_empty() {
                    if let Some(label) = self.attend(program, host, pc as Label, $live as usize)? {
                        goto!(label);
                    }
                }
            };
        }
        macro_rules! enter {
            ($predicate:expr, $at:expr) => {{
                let meter = &mut self.core.store.meter;
                meter.inferences += 1;
                if meter.inferences >= meter.attention_at {
                    let live = program.predicates[$predicate as usize].functor.arity();
                    if let Some(label) = self.attend(program, host, $at as Label, live)? {
                        goto!(label);
                    }
                }
                if self.core.store.cells.len() > self.core.store.meter.cell_limit {
                    return Err(Stopped::Exhausted(Resource::HeapBytes));
                }
                let label = match &program.shortcuts[$predicate as usize] {
                    Shortcut::None => FAIL,
                    Shortcut::Always(label) => *label,
                    Shortcut::ByList { argument, list, nil } => {
                        let argument = self.core.store.deref(self.x[*argument as usize]);
                        if argument.has_tag(Tag::Lis) {
                            *list
                        } else if argument == Term::NIL {
                            *nil
                        } else {
                            FAIL
                        }
                    }
                };
                if label != FAIL {
                    self.barrier = self.choices.len();
                    goto!(label);
                }
                let flow = match &program.predicates[$predicate as usize].definition {
                    Definition::Clauses(clauses) => {
                        let arity = program.predicates[$predicate as usize].functor.arity();
                        self.enter_clauses(program, clauses, arity)
                    }
                    _ => self.enter(program, host, $predicate),
                };
                match flow {
                    Flow::Goto(label) => goto!(label),
                    Flow::Fail => fail!(),
                    Flow::Raise(raised, culprit) => goto!(self.raise(program, host, raised, culprit)?),
                }
            }};
        }

        loop {
            match code[pc] {
                // ---- head arguments
                Instruction::GetVariableY { y, x } => self.set_slot(y, self.x[x as usize]),
                Instruction::GetValueX { x, with } => {
                    if !self.core.store.unify(self.x[x as usize], self.x[with as usize]) {
                        fail!();
                    }
                }
                Instruction::GetValueY { y, x } => {
                    let slot = self.slot(y);
                    if !self.core.store.unify(slot, self.x[x as usize]) {
                        fail!();
                    }
                }
                Instruction::GetConstant { x, value } => {
                    let store = &mut self.core.store;
                    let term = store.deref(self.x[x as usize]);
                    if term != value {
                        if !term.is_variable() {
                            fail!();
                        }
                        store.bind(term, value);
                    }
                }
                Instruction::GetList { x } => {
                    let store = &mut self.core.store;
                    let term = store.deref(self.x[x as usize]);
                    if term.has_tag(Tag::Lis) {
                        part = term.address();
                        writing = false;
                    } else if term.is_variable() {
                        let address = store.cells.len();
                        store.cells.extend_from_slice(&[Term(0), Term(0)]);
                        store.bind(term, Term::list(address));
                        part = address;
                        writing = true;
                    } else {
                        fail!();
                    }
                }
                Instruction::GetStructure { x, functor } => {
                    let store = &mut self.core.store;
                    let term = store.deref(self.x[x as usize]);
                    if term.has_tag(Tag::Str) {
                        let address = term.address();
                        if store.cells[address] != functor.header() {
                            fail!();
                        }
                        part = address + 1;
                        writing = false;
                    } else if term.is_variable() {
                        let structure = new_structure(&mut store.cells, functor);
                        store.bind(term, structure);
                        part = structure.address() + 1;
                        writing = true;
                    } else {
                        fail!();
                    }
                }
                Instruction::GetLiteral { x, literal } => {
                    let store = &mut self.core.store;
                    let value = store.paste(&program.literals[literal as usize]);
                    if !store.unify(self.x[x as usize], value) {
                        fail!();
                    }
                }

                // ---- parts of compounds
                Instruction::UnifyVariableX { x } => {
                    self.x[x as usize] = self.part_variable(part, writing);
                    part += 1;
                }
                Instruction::UnifyVariableY { y } => {
                    let term = self.part_variable(part, writing);
                    self.set_slot(y, term);
                    part += 1;
                }
                Instruction::UnifyValueX { x } => {
                    let value = self.x[x as usize];
                    if !self.unify_part(part, writing, value) {
                        fail!();
                    }
                    part += 1;
                }
                Instruction::UnifyValueY { y } => {
                    let value = self.slot(y);
                    if !self.unify_part(part, writing, value) {
                        fail!();
                    }
                    part += 1;
                }
                Instruction::UnifyConstant { value } => {
                    let store = &mut self.core.store;
                    if writing {
                        store.cells[part] = value;
                    } else {
                        let term = store.deref(store.cells[part]);
                        if term != value {
                            if !term.is_variable() {
                                fail!();
                            }
                            store.bind(term, value);
                        }
                    }
                    part += 1;
                }
                Instruction::UnifyLiteral { literal } => {
                    let value = self.core.store.paste(&program.literals[literal as usize]);
                    if !self.unify_part(part, writing, value) {
                        fail!();
                    }
                    part += 1;
                }
                Instruction::UnifyVoid { count } => {
                    if writing {
                        for address in part..part + count as usize {
                            self.core.store.cells[address] = Term::reference(address);
                        }
                    }
                    part += count as usize;
                }
                Instruction::UnifyList => {
                    self.parts.push((part + 1, writing));
                    match self.descend_list(part, writing) {
                        Some(inside) => (part, writing) = inside,
                        None => fail!(),
                    }
                }
                Instruction::UnifyLastList => match self.descend_list(part, writing) {
                    Some(inside) => (part, writing) = inside,
                    None => fail!(),
                },
                Instruction::UnifyStructure { functor } => {
                    self.parts.push((part + 1, writing));
                    match self.descend(part, writing, functor) {
                        Some(inside) => (part, writing) = inside,
                        None => fail!(),
                    }
                }
                Instruction::UnifyLastStructure { functor } => match self.descend(part, writing, functor) {
                    Some(inside) => (part, writing) = inside,
                    None => fail!(),
                },
                Instruction::Pop => {
                    if let Some(outside) = self.parts.pop() {
                        (part, writing) = outside;
                    }
                }

                // ---- lists of two simple parts
                Instruction::GetListOfVariables { x, head, tail } => {
                    let store = &mut self.core.store;
                    let term = store.deref(self.x[x as usize]);
                    if term.has_tag(Tag::Lis) {
                        let address = term.address();
                        let cells = &store.cells[address..address + 2];
                        (self.x[head as usize], self.x[tail as usize]) = (cells[0], cells[1]);
                    } else if term.is_variable() {
                        let address = store.cells.len();
                        let variables = [Term::reference(address), Term::reference(address + 1)];
                        store.cells.extend_from_slice(&variables);
                        store.bind(term, Term::list(address));
                        (self.x[head as usize], self.x[tail as usize]) = (variables[0], variables[1]);
                    } else {
                        fail!();
                    }
                }
                Instruction::GetListOfValue { x, head, tail } => {
                    let store = &mut self.core.store;
                    let term = store.deref(self.x[x as usize]);
                    if term.has_tag(Tag::Lis) {
                        let address = term.address();
                        let (first, rest) = (store.cells[address], store.cells[address + 1]);
                        if !store.unify(first, self.x[head as usize]) {
                            fail!();
                        }
                        self.x[tail as usize] = rest;
                    } else if term.is_variable() {
                        let address = store.cells.len();
                        let rest = Term::reference(address + 1);
                        store.cells.extend_from_slice(&[self.x[head as usize], rest]);
                        store.bind(term, Term::list(address));
                        self.x[tail as usize] = rest;
                    } else {
                        fail!();
                    }
                }
                Instruction::PutListOfValues { x, head, tail } => {
                    let cells = &mut self.core.store.cells;
                    let address = cells.len();
                    cells.extend_from_slice(&[self.x[head as usize], self.x[tail as usize]]);
                    self.x[x as usize] = Term::list(address);
                }

                // ---- arguments of calls
                Instruction::Move { to, from } => self.x[to as usize] = self.x[from as usize],
                Instruction::PutVariableX { x } => self.x[x as usize] = self.core.store.variable(),
                Instruction::PutVariableY { y, x } => {
                    let variable = self.core.store.variable();
                    self.x[x as usize] = variable;
                    self.set_slot(y, variable);
                }
                Instruction::InitializeY { y } => {
                    let variable = self.core.store.variable();
                    self.set_slot(y, variable);
                }
                Instruction::PutValueY { y, x } => self.x[x as usize] = self.slot(y),
                Instruction::PutConstant { x, value } => self.x[x as usize] = value,
                Instruction::PutList { x } => {
                    let cells = &mut self.core.store.cells;
                    let address = cells.len();
                    cells.extend_from_slice(&[Term(0), Term(0)]);
                    self.x[x as usize] = Term::list(address);
                    part = address;
                    writing = true;
                }
                Instruction::PutStructure { x, functor } => {
                    let structure = new_structure(&mut self.core.store.cells, functor);
                    self.x[x as usize] = structure;
                    part = structure.address() + 1;
                    writing = true;
                }
                Instruction::PutLiteral { x, literal } => {
                    self.x[x as usize] = self.core.store.paste(&program.literals[literal as usize]);
                }

                // ---- control
                Instruction::Allocate { slots } => self.allocate(slots as usize),
                Instruction::Deallocate => self.deallocate(),
                Instruction::Call { predicate } => {
                    self.continuation = pc as Label + 1;
                    enter!(predicate, pc);
                }
                Instruction::Execute { predicate } => enter!(predicate, pc),
                Instruction::Proceed => goto!(self.continuation),
                Instruction::NeckCut { live } => {
                    wake!(live);
                    self.cut_to(self.barrier);
                }
                Instruction::SaveNeck { y } => self.set_slot(y, Term::small(self.barrier as i64)),
                Instruction::SaveCut { y } => self.set_slot(y, Term::small(self.choices.len() as i64)),
                Instruction::CutTo { y, below, live } => {
                    wake!(live);
                    let height = self.slot(y).small_value() as usize - below as usize;
                    self.cut_to(height);
                }
                Instruction::CutToX { x } => {
                    let height = self.core.store.deref(self.x[x as usize]).small_value() as usize;
                    self.cut_to(height);
                }
                Instruction::SoftCut { y, live } => {
                    wake!(live);
                    let height = self.slot(y).small_value() as usize;
                    if let Some(choice) = self.choices.get_mut(height - 1) {
                        choice.kind = ChoiceKind::Dead;
                    }
                }
                Instruction::TryElse { otherwise } => self.push_choice(ChoiceKind::Label, otherwise, 0, 0),
                Instruction::RetryElse { otherwise } => {
                    if let Some(choice) = self.choices.last_mut() {
                        choice.next = otherwise;
                    }
                }
                Instruction::TrustElse => self.pop_choice(),
                Instruction::Jump { to } => {
                    if to == FAIL {
                        fail!();
                    }
                    goto!(to);
                }
                Instruction::Fail => fail!(),
                Instruction::Stop => {
                    wake!(0);
                    return Ok(Stopped::Answer);
                }
                Instruction::Resume => goto!(self.resume_after_wake()),

                // ---- inline goals
                Instruction::Builtin { builtin, base, live } => {
                    wake!(live);
                    let entry = &program.builtins[builtin as usize];
                    match self.call_builtin(entry.code, base as usize) {
                        Ok(true) => {}
                        Ok(false) => fail!(),
                        Err(raised) => raise!(raised, entry.functor),
                    }
                }
                Instruction::Test { test, x, otherwise } => {
                    let held = self.type_test(test, self.x[x as usize]);
                    unless!(held, otherwise);
                }
                Instruction::CompareTerms { comparison, a, b, otherwise } => {
                    let held = self.compare_terms(comparison, self.x[a as usize], self.x[b as usize]);
                    unless!(held, otherwise);
                }
                Instruction::CompareNumbers { comparison, a, b, otherwise } => {
                    let store = &self.core.store;
                    let (a, b) = (store.deref(self.x[a as usize]), store.deref(self.x[b as usize]));
                    if a.has_tag(Tag::Int) && b.has_tag(Tag::Int) {
                        unless!(comparison.holds(a.small_value().cmp(&b.small_value())), otherwise);
                    } else {
                        match self.compare_values(comparison, a, b) {
                            Ok(held) => unless!(held, otherwise),
                            Err(raised) => raise!(raised, self.comparison_functor(comparison)),
                        }
                    }
                }
                Instruction::CompareWithSmall { comparison, a, value, otherwise } => {
                    let a = self.core.store.deref(self.x[a as usize]);
                    if a.has_tag(Tag::Int) {
                        unless!(comparison.holds(a.small_value().cmp(&i64::from(value))), otherwise);
                    } else {
                        match self.compare_values(comparison, a, Term::small(i64::from(value))) {
                            Ok(held) => unless!(held, otherwise),
                            Err(raised) => raise!(raised, self.comparison_functor(comparison)),
                        }
                    }
                }
                Instruction::Compute { operation, to, a, b } => {
                    let store = &self.core.store;
                    let (a, b) = (store.deref(self.x[a as usize]), store.deref(self.x[b as usize]));
                    let result = if a.has_tag(Tag::Int) && b.has_tag(Tag::Int) {
                        small_operation(operation, a.small_value(), b.small_value())
                    } else {
                        None
                    };
                    match result {
                        Some(value) => self.x[to as usize] = Term::small(value),
                        None => match self.compute(operation, a, b) {
                            Ok(value) => self.x[to as usize] = value,
                            Err(raised) => raise!(raised, self.arithmetic_context(code, pc)),
                        },
                    }
                }
                Instruction::ComputeWithSmall { operation, to, a, value } => {
                    let a = self.core.store.deref(self.x[a as usize]);
                    let result = if a.has_tag(Tag::Int) {
                        small_operation(operation, a.small_value(), i64::from(value))
                    } else {
                        None
                    };
                    match result {
                        Some(value) => self.x[to as usize] = Term::small(value),
                        None => match self.compute(operation, a, Term::small(i64::from(value))) {
                            Ok(value) => self.x[to as usize] = value,
                            Err(raised) => raise!(raised, self.arithmetic_context(code, pc)),
                        },
                    }
                }
                Instruction::Evaluate { to, from } => {
                    match arithmetic::evaluated(&mut self.core, self.x[from as usize]) {
                        Ok(value) => self.x[to as usize] = value,
                        Err(raised) => raise!(raised, self.arithmetic_context(code, pc)),
                    }
                }

                // ---- aggregation
                Instruction::CollectStart { aggregation } => self.core.collectors.start(aggregation),
                Instruction::CollectAdd { x, live } => {
                    wake!(live);
                    if let Err(raised) = self.core.collect_add(self.x[x as usize]) {
                        raise!(raised, Functor::new(atoms::IS, 2));
                    }
                }
                Instruction::CollectEnd { x } => match self.core.collect_end() {
                    Ok(Some(result)) => self.x[x as usize] = result,
                    Ok(None) => fail!(),
                    Err(raised) => raise!(raised, Functor::new(atoms::FINDALL, 3)),
                },
                Instruction::CatchExit => {
                    wake!(0);
                    self.exit_catch();
                }
            }
            pc += 1;
        }
    }

    /// The part as it is or, when writing, a fresh variable there.
    #[inline(always)]
    fn part_variable(&mut self, part: usize, writing: bool) -> Term {
        if writing {
            let variable = Term::reference(part);
            self.core.store.cells[part] = variable;
            variable
        } else {
            self.core.store.cells[part]
        }
    }

    #[inline(always)]
    fn unify_part(&mut self, part: usize, writing: bool, value: Term) -> bool {
        if writing {
            self.core.store.cells[part] = value;
            true
        } else {
            self.core.store.unify(self.core.store.cells[part], value)
        }
    }

    /// Goes into the list that the part is, or makes it one; the first part inside, and whether it is
    /// to be written.
    #[inline]
    fn descend_list(&mut self, part: usize, writing: bool) -> Option<(usize, bool)> {
        let store = &mut self.core.store;
        let address = store.cells.len();
        if writing {
            store.cells[part] = Term::list(address);
        } else {
            let term = store.deref(store.cells[part]);
            if term.has_tag(Tag::Lis) {
                return Some((term.address(), false));
            }
            if !term.is_variable() {
                return None;
            }
            store.bind(term, Term::list(address));
        }
        store.cells.extend_from_slice(&[Term(0), Term(0)]);
        Some((address, true))
    }

    /// Goes into the structure that the part is, or makes it one.
    #[inline]
    fn descend(&mut self, part: usize, writing: bool, functor: Functor) -> Option<(usize, bool)> {
        let store = &mut self.core.store;
        if writing {
            let structure = new_structure(&mut store.cells, functor);
            store.cells[part] = structure;
            return Some((structure.address() + 1, true));
        }
        let term = store.deref(store.cells[part]);
        if term.has_tag(Tag::Str) {
            return (store.cells[term.address()] == functor.header()).then_some((term.address() + 1, false));
        }
        if !term.is_variable() {
            return None;
        }
        let structure = new_structure(&mut store.cells, functor);
        store.bind(term, structure);
        Some((structure.address() + 1, true))
    }

    #[inline]
    fn type_test(&mut self, test: TypeTest, term: Term) -> bool {
        let store = &mut self.core.store;
        let term = store.deref(term);
        match test {
            TypeTest::Var => term.is_variable(),
            TypeTest::Nonvar => !term.is_variable(),
            TypeTest::Atom => term.has_tag(Tag::Atm),
            TypeTest::Integer => term.has_tag(Tag::Int) || store.view(term) == View::Big,
            TypeTest::Float => matches!(store.view(term), View::Float(_)),
            TypeTest::Number => term.has_tag(Tag::Int) || matches!(store.view(term), View::Float(_) | View::Big),
            TypeTest::Atomic => matches!(term.tag(), Tag::Atm | Tag::Int | Tag::Box),
            TypeTest::Compound => matches!(term.tag(), Tag::Lis | Tag::Str),
            TypeTest::Callable => matches!(term.tag(), Tag::Atm | Tag::Lis | Tag::Str),
            TypeTest::IsList => store.skip_list(term).1 == crate::store::ListEnd::Nil,
            TypeTest::String => store.view(term) == View::Text,
        }
    }

    #[inline]
    fn compare_terms(&mut self, comparison: Comparison, a: Term, b: Term) -> bool {
        let store = &mut self.core.store;
        let (a, b) = (store.deref(a), store.deref(b));
        if a == b {
            return comparison.holds(Ordering::Equal);
        }
        // Two different words that point nowhere are two different terms.
        if !(a.is_pointer() && b.is_pointer()) && matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return comparison == Comparison::NotEqual;
        }
        comparison.holds(store.compare(&self.core.atoms, a, b))
    }

    #[cold]
    fn compare_values(&mut self, comparison: Comparison, a: Term, b: Term) -> Solved {
        let a = arithmetic::evaluated(&mut self.core, a)?;
        let b = arithmetic::evaluated(&mut self.core, b)?;
        Ok(match arithmetic::compare(&self.core, a, b) {
            Some(order) => comparison.holds(order),
            None => comparison == Comparison::NotEqual,
        })
    }

    #[cold]
    fn compute(&mut self, operation: Arithmetic, a: Term, b: Term) -> Solved<Term> {
        let core = &mut self.core;
        let a = arithmetic::evaluated(core, a)?;
        let b = arithmetic::evaluated(core, b)?;
        match operation {
            Arithmetic::Add => arithmetic::add(core, a, b),
            Arithmetic::Subtract => arithmetic::subtract(core, a, b),
            Arithmetic::Multiply => arithmetic::multiply(core, a, b),
            Arithmetic::Divide => arithmetic::divide(core, a, b),
            Arithmetic::IntegerDivide => arithmetic::int_divide(core, a, b),
            Arithmetic::Modulo => arithmetic::modulo(core, a, b),
            Arithmetic::Remainder => arithmetic::remainder(core, a, b),
            Arithmetic::Minimum => arithmetic::min(core, a, b),
            Arithmetic::Maximum => arithmetic::max(core, a, b),
            Arithmetic::ShiftLeft => arithmetic::shift_left(core, a, b),
            Arithmetic::ShiftRight => arithmetic::shift_right(core, a, b),
            Arithmetic::And => arithmetic::and(core, a, b),
            Arithmetic::Or => arithmetic::or(core, a, b),
            Arithmetic::Xor => arithmetic::xor(core, a, b),
        }
    }

    fn comparison_functor(&self, comparison: Comparison) -> Functor {
        let name = match comparison {
            Comparison::Equal => atoms::NUMBER_EQ,
            Comparison::NotEqual => atoms::NUMBER_NE,
            Comparison::Less => atoms::LESS,
            Comparison::LessOrEqual => atoms::LESS_EQ,
            Comparison::Greater => atoms::GREATER,
            Comparison::GreaterOrEqual => atoms::GREATER_EQ,
        };
        Functor::new(name, 2)
    }

    /// The goal that an arithmetic instruction is part of: the comparison that follows, or `is/2`.
    #[cold]
    fn arithmetic_context(&self, code: &[Instruction], pc: usize) -> Functor {
        for instruction in &code[pc + 1..] {
            match instruction {
                Instruction::CompareNumbers { comparison, .. } | Instruction::CompareWithSmall { comparison, .. } => {
                    return self.comparison_functor(*comparison);
                }
                Instruction::Compute { .. }
                | Instruction::ComputeWithSmall { .. }
                | Instruction::PutConstant { .. }
                | Instruction::PutValueY { .. } => {}
                _ => break,
            }
        }
        Functor::new(atoms::IS, 2)
    }
}

#[inline(always)]
fn new_structure(cells: &mut Vec<Term>, functor: Functor) -> Term {
    let address = cells.len();
    let header = functor.header();
    // Small sizes as constants: a call to fill memory costs more than the filling.
    match functor.arity() {
        1 => cells.extend_from_slice(&[header, Term(0)]),
        2 => cells.extend_from_slice(&[header, Term(0), Term(0)]),
        3 => cells.extend_from_slice(&[header, Term(0), Term(0), Term(0)]),
        arity => {
            cells.resize(address + 1 + arity, Term(0));
            cells[address] = header;
        }
    }
    Term::structure(address)
}

/// The result of an operation on small integers, when it is a small integer itself.
#[inline(always)]
fn small_operation(operation: Arithmetic, a: i64, b: i64) -> Option<i64> {
    let value = match operation {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a.checked_mul(b)?,
        Arithmetic::IntegerDivide if b != 0 => a / b,
        Arithmetic::Modulo if b != 0 => a.rem_euclid(b) + if b < 0 && a.rem_euclid(b) != 0 { b } else { 0 },
        Arithmetic::Remainder if b != 0 => a % b,
        Arithmetic::Minimum => a.min(b),
        Arithmetic::Maximum => a.max(b),
        Arithmetic::And => a & b,
        Arithmetic::Or => a | b,
        Arithmetic::Xor => a ^ b,
        _ => return None,
    };
    Term::fits_small(value).then_some(value)
}

/// The instructions that every program starts with, at the labels that have names.
pub(crate) fn prelude() -> Vec<Instruction> {
    let mut code = vec![Instruction::Fail, Instruction::Stop, Instruction::Resume];
    debug_assert_eq!(code.len(), CATCH_EXIT as usize);
    code.extend([Instruction::CatchExit, Instruction::Deallocate, Instruction::Proceed]);
    code
}
