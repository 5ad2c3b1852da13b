//! Reads capacities and facts of nodes from a table with at most one row for each node.

use std::sync::Arc;

use mario_domain::{Capacity, Fact, FactValue, HardwareKind, Id, NodeId};
use mario_settings::{At, MISTAKES_MAX, Mistake, Place, Text};

use super::Resolving;
use crate::mobility::{Row, Table, TrajectoryError, read_id};
use crate::topology::Topology;

const NODE_TABLE: At<'static> = At::Key("node_table");

/// The accepted names of the column with the ids of nodes.
const IDS: [&str; 2] = ["id", "node"];

/// The accepted names of the column with the units of hardware.
const CAPACITIES: [&str; 3] = ["capacity", "hardware", "units"];

/// The maximum number of units of a node. Sums over all nodes and instances must fit into 64 bits.
const UNITS_MAX: f64 = 1e9;

/// The positions of the columns in the table.
struct Columns {
    id: usize,
    capacity: Option<usize>,
    /// The columns with amounts of further kinds of hardware.
    kinds: Vec<(usize, HardwareKind)>,
    facts: Vec<(usize, Id)>,
}

impl Resolving<'_> {
    /// Applies the table of nodes to the topology. A node without a row, and a value whose field is empty, stay as they
    /// are.
    pub(super) fn node_table(&mut self, topology: &mut Topology) {
        let settings = &self.settings.node_table;
        let Some(file) = &settings.file else {
            if settings.facts.is_some() {
                let mistake =
                    self.mistake("there is no table that these columns are of", &[NODE_TABLE, "facts".into()]);
                self.mistakes.push(mistake.hint("add `file = …` to `[node_table]`, or omit `facts`"));
            }
            return;
        };
        let Some(text) = self.file_text(file, &[NODE_TABLE, "file".into()]) else { return };
        if let Err(error) = self.read_node_table(&text, topology) {
            let place = Place { text, span: error.span.clone() };
            self.mistakes.push(Mistake::new(error.to_string()).at(Some(place)).hint("mend the table"));
        }
    }

    fn read_node_table(&mut self, text: &Arc<Text>, topology: &mut Topology) -> Result<(), TrajectoryError> {
        let mut table = Table::new(&text.text)?;
        let Some(columns) = self.columns(&table)? else { return Ok(()) };
        let mut seen = vec![false; topology.node_count()];
        while let Some(row) = table.next()? {
            let id = read_id(row.field(columns.id));
            let id = id.ok_or_else(|| row.expected(columns.id, "the id of a node"))?;
            let Some(node) = NodeId::try_from(id.clone()).ok().and_then(|id| topology.find(&id)) else {
                if self.mistakes.len() < MISTAKES_MAX {
                    let place = Place { text: Arc::clone(text), span: row.span(columns.id) };
                    let mistake = Mistake::new(format!("there is no node `{id}`")).at(Some(place));
                    let known: Vec<String> =
                        topology.nodes().take(10_000).map(|(_, node)| node.id.to_string()).collect();
                    let known = known.iter().map(String::as_str);
                    self.mistakes.push(mistake.known(&id.to_string(), "known are the nodes", known));
                }
                continue;
            };
            if std::mem::replace(&mut seen[node.position()], true) {
                return Err(row.expected(columns.id, "one row for each node: this one has two"));
            }
            if let Some(column) = columns.capacity
                && !row.field(column).is_empty()
            {
                topology.set_capacity(node, capacity(&row, column)?);
            }
            for (column, kind) in columns.kinds.iter().filter(|(column, _)| !row.field(*column).is_empty()) {
                let known = topology.node(node).capacity;
                topology.set_capacity(node, with_kind(known, *kind, &row, *column)?);
            }
            for (column, key) in &columns.facts {
                if let Some(value) = value(&row, *column) {
                    topology.set_fact(node, Fact { subject: id.clone(), key: key.clone(), value });
                }
            }
        }
        Ok(())
    }

    /// The positions of the columns. Facts are in the columns that `node_table.facts` names; if one of them is missing,
    /// reports it and returns `None`. Without `node_table.facts`, they are in all columns that have a name and no other
    /// meaning. An error if there is no column of ids.
    fn columns(&mut self, table: &Table<'_>) -> Result<Option<Columns>, TrajectoryError> {
        let id = table.column(&IDS)?;
        let capacity = table.known_column(&CAPACITIES);
        let is_fact = |column: &usize| *column != id && Some(*column) != capacity;
        let all = (0..table.columns().len()).filter(is_fact);
        let kind = |column: usize| HardwareKind::with_name(&table.columns()[column]);
        let is_plain = |column: &usize| !table.columns()[*column].is_empty() && kind(*column).is_none();
        let wanted: Vec<usize> = match &self.settings.node_table.facts {
            None => all.clone().filter(is_plain).collect(),
            Some(names) => {
                let mut wanted = Vec::new();
                for (place, name) in names.iter().enumerate() {
                    let name = name.to_lowercase();
                    match all.clone().find(|column| table.columns()[*column] == name) {
                        Some(column) => wanted.push(column),
                        None => {
                            let at = [NODE_TABLE, "facts".into(), place.into()];
                            let mistake =
                                self.mistake(format!("the table of nodes has no column `{name}` for facts"), &at);
                            let known = all.clone().map(|column| table.columns()[column].as_str());
                            self.mistakes.push(mistake.known(&name, "its columns are", known));
                        }
                    }
                }
                if wanted.len() < names.len() {
                    return Ok(None);
                }
                wanted
            }
        };
        // A column that `facts` names is a fact, even if it has the name of a kind of hardware.
        let kinds = all.filter(|column| !wanted.contains(column)).filter_map(|column| Some((column, kind(column)?)));
        let kinds = kinds.collect();
        let key = |column: usize| Some((column, Id::name(&table.columns()[column]).ok()?));
        Ok(Some(Columns { id, capacity, kinds, facts: wanted.into_iter().filter_map(key).collect() }))
    }
}

fn capacity(row: &Row<'_>, column: usize) -> Result<Capacity, TrajectoryError> {
    if ["unbounded", "inf", "infinity"].contains(&row.field(column).to_ascii_lowercase().as_str()) {
        return Ok(Capacity::Unbounded);
    }
    let units = row.number(column).filter(|units| units.fract() == 0.0 && (0.0..=UNITS_MAX).contains(units));
    let units = units.map(|units| Capacity::units(units as u64));
    units.ok_or_else(|| row.expected(column, "a whole number of units from 0 to 1e9, or `unbounded`"))
}

/// The capacity with the amount of one kind of hardware replaced by the number in a field. Fails if the capacity is
/// unbounded or the number is invalid.
fn with_kind(
    capacity: Capacity,
    kind: HardwareKind,
    row: &Row<'_>,
    column: usize,
) -> Result<Capacity, TrajectoryError> {
    let Capacity::Bounded(hardware) = capacity else {
        return Err(row.expected(column, "an empty field, because the capacity of this node is unbounded"));
    };
    let amount = row.number(column).filter(|amount| amount.fract() == 0.0 && *amount >= 0.0);
    let hardware = amount.and_then(|amount| hardware.with(kind, amount as u64));
    hardware.map(Capacity::Bounded).ok_or_else(|| row.expected(column, "a whole number from 0 to 4294967295"))
}

/// The value of a fact: an integer, a float, or a name; `None` for an empty field.
fn value(row: &Row<'_>, column: usize) -> Option<FactValue> {
    let field = row.field(column);
    match (read_id(field)?, row.number(column)) {
        (id @ Id::Number(_), _) | (id, None) => Some(FactValue::Id(id)),
        (_, Some(number)) => Some(FactValue::Number(number)),
    }
}
