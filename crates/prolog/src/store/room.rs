//! Room for new cells.

use super::Store;
use crate::fault::{Raised, Solved};
use crate::meter::Resource;

impl Store {
    /// How many more cells the heap budget allows.
    pub(crate) fn room(&self) -> usize {
        self.meter.cell_limit.saturating_sub(self.cells.len())
    }

    /// Ensures that `cells` more fit in the heap budget, before anything big is built.
    pub(crate) fn reserve(&mut self, cells: usize) -> Solved<()> {
        if cells <= self.room() { Ok(()) } else { Err(self.out_of_room()) }
    }

    /// Records that the heap budget is spent.
    #[cold]
    pub(crate) fn out_of_room(&mut self) -> Raised {
        self.meter.exhaust(Resource::HeapBytes);
        Raised::Exhausted(Resource::HeapBytes)
    }
}
