//! Instructions that decompose and construct terms.

use super::{CompileError, Emitter, VariableId, Written};
use crate::instruction::{Instruction, SCRATCH};
use crate::term::{Functor, Tag, Term};

/// A register with a term for the next instruction.
#[derive(Clone, Copy)]
pub(in crate::compiler) struct Operand {
    pub(in crate::compiler) register: u8,
    /// Whether the register is no longer needed once the operand has been read.
    pub(super) temporary: bool,
}

impl Operand {
    /// An operand in a register allocated for it.
    pub(in crate::compiler) fn taken(register: u8) -> Operand {
        Operand { register, temporary: true }
    }
}

/// A part of a compound that is still to be written: a subterm, or the return from a subterm to the compound around it.
enum Part {
    Term(Term, Position),
    Return,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Inner,
    Last,
}

impl Emitter<'_> {
    // ---- variables -------------------------------------------------------------------------

    pub(super) fn id(&self, variable: Term) -> VariableId {
        self.analysis.ids[&variable.address()]
    }

    pub(super) fn is_void(&self, id: VariableId) -> bool {
        self.analysis.variables[id].occurrences == 1
    }

    pub(super) fn is_permanent(&self, id: VariableId) -> bool {
        self.analysis.variables[id].permanent
    }

    /// Counts one occurrence as written; after the last, the variable's register is free.
    pub(super) fn used(&mut self, id: VariableId) {
        self.remaining[id] -= 1;
        if self.remaining[id] == 0
            && let Some(register) = self.state.unlocate(id)
        {
            self.state.registers.free(register);
        }
    }

    /// Records that the variable lives in `register` from here on.
    pub(super) fn settle(&mut self, id: VariableId, register: u8) {
        self.state.see(id);
        self.state.locate(id, register);
        self.state.registers.occupy(register);
    }

    pub(in crate::compiler) fn take_register(&mut self, preferred: Option<u8>) -> Written<u8> {
        self.state.registers.take(preferred).ok_or(CompileError::TooLarge)
    }

    pub(super) fn register_of(&self, id: VariableId) -> Written<u8> {
        self.state.location(id).ok_or(CompileError::TooLarge)
    }

    // ---- heads -----------------------------------------------------------------------------

    /// Writes instructions that unify the head arguments with the argument registers.
    pub(super) fn head(&mut self, arguments: &[Term]) -> Written {
        for register in 0..arguments.len() {
            self.state.registers.occupy(register as u8);
        }
        let mut rest = Vec::new();
        for (position, &argument) in arguments.iter().enumerate() {
            let argument = self.store.deref(argument);
            if argument.is_variable() {
                self.head_variable(position as u8, argument)?;
            } else {
                rest.push((position as u8, argument));
            }
        }
        // Cheap tests first: a constant that differs avoids decomposing compounds.
        rest.sort_by_key(|(_, argument)| matches!(argument.tag(), Tag::Lis | Tag::Str));
        for (register, argument) in rest {
            self.get(register, argument, true)?;
        }
        Ok(())
    }

    pub(super) fn head_variable(&mut self, register: u8, variable: Term) -> Written {
        let id = self.id(variable);
        if self.is_void(id) {
            self.state.registers.free(register);
        } else if !self.state.is_seen(id) && !self.is_permanent(id) {
            self.settle(id, register);
        } else {
            self.assign_variable(register, id)?;
            self.state.registers.free(register);
            return Ok(());
        }
        self.used(id);
        Ok(())
    }

    /// Writes the unification of the term in a register with a variable of the clause. If the variable is new and has
    /// no environment slot, it lives in the register from here on, without an instruction.
    pub(super) fn assign_variable(&mut self, register: u8, id: VariableId) -> Written {
        match (self.state.is_seen(id), self.is_permanent(id)) {
            (false, true) => {
                let y = self.slot_of(id)?;
                self.code.push(Instruction::GetVariableY { y, x: register });
                self.state.see(id);
            }
            (true, true) => {
                let y = self.slot_of(id)?;
                self.code.push(Instruction::GetValueY { y, x: register });
            }
            (true, false) => {
                let with = self.register_of(id)?;
                self.code.push(Instruction::GetValueX { x: register, with });
            }
            (false, false) => self.settle(id, register),
        }
        self.used(id);
        Ok(())
    }

    /// Writes the unification of a register, allocated for this purpose, with any term. Frees the register unless a
    /// variable lives in it from here on.
    pub(in crate::compiler) fn assign(&mut self, register: u8, term: Term) -> Written {
        let term = self.store.deref(term);
        if !term.is_variable() {
            return self.get(register, term, true);
        }
        let id = self.id(term);
        if self.is_void(id) {
            self.used(id);
            self.state.registers.free(register);
            return Ok(());
        }
        let settles = !self.state.is_seen(id) && !self.is_permanent(id);
        self.assign_variable(register, id)?;
        if !settles {
            self.state.registers.free(register);
        }
        Ok(())
    }

    /// Writes the unification of a register with a term that is not a variable. Frees the register if `release` is set.
    pub(super) fn get(&mut self, register: u8, term: Term, release: bool) -> Written {
        match term.tag() {
            Tag::Lis => self.code.push(Instruction::GetList { x: register }),
            Tag::Str => {
                let functor = self.store.functor_at(term.address());
                self.code.push(Instruction::GetStructure { x: register, functor });
            }
            Tag::Box => {
                let literal = self.scope.literal(self.store, term);
                self.code.push(Instruction::GetLiteral { x: register, literal });
            }
            _ => self.code.push(Instruction::GetConstant { x: register, value: term }),
        }
        if release {
            self.state.registers.free(register);
        }
        self.parts_of(term)
    }

    // ---- parts -----------------------------------------------------------------------------

    /// Writes the instructions for the parts of a compound, depth first. Fuses them with the instruction for the
    /// compound itself if possible.
    pub(super) fn parts_of(&mut self, term: Term) -> Written {
        let start = self.code.len();
        self.write_parts(term)?;
        match term.tag() {
            Tag::Lis => self.fuse_list(start),
            Tag::Str => self.fuse_pair(start),
            _ => {}
        }
        Ok(())
    }

    /// Replaces the instructions of a list by a single one, if there is one for this kind of head and tail. The
    /// instructions for head and tail start at `start`.
    pub(super) fn fuse_list(&mut self, start: usize) {
        let variable = |instruction: &Instruction| match *instruction {
            Instruction::UnifyVariableX { x } => Some(x),
            Instruction::UnifyVoid { count: 1 } => Some(SCRATCH),
            _ => None,
        };
        let fused = match (&self.code[start - 1], &self.code[start..]) {
            (&Instruction::GetList { x }, [Instruction::UnifyVoid { count: 2 }]) => {
                Some(Instruction::GetListOfVariables { x, head: SCRATCH, tail: SCRATCH })
            }
            (&Instruction::GetList { x }, [Instruction::UnifyValueX { x: head }, tail]) => {
                variable(tail).map(|tail| Instruction::GetListOfValue { x, head: *head, tail })
            }
            (&Instruction::GetList { x }, [head, tail]) => match (variable(head), variable(tail)) {
                (Some(head), Some(tail)) => Some(Instruction::GetListOfVariables { x, head, tail }),
                _ => None,
            },
            (
                &Instruction::PutList { x },
                &[Instruction::UnifyValueX { x: head }, Instruction::UnifyValueX { x: tail }],
            ) => Some(Instruction::PutListOfValues { x, head, tail }),
            _ => None,
        };
        if let Some(fused) = fused {
            self.code.truncate(start - 1);
            self.code.push(fused);
        }
    }

    /// Replaces the instructions that build a structure whose two arguments are in registers by a single one. The
    /// instructions for the arguments start at `start`.
    pub(super) fn fuse_pair(&mut self, start: usize) {
        let &[Instruction::UnifyValueX { x: first }, Instruction::UnifyValueX { x: second }] = &self.code[start..]
        else {
            return;
        };
        if let Instruction::PutStructure { x, functor } = self.code[start - 1] {
            self.code.truncate(start - 1);
            self.code.push(Instruction::PutPairOfValues { x, first, second, functor });
        }
    }

    pub(super) fn write_parts(&mut self, term: Term) -> Written {
        let mut pending = Vec::new();
        self.push_parts(term, &mut pending);
        while let Some(part) = pending.pop() {
            match part {
                Part::Return => self.code.push(Instruction::Pop),
                Part::Term(term, position) => self.part(term, position, &mut pending)?,
            }
        }
        Ok(())
    }

    fn push_parts(&self, term: Term, pending: &mut Vec<Part>) {
        let (start, count) = match term.tag() {
            Tag::Lis => (term.address(), 2),
            Tag::Str => (term.address() + 1, self.store.functor_at(term.address()).arity()),
            _ => return,
        };
        for index in (0..count).rev() {
            let position = if index + 1 == count { Position::Last } else { Position::Inner };
            pending.push(Part::Term(self.store.argument(start, index), position));
        }
    }

    fn part(&mut self, term: Term, position: Position, pending: &mut Vec<Part>) -> Written {
        match term.tag() {
            Tag::Ref | Tag::Att => return self.variable_part(term),
            Tag::Box => {
                let literal = self.scope.literal(self.store, term);
                self.code.push(Instruction::UnifyLiteral { literal });
            }
            Tag::Lis | Tag::Str => {
                let functor = Functor(self.store.cells[term.address()].0);
                self.code.push(match (term.tag(), position) {
                    (Tag::Lis, Position::Inner) => Instruction::UnifyList,
                    (Tag::Lis, Position::Last) => Instruction::UnifyLastList,
                    (_, Position::Inner) => Instruction::UnifyStructure { functor },
                    (_, Position::Last) => Instruction::UnifyLastStructure { functor },
                });
                if position == Position::Inner {
                    pending.push(Part::Return);
                }
                self.push_parts(term, pending);
            }
            _ => self.code.push(Instruction::UnifyConstant { value: term }),
        }
        Ok(())
    }

    pub(super) fn variable_part(&mut self, variable: Term) -> Written {
        let id = self.id(variable);
        if self.is_void(id) {
            self.used(id);
            if let Some(Instruction::UnifyVoid { count }) = self.code.last_mut() {
                *count += 1;
            } else {
                self.code.push(Instruction::UnifyVoid { count: 1 });
            }
            return Ok(());
        }
        match (self.state.is_seen(id), self.is_permanent(id)) {
            (false, true) => {
                let y = self.slot_of(id)?;
                self.code.push(Instruction::UnifyVariableY { y });
                self.state.see(id);
            }
            (true, true) => {
                let y = self.slot_of(id)?;
                self.code.push(Instruction::UnifyValueY { y });
            }
            (true, false) => {
                let x = self.register_of(id)?;
                self.code.push(Instruction::UnifyValueX { x });
            }
            (false, false) => {
                let preferred = self.analysis.variables[id].preferred.filter(|_| !self.loading);
                let x = self.take_register(preferred)?;
                self.code.push(Instruction::UnifyVariableX { x });
                self.settle(id, x);
            }
        }
        self.used(id);
        Ok(())
    }

    // ---- building --------------------------------------------------------------------------

    /// Writes instructions that load a term into a register.
    pub(in crate::compiler) fn put(&mut self, x: u8, term: Term) -> Written {
        let term = self.store.deref(term);
        match term.tag() {
            Tag::Ref | Tag::Att => return self.put_variable(x, term),
            Tag::Lis => self.code.push(Instruction::PutList { x }),
            Tag::Str => {
                let functor = self.store.functor_at(term.address());
                self.code.push(Instruction::PutStructure { x, functor });
            }
            Tag::Box => {
                let literal = self.scope.literal(self.store, term);
                self.code.push(Instruction::PutLiteral { x, literal });
            }
            _ => self.code.push(Instruction::PutConstant { x, value: term }),
        }
        self.parts_of(term)
    }

    pub(super) fn put_variable(&mut self, x: u8, variable: Term) -> Written {
        let id = self.id(variable);
        match (self.state.is_seen(id), self.is_permanent(id)) {
            (false, _) if self.is_void(id) => self.code.push(Instruction::PutVariableX { x }),
            (false, true) => {
                let y = self.slot_of(id)?;
                self.code.push(Instruction::PutVariableY { y, x });
                self.state.see(id);
            }
            (true, true) => {
                let y = self.slot_of(id)?;
                self.code.push(Instruction::PutValueY { y, x });
            }
            (true, false) => {
                let from = self.register_of(id)?;
                if from != x {
                    self.code.push(Instruction::Move { to: x, from });
                }
            }
            (false, false) => {
                self.code.push(Instruction::PutVariableX { x });
                self.settle(id, x);
            }
        }
        self.used(id);
        Ok(())
    }

    /// The register of `term` if it is a variable that lives in one. Otherwise, writes instructions that load `term`
    /// into a new register.
    pub(in crate::compiler) fn operand(&mut self, term: Term) -> Written<Operand> {
        let term = self.store.deref(term);
        if term.is_variable() {
            let id = self.id(term);
            if self.state.is_seen(id) && !self.is_permanent(id) {
                let register = self.register_of(id)?;
                self.remaining[id] -= 1;
                // After its last occurrence, the variable's register is freed together with the operand.
                let temporary = self.remaining[id] == 0;
                if temporary {
                    self.state.unlocate(id);
                }
                return Ok(Operand { register, temporary });
            }
        }
        let register = self.take_register(None)?;
        self.put(register, term)?;
        let lives_on = self.state.is_home(register);
        Ok(Operand { register, temporary: !lives_on })
    }

    /// Frees the operand's register if it is temporary.
    pub(in crate::compiler) fn release(&mut self, operand: Operand) {
        if operand.temporary {
            self.state.registers.free(operand.register);
        }
    }
}
