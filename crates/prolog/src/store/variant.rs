//! Equality up to the names of variables.

use super::Store;
use crate::fault::Solved;
use crate::term::{Functor, Tag, Term};
use rustc_hash::FxHashMap;

impl Store {
    /// Whether two terms are equal up to renaming of variables.
    pub(crate) fn is_variant(&mut self, a: Term, b: Term) -> Solved {
        let mut names = Names::default();
        let mut pending = vec![(a, b)];
        let mut steps = 0;
        while let Some((a, b)) = pending.pop() {
            steps += 1;
            if steps == 1024 {
                steps = 0;
                self.charge(1024)?;
                self.reserve(2 * pending.len())?;
            }
            let (a, b) = (self.deref(a), self.deref(b));
            let equal = match (a.tag(), b.tag()) {
                (Tag::Ref | Tag::Att, Tag::Ref | Tag::Att) => names.agree(a, b),
                (Tag::Lis, Tag::Lis) => {
                    let (x, y) = (a.address(), b.address());
                    pending.push((self.cells[x + 1], self.cells[y + 1]));
                    pending.push((self.cells[x], self.cells[y]));
                    true
                }
                (Tag::Str, Tag::Str) => {
                    let (x, y) = (a.address(), b.address());
                    if self.cells[x] != self.cells[y] {
                        return Ok(false);
                    }
                    for index in (1..=Functor(self.cells[x].0).arity()).rev() {
                        pending.push((self.cells[x + index], self.cells[y + index]));
                    }
                    true
                }
                (Tag::Box, Tag::Box) => self.equal_boxes(a.address(), b.address()),
                _ => a == b,
            };
            if !equal {
                return Ok(false);
            }
        }
        self.charge(steps)?;
        Ok(true)
    }
}

/// Which variable on the left stands for which on the right, and back.
#[derive(Default)]
struct Names {
    left: FxHashMap<Term, Term>,
    right: FxHashMap<Term, Term>,
}

impl Names {
    fn agree(&mut self, a: Term, b: Term) -> bool {
        *self.left.entry(a).or_insert(b) == b && *self.right.entry(b).or_insert(a) == a
    }
}
