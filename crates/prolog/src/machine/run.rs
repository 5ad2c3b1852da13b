//! The instruction loop.

use super::calls::{Flow, Next};
use super::choices::ChoiceKind;
use super::exceptions::Culprit;
use super::inline::small_operation;
use super::parts::new_structure;
use super::{Machine, Stopped};
use crate::arithmetic;
use crate::host::Relations;
use crate::instruction::{CATCH_EXIT, FAIL, Instruction, Label};
use crate::program::{Definition, Program, Shortcut};
use crate::symbols::atoms;
use crate::term::{Functor, Tag, Term};
use std::sync::Arc;

/// Where a run starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// At the goal in `X0`.
    Goal,
    /// At the next alternative.
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

    /// Calls a goal that is a term.
    pub(super) fn call_term(&mut self, program: &Program, host: &dyn Relations, goal: Term) -> Flow {
        let culprit = Culprit { functor: Functor::new(atoms::CALL, 1) };
        match self.prepare_call(goal, 0) {
            Ok(Next::Predicate(predicate)) => self.enter(program, host, predicate),
            Ok(Next::Done) => Flow::Goto(self.continuation),
            Ok(Next::Fail) => Flow::Fail,
            Ok(Next::Undefined(functor)) => self.undefined(functor),
            Err(raised) => Flow::Raise(raised, culprit),
        }
    }

    fn execute(&mut self, program: &Program, host: &dyn Relations, start: Label) -> Result<Stopped, Stopped> {
        let code = &program.code[..];
        let mut pc = start as usize;
        // The cell with the next part of a compound or, in write mode, the cell to write the part to.
        let mut part = 0;
        let mut writing = false;

        macro_rules! goto {
            ($label:expr) => {{
                pc = $label as usize;
                continue;
            }};
        }
        macro_rules! fail {
            () => {{
                let label = self.quick_retry(program, host);
                if label != FAIL {
                    goto!(label);
                }
                goto!(self.backtrack(program, host)?)
            }};
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
        // Runs the goals that previous unifications have woken, before the current instruction.
        macro_rules! wake {
            ($live:expr) => {
                if !self.core.store.woken.is_empty() {
                    if let Some(label) = self.service_interrupts(program, host, pc as Label, $live as usize)? {
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
                    if let Some(label) = self.service_interrupts_before_call(program, host, $at as Label, live)? {
                        goto!(label);
                    }
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
                Instruction::PutPairOfValues { x, first, second, functor } => {
                    let cells = &mut self.core.store.cells;
                    let address = cells.len();
                    cells.extend_from_slice(&[functor.header(), self.x[first as usize], self.x[second as usize]]);
                    self.x[x as usize] = Term::structure(address);
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
                Instruction::Charge { cells } => self.charge_clause(cells)?,
                Instruction::Allocate { slots } => self.allocate(slots as usize),
                Instruction::Deallocate => self.deallocate(),
                Instruction::Call { predicate } => {
                    self.continuation = pc as Label + 1;
                    enter!(predicate, pc);
                }
                Instruction::Execute { predicate } => enter!(predicate, pc),
                Instruction::CallRows { call, live } => {
                    let meter = &mut self.core.store.meter;
                    meter.inferences += 1;
                    if meter.inferences >= meter.attention_at
                        && let Some(label) = self.service_interrupts(program, host, pc as Label, live as usize)?
                    {
                        goto!(label);
                    }
                    if !self.first_row(host, &program.row_calls[call as usize], pc) {
                        fail!();
                    }
                }
                Instruction::TestNoRows { call, otherwise } => {
                    self.core.store.meter.inferences += 1;
                    let found = self.has_row(host, &program.row_calls[call as usize]);
                    unless!(!found, otherwise);
                }
                Instruction::Proceed => goto!(self.continuation),
                Instruction::NeckCut { live } => {
                    wake!(live);
                    if self.cut_to(self.barrier) {
                        wake!(live);
                    }
                }
                Instruction::SaveNeck { y } => self.set_slot(y, Term::small(self.barrier as i64)),
                Instruction::SaveCut { y } => self.set_slot(y, Term::small(self.choices.len() as i64)),
                Instruction::CutTo { y, below, live } => {
                    wake!(live);
                    let height = self.slot(y).small_value() as usize - below as usize;
                    if self.cut_to(height) {
                        wake!(live);
                    }
                }
                Instruction::SoftCut { y, live } => {
                    wake!(live);
                    let height = self.slot(y).small_value() as usize;
                    if let Some(choice) = self.choices.get_mut(height - 1) {
                        choice.kind = ChoiceKind::Dead;
                    }
                }
                Instruction::TryElse { otherwise } => {
                    // Woken goals run first, because backtracking to the new choice point would drop them.
                    wake!(0);
                    self.push_choice(ChoiceKind::Label, otherwise, 0, 0);
                }
                Instruction::RetryElse { otherwise } => self.set_next(otherwise),
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
                            Err(raised) => raise!(raised, Machine::comparison_functor(comparison)),
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
                            Err(raised) => raise!(raised, Machine::comparison_functor(comparison)),
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
                            Err(raised) => raise!(raised, Machine::arithmetic_context(code, pc)),
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
                            Err(raised) => raise!(raised, Machine::arithmetic_context(code, pc)),
                        },
                    }
                }
                Instruction::Evaluate { to, from } => {
                    match arithmetic::evaluated(&mut self.core, self.x[from as usize]) {
                        Ok(value) => self.x[to as usize] = value,
                        Err(raised) => raise!(raised, Machine::arithmetic_context(code, pc)),
                    }
                }

                // ---- aggregation
                Instruction::CollectStart { aggregation } => self.core.collectors.start(aggregation),
                Instruction::CollectAdd { x, live } => {
                    wake!(live);
                    if let Err(raised) = self.core.collect_add(self.x[x as usize]) {
                        raise!(raised, Functor::new(atoms::IS, 2));
                    }
                    fail!();
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
}

/// The instructions at the start of every program, at labels such as `FAIL` and `CATCH_EXIT`.
pub(crate) fn prelude() -> Vec<Instruction> {
    let mut code = vec![Instruction::Fail, Instruction::Stop, Instruction::Resume];
    debug_assert_eq!(code.len(), CATCH_EXIT as usize);
    code.extend([Instruction::CatchExit, Instruction::Deallocate, Instruction::Proceed]);
    code
}
