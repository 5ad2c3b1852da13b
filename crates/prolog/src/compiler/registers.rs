//! Register allocation: tracks which of the 256 registers contain values that are still needed.

use crate::instruction::SCRATCH;

/// The occupied registers.
#[derive(Clone)]
pub(super) struct Registers {
    occupied: [bool; 256],
    /// The first register for temporaries; the registers below are for the arguments of the head and of calls.
    base: usize,
}

impl Registers {
    /// A set of free registers, of which the first `arguments` are reserved for arguments.
    pub(super) fn new(arguments: usize) -> Registers {
        Registers { occupied: [false; 256], base: arguments }
    }

    /// Allocates `preferred` if it is free, otherwise a register for temporaries. `None` if all of those are occupied.
    pub(super) fn take(&mut self, preferred: Option<u8>) -> Option<u8> {
        if let Some(register) = preferred
            && !self.occupied[register as usize]
        {
            self.occupied[register as usize] = true;
            return Some(register);
        }
        self.take_block(1)
    }

    /// Allocates `count` consecutive registers for temporaries, and returns the first. `None` if there are not enough.
    pub(super) fn take_block(&mut self, count: usize) -> Option<u8> {
        let mut start = self.base;
        let mut index = self.base;
        while index < start + count {
            if index >= SCRATCH as usize {
                return None;
            }
            if self.occupied[index] {
                start = index + 1;
            }
            index += 1;
        }
        self.occupied[start..start + count].fill(true);
        Some(start as u8)
    }

    pub(super) fn occupy(&mut self, register: u8) {
        self.occupied[register as usize] = true;
    }

    pub(super) fn free(&mut self, register: u8) {
        self.occupied[register as usize] = false;
    }

    pub(super) fn clear(&mut self) {
        self.occupied.fill(false);
    }

    /// One past the last occupied register; 0 if none is occupied.
    pub(super) fn live(&self) -> u8 {
        self.occupied.iter().rposition(|&occupied| occupied).map_or(0, |last| (last + 1).min(255) as u8)
    }
}
