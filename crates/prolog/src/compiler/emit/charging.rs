//! Charges for long stretches of code without a call.
//!
//! A call is one inference, which covers the work of its clause until the next call. If that work exceeds [`FREE`], the
//! clause contains an [`Instruction::Charge`] for it.

use super::Emitter;
use crate::compiler::goals::Goal;
use crate::instruction::Instruction;
use crate::term::{Tag, Term};

/// The number of instructions, or of subterms, whose work one inference covers.
const FREE: usize = 32;

impl Emitter<'_> {
    /// Writes a charge before a goal with large terms, and after more than [`FREE`] instructions without a call or
    /// charge.
    pub(super) fn charge(&mut self, goal: &Goal) {
        let size = match goal {
            Goal::Unify(a, b) | Goal::CompareTerms(_, a, b) | Goal::CompareNumbers(_, a, b) | Goal::Is(a, b) => {
                self.size_of(&[*a, *b])
            }
            Goal::Test(_, term) | Goal::Body(term, _) => self.size_of(&[*term]),
            Goal::Builtin(_, terms) | Goal::Call(_, terms) | Goal::Rows(_, terms) | Goal::NoRows(_, terms) => {
                self.size_of(terms)
            }
            _ => 0,
        };
        let ran = self.code.len() - self.charged;
        self.charge_large(size + if ran > FREE { ran } else { 0 });
    }

    /// Writes a charge for work of this size, unless an inference covers it.
    pub(super) fn charge_large(&mut self, size: usize) {
        if size > FREE {
            self.code.push(Instruction::Charge { cells: u32::try_from(size).unwrap_or(u32::MAX) });
            self.charged = self.code.len();
        }
    }

    /// The number of subterms of these terms, plus the words of their boxed numbers and strings.
    pub(super) fn size_of(&self, terms: &[Term]) -> usize {
        let mut size = 0;
        let mut pending = terms.to_vec();
        while let Some(term) = pending.pop() {
            size += 1;
            let term = self.store.deref(term);
            let (start, end) = self.store.argument_range(term);
            pending.extend_from_slice(&self.store.cells[start..end]);
            if term.has_tag(Tag::Box) {
                size += self.store.box_words(term);
            }
        }
        size
    }
}
