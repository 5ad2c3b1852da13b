//! Instructions of single goals: calls, builtins, rows of host relations, unifications.

use super::terms::Operand;
use super::{CompileError, Emitter, VariableId, Written};
use crate::instruction::{FAIL, Instruction};
use crate::program::{Place, RowCall, Wanted};
use crate::term::{Tag, Term};

impl Emitter<'_> {
    /// Writes instructions that load the argument registers of a call.
    ///
    /// Variables may live in registers that are the targets of other arguments. An argument is loaded only when no
    /// other pending argument needs the value in its target register. A cycle is broken by moving one value to a
    /// temporary.
    pub(super) fn call_arguments(&mut self, arguments: &[Term]) -> Written {
        let mut pending: Vec<(u8, Term, Vec<u8>)> = Vec::new();
        for (position, &argument) in arguments.iter().enumerate() {
            pending.push((position as u8, argument, self.registers_in(argument, arguments.len())));
        }
        while !pending.is_empty() {
            let ready = pending.iter().position(|(target, argument, _)| {
                self.is_in_place(*target, *argument)
                    || pending.iter().all(|(other, argument, needs)| {
                        !needs.contains(target) || (other == target && self.store.deref(*argument).is_variable())
                    })
            });
            if let Some(index) = ready {
                let (target, argument, _) = pending.remove(index);
                self.put(target, argument)?;
                self.state.registers.occupy(target);
            } else {
                let from = pending[0].0;
                let to = self.take_register(None)?;
                self.code.push(Instruction::Move { to, from });
                self.state.relocate(from, to);
                for (_, _, needs) in &mut pending {
                    needs.retain(|&register| register != from);
                }
            }
        }
        Ok(())
    }

    fn is_in_place(&self, target: u8, argument: Term) -> bool {
        let argument = self.store.deref(argument);
        argument.is_variable() && self.state.location(self.id(argument)) == Some(target)
    }

    /// The argument registers below `limit` in which variables of `term` live.
    fn registers_in(&self, term: Term, limit: usize) -> Vec<u8> {
        let mut found = Vec::new();
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            let term = self.store.deref(term);
            match term.tag() {
                Tag::Ref | Tag::Att => {
                    if let Some(register) = self.state.location(self.id(term))
                        && (register as usize) < limit
                        && !found.contains(&register)
                    {
                        found.push(register);
                    }
                }
                Tag::Lis => pending.extend_from_slice(&self.store.cells[term.address()..term.address() + 2]),
                Tag::Str => {
                    let arity = self.store.functor_at(term.address()).arity();
                    pending.extend_from_slice(&self.store.cells[term.address() + 1..=term.address() + arity]);
                }
                _ => {}
            }
        }
        found
    }

    /// Writes an inline call of a deterministic builtin.
    pub(super) fn builtin(&mut self, builtin: u16, arguments: &[Term]) -> Written {
        let base = self.state.registers.take_block(arguments.len()).ok_or(CompileError::TooLarge)?;
        for (offset, &argument) in arguments.iter().enumerate() {
            self.put(base + offset as u8, argument)?;
            self.state.registers.occupy(base + offset as u8);
        }
        let live = self.state.registers.live();
        self.code.push(Instruction::Builtin { builtin, base, live });
        for register in base..base + arguments.len() as u8 {
            if !self.state.is_home(register) {
                self.state.registers.free(register);
            }
        }
        Ok(())
    }

    /// Writes the enumeration of the matching rows of a host relation.
    pub(super) fn rows(&mut self, relation: u16, arguments: &[Term]) -> Written {
        let (mut call, new) = self.row_call(relation, arguments)?;
        let live = self.state.registers.live();
        self.forget_registers();
        for (column, id) in new {
            if self.is_void(id) {
                self.used(id);
                continue;
            }
            if self.is_permanent(id) {
                call.new.push((column, Place::Y(self.slot_of(id)?)));
                self.state.see(id);
            } else {
                let register = self.take_register(self.analysis.variables[id].preferred)?;
                call.new.push((column, Place::X(register)));
                self.settle(id, register);
            }
            self.used(id);
        }
        let call = self.scope.row_call(call);
        self.code.push(Instruction::CallRows { call, live });
        Ok(())
    }

    /// Writes a test that a host relation has no matching row. Variables that are new in the goal match anything and
    /// remain unbound.
    pub(super) fn no_rows(&mut self, relation: u16, arguments: &[Term]) -> Written {
        let (call, new) = self.row_call(relation, arguments)?;
        new.into_iter().for_each(|(_, id)| self.used(id));
        let call = self.scope.row_call(call);
        self.push(Instruction::TestNoRows { call, otherwise: FAIL });
        Ok(())
    }

    /// A goal on a host relation with its known arguments; and the variables that are new in it, with their columns.
    fn row_call(&mut self, relation: u16, arguments: &[Term]) -> Written<(RowCall, Vec<(u8, VariableId)>)> {
        let mut call = RowCall { relation, ..RowCall::default() };
        let mut new = Vec::new();
        for (column, &argument) in arguments.iter().enumerate() {
            let argument = self.store.deref(argument);
            let wanted = match argument.tag() {
                Tag::Ref | Tag::Att => {
                    let id = self.id(argument);
                    if !self.state.is_seen(id) {
                        new.push((column as u8, id));
                        continue;
                    }
                    let wanted = if self.is_permanent(id) {
                        Wanted::Y(self.slot_of(id)?)
                    } else {
                        Wanted::X(self.register_of(id)?)
                    };
                    self.used(id);
                    wanted
                }
                Tag::Box => Wanted::X(self.operand(argument)?.register),
                _ => Wanted::Constant(argument),
            };
            call.known.push(column as u8);
            call.wanted.push(wanted);
        }
        Ok((call, new))
    }

    /// Writes `A = B`.
    pub(super) fn unify(&mut self, a: Term, b: Term) -> Written {
        let (a, b) = (self.store.deref(a), self.store.deref(b));
        if !a.is_variable() && !b.is_variable() {
            return self.unify_known(a, b);
        }
        // A new variable is simply assigned, so it is preferred to a known variable, whose value must be unified.
        let prefer_b = a.is_variable() && b.is_variable() && !self.is_new(a) && self.is_new(b);
        let (variable, other) = if prefer_b || !a.is_variable() { (b, a) } else { (a, b) };
        if self.is_new(variable) {
            let register = self.take_register(self.preferred_register(variable))?;
            let (first, second) = if self.occurs_in(variable, other) { (variable, other) } else { (other, variable) };
            self.put(register, first)?;
            self.state.registers.occupy(register);
            return self.assign(register, second);
        }
        let Operand { register, temporary } = self.operand(variable)?;
        if other.is_variable() {
            let id = self.id(other);
            self.assign_variable(register, id)?;
        } else {
            self.get(register, other, false)?;
        }
        if temporary && !self.state.is_home(register) {
            self.state.registers.free(register);
        }
        Ok(())
    }

    /// The register in which the call at the end of the chunk expects `term`, a new variable without an environment
    /// slot. `None` for any other term, or if `term` is not an argument of that call.
    pub(in crate::compiler) fn preferred_register(&self, term: Term) -> Option<u8> {
        let term = self.store.deref(term);
        self.is_new(term)
            .then(|| self.id(term))
            .filter(|&id| !self.is_permanent(id))
            .and_then(|id| self.analysis.variables[id].preferred)
    }

    pub(in crate::compiler) fn push(&mut self, instruction: Instruction) {
        self.code.push(instruction);
    }

    /// Whether a term is a variable without a value at this point.
    fn is_new(&self, term: Term) -> bool {
        term.is_variable() && !self.state.is_seen(self.id(term))
    }

    fn occurs_in(&self, variable: Term, term: Term) -> bool {
        let mut pending = vec![term];
        while let Some(term) = pending.pop() {
            let term = self.store.deref(term);
            if term == variable {
                return true;
            }
            match term.tag() {
                Tag::Lis => pending.extend_from_slice(&self.store.cells[term.address()..term.address() + 2]),
                Tag::Str => {
                    let arity = self.store.functor_at(term.address()).arity();
                    pending.extend_from_slice(&self.store.cells[term.address() + 1..=term.address() + arity]);
                }
                _ => {}
            }
        }
        false
    }

    /// Writes the unification of two terms that are not variables: `a` is built in a register and unified with `b`.
    fn unify_known(&mut self, a: Term, b: Term) -> Written {
        let register = self.take_register(None)?;
        self.put(register, a)?;
        self.state.registers.occupy(register);
        self.get(register, b, true)
    }
}
