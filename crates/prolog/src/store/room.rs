//! Room for new cells, and what long walks are charged.

use super::Store;
use crate::fault::{Raised, Solved};
use crate::meter::Resource;

/// How many steps of a walk pass between two looks at the budget.
pub(super) const STRIDE: u64 = 1024;
/// A walk this short is part of the inference that makes it.
const FREE_STEPS: u64 = 4;
/// A vector that takes more than this part of the heap budget must not be copied to grow.
const LARGE_SHARE: usize = 16;
/// Elements that may be added between two looks at a vector's capacity, as far as is known.
const SPARE: usize = 1 << 16;
/// A walk that takes more steps than this remembers where it was: the term may be cyclic, or share its parts.
const PATIENCE_MAX: usize = 1 << 20;

impl Store {
    /// How many more words the heap budget allows, in the store or outside of it.
    pub(crate) fn room(&self) -> usize {
        self.meter.cell_limit.saturating_sub(self.words())
    }

    /// The words that the query uses, as far as the store knows.
    pub(crate) fn words(&self) -> usize {
        self.cells.len() + self.trail.len() + self.meter.words_elsewhere()
    }

    /// Ensures that `words` more fit in the heap budget, before anything big is built.
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

    /// Records that the heap budget is spent.
    #[cold]
    pub(crate) fn out_of_room(&mut self) -> Raised {
        self.meter.exhaust(Resource::HeapBytes);
        Raised::Exhausted(Resource::HeapBytes)
    }

    /// Charges a walk over `cells` cells; an error when the budget is spent.
    pub(crate) fn charge(&mut self, cells: u64) -> Solved<()> {
        self.meter.walk(cells);
        match self.meter.exhausted() {
            Some(resource) => Err(Raised::Exhausted(resource)),
            None => Ok(()),
        }
    }

    /// Charges [`STRIDE`] steps of a walk whose own memory takes `words`; false when the budget is spent.
    #[cold]
    pub(super) fn may_walk_on(&mut self, cells: u64, words: usize) -> bool {
        if words > self.room() {
            self.out_of_room();
        }
        self.meter.walk(cells)
    }

    /// Charges what is left of a walk at its end.
    #[inline]
    pub(super) fn end_walk(&mut self, steps: u64) {
        if steps > FREE_STEPS {
            self.meter.walk(steps);
        }
    }

    /// How many steps a walk takes before it remembers where it was. A term without shared parts has no more parts than there are
    /// cells.
    pub(crate) fn patience(&self) -> usize {
        self.cells.len().clamp(STRIDE as usize, PATIENCE_MAX)
    }

    /// Prepares the store for more cells and bindings; returns how many cells it had at most since the last time.
    pub(crate) fn grow(&mut self) -> usize {
        grow_within(&mut self.cells, self.meter.cell_limit, SPARE);
        grow_within(&mut self.trail, self.meter.cell_limit, SPARE);
        std::mem::take(&mut self.tallest).max(self.cells.len())
    }

    /// Returns unused pages of cells and trail to the system.
    pub(crate) fn give_back(&mut self) {
        give_back(&mut self.cells);
        give_back(&mut self.trail);
    }

    /// Prepares a vector that is nearly full for more, once it takes a good part of the heap budget: it gets the
    /// address range that the budget allows, and never has to be copied again. Copies of large vectors, not their
    /// contents, are what would exceed the budget; untouched pages cost nothing.
    pub(crate) fn grow_within_budget<T>(&self, vector: &mut Vec<T>) {
        grow_within(vector, self.meter.cell_limit, SPARE);
    }
}

/// Makes a vector that has much spare room shorter.
pub(crate) fn give_back<T>(vector: &mut Vec<T>) {
    if vector.capacity() > vector.len() + SPARE {
        vector.shrink_to(vector.len() + SPARE);
    }
}

/// See [`Store::grow_within_budget`]; `limit` is in words. `more` elements are to be added.
fn grow_within<T>(vector: &mut Vec<T>, limit: usize, more: usize) {
    let limit = limit.saturating_mul(8) / size_of::<T>().max(1);
    let needed = vector.len() + more;
    if needed > vector.capacity() && needed > limit / LARGE_SHARE && vector.capacity() < limit {
        // Where there is no such range, the vector grows as vectors do.
        let _ = vector.try_reserve_exact(limit - vector.len() + SPARE);
    }
}
