//! Charges memory and long walks to the budget, and grows and shrinks vectors within it.

use super::Store;
use crate::fault::{Raised, Solved};
use crate::meter::Resource;

/// The number of steps of a walk between two checks of the budget.
pub(super) const STRIDE: u64 = 1024;
/// The number of steps of a walk that are covered by the inference of the call that makes it.
const FREE_STEPS: u64 = 4;
/// A vector that is full, and needs more than `1 / LARGE_SHARE` of the heap budget, is reallocated with a capacity for
/// the whole budget.
const LARGE_SHARE: usize = 16;
/// The number of elements that may be added between two checks of a vector's capacity. Shrinking leaves capacity for
/// them.
const SPARE: usize = 1 << 16;
/// The maximum of [`Store::patience`].
const PATIENCE_MAX: usize = 1 << 20;

impl Store {
    /// The number of words that the heap budget still allows, in the store or outside of it.
    pub(crate) fn room(&self) -> usize {
        self.meter.cell_limit.saturating_sub(self.words())
    }

    /// The words that the query uses: cells, trail, and the memory elsewhere that the meter counts.
    pub(crate) fn words(&self) -> usize {
        self.cells.len() + self.trail.len() + self.meter.words_elsewhere()
    }

    /// Returns an error, and marks the budget as exhausted, unless `words` more words fit in the heap budget. To be
    /// called before a large structure is built.
    pub(crate) fn reserve(&mut self, words: usize) -> Solved<()> {
        if words > self.room() {
            return Err(self.out_of_room());
        }
        self.tallest = self.tallest.max(self.cells.len() + words);
        if words > SPARE {
            grow_within(&mut self.cells, self.meter.cell_limit, words);
        }
        Ok(())
    }

    /// Records that the heap budget is exhausted.
    #[cold]
    pub(crate) fn out_of_room(&mut self) -> Raised {
        self.meter.exhaust(Resource::HeapBytes);
        Raised::Exhausted(Resource::HeapBytes)
    }

    /// Charges a walk over `cells` cells; an error if the budget is exhausted.
    pub(crate) fn charge(&mut self, cells: u64) -> Solved<()> {
        self.meter.walk(cells);
        match self.meter.exhausted() {
            Some(resource) => Err(Raised::Exhausted(resource)),
            None => Ok(()),
        }
    }

    /// Charges [`STRIDE`] steps of a walk, which cost `cells` cells, and checks that `words` words of memory fit in the
    /// heap budget. Returns false if the budget is exhausted.
    #[cold]
    pub(super) fn may_walk_on(&mut self, cells: u64, words: usize) -> bool {
        if words > self.room() {
            self.out_of_room();
        }
        self.meter.walk(cells)
    }

    /// Charges the remaining steps at the end of a walk. Up to [`FREE_STEPS`] are free.
    #[inline]
    pub(super) fn end_walk(&mut self, steps: u64) {
        if steps > FREE_STEPS {
            self.meter.walk(steps);
        }
    }

    /// The number of steps after which a walk assumes that the term may be cyclic or share subterms, so that it records
    /// visited compounds or checks for cycles. It is the number of cells, because a term without sharing has no more
    /// subterms than that, but at least [`STRIDE`] and at most [`PATIENCE_MAX`].
    pub(crate) fn patience(&self) -> usize {
        self.cells.len().clamp(STRIDE as usize, PATIENCE_MAX)
    }

    /// Prepares the store for more cells and bindings; returns the maximum number of cells in use or reserved since the
    /// last call.
    pub(crate) fn grow(&mut self) -> usize {
        grow_within(&mut self.cells, self.meter.cell_limit, SPARE);
        grow_within(&mut self.trail, self.meter.cell_limit, SPARE);
        std::mem::take(&mut self.tallest).max(self.cells.len())
    }

    /// Returns most of the unused memory of cells and trail to the system.
    pub(crate) fn give_back(&mut self) {
        give_back(&mut self.cells);
        give_back(&mut self.trail);
    }

    /// Prepares a nearly full vector for growth, if it takes a large part of the heap budget. The vector then reserves
    /// all the address space that the budget allows, so that it can grow without another reallocation, which would need
    /// memory for both copies. Untouched pages cost nothing.
    pub(crate) fn grow_within_budget<T>(&self, vector: &mut Vec<T>) {
        grow_within(vector, self.meter.cell_limit, SPARE);
    }
}

/// Shrinks a vector with much unused capacity.
pub(crate) fn give_back<T>(vector: &mut Vec<T>) {
    if vector.capacity() > vector.len() + SPARE {
        vector.shrink_to(vector.len() + SPARE);
    }
}

/// See [`Store::grow_within_budget`]; `limit` is in words. `more` elements will be added.
fn grow_within<T>(vector: &mut Vec<T>, limit: usize, more: usize) {
    let limit = limit.saturating_mul(8) / size_of::<T>().max(1);
    let needed = vector.len() + more;
    if needed > vector.capacity() && needed > limit / LARGE_SHARE && vector.capacity() < limit {
        // If that much address space is not available, the vector grows as usual.
        let _ = vector.try_reserve_exact(limit - vector.len() + SPARE);
    }
}
