//! Equality up to renaming of variables.

use super::Store;
use super::memory::VisitedPairs;
use super::room::STRIDE;
use crate::fault::Solved;
use crate::term::{Tag, Term};
use rustc_hash::FxHashMap;

/// Cost of looking up a pair of variables, in cells walked.
const VARIABLE_CELLS: u64 = 8;
/// Compounds with more arguments than this are charged in advance.
const WIDE: usize = 64;

impl Store {
    /// Whether two terms are equal up to renaming of variables.
    pub(crate) fn is_variant(&mut self, a: Term, b: Term) -> Solved {
        let mut names = Names::default();
        let mut pending = vec![(a, b)];
        let mut visited = VisitedPairs::new(self.patience(), self.cells.len());
        let mut steps = 0;
        while let Some((a, b)) = pending.pop() {
            steps += 1;
            if steps == STRIDE {
                steps = 0;
                self.reserve(2 * pending.len() + names.words())?;
                self.may_walk_pairs_on(&mut visited);
                self.charge(0)?;
            }
            let (a, b) = (self.deref(a), self.deref(b));
            let equal = match (a.tag(), b.tag()) {
                (Tag::Ref | Tag::Att, Tag::Ref | Tag::Att) => {
                    self.meter.walk(VARIABLE_CELLS);
                    names.agree(a, b)
                }
                (Tag::Lis, Tag::Lis) | (Tag::Str, Tag::Str) => {
                    let (x, y) = (a.address(), b.address());
                    if a.has_tag(Tag::Str) && self.cells[x] != self.cells[y] {
                        return Ok(false);
                    }
                    if visited.is_recording() && !visited.is_new_on_two_sides(x, y) {
                        continue;
                    }
                    let ((start, end), (other, _)) = (self.argument_range(a), self.argument_range(b));
                    if end - start > WIDE {
                        self.reserve(2 * (pending.len() + end - start))?;
                        self.charge((end - start) as u64)?;
                    }
                    for index in (0..end - start).rev() {
                        pending.push((self.cells[start + index], self.cells[other + index]));
                    }
                    true
                }
                (Tag::Box, Tag::Box) => self.equal_boxes(a.address(), b.address()),
                _ => a == b,
            };
            if !equal {
                self.end_walk(steps);
                return Ok(false);
            }
        }
        self.end_walk(steps);
        self.charge(0)?;
        Ok(true)
    }
}

/// The correspondence between the variables of both sides, in both directions.
#[derive(Default)]
struct Names {
    left: FxHashMap<Term, Term>,
    right: FxHashMap<Term, Term>,
}

impl Names {
    /// The memory of the tables in words.
    fn words(&self) -> usize {
        8 * (self.left.capacity() + self.right.capacity())
    }

    fn agree(&mut self, a: Term, b: Term) -> bool {
        *self.left.entry(a).or_insert(b) == b && *self.right.entry(b).or_insert(a) == a
    }
}
