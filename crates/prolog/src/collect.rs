//! Collecting the answers of a goal: `findall/3`, and `aggregate_all/3` with `count`, `sum(X)`, `max(X)`, `min(X)`,
//! `bag(X)` or `set(X)`.
//!
//! The elements of a list are copied out of the store as they are found, into one block shared by all open collections,
//! and copied back in one pass at the end. Counts, sums, maxima and minima are kept as numbers.

use crate::arithmetic;
use crate::builtins::sorted_set;
use crate::core::Core;
use crate::fault::{Raised, Solved};
use crate::instruction::Aggregation;
use crate::meter::Resource;
use crate::number::Number;
use crate::store::give_back;
use crate::stored::{Attributes, Block};
use crate::term::{Tag, Term};

/// The maximum size in cells of a list that is copied back free of charge.
const FREE_CELLS: usize = 16;

/// If the block has less free capacity than this number of cells, the budget is checked before the next value is
/// copied.
const SPARE_CELLS: usize = 16;

/// One open collection.
struct Collection {
    aggregation: Aggregation,
    first_cell: usize,
    first_root: usize,
    /// The count, the sum, or the largest or smallest number so far; `None` for lists, and before the first number of a
    /// maximum or minimum.
    number: Option<Number>,
}

/// All open collections of a machine, innermost last.
#[derive(Default)]
pub(crate) struct Collectors {
    block: Block,
    roots: Vec<Term>,
    open: Vec<Collection>,
}

impl Collectors {
    pub(crate) fn start(&mut self, aggregation: Aggregation) {
        let number = matches!(aggregation, Aggregation::Count | Aggregation::Sum).then_some(Number::Int(0));
        self.open.push(Collection {
            aggregation,
            first_cell: self.block.cells.len(),
            first_root: self.roots.len(),
            number,
        });
    }

    /// The number of open collections.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Drops the collections above `depth` after an exception. Returns the number of words freed.
    pub(crate) fn abandon(&mut self, depth: usize) -> usize {
        let Some(collection) = self.open.get(depth) else { return 0 };
        let words = self.words();
        self.block.cells.truncate(collection.first_cell);
        self.roots.truncate(collection.first_root);
        self.open.truncate(depth);
        words - self.words()
    }

    /// Returns unused memory of the buffers to the system.
    pub(crate) fn give_back(&mut self) {
        give_back(&mut self.block.cells);
        give_back(&mut self.roots);
    }

    /// The words used by collected values.
    pub(crate) fn words(&self) -> usize {
        self.block.cells.len() + self.roots.len()
    }

    pub(crate) fn reset(&mut self) {
        self.block.clear();
        self.roots.clear();
        self.open.clear();
    }
}

impl Core {
    /// Adds a value to the innermost collection; evaluates it for a sum, maximum or minimum.
    pub(crate) fn collect_add(&mut self, value: Term) -> Solved<()> {
        let Some(collection) = self.collectors.open.last_mut() else { return Ok(()) };
        match collection.aggregation {
            Aggregation::Bag | Aggregation::Set => {
                let value = self.store.deref(value);
                let before = self.collectors.words();
                let cells = &mut self.collectors.block.cells;
                if cells.len() + SPARE_CELLS > cells.capacity() {
                    self.store.reserve(cells.len())?;
                    self.store.grow_within_budget(cells);
                }
                let root = if value.is_pointer() {
                    self.collectors
                        .block
                        .copy(&mut self.store, value, Attributes::Copy)
                        .ok_or(Raised::Exhausted(Resource::HeapBytes))?
                } else {
                    value
                };
                let roots = &mut self.collectors.roots;
                if roots.len() == roots.capacity() {
                    self.store.reserve(roots.len())?;
                    self.store.grow_within_budget(roots);
                }
                roots.push(root);
                self.store.meter.hold(self.collectors.words() - before);
            }
            Aggregation::Count => {
                if let Some(Number::Int(count)) = &mut collection.number {
                    *count += 1;
                }
            }
            Aggregation::Sum | Aggregation::Maximum | Aggregation::Minimum => {
                let aggregation = collection.aggregation;
                let value = self.store.deref(value);
                if let (Some(Number::Int(so_far)), Tag::Int) = (&mut collection.number, value.tag()) {
                    let value = value.small_value();
                    let result = match aggregation {
                        Aggregation::Maximum => Some(value.max(*so_far)),
                        Aggregation::Minimum => Some(value.min(*so_far)),
                        _ => so_far.checked_add(value),
                    };
                    if let Some(result) = result {
                        *so_far = result;
                        return Ok(());
                    }
                }
                let so_far = collection.number.take();
                let value = arithmetic::evaluate(self, value)?;
                let number = match so_far {
                    None => value,
                    Some(so_far) => self.combine(aggregation, so_far, value)?,
                };
                if let Some(collection) = self.collectors.open.last_mut() {
                    collection.number = Some(number);
                }
            }
        }
        Ok(())
    }

    fn combine(&mut self, aggregation: Aggregation, so_far: Number, value: Number) -> Solved<Number> {
        if let (Number::Int(a), Number::Int(b)) = (&so_far, &value) {
            match aggregation {
                Aggregation::Maximum => return Ok(Number::Int(*a.max(b))),
                Aggregation::Minimum => return Ok(Number::Int(*a.min(b))),
                _ => {
                    if let Some(sum) = a.checked_add(*b) {
                        return Ok(Number::Int(sum));
                    }
                }
            }
        }
        let a = arithmetic::from_number(&mut self.store, so_far);
        let b = arithmetic::from_number(&mut self.store, value);
        let result = match aggregation {
            Aggregation::Maximum => arithmetic::max(self, a, b)?,
            Aggregation::Minimum => arithmetic::min(self, a, b)?,
            _ => arithmetic::add(self, a, b)?,
        };
        arithmetic::evaluate(self, result)
    }

    /// Closes the innermost collection and returns its result. `None` for the maximum or minimum of an empty
    /// collection, and if no collection is open.
    pub(crate) fn collect_end(&mut self) -> Solved<Option<Term>> {
        let Some(collection) = self.collectors.open.pop() else { return Ok(None) };
        if !matches!(collection.aggregation, Aggregation::Bag | Aggregation::Set) {
            return Ok(collection.number.map(|number| arithmetic::from_number(&mut self.store, number)));
        }
        let Collectors { block, roots, .. } = &mut self.collectors;
        let cells = &block.cells[collection.first_cell..];
        let found = &mut roots[collection.first_root..];
        let size = cells.len() + 2 * found.len();
        if size > FREE_CELLS {
            self.store.reserve(size)?;
            self.store.charge(size as u64)?;
        }
        let offset = self.store.cells.len().wrapping_sub(collection.first_cell);
        if !cells.is_empty() {
            self.store.paste_cells(cells, collection.first_cell, Term::reference(collection.first_cell));
        }
        for root in found.iter_mut() {
            if root.is_pointer() {
                *root = root.relocated(offset);
            }
        }
        let list = self.store.list(found, Term::NIL);
        let words = self.collectors.words();
        self.collectors.block.cells.truncate(collection.first_cell);
        self.collectors.roots.truncate(collection.first_root);
        self.store.meter.release(words - self.collectors.words());
        if collection.aggregation == Aggregation::Set {
            return sorted_set(self, list).map(Some);
        }
        Ok(Some(list))
    }
}
