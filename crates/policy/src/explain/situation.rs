//! Hypothetical facts.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use mario_domain::{FactKind, FactPredicate};
use mario_prolog::Value;
use rustc_hash::FxHasher;

use super::reads::key;
use crate::knowledge_base::{Constant, KnowledgeBase, constant};
use crate::policy::Policy;

/// The position of a predicate in [`FactPredicate::CHANGEABLE`]; for other predicates, that of the next one.
fn place(kind: FactPredicate) -> usize {
    FactPredicate::CHANGEABLE.partition_point(|changeable| *changeable < kind)
}

/// The zero-based columns whose numbers the search may change.
pub(super) fn quantities(kind: FactPredicate) -> &'static [usize] {
    kind.row().changes.map_or(&[], |changes| changes.quantities)
}

/// The costs of removing and of adding a fact.
pub(super) fn costs(kind: FactPredicate) -> (f64, f64) {
    kind.row().changes.map_or((f64::INFINITY, f64::INFINITY), |changes| (changes.cost_to_remove, changes.cost_to_add))
}

/// A fact. `origin` is the index of the corresponding actual fact; `None` for an added fact.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row {
    pub(super) origin: Option<usize>,
    pub(super) values: Rc<[Constant]>,
}

impl Row {
    pub(super) fn with(&self, column: usize, value: Constant) -> Row {
        let mut values = self.values.to_vec();
        values[column] = value;
        Row { origin: self.origin, values: values.into() }
    }
}

/// The facts that may change, actual or hypothetical.
///
/// Situations share the facts in which they do not differ, so one with few changes is cheap. In each kind, the rows that
/// have an origin are in its order, and added rows follow.
#[derive(Clone, Debug)]
pub(super) struct Situation {
    kinds: [Rc<Rows>; FactPredicate::CHANGEABLE.len()],
    /// The maximum number of earlier evaluations whose client requests the policy sees, as `earlier/5`.
    pub(super) evaluations: u32,
}

/// The facts of one kind.
#[derive(Debug)]
struct Rows {
    all: Vec<Row>,
    /// The distance from the actual facts of this kind.
    cost: f64,
    hash: u64,
}

/// A single difference between two situations.
#[derive(Clone, Debug)]
pub(super) enum Difference {
    /// A value is another one. Contains the origin of the row.
    Value(FactPredicate, usize, usize),
    /// The actual fact with this origin is missing.
    Missing(FactPredicate, usize),
    /// A fact with these values is new.
    New(FactPredicate, Rc<[Constant]>),
    /// The requests of this evaluation, counted back from now, are others.
    Evaluation(i64),
}

/// The position of a quantity in a situation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    pub(super) kind: FactPredicate,
    pub(super) row: usize,
    pub(super) column: usize,
}

impl Situation {
    /// The actual facts. Extra facts are included only if their subject is an instance, its application, its node, a
    /// neighbour or a last hop of requests: an agent may see the prices of a whole region, and the search would try
    /// each of them.
    pub(super) fn of(facts: &KnowledgeBase, policy: &Policy) -> Situation {
        let mut near: Vec<_> = facts.instances().flatten().chain(facts.requests().map(|row| row[1])).map(key).collect();
        for node in facts.nodes() {
            near.push(key(node.node));
            near.extend(node.neighbours.iter().map(|&neighbour| key(neighbour)));
        }
        let near: rustc_hash::FxHashSet<_> = near.into_iter().collect();
        let kinds = FactPredicate::CHANGEABLE.map(|predicate| {
            let table = facts.table_of(predicate);
            // The neighbours of a node are a list, which never changes.
            let constants = predicate.arguments().iter().filter(|argument| argument.kind != FactKind::Nodes).count();
            let values = |row| (0..constants).map(|column| constant(table.value(row, column))).collect();
            let rows = (0..table.len()).map(|index| Row { origin: Some(index), values: values(index) });
            let is_included = |row: &Row| predicate != FactPredicate::Fact || near.contains(&key(row.values[0]));
            let rows: Vec<Row> = rows.filter(is_included).collect();
            Rc::new(Rows { hash: hash(&rows), all: rows, cost: 0.0 })
        });
        Situation { kinds, evaluations: policy.remembers().requests }
    }

    pub(super) fn rows(&self, kind: FactPredicate) -> &[Row] {
        &self.kinds[place(kind)].all
    }

    /// The situation with other rows of one kind; `real` has the actual facts.
    pub(super) fn with_rows(&self, kind: FactPredicate, rows: Vec<Row>, real: &Situation) -> Situation {
        let mut changed = self.clone();
        let cost = distance_of_rows(kind, real.rows(kind), &rows);
        changed.kinds[place(kind)] = Rc::new(Rows { hash: hash(&rows), all: rows, cost });
        changed
    }

    /// Whether the two situations share their facts of a kind. If not, they may still be equal.
    pub(super) fn shares(&self, kind: FactPredicate, other: &Situation) -> bool {
        Rc::ptr_eq(&self.kinds[place(kind)], &other.kinds[place(kind)])
    }

    /// A number that differs, in practice, for different situations.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.kinds.iter().for_each(|rows| rows.hash.hash(&mut hasher));
        hasher.finish()
    }

    /// Replaces the rows of this kind in `facts`, which otherwise contain those of `base`.
    pub(super) fn fill(&self, kind: FactPredicate, base: &KnowledgeBase, facts: &mut KnowledgeBase) {
        let rows = self.rows(kind);
        match kind {
            FactPredicate::NodeWithNeighbours => facts.replace_nodes(base, rows.iter().map(|row| row.values[1])),
            // Only some facts are changeable. The order is preserved, because a policy may use the first solution.
            FactPredicate::Fact => {
                facts.clear_facts();
                let mut changeable = rows.iter().peekable();
                for (index, [subject, key, value]) in base.facts().enumerate() {
                    let value = changeable.next_if(|row| row.origin == Some(index)).map_or(value, |row| row.values[2]);
                    facts.push_fact(subject, key, value);
                }
            }
            FactPredicate::Earlier => {
                let mut earlier: Vec<&Row> = rows.iter().collect();
                earlier.sort_by_key(|row| ago(row));
                facts.replace_rows(kind, earlier.iter().map(|row| &*row.values));
            }
            _ => facts.replace_rows(kind, rows.iter().map(|row| &*row.values)),
        }
    }

    /// The distance from the actual facts: the sum of the costs of all changed values, removed facts and added facts.
    pub(super) fn cost(&self) -> f64 {
        self.kinds.iter().map(|rows| rows.cost).sum()
    }

    /// The differences from `real`.
    pub(super) fn differences(&self, real: &Situation) -> Vec<Difference> {
        let (mut found, mut evaluations) = (Vec::new(), Vec::new());
        for kind in FactPredicate::CHANGEABLE.into_iter().filter(|&kind| !self.shares(kind, real)) {
            for (before, after) in pairs(real.rows(kind), self.rows(kind)) {
                match (before, after) {
                    (Some(Row { origin: Some(origin), values }), Some(after)) => {
                        let differs = |column: &usize| values[*column] != after.values[*column];
                        let columns = (0..values.len()).filter(differs);
                        found.extend(columns.map(|column| Difference::Value(kind, *origin, column)));
                    }
                    (Some(row), None) | (None, Some(row)) if kind == FactPredicate::Earlier => {
                        evaluations.push(ago(row));
                    }
                    (Some(Row { origin: Some(origin), .. }), None) => found.push(Difference::Missing(kind, *origin)),
                    (_, Some(after)) => found.push(Difference::New(kind, Rc::clone(&after.values))),
                    (_, None) => {}
                }
            }
        }
        evaluations.sort_unstable();
        evaluations.dedup();
        found.extend(evaluations.into_iter().map(Difference::Evaluation));
        found
    }

    /// The situation without one of its differences from `real`.
    pub(super) fn without(&self, difference: &Difference, real: &Situation) -> Situation {
        let actual =
            |kind: FactPredicate, origin: usize| real.rows(kind).iter().find(|row| row.origin == Some(origin)).cloned();
        let kind = match difference {
            Difference::Value(kind, ..) | Difference::Missing(kind, _) | Difference::New(kind, _) => *kind,
            Difference::Evaluation(_) => FactPredicate::Earlier,
        };
        let mut rows = self.rows(kind).to_vec();
        match difference {
            Difference::Value(_, origin, column) => {
                if let Some(actual) = actual(kind, *origin) {
                    for row in rows.iter_mut().filter(|row| row.origin == Some(*origin)) {
                        *row = row.with(*column, actual.values[*column]);
                    }
                }
            }
            Difference::Missing(_, origin) => {
                let is_before = |row: &Row| row.origin.is_some_and(|own| own < *origin);
                let place = rows.partition_point(is_before);
                if let Some(actual) = actual(kind, *origin) {
                    rows.insert(place, actual);
                }
            }
            Difference::New(_, values) => {
                let is_it = |row: &Row| row.origin.is_none() && row.values == *values;
                if let Some(place) = rows.iter().position(is_it) {
                    rows.remove(place);
                }
            }
            Difference::Evaluation(then) => {
                rows.retain(|row| ago(row) != *then);
                let added = rows.iter().position(|row| row.origin.is_none()).unwrap_or(rows.len());
                let actual = real.rows(kind).iter().filter(|row| ago(row) == *then).cloned();
                rows.splice(added..added, actual);
                // Added rows, which have no origin, remain behind the others.
                rows.sort_by_key(|row| row.origin.unwrap_or(usize::MAX));
            }
        }
        self.with_rows(kind, rows, real)
    }

    /// The situation with the actual facts of one kind.
    pub(super) fn without_kind(&self, kind: FactPredicate, real: &Situation) -> Situation {
        let mut changed = self.clone();
        changed.kinds[place(kind)] = Rc::clone(&real.kinds[place(kind)]);
        changed
    }

    /// The quantities of actual facts that differ from those of `real`, with their values there.
    pub(super) fn changed_quantities(&self, real: &Situation) -> Vec<(Cell, Constant)> {
        let mut found = Vec::new();
        for kind in FactPredicate::CHANGEABLE.into_iter().filter(|&kind| !self.shares(kind, real)) {
            let mut actual = real.rows(kind).iter().peekable();
            for (row, own) in self.rows(kind).iter().enumerate() {
                let Some(origin) = own.origin else { break };
                while actual.next_if(|before| before.origin < Some(origin)).is_some() {}
                let Some(before) = actual.peek().filter(|before| before.origin == Some(origin)) else { continue };
                for &column in quantities(kind) {
                    if before.values[column] != own.values[column] {
                        found.push((Cell { kind, row, column }, before.values[column]));
                    }
                }
            }
        }
        found
    }

    pub(super) fn quantity(&self, cell: Cell) -> Constant {
        self.rows(cell.kind)[cell.row].values[cell.column]
    }

    pub(super) fn with_quantity(&self, cell: Cell, value: Constant, real: &Situation) -> Situation {
        let mut rows = self.rows(cell.kind).to_vec();
        rows[cell.row] = rows[cell.row].with(cell.column, value);
        self.with_rows(cell.kind, rows, real)
    }
}

/// Pairs each actual row with the changed row of the same origin. A row that is missing or new has no partner.
pub(super) fn pairs<'r>(
    before: &'r [Row],
    after: &'r [Row],
) -> impl Iterator<Item = (Option<&'r Row>, Option<&'r Row>)> {
    let mut after = after.iter().peekable();
    let mut paired: Vec<(Option<&Row>, Option<&Row>)> =
        before.iter().map(|row| (Some(row), after.next_if(|other| other.origin == row.origin))).collect();
    paired.extend(after.map(|row| (None, Some(row))));
    paired.into_iter()
}

fn distance_of_rows(kind: FactPredicate, real: &[Row], rows: &[Row]) -> f64 {
    let (gone, new) = costs(kind);
    let cost = |pair: (Option<&Row>, Option<&Row>)| match pair {
        (Some(before), Some(after)) => row_distance(before, after),
        (Some(_), None) => gone,
        (None, _) => new,
    };
    pairs(real, rows).map(cost).sum()
}

pub(super) fn row_distance(before: &Row, after: &Row) -> f64 {
    if Rc::ptr_eq(&before.values, &after.values) {
        return 0.0;
    }
    before.values.iter().zip(&*after.values).map(|(&one, &other)| distance(one, other)).sum()
}

fn hash(rows: &[Row]) -> u64 {
    let mut hasher = FxHasher::default();
    for row in rows {
        row.origin.hash(&mut hasher);
        row.values.iter().for_each(|&value| key(value).hash(&mut hasher));
    }
    hasher.finish()
}

/// How many evaluations ago, the first argument of a row of `earlier/5` or `done/4`.
pub(super) fn ago(row: &Row) -> i64 {
    as_number(row.values[0]).unwrap_or(0.0) as i64
}

/// The cost of changing one value to another: 0 for equal values, between 1 and 2 for numbers that differ, 1.5 for
/// other values.
pub(super) fn distance(one: Constant, other: Constant) -> f64 {
    match (as_number(one), as_number(other)) {
        _ if one == other => 0.0,
        (Some(one), Some(other)) => {
            let size = (one - other).abs();
            1.0 + size / (1.0 + size + one.abs())
        }
        _ => 1.5,
    }
}

pub(super) fn as_number(constant: Constant) -> Option<f64> {
    match constant {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    }
}
