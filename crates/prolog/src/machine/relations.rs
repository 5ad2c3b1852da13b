//! Calls of relations that the host keeps.

use super::Machine;
use super::calls::Flow;
use super::choices::{Choice, ChoiceKind};
use crate::host::{Relation, Relations, Value};
use crate::instruction::PredicateId;
use crate::store::View;

/// Only this many columns are given to the host as bound.
const BOUND_COLUMNS: usize = 8;

impl Machine {
    pub(super) fn enter_rows(
        &mut self,
        host: &dyn Relations,
        position: usize,
        predicate: PredicateId,
        arity: usize,
    ) -> Flow {
        match host.relation(position) {
            Some(relation) => self.next_row(relation, 0, predicate, arity, None),
            None => Flow::Fail,
        }
    }

    /// Goes on with the relation of the newest choice point.
    pub(super) fn retry_rows(&mut self, host: &dyn Relations, position: usize, arity: usize) -> Flow {
        let Some(&choice) = self.choices.last() else { return Flow::Fail };
        self.restore_arguments(&choice);
        match host.relation(position) {
            Some(relation) => self.next_row(relation, choice.next as usize, choice.end, arity, Some(choice)),
            None => Flow::Fail,
        }
    }

    fn next_row(
        &mut self,
        relation: &dyn Relation,
        from: usize,
        predicate: PredicateId,
        arity: usize,
        retried: Option<Choice>,
    ) -> Flow {
        let mut bound = [None; BOUND_COLUMNS];
        let columns = arity.min(BOUND_COLUMNS);
        for (column, slot) in bound[..columns].iter_mut().enumerate() {
            *slot = match self.core.store.view(self.x[column]) {
                View::Atom(atom) => Some(Value::Atom(atom)),
                View::Small(value) => Some(Value::Integer(value)),
                View::Float(value) => Some(Value::Float(value)),
                _ => None,
            };
        }
        let bound = &bound[..columns];
        let Some(row) = relation.next_row(from, bound) else {
            if retried.is_some() {
                self.pop_choice();
            }
            return Flow::Fail;
        };
        // Looking ahead for another row leaves no choice point behind at the last.
        match (relation.next_row(row + 1, bound), retried) {
            (Some(next), Some(_)) => {
                if let Some(choice) = self.choices.last_mut() {
                    choice.next = next as u32;
                }
            }
            (Some(next), None) => self.push_choice(ChoiceKind::Rows, next as u32, predicate, arity),
            (None, Some(_)) => self.pop_choice(),
            (None, None) => {}
        }
        for column in 0..arity {
            let value = self.core.store.host_value(relation.value(row, column));
            if !self.core.store.unify(self.x[column], value) {
                return Flow::Fail;
            }
        }
        Flow::Goto(self.continuation)
    }
}
