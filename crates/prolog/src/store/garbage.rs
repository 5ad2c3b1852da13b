//! The store's part of garbage collection: marking the live cells and compacting them.
//!
//! This is a sliding mark-compact collector: it preserves the order of the cells. The age of variables, choice points
//! (which own all cells above an address) and the trail depend on that order. One bit per cell marks it as live. The
//! new address of a cell is computed from these bits and from one count per 64 cells, without reading the cell. If only
//! one argument of a compound is referred to, its cell is kept without the rest of the compound.

use super::{Store, TRAIL_VALUE};
use crate::term::{BoxHeader, Functor, Tag, Term};
use rustc_hash::FxHashMap;

/// The limit on pending ranges is at least this number. Beyond the limit, ranges are postponed to another pass over the
/// cells.
const PENDING_MIN: usize = 1 << 16;
/// The limit on pending ranges grows by one per this number of cells.
const CELLS_PER_PENDING: usize = 32;

/// The live cells.
pub(crate) struct Marks {
    bits: Vec<u64>,
    /// The number of live cells below each word of `bits`.
    below: Vec<u32>,
    /// Ranges of cells that must still be marked. The number of ranges is limited, so that a deep term does not need
    /// much memory.
    pending: Vec<(u32, u32)>,
    pending_max: usize,
    /// Whether some ranges were postponed.
    incomplete: bool,
}

impl Marks {
    pub(crate) fn new(cells: usize) -> Marks {
        Marks {
            bits: vec![0; cells / 64 + 1],
            below: Vec::new(),
            pending: Vec::new(),
            pending_max: PENDING_MIN.max(cells / CELLS_PER_PENDING),
            incomplete: false,
        }
    }

    #[inline]
    fn insert(&mut self, cell: usize) -> bool {
        let (word, bit) = (&mut self.bits[cell / 64], 1 << (cell % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    #[inline]
    fn contains(&self, cell: usize) -> bool {
        self.bits[cell / 64] & 1 << (cell % 64) != 0
    }

    /// Marks a cell and everything it refers to.
    pub(crate) fn mark_cell(&mut self, cells: &[Term], cell: usize) {
        self.mark_range(cells, cell, cell + 1);
    }

    /// Marks everything a term refers to.
    #[inline]
    pub(crate) fn mark(&mut self, cells: &[Term], term: Term) {
        if term.is_pointer() {
            let (start, end) = self.parts(cells, term);
            self.mark_range(cells, start, end);
        }
    }

    /// Marks the header, or the whole box, that a term refers to. Returns the range of the other cells that it refers
    /// to, which may still be unmarked; an empty range if there are none.
    #[inline]
    fn parts(&mut self, cells: &[Term], term: Term) -> (usize, usize) {
        let address = term.address();
        match term.tag() {
            Tag::Ref => (address, address + 1),
            Tag::Att | Tag::Lis => (address, address + 2),
            Tag::Str if self.insert(address) => (address + 1, address + 1 + Functor(cells[address].0).arity()),
            Tag::Box if self.insert(address) => {
                let words = BoxHeader::read(cells[address]).words();
                for cell in address + 1..=address + words {
                    self.insert(cell);
                }
                (0, 0)
            }
            Tag::Str | Tag::Box | Tag::Atm | Tag::Int | Tag::Hdr => (0, 0),
        }
    }

    fn mark_range(&mut self, cells: &[Term], start: usize, end: usize) {
        let (mut start, mut end) = (start, end);
        loop {
            if start == end {
                let Some(range) = self.pending.pop() else { return };
                (start, end) = (range.0 as usize, range.1 as usize);
            }
            let cell = start;
            start += 1;
            if !self.insert(cell) {
                continue;
            }
            let (first, last) = self.parts(cells, cells[cell]);
            if first == last {
                continue;
            }
            // Nothing is pending after the last part of a compound, so a list needs no stack.
            if start < end {
                if self.pending.len() < self.pending_max {
                    self.pending.push((start as u32, end as u32));
                } else {
                    self.incomplete = true;
                }
            }
            (start, end) = (first, last);
        }
    }

    /// Marks the postponed ranges: scans all live cells for references to unmarked cells, until no range is postponed.
    pub(crate) fn complete(&mut self, cells: &[Term]) {
        while std::mem::take(&mut self.incomplete) {
            let mut cell = 0;
            while cell < cells.len() {
                if self.bits[cell / 64] == 0 {
                    cell = (cell / 64 + 1) * 64;
                    continue;
                }
                let word = cells[cell];
                if !self.contains(cell) {
                    cell += 1;
                } else if BoxHeader::is_box_header(word) {
                    cell += 1 + BoxHeader::read(word).words();
                } else if word.has_tag(Tag::Hdr) {
                    self.mark_range(cells, cell + 1, cell + 1 + Functor(word.0).arity());
                    cell += 1;
                } else {
                    self.mark(cells, word);
                    cell += 1;
                }
            }
        }
    }

    /// Computes the table of new addresses, after marking.
    fn count(&mut self) {
        let mut below = 0;
        self.below = self
            .bits
            .iter()
            .map(|word| {
                let before = below;
                below += word.count_ones();
                before
            })
            .collect();
    }

    /// The new address of a cell; for a dead cell, that of the next live one.
    #[inline]
    pub(crate) fn moved_address(&self, cell: usize) -> usize {
        let word = self.bits[cell / 64] & ((1 << (cell % 64)) - 1);
        self.below[cell / 64] as usize + word.count_ones() as usize
    }

    /// A term with its new address.
    #[inline]
    pub(crate) fn moved(&self, term: Term) -> Term {
        if term.is_pointer() { Term::new(term.tag(), self.moved_address(term.address()) as u64) } else { term }
    }
}

/// A compaction of the trail in progress, from its newest entry to its oldest. Entries that are kept are first moved to
/// the end.
pub(crate) struct Trimming {
    /// The first entry of the trail that has been visited.
    read: usize,
    /// The first entry of the trail that is kept.
    pub(crate) kept: usize,
}

impl Store {
    pub(crate) fn start_trimming(&self) -> Trimming {
        Trimming { read: self.trail.len(), kept: self.trail.len() }
    }

    /// Visits the trail entries from the last visited one down to `end`, the length of the trail when a choice point
    /// was created. All cells that can be reached without backtracking to that choice point are already marked.
    ///
    /// A cell that is not marked can only be reached after its change has been undone, so the change is undone
    /// immediately. Of several changes of a cell, only the value before the first one matters. The old values that
    /// remain in the trail are marked.
    pub(crate) fn trim_trail(&mut self, marks: &mut Marks, trimming: &mut Trimming, end: usize) {
        let newest = trimming.kept;
        // For each cell with a kept entry that restores an old value: the position of this value in the trail.
        let mut changed: FxHashMap<usize, usize> = FxHashMap::default();
        while trimming.read > end {
            trimming.read -= 1;
            let entry = self.trail[trimming.read];
            let cell = (entry >> 1) as usize;
            let has_value = entry & TRAIL_VALUE != 0;
            let old = if has_value {
                trimming.read -= 1;
                Term(self.trail[trimming.read])
            } else {
                Term::reference(cell)
            };
            if !marks.contains(cell) {
                self.cells[cell] = old;
            } else if let Some(&place) = changed.get(&cell) {
                self.trail[place] = old.0;
            } else {
                trimming.kept -= 1;
                self.trail[trimming.kept] = entry;
                if has_value {
                    trimming.kept -= 1;
                    self.trail[trimming.kept] = old.0;
                    changed.insert(cell, trimming.kept);
                }
            }
        }
        let mut place = newest;
        while place > trimming.kept {
            place -= 1;
            if self.trail[place] & TRAIL_VALUE != 0 {
                place -= 1;
                marks.mark(&self.cells, Term(self.trail[place]));
            }
        }
    }

    /// Slides all live cells together, and compacts the trail. The caller must update the addresses outside the store.
    pub(crate) fn compact(&mut self, marks: &mut Marks, trimming: &Trimming) {
        marks.complete(&self.cells);
        marks.count();
        self.trail.drain(..trimming.kept);
        let mut place = self.trail.len();
        while place > 0 {
            place -= 1;
            let entry = self.trail[place];
            self.trail[place] = (marks.moved_address((entry >> 1) as usize) as u64) << 1 | entry & TRAIL_VALUE;
            if entry & TRAIL_VALUE != 0 {
                place -= 1;
                self.trail[place] = marks.moved(Term(self.trail[place])).0;
            }
        }
        for goal in &mut self.woken {
            *goal = marks.moved(*goal);
        }
        self.boundary = marks.moved_address(self.boundary);
        self.frozen = marks.moved_address(self.frozen);
        self.slide(marks);
    }

    fn slide(&mut self, marks: &Marks) {
        let mut to = 0;
        // Cells below this address and not yet copied are raw words of a box, not terms: they are copied unchanged.
        let mut raw_end = 0;
        for (group, &word) in marks.bits.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let cell = group * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let content = self.cells[cell];
                self.cells[to] = if cell < raw_end || content.has_tag(Tag::Hdr) {
                    if cell >= raw_end && BoxHeader::is_box_header(content) {
                        raw_end = cell + 1 + BoxHeader::read(content).words();
                    }
                    content
                } else {
                    marks.moved(content)
                };
                to += 1;
            }
        }
        self.cells.truncate(to);
    }
}
