//! Hypothetical facts, and the single changes that the search tries.

use mario_prolog::Value;

use super::step::{Comparison, ProofStep};
use crate::knowledge_base::{Constant, Copied, KnowledgeBase};
use crate::policy::Policy;

/// The maximum number of the node's neighbours that are tried as new last hops of client requests. The last hops of the
/// actual requests and `self` are candidates, too; in total, at most `NEW_HOPS_MAX + 1` new hops are tried.
const NEW_HOPS_MAX: usize = 3;

/// The predicates whose facts the search may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Requests,
    Inhibited,
    Node,
    Fact,
    Earlier,
    Done,
    Age,
    Free,
}

impl Kind {
    pub(super) const ALL: [Kind; 8] =
        [Kind::Requests, Kind::Inhibited, Kind::Node, Kind::Fact, Kind::Earlier, Kind::Done, Kind::Age, Kind::Free];

    pub(super) fn predicate(self) -> &'static str {
        match self {
            Kind::Requests => "requests",
            Kind::Inhibited => "inhibited",
            Kind::Node => "node",
            Kind::Fact => "fact",
            Kind::Earlier => "earlier",
            Kind::Done => "done",
            Kind::Age => "age",
            Kind::Free => "free",
        }
    }

    /// The zero-based columns whose numbers the search may change.
    fn quantities(self) -> &'static [usize] {
        match self {
            Kind::Requests => &[2, 3],
            Kind::Inhibited | Kind::Done => &[],
            Kind::Node | Kind::Age => &[1],
            Kind::Fact | Kind::Free => &[2],
            Kind::Earlier => &[3, 4],
        }
    }

    /// The costs of removing and of adding a fact. Facts of `earlier/5` are cheap, because the requests of one earlier
    /// evaluation may be several facts.
    fn weights(self) -> (f64, f64) {
        match self {
            Kind::Inhibited | Kind::Done => (1.0, 3.0),
            Kind::Earlier => (0.75, 0.75),
            _ => (2.0, 3.0),
        }
    }
}

/// A fact. `origin` is the index of the corresponding actual fact; `None` for an added fact.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row {
    pub(super) origin: Option<usize>,
    pub(super) values: Vec<Constant>,
}

/// The facts that may change, actual or hypothetical.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Situation {
    rows: [Vec<Row>; 8],
    /// The maximum number of earlier evaluations whose client requests the policy sees, as `earlier/5`.
    evaluations: u32,
}

/// The position of a quantity in a situation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    kind: Kind,
    row: usize,
    column: usize,
}

impl Situation {
    /// The actual facts. Extra facts are included only if their subject is an instance, its application, its node, a
    /// neighbour or a last hop of requests: an agent may see the prices of a whole region, and the search would try
    /// each of them. `free/3` is included only if the policy may read it.
    pub(super) fn of(facts: &KnowledgeBase, policy: &Policy) -> Situation {
        fn rows<const COUNT: usize>(facts: impl Iterator<Item = [Constant; COUNT]>) -> Vec<Row> {
            facts.enumerate().map(|(index, values)| Row { origin: Some(index), values: values.to_vec() }).collect()
        }
        let nodes = facts.nodes().map(|node| [node.node, node.free]);
        let mut near: Vec<Constant> = facts.instances().flatten().chain(facts.requests().map(|row| row[1])).collect();
        for node in facts.nodes() {
            near.push(node.node);
            near.extend(node.neighbours.iter().filter_map(|&neighbour| constant(neighbour)));
        }
        let mut extra = rows(facts.facts());
        extra.retain(|row| near.contains(&row.values[0]));
        let (earlier, done, ages) = (rows(facts.earlier()), rows(facts.done()), rows(facts.ages()));
        let free = if policy.reads_kinds() { rows(facts.free()) } else { Vec::new() };
        Situation {
            rows: [rows(facts.requests()), rows(facts.inhibited()), rows(nodes), extra, earlier, done, ages, free],
            evaluations: policy.remembers().requests,
        }
    }

    pub(super) fn rows(&self, kind: Kind) -> &[Row] {
        &self.rows[kind as usize]
    }

    /// Replaces the content of `facts`: the changeable facts come from this situation, all others from `base`.
    pub(super) fn fill(&self, base: &KnowledgeBase, facts: &mut KnowledgeBase) {
        facts.clear();
        for [application, hardware, rate, latency] in base.services() {
            facts.push_service(application, hardware, rate, latency);
        }
        for [instance, application, node] in base.instances() {
            facts.push_instance(instance, application, node);
        }
        for (node, row) in base.nodes().zip(self.rows(Kind::Node)) {
            let neighbours: Vec<Constant> =
                node.neighbours.iter().filter_map(|&neighbour| constant(neighbour)).collect();
            facts.push_node(row.values[0], row.values[1], neighbours);
        }
        for row in self.rows(Kind::Requests) {
            facts.push_requests(row.values[0], row.values[1], row.values[2], row.values[3]);
        }
        for row in self.rows(Kind::Inhibited) {
            facts.push_inhibited(row.values[0], row.values[1], row.values[2]);
        }
        facts.copy_unedited(base, if self.rows(Kind::Free).is_empty() { Copied::AllKinds } else { Copied::NeedsOnly });
        let mut earlier: Vec<&Row> = self.rows(Kind::Earlier).iter().collect();
        earlier.sort_by_key(|row| ago(row));
        for (kind, rows) in [
            (Kind::Earlier, earlier),
            (Kind::Done, self.rows(Kind::Done).iter().collect()),
            (Kind::Age, self.rows(Kind::Age).iter().collect()),
            (Kind::Free, self.rows(Kind::Free).iter().collect()),
        ] {
            for row in rows {
                facts.push_row(kind.predicate(), &row.values);
            }
        }
        // The order of `fact/3` is preserved, because a policy may use the first solution.
        let mut changeable = self.rows(Kind::Fact).iter().peekable();
        for (index, [subject, key, value]) in base.facts().enumerate() {
            let value = changeable.next_if(|row| row.origin == Some(index)).map_or(value, |row| row.values[2]);
            facts.push_fact(subject, key, value);
        }
    }

    /// The distance from `base`: the sum of the costs of all changed values, removed facts and added facts.
    pub(super) fn cost(&self, base: &Situation) -> f64 {
        let mut cost = 0.0;
        for kind in Kind::ALL {
            let (gone, new) = kind.weights();
            for before in base.rows(kind) {
                cost += match self.rows(kind).iter().find(|row| row.origin == before.origin) {
                    Some(after) => {
                        before.values.iter().zip(&after.values).map(|(&one, &other)| distance(one, other)).sum()
                    }
                    None => gone,
                };
            }
            cost += new * self.rows(kind).iter().filter(|row| row.origin.is_none()).count() as f64;
        }
        cost
    }

    /// The quantities that differ from those of `base`, with their values in `base`.
    pub(super) fn changed_quantities(&self, base: &Situation) -> Vec<(Cell, Constant)> {
        let differs = |&cell: &Cell| {
            let origin = self.rows(cell.kind)[cell.row].origin?;
            let before = base.rows(cell.kind).iter().find(|row| row.origin == Some(origin))?.values[cell.column];
            (before != self.quantity(cell)).then_some((cell, before))
        };
        self.cells().iter().filter_map(differs).collect()
    }

    pub(super) fn quantity(&self, cell: Cell) -> Constant {
        self.rows(cell.kind)[cell.row].values[cell.column]
    }

    pub(super) fn with_quantity(&self, cell: Cell, value: Constant) -> Situation {
        let mut changed = self.clone();
        changed.rows[cell.kind as usize][cell.row].values[cell.column] = value;
        changed
    }

    fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for kind in Kind::ALL {
            for row in 0..self.rows(kind).len() {
                cells.extend(kind.quantities().iter().map(|&column| Cell { kind, row, column }));
            }
        }
        cells
    }

    fn without(&self, kind: Kind, gone: impl Fn(&Row) -> bool) -> Situation {
        let mut changed = self.clone();
        changed.rows[kind as usize].retain(|row| !gone(row));
        changed
    }

    /// The situations that the search reaches from this one with a single change. `steps` are the steps at which the
    /// clause failed; the changes of quantities are derived from their comparisons.
    pub(super) fn neighbours(&self, steps: &[ProofStep], instance: Constant, base: &KnowledgeBase) -> Vec<Situation> {
        let mut found = Vec::new();
        let mut comparisons = Vec::new();
        collect_comparisons(steps, &mut comparisons);
        for cell in self.cells() {
            for delta in comparisons.iter().flat_map(|comparison| deltas(comparison)) {
                if let Some(value) = added(self.quantity(cell), delta) {
                    found.push(self.with_quantity(cell, value));
                }
            }
        }
        found.extend(comparisons.iter().flat_map(|comparison| self.lowered(comparison, instance)));
        // The operation is the first argument of `inhibited/3`, and the third of `done/4`.
        for (kind, operation) in [(Kind::Inhibited, 0), (Kind::Done, 2)] {
            let rows = self.rows(kind);
            for (index, row) in rows.iter().enumerate() {
                if !rows[..index].iter().any(|before| before.values == row.values) {
                    found.push(self.without(kind, |other| other.values == row.values));
                }
                if !rows[..index].iter().any(|before| before.values[operation] == row.values[operation]) {
                    found.push(self.without(kind, |other| other.values[operation] == row.values[operation]));
                }
            }
        }
        found.extend(self.other_requests(instance, base));
        found.extend(self.other_past(instance));
        found.retain(|situation| situation != self);
        found
    }

    /// Situations in which all rates, or all latencies, above a limit are lowered to it. The limit is the right side of
    /// a comparison with `>`, or one less with `>=`; other comparisons give no situations. Only requests of `instance`
    /// are changed, and only if at least two exceed the limit.
    fn lowered(&self, comparison: &Comparison, instance: Constant) -> Vec<Situation> {
        let limit = match &*comparison.operator {
            ">" => comparison.right,
            ">=" => comparison.right - 1.0,
            _ => return Vec::new(),
        };
        if !(0.0..1e15).contains(&limit) {
            return Vec::new();
        }
        let too_high = |row: &&Row, column: usize| {
            row.values[0] == instance && as_number(row.values[column]).is_some_and(|value| value > limit)
        };
        let lowered = |&column: &usize| {
            // A single row is covered by the changes of single quantities.
            if self.rows(Kind::Requests).iter().filter(|row| too_high(row, column)).count() < 2 {
                return None;
            }
            let mut changed = self.clone();
            for row in changed.rows[Kind::Requests as usize].iter_mut().filter(|row| row.values[0] == instance) {
                row.values[column] = match row.values[column] {
                    Value::Integer(value) if value as f64 > limit => Value::Integer(limit.floor() as i64),
                    Value::Float(value) if value > limit => Value::Float(limit),
                    other => other,
                };
            }
            Some(changed)
        };
        Kind::Requests.quantities().iter().filter_map(lowered).collect()
    }

    /// Situations with other requests of the instance: no requests, none through one of the present last hops, only
    /// those through one of them, or all through a new last hop. If the instance has no requests: one fact with rate 1
    /// and latency 0, through each new last hop.
    fn other_requests(&self, instance: Constant, base: &KnowledgeBase) -> Vec<Situation> {
        let mut hops: Vec<Constant> = Vec::new();
        for row in self.rows(Kind::Requests).iter().filter(|row| row.values[0] == instance) {
            if !hops.contains(&row.values[1]) {
                hops.push(row.values[1]);
            }
        }
        let own = |row: &Row| row.values[0] == instance;
        let neighbours = base.nodes().flat_map(|node| node.neighbours.iter().filter_map(|&it| constant(it)));
        let known = base.requests().map(|row| row[1]);
        let mut new_hops: Vec<Constant> = Vec::new();
        for hop in neighbours.take(NEW_HOPS_MAX).chain(known).chain([base.constant(mario_domain::SELF)]) {
            if !hops.contains(&hop) && !new_hops.contains(&hop) {
                new_hops.push(hop);
            }
        }
        new_hops.truncate(NEW_HOPS_MAX + 1);
        if hops.is_empty() {
            return new_hops.into_iter().map(|hop| self.with_requests(instance, hop)).collect();
        }
        let mut found = vec![self.without(Kind::Requests, own)];
        for &hop in &hops {
            found.push(self.without(Kind::Requests, |row| own(row) && row.values[1] == hop));
            found.push(self.without(Kind::Requests, |row| own(row) && row.values[1] != hop));
        }
        found.extend(new_hops.into_iter().map(|hop| self.rerouted(instance, hop)));
        found
    }

    /// Situations in which the requests of one or all earlier evaluations are removed, or replaced by the current
    /// requests.
    fn other_past(&self, instance: Constant) -> Vec<Situation> {
        let all = 1..=i64::from(self.evaluations);
        let mut found = Vec::new();
        for evaluations in all.clone().map(|ago| ago..=ago).chain([all]) {
            let mut changed = self.without(Kind::Earlier, |row| evaluations.contains(&ago(row)));
            found.push(changed.clone());
            for ago in evaluations {
                for row in self.rows(Kind::Requests).iter().filter(|row| row.values[0] == instance) {
                    let values = [&[Value::Integer(ago)], row.values.as_slice()].concat();
                    changed.rows[Kind::Earlier as usize].push(Row { origin: None, values });
                }
            }
            found.push(changed);
        }
        found
    }

    fn with_requests(&self, instance: Constant, hop: Constant) -> Situation {
        let mut changed = self.clone();
        let values = vec![instance, hop, Value::Integer(1), Value::Integer(0)];
        changed.rows[Kind::Requests as usize].push(Row { origin: None, values });
        changed
    }

    /// The situation in which all requests of the instance come through `hop`.
    fn rerouted(&self, instance: Constant, hop: Constant) -> Situation {
        let mut changed = self.clone();
        for row in changed.rows[Kind::Requests as usize].iter_mut().filter(|row| row.values[0] == instance) {
            row.values[1] = hop;
        }
        changed
    }
}

/// How many evaluations ago, the first argument of a row of `earlier/5` or `done/4`.
pub(super) fn ago(row: &Row) -> i64 {
    as_number(row.values[0]).unwrap_or(0.0) as i64
}

/// The value as a constant; `None` if it is neither a name nor an integer.
fn constant(value: Value<'_>) -> Option<Constant> {
    match value {
        Value::Atom(atom) => Some(Value::Atom(atom)),
        Value::Integer(value) => Some(Value::Integer(value)),
        _ => None,
    }
}

/// The cost of changing one value to another: 0 for equal values, between 1 and 2 for numbers that differ, 1.5 for
/// other values.
fn distance(one: Constant, other: Constant) -> f64 {
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

fn collect_comparisons<'a>(steps: &'a [ProofStep], found: &mut Vec<&'a Comparison>) {
    for step in steps {
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
