//! What the emitter knows at one point of a clause: which variables have a value, and which registers hold one.
//!
//! A branch starts with the state before its construct. Saving and restoring takes time in proportion to the registers,
//! and to the variables that a branch met, but not to the variables of the clause: otherwise a clause with many branches
//! and variables would take quadratic time to compile.

use crate::compiler::registers::Registers;
use crate::compiler::variables::VariableId;

pub(super) struct State {
    pub(super) registers: Registers,
    seen: Vec<bool>,
    /// The variables that were seen, in order: a restored state forgets the last ones.
    order: Vec<VariableId>,
    location: Vec<Option<u8>>,
    /// The variables with a location.
    located: Vec<VariableId>,
}

/// A state to which [`State::restore`] returns.
pub(super) struct Saved {
    registers: Registers,
    seen: usize,
    located: Vec<(VariableId, u8)>,
}

impl State {
    /// The state at the start of a clause with this many variables.
    pub(super) fn new(variables: usize, registers: Registers) -> State {
        State {
            registers,
            seen: vec![false; variables],
            order: Vec::new(),
            location: vec![None; variables],
            located: Vec::new(),
        }
    }

    /// Whether the variable has a value at this point.
    pub(super) fn is_seen(&self, id: VariableId) -> bool {
        self.seen[id]
    }

    /// Records that the variable has a value from here on.
    pub(super) fn see(&mut self, id: VariableId) {
        if !self.seen[id] {
            self.seen[id] = true;
            self.order.push(id);
        }
    }

    /// The register in which the variable lives.
    pub(super) fn location(&self, id: VariableId) -> Option<u8> {
        self.location[id]
    }

    /// Records that the variable lives in `register` from here on.
    pub(super) fn locate(&mut self, id: VariableId, register: u8) {
        if self.location[id].replace(register).is_none() {
            self.located.push(id);
        }
    }

    /// Forgets the register of a variable, and returns it.
    pub(super) fn unlocate(&mut self, id: VariableId) -> Option<u8> {
        let register = self.location[id].take();
        if register.is_some()
            && let Some(position) = self.located.iter().position(|&other| other == id)
        {
            self.located.swap_remove(position);
        }
        register
    }

    /// Whether a variable lives in this register.
    pub(super) fn is_home(&self, register: u8) -> bool {
        self.located.iter().any(|&id| self.location[id] == Some(register))
    }

    /// Records that the variables in one register now live in another.
    pub(super) fn relocate(&mut self, from: u8, to: u8) {
        for &id in &self.located {
            if self.location[id] == Some(from) {
                self.location[id] = Some(to);
            }
        }
    }

    /// Frees all registers and forgets which variables live in them, because a call or a branch may overwrite them.
    pub(super) fn forget_registers(&mut self) {
        self.registers.clear();
        for id in self.located.drain(..) {
            self.location[id] = None;
        }
    }

    pub(super) fn save(&self) -> Saved {
        let located = self.located.iter().filter_map(|&id| self.location[id].map(|register| (id, register)));
        Saved { registers: self.registers.clone(), seen: self.order.len(), located: located.collect() }
    }

    /// Returns to a saved state. States are restored in the reverse order in which they were saved.
    pub(super) fn restore(&mut self, saved: &Saved) {
        self.forget_registers();
        self.registers.clone_from(&saved.registers);
        for &(id, register) in &saved.located {
            self.locate(id, register);
        }
        for id in self.order.drain(saved.seen..) {
            self.seen[id] = false;
        }
    }
}
