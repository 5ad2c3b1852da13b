//! The single changes that the search tries.

use std::rc::Rc;

use mario_domain::FactPredicate;
use mario_prolog::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::reads::{Key, Reads, key};
use super::situation::{Cell, Row, Situation, ago, as_number, costs, distance, quantities, row_distance};
use super::step::{Comparison, ProofStep};
use crate::knowledge_base::{Constant, KnowledgeBase};

/// The maximum number of the node's neighbours that are tried as new last hops of client requests. The last hops of the
/// actual requests and `self` are candidates, too; in total, at most `NEW_HOPS_MAX + 1` new hops are tried.
const NEW_HOPS_MAX: usize = 3;

/// The maximum number of failed comparisons from which changes of quantities are derived.
const COMPARISONS_MAX: usize = 40;

/// A single change of a situation.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    /// A quantity is another one.
    Set(Cell, Constant),
    /// All numbers in this column of the instance's requests that exceed the limit are lowered to it.
    Lower(usize, f64),
    /// The facts that agree with this row, or are alike in one column, are removed.
    Drop(FactPredicate, Alike, usize),
    /// The instance's requests through other last hops than that of this row are removed.
    KeepHop(usize),
    /// All requests of the instance are removed.
    DropRequests,
    /// All requests of the instance come through this last hop.
    Reroute(Constant),
    /// Requests come through this last hop, with rate 1 and latency 0.
    Add(Constant),
    /// The requests of these earlier evaluations, from and to, are removed.
    Forget(i64, i64),
    /// The requests of these earlier evaluations, from and to, were as they are now.
    Repeat(i64, i64),
}

/// In what facts agree that are removed together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Alike {
    Whole,
    Column(usize),
}

/// A change that the search may try.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The distance of the changed situation from the actual facts.
    pub(super) cost: f64,
    pub(super) edit: Edit,
    /// What is changed, so that each sort of change gets its share of the trials.
    pub(super) stratum: (u8, u8),
}

/// Facts that agree: the first of them, what it costs to remove them, and whether the evaluation read one.
struct Group {
    first: usize,
    cost: f64,
    is_read: bool,
}

/// The single changes of one situation.
pub(super) struct Edits<'a> {
    pub(super) situation: &'a Situation,
    pub(super) real: &'a Situation,
    pub(super) base: &'a KnowledgeBase,
    pub(super) instance: Constant,
    /// What the evaluation read in this situation. No other facts are changed.
    pub(super) reads: &'a Reads,
}

impl Edits<'_> {
    /// Passes each single change to `receive`. `steps` are the steps at which the clause failed; the changes of
    /// quantities are derived from their comparisons.
    pub(super) fn each(&self, steps: &[ProofStep], receive: &mut dyn FnMut(Candidate)) {
        let mut comparisons = Vec::new();
        collect_comparisons(steps, &mut comparisons);
        self.quantities(&comparisons, receive);
        for comparison in &comparisons {
            self.lowered(comparison, receive);
        }
        // The operation is the first argument of `inhibited/3`, and the third of `done/4`.
        for (kind, operation) in [(FactPredicate::Inhibited, 0), (FactPredicate::Done, 2)] {
            for alike in [Alike::Whole, Alike::Column(operation)] {
                for group in self.groups(kind, alike).iter().filter(|group| group.is_read) {
                    let cost = self.situation.cost() + group.cost;
                    give(cost, Edit::Drop(kind, alike, group.first), receive);
                }
            }
        }
        self.other_requests(receive);
        self.other_past(receive);
    }

    /// Gives a change whose cost is best computed by making it, unless it changes nothing.
    fn give_made(&self, edit: Edit, receive: &mut dyn FnMut(Candidate)) {
        let made = self.made(&edit);
        if made.hash() != self.situation.hash() {
            give(made.cost(), edit, receive);
        }
    }

    fn quantities(&self, comparisons: &[&Comparison], receive: &mut dyn FnMut(Candidate)) {
        let mut all: Vec<f64> = Vec::new();
        for delta in comparisons.iter().flat_map(|comparison| deltas(comparison)) {
            if !all.contains(&delta) {
                all.push(delta);
            }
        }
        for kind in FactPredicate::CHANGEABLE {
            let places = self.places(kind);
            for (row, actual) in self.rows_with_actual(kind) {
                let own = &self.situation.rows(kind)[row];
                let place = places.get(row).copied().unwrap_or(row);
                for &column in quantities(kind) {
                    let cell = Cell { kind, row, column };
                    if !self.reads.reads_value(kind, place, column, &own.values) {
                        continue;
                    }
                    let before = actual.map(|actual| actual.values[column]);
                    let price = |value: Constant| before.map_or(0.0, |before| distance(before, value));
                    let quantity = own.values[column];
                    let mut tried = vec![quantity];
                    for value in all.iter().filter_map(|&delta| added(quantity, delta)) {
                        if !tried.contains(&value) {
                            tried.push(value);
                            let cost = self.situation.cost() - price(quantity) + price(value);
                            give(cost, Edit::Set(cell, value), receive);
                        }
                    }
                }
            }
        }
    }

    /// The rows of a kind by index, each with the actual fact of the same origin.
    fn rows_with_actual(&self, kind: FactPredicate) -> impl Iterator<Item = (usize, Option<&Row>)> {
        let mut actual = self.real.rows(kind).iter().peekable();
        self.situation.rows(kind).iter().enumerate().map(move |(index, row)| {
            let Some(origin) = row.origin else { return (index, None) };
            while actual.next_if(|before| before.origin < Some(origin)).is_some() {}
            (index, actual.peek().copied().filter(|before| before.origin == Some(origin)))
        })
    }

    /// For each row of a kind, its index among the facts that the evaluation sees; empty if that is the same index.
    fn places(&self, kind: FactPredicate) -> Vec<usize> {
        let rows = self.situation.rows(kind);
        match kind {
            // Only some of these facts may change.
            FactPredicate::Fact => rows.iter().enumerate().map(|(index, row)| row.origin.unwrap_or(index)).collect(),
            FactPredicate::Earlier => {
                let mut sorted: Vec<usize> = (0..rows.len()).collect();
                sorted.sort_by_key(|&index| ago(&rows[index]));
                let mut places = vec![0; rows.len()];
                sorted.iter().enumerate().for_each(|(place, &index)| places[index] = place);
                places
            }
            _ => Vec::new(),
        }
    }

    /// The facts of a kind in groups, in the order of their first ones; of requests, only those of the instance.
    fn groups(&self, kind: FactPredicate, alike: Alike) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: FxHashMap<Vec<Key>, usize> = FxHashMap::default();
        let (gone, new) = costs(kind);
        let sorted = self.places(kind);
        for (index, actual) in self.rows_with_actual(kind) {
            let row = &self.situation.rows(kind)[index];
            if kind == FactPredicate::Requests && row.values[0] != self.instance {
                continue;
            }
            let name = match alike {
                Alike::Whole => row.values.iter().map(|&value| key(value)).collect(),
                Alike::Column(column) => vec![key(row.values[column])],
            };
            let place = *places.entry(name).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Group { first: index, cost: 0.0, is_read: false });
            }
            groups[place].cost += actual.map_or(-new, |actual| gone - row_distance(actual, row));
            groups[place].is_read |= self.reads.returns(kind, sorted.get(index).copied().unwrap_or(index));
        }
        groups
    }

    /// Changes that lower all rates, or all latencies, above a limit to it. The limit is the right side of a comparison
    /// with `>`, or one less with `>=`; other comparisons give no changes. Only requests of the instance are changed,
    /// and only if at least two exceed the limit.
    fn lowered(&self, comparison: &Comparison, receive: &mut dyn FnMut(Candidate)) {
        let limit = match &*comparison.operator {
            ">" => comparison.right,
            ">=" => comparison.right - 1.0,
            _ => return,
        };
        if !(0.0..1e15).contains(&limit) {
            return;
        }
        for &column in quantities(FactPredicate::Requests) {
            let too_high = |row: &&Row| {
                row.values[0] == self.instance && as_number(row.values[column]).is_some_and(|value| value > limit)
            };
            // A single row is covered by the changes of single quantities.
            let is_read = self.reads.reads_column(FactPredicate::Requests, column);
            if is_read && self.situation.rows(FactPredicate::Requests).iter().filter(too_high).count() >= 2 {
                self.give_made(Edit::Lower(column, limit), receive);
            }
        }
    }

    /// Changes to other requests of the instance: no requests, none through one of the present last hops, only those
    /// through one of them, or all through a new last hop. If the instance has no requests: one fact with rate 1 and
    /// latency 0, through each new last hop.
    fn other_requests(&self, receive: &mut dyn FnMut(Candidate)) {
        let groups = self.groups(FactPredicate::Requests, Alike::Column(1));
        let rows = self.situation.rows(FactPredicate::Requests);
        let known: FxHashSet<Key> = groups.iter().map(|group| key(rows[group.first].values[1])).collect();
        let neighbours = self.base.nodes().flat_map(|node| node.neighbours.iter().filter_map(|&it| constant(it)));
        let actual = self.base.requests().map(|row| row[1]);
        let mut new_hops: Vec<Constant> = Vec::new();
        for hop in neighbours.take(NEW_HOPS_MAX).chain(actual).chain([self.base.constant(mario_domain::SELF)]) {
            if new_hops.len() > NEW_HOPS_MAX {
                break;
            }
            if !known.contains(&key(hop)) && !new_hops.contains(&hop) {
                new_hops.push(hop);
            }
        }
        if groups.is_empty() {
            for hop in new_hops {
                if self.reads.would_return(FactPredicate::Requests, &requests(self.instance, hop)) {
                    self.give_made(Edit::Add(hop), receive);
                }
            }
            return;
        }
        let (total, cost) = (groups.iter().map(|group| group.cost).sum::<f64>(), self.situation.cost());
        let read = groups.iter().filter(|group| group.is_read).count();
        if read > 0 {
            give(cost + total, Edit::DropRequests, receive);
        }
        // With a single last hop, to drop it is to drop all requests, and to keep only it changes nothing.
        for group in groups.iter().filter(|_| groups.len() > 1) {
            if group.is_read {
                let edit = Edit::Drop(FactPredicate::Requests, Alike::Column(1), group.first);
                give(cost + group.cost, edit, receive);
            }
            if read > usize::from(group.is_read) {
                give(cost + total - group.cost, Edit::KeepHop(group.first), receive);
            }
        }
        if self.reads.reads_column(FactPredicate::Requests, 1) {
            new_hops.into_iter().for_each(|hop| self.give_made(Edit::Reroute(hop), receive));
        }
    }

    /// Changes that remove the requests of one or all earlier evaluations, or replace them by the current requests.
    fn other_past(&self, receive: &mut dyn FnMut(Candidate)) {
        if !self.reads.looks_up(FactPredicate::Earlier) {
            return;
        }
        let last = i64::from(self.situation.evaluations);
        for (from, to) in (1..=last).map(|ago| (ago, ago)).chain([(1, last)]) {
            self.give_made(Edit::Forget(from, to), receive);
            self.give_made(Edit::Repeat(from, to), receive);
        }
    }

    /// The situation with a change.
    pub(super) fn made(&self, edit: &Edit) -> Situation {
        let own = |row: &Row| row.values[0] == self.instance;
        let retained = |kind: FactPredicate, is_kept: &dyn Fn(&Row) -> bool| {
            let rows = self.situation.rows(kind).iter().filter(|row| is_kept(row)).cloned().collect();
            self.situation.with_rows(kind, rows, self.real)
        };
        let of_own_requests = |changed: &dyn Fn(&Row) -> Row| {
            let rows = self.situation.rows(FactPredicate::Requests).iter();
            let rows = rows.map(|row| if own(row) { changed(row) } else { row.clone() }).collect();
            self.situation.with_rows(FactPredicate::Requests, rows, self.real)
        };
        match *edit {
            Edit::Set(cell, value) => self.situation.with_quantity(cell, value, self.real),
            Edit::Lower(column, limit) => of_own_requests(&|row| match row.values[column] {
                Value::Integer(value) if value as f64 > limit => row.with(column, Value::Integer(limit.floor() as i64)),
                Value::Float(value) if value > limit => row.with(column, Value::Float(limit)),
                _ => row.clone(),
            }),
            Edit::Drop(kind, alike, row) => {
                let sample = Rc::clone(&self.situation.rows(kind)[row].values);
                retained(kind, &|row| match alike {
                    Alike::Whole => row.values != sample,
                    Alike::Column(column) => {
                        row.values[column] != sample[column] || (kind == FactPredicate::Requests && !own(row))
                    }
                })
            }
            Edit::KeepHop(row) => {
                let hop = self.situation.rows(FactPredicate::Requests)[row].values[1];
                retained(FactPredicate::Requests, &|row| !own(row) || row.values[1] == hop)
            }
            Edit::DropRequests => retained(FactPredicate::Requests, &|row| !own(row)),
            Edit::Reroute(hop) => of_own_requests(&|row| row.with(1, hop)),
            Edit::Add(hop) => {
                let mut rows = self.situation.rows(FactPredicate::Requests).to_vec();
                rows.push(Row { origin: None, values: requests(self.instance, hop).into() });
                self.situation.with_rows(FactPredicate::Requests, rows, self.real)
            }
            Edit::Forget(from, to) => retained(FactPredicate::Earlier, &|row| !(from..=to).contains(&ago(row))),
            Edit::Repeat(from, to) => {
                let earlier = self.situation.rows(FactPredicate::Earlier).iter();
                let mut rows: Vec<Row> = earlier.filter(|row| !(from..=to).contains(&ago(row))).cloned().collect();
                for ago in from..=to {
                    for row in self.situation.rows(FactPredicate::Requests).iter().filter(|row| own(row)) {
                        let values = [&[Value::Integer(ago)], &*row.values].concat();
                        rows.push(Row { origin: None, values: values.into() });
                    }
                }
                self.situation.with_rows(FactPredicate::Earlier, rows, self.real)
            }
        }
    }
}

/// Passes on a change with its cost and stratum.
fn give(cost: f64, edit: Edit, receive: &mut dyn FnMut(Candidate)) {
    let stratum = match &edit {
        Edit::Set(cell, _) => (cell.kind as u8, cell.column as u8),
        Edit::Lower(column, _) => (8, *column as u8),
        Edit::Drop(kind, ..) => (9, *kind as u8),
        Edit::KeepHop(_) => (10, 0),
        Edit::DropRequests | Edit::Reroute(_) | Edit::Add(_) => (11, 0),
        Edit::Forget(..) | Edit::Repeat(..) => (12, 0),
    };
    receive(Candidate { cost, edit, stratum });
}

fn requests(instance: Constant, hop: Constant) -> [Constant; 4] {
    [instance, hop, Value::Integer(1), Value::Integer(0)]
}

/// The value as a constant; `None` if it is neither a name nor an integer.
fn constant(value: Value<'_>) -> Option<Constant> {
    match value {
        Value::Atom(atom) => Some(Value::Atom(atom)),
        Value::Integer(value) => Some(Value::Integer(value)),
        _ => None,
    }
}

fn collect_comparisons<'a>(steps: &'a [ProofStep], found: &mut Vec<&'a Comparison>) {
    for step in steps {
        if found.len() >= COMPARISONS_MAX {
            return;
        }
        if let Some(comparison) = &step.comparison
            && !found.contains(&comparison)
        {
            found.push(comparison);
        }
        collect_comparisons(&step.steps, found);
    }
}

/// The amounts, in both directions, by which the search changes a quantity to make a comparison true. Two and ten times
/// the amount are included, because the quantity may contribute only partly to the compared value.
fn deltas(comparison: &Comparison) -> Vec<f64> {
    let gap = comparison.right - comparison.left;
    // A strict comparison needs more than the gap: 1 more, because the quantity may be an integer.
    let beyond = gap + if gap < 0.0 { -1.0 } else { 1.0 };
    let mut deltas = match &*comparison.operator {
        ">" | "<" => vec![beyond],
        ">=" | "=<" | "=:=" => vec![gap],
        _ => vec![1.0],
    };
    deltas.extend(deltas.clone().iter().flat_map(|delta| [delta * 2.0, delta * 10.0]));
    deltas.iter().flat_map(|&delta| [delta, -delta]).filter(|delta| delta.is_finite() && *delta != 0.0).collect()
}

/// The quantity plus `delta`; integers remain integers, and a negative result becomes 0. `None` if the quantity is not
/// a number, or if it is an integer and `delta` or the sum is too large.
fn added(quantity: Constant, delta: f64) -> Option<Constant> {
    match quantity {
        Value::Integer(value) if delta.abs() < 1e15 => {
            let changed = value.checked_add(if delta < 0.0 { delta.floor() } else { delta.ceil() } as i64)?;
            Some(Value::Integer(changed.max(0)))
        }
        Value::Float(value) => Some(Value::Float((value + delta).max(0.0))),
        _ => None,
    }
}
