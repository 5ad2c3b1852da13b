//! The facts that one agent may see, as plain arrays that a policy reads in place.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mario_domain::{Application, Capacity, Fact, FactValue, Id, Quantity};
use mario_prolog::{Relation, Relations, Symbols, Table, Value};

mod later;

use crate::vocabulary::{ASLEEP, LEAVE};
use later::{Flavours, History, Kinds};

/// A name or a number in a fact. Names are those of one engine's [`Symbols`].
pub type Constant = Value<'static>;

/// The facts that one agent may see.
///
/// Create it once and refill it for each decision: [`KnowledgeBase::clear_situation`] keeps the allocated memory, and
/// the applications and extra facts, which change rarely.
#[derive(Clone, Debug)]
pub struct KnowledgeBase {
    symbols: Names,
    services: Table,
    nodes: Table,
    /// For each row of `nodes`, whether it was added as `node/2`, `node/3` or both.
    node_forms: Vec<NodeForm>,
    instances: Table,
    requests: Table,
    inhibited: Table,
    facts: Table,
    history: History,
    kinds: Kinds,
    flavours: Flavours,
    leaving: Table,
    asleep: Table,
    /// A buffer for the neighbours of a node that is being added.
    neighbours: Vec<Constant>,
}

/// The form of a node fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NodeForm {
    /// `node/2`.
    Short,
    /// `node/3`.
    Long,
    Both,
}

/// Why a node fact cannot be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeConflict {
    Twice,
    OtherHardware,
}

/// A node according to its facts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NodeFact<'a> {
    /// The node.
    pub node: Constant,
    /// Its free hardware.
    pub free: Constant,
    /// Its neighbours.
    pub neighbours: &'a [Value<'a>],
}

/// Why the instance whose agent decides is unknown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UnknownInstance {
    /// There is no `serviceInstance/3` fact.
    None,
    /// There are several instances, with these ids, and none was selected.
    Several(Vec<String>),
    /// The selected instance is not among these.
    NotAmong(Vec<String>),
}

#[derive(Clone)]
struct Names(Arc<Symbols>);

impl fmt::Debug for Names {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Symbols")
    }
}

impl KnowledgeBase {
    /// An empty knowledge base. Its names are those of `symbols`, which must be those of the policies that will read
    /// it.
    pub fn new(symbols: &Arc<Symbols>) -> KnowledgeBase {
        KnowledgeBase {
            symbols: Names(Arc::clone(symbols)),
            services: Table::new(4),
            nodes: Table::new(3),
            node_forms: Vec::new(),
            instances: Table::new(3),
            requests: Table::new(4),
            inhibited: Table::new(3),
            facts: Table::new(3),
            history: History::new(),
            kinds: Kinds::new(),
            flavours: Flavours::new(),
            leaving: Table::new(2),
            asleep: Table::new(1),
            neighbours: Vec::new(),
        }
    }

    /// The atom table in use.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols.0
    }

    /// Removes all facts but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.services.clear();
        self.kinds.needs.clear();
        self.flavours.known.clear();
        self.facts.clear();
        self.clear_situation();
    }

    /// Removes the facts that belong to one agent at one time: node, instance, requests, inhibitions, history, free
    /// hardware, flavour, eviction and sleep. Applications with their needs and flavours, and extra facts are kept.
    pub fn clear_situation(&mut self) {
        self.nodes.clear();
        self.node_forms.clear();
        self.instances.clear();
        self.requests.clear();
        self.inhibited.clear();
        self.history.clear();
        self.kinds.free.clear();
        self.flavours.running.clear();
        self.leaving.clear();
        self.asleep.clear();
    }

    /// Removes the extra facts.
    pub fn clear_facts(&mut self) {
        self.facts.clear();
    }

    /// The constant for a name.
    pub fn constant(&self, name: &str) -> Constant {
        Value::Atom(self.symbols.0.intern(name))
    }

    /// The constant for an id.
    pub fn id(&self, id: &Id) -> Constant {
        match id {
            Id::Number(number) => Value::Integer(*number),
            Id::Name(name) => self.constant(name.as_str()),
        }
    }

    /// The id of a constant; `None` if it is not a valid id: a float, a list or the empty name.
    pub fn to_id(&self, constant: Value<'_>) -> Option<Id> {
        match constant {
            Value::Integer(number) => Some(Id::Number(number)),
            Value::Atom(atom) => Id::name(self.symbols.0.name(atom)).ok(),
            _ => None,
        }
    }

    /// The text of a constant, without quotes.
    pub fn text(&self, constant: Value<'_>) -> String {
        constant_text(&self.symbols.0, constant)
    }

    /// The constant for an amount of hardware in units: an integer, or `inf` if it is unbounded or exceeds `i64`.
    pub fn capacity(&self, capacity: Capacity) -> Constant {
        match capacity {
            Capacity::Bounded(hardware) => {
                i64::try_from(hardware.as_units()).map_or_else(|_| self.constant("inf"), Value::Integer)
            }
            Capacity::Unbounded => self.constant("inf"),
        }
    }

    /// Adds `service(Application, Hardware, MaxRate, MaxLatency)`.
    pub fn push_service(
        &mut self,
        application: Constant,
        hardware: Constant,
        max_rate: Constant,
        max_latency: Constant,
    ) {
        self.services.push(&[application, hardware, max_rate, max_latency]);
    }

    /// Adds the `service/4` fact of an application, with its `needs/3` and `flavour/6`.
    pub fn push_application(&mut self, application: &Application) {
        let id = self.id(application.id.id());
        let hardware = self.capacity(Capacity::Bounded(application.hardware));
        self.push_service(id, hardware, quantity(application.max_rate), quantity(application.max_latency));
        self.push_needs(id, application.hardware);
        self.push_flavours(id, &application.flavours);
    }

    /// Adds `node(Node, FreeHardware)` and `node(Node, FreeHardware, Neighbours)`.
    pub fn push_node(&mut self, node: Constant, free: Constant, neighbours: impl IntoIterator<Item = Constant>) {
        self.neighbours.clear();
        self.neighbours.extend(neighbours);
        self.nodes.push(&[node, free, Value::List(&self.neighbours)]);
        self.node_forms.push(NodeForm::Both);
    }

    /// Adds `serviceInstance(Instance, Application, Node)`.
    pub fn push_instance(&mut self, instance: Constant, application: Constant, node: Constant) {
        self.instances.push(&[instance, application, node]);
    }

    /// Adds `requests(Instance, Neighbour, Rate, Latency)`.
    pub fn push_requests(&mut self, instance: Constant, neighbour: Constant, rate: Constant, latency: Constant) {
        self.requests.push(&[instance, neighbour, rate, latency]);
    }

    /// Adds `inhibited(Operation, Instance, Target)`, which is also visible as `refused(Operation, Instance, Target)`.
    pub fn push_inhibited(&mut self, operation: Constant, instance: Constant, target: Constant) {
        self.inhibited.push(&[operation, instance, target]);
    }

    /// Adds `fact(Subject, Key, Value)`.
    pub fn push_fact(&mut self, subject: Constant, key: Constant, value: Constant) {
        self.facts.push(&[subject, key, value]);
    }

    /// Adds an extra fact of the domain as `fact/3`.
    pub fn push_domain_fact(&mut self, fact: &Fact) {
        let value = match &fact.value {
            FactValue::Id(id) => self.id(id),
            FactValue::Number(number) => Value::Float(*number),
        };
        let (subject, key) = (self.id(&fact.subject), self.id(&fact.key));
        self.push_fact(subject, key, value);
    }

    /// The `service/4` facts.
    pub fn services(&self) -> impl ExactSizeIterator<Item = [Constant; 4]> {
        rows(&self.services)
    }

    /// The nodes. A node that was added only as `node/2` has no neighbours here.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeFact<'_>> {
        (0..self.nodes.len()).map(|row| NodeFact {
            node: constant(self.nodes.value(row, 0)),
            free: constant(self.nodes.value(row, 1)),
            neighbours: match self.nodes.value(row, 2) {
                Value::List(neighbours) => neighbours,
                _ => &[],
            },
        })
    }

    /// The `serviceInstance/3` facts.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = [Constant; 3]> {
        rows(&self.instances)
    }

    /// The `requests/4` facts.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = [Constant; 4]> {
        rows(&self.requests)
    }

    /// The `inhibited/3` facts.
    pub fn inhibited(&self) -> impl ExactSizeIterator<Item = [Constant; 3]> {
        rows(&self.inhibited)
    }

    /// The `fact/3` facts.
    pub fn facts(&self) -> impl ExactSizeIterator<Item = [Constant; 3]> {
        rows(&self.facts)
    }

    /// Returns the instance whose id has this text or, if `named` is `None`, the only instance. An error if there is no
    /// such instance, or if none is named and there are several.
    pub fn find_instance(&self, named: Option<&str>) -> Result<Constant, UnknownInstance> {
        let ids = || self.instances().map(|row| self.text(row[0])).collect();
        match named {
            _ if self.instances.is_empty() => Err(UnknownInstance::None),
            Some(named) => {
                let found = self.instances().find(|row| self.text(row[0]) == named);
                found.map(|row| row[0]).ok_or_else(|| UnknownInstance::NotAmong(ids()))
            }
            None if self.instances.len() == 1 => Ok(constant(self.instances.value(0, 0))),
            None => Err(UnknownInstance::Several(ids())),
        }
    }

    /// Replaces the facts by copies of those of `other`; reuses the allocated memory.
    pub fn copy_from(&mut self, other: &KnowledgeBase) {
        self.symbols.clone_from(&other.symbols);
        self.services.clone_from(&other.services);
        self.nodes.clone_from(&other.nodes);
        self.node_forms.clone_from(&other.node_forms);
        self.instances.clone_from(&other.instances);
        self.requests.clone_from(&other.requests);
        self.inhibited.clone_from(&other.inhibited);
        self.facts.clone_from(&other.facts);
        self.history.clone_from(&other.history);
        self.kinds.clone_from(&other.kinds);
        self.flavours.clone_from(&other.flavours);
        self.leaving.clone_from(&other.leaving);
        self.asleep.clone_from(&other.asleep);
    }

    /// Adds `node/3`, or `node/2` if `neighbours` is `None`. The node may already have the other form. An error if it
    /// already has this form, or has the other one with different free hardware.
    pub(crate) fn push_node_form(
        &mut self,
        node: Constant,
        free: Constant,
        neighbours: Option<Vec<Constant>>,
    ) -> Result<(), NodeConflict> {
        let form = if neighbours.is_some() { NodeForm::Long } else { NodeForm::Short };
        let Some(row) = self.nodes().position(|known| known.node == node) else {
            self.push_node(node, free, neighbours.unwrap_or_default());
            self.set_node_form(self.nodes.len() - 1, form);
            return Ok(());
        };
        if self.node_forms[row] == form || self.node_forms[row] == NodeForm::Both {
            return Err(NodeConflict::Twice);
        }
        if constant(self.nodes.value(row, 1)) != free {
            return Err(NodeConflict::OtherHardware);
        }
        if let Some(neighbours) = neighbours {
            let before = std::mem::replace(&mut self.nodes, Table::new(3));
            for index in 0..before.len() {
                let own = if index == row { Value::List(&neighbours) } else { before.value(index, 2) };
                self.nodes.push(&[before.value(index, 0), before.value(index, 1), own]);
            }
        }
        self.set_node_form(row, NodeForm::Both);
        Ok(())
    }

    fn set_node_form(&mut self, row: usize, form: NodeForm) {
        self.node_forms[row] = form;
    }

    /// Replaces the free hardware of the nodes by these values, in order; `from` has the same nodes.
    pub(crate) fn replace_nodes(&mut self, from: &KnowledgeBase, free: impl Iterator<Item = Constant>) {
        self.nodes.clear();
        for (row, free) in (0..from.nodes.len()).zip(free) {
            self.nodes.push(&[from.nodes.value(row, 0), free, from.nodes.value(row, 2)]);
        }
    }

    /// Replaces all facts of `requests`, `inhibited`, or a predicate that [`KnowledgeBase::push_row`] accepts.
    pub(crate) fn replace_rows<'r>(&mut self, predicate: &str, rows: impl Iterator<Item = &'r [Constant]>) {
        let table = match predicate {
            "requests" => &mut self.requests,
            "inhibited" => &mut self.inhibited,
            later => match self.later_table(later) {
                Some(table) => table,
                None => return,
            },
        };
        table.clear();
        rows.for_each(|row| table.push(row));
    }

    /// The table of the facts at a position of [`FACTS`](crate::FACTS); `None` beyond the last position.
    fn table_at(&self, position: usize) -> Option<&Table> {
        // One table serves both `node/2` and `node/3`: the shorter form reads its first two columns. One table serves
        // `inhibited/3` and its alias.
        match position {
            0 => Some(&self.services),
            1 | 2 => Some(&self.nodes),
            3 => Some(&self.instances),
            4 => Some(&self.requests),
            5 | 6 => Some(&self.inhibited),
            7 => Some(&self.facts),
            8 => Some(&self.history.earlier),
            9 => Some(&self.history.done),
            10 => Some(&self.history.age),
            11 => Some(&self.kinds.needs),
            12 => Some(&self.kinds.free),
            13 => Some(&self.flavours.known),
            14 => Some(&self.flavours.running),
            LEAVE => Some(&self.leaving),
            ASLEEP => Some(&self.asleep),
            _ => None,
        }
    }
}

fn rows<const COLUMNS: usize>(table: &Table) -> impl ExactSizeIterator<Item = [Constant; COLUMNS]> {
    (0..table.len()).map(|row| std::array::from_fn(|column| constant(table.value(row, column))))
}

/// A value of a fact as a constant. Only the neighbours of a node are not a constant; they become the empty list.
fn constant(value: Value<'_>) -> Constant {
    match value {
        Value::Atom(atom) => Value::Atom(atom),
        Value::Integer(value) => Value::Integer(value),
        Value::Float(value) => Value::Float(value),
        Value::List(_) | Value::Compound(..) | Value::Term(_) => Value::List(&[]),
    }
}

/// The text of a constant, without quotes.
pub(crate) fn constant_text(symbols: &Symbols, constant: Value<'_>) -> String {
    match constant {
        Value::Atom(atom) => symbols.name(atom).to_owned(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        // These values are not constants.
        Value::List(_) | Value::Compound(..) | Value::Term(_) => String::new(),
    }
}

fn quantity(quantity: Quantity) -> Constant {
    match quantity.as_whole() {
        Some(whole) => Value::Integer(i64::from(whole)),
        None => Value::Float(quantity.value()),
    }
}

impl Relations for KnowledgeBase {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        self.table_at(position).map(|table| table as &dyn Relation)
    }

    fn table(&self, position: usize) -> Option<&Table> {
        self.table_at(position)
    }
}

impl fmt::Display for UnknownInstance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownInstance::None => formatter.write_str("the facts name no instance: there is no `serviceInstance/3`"),
            UnknownInstance::Several(ids) => {
                write!(formatter, "the facts name several instances: {}", ids.join(", "))
            }
            UnknownInstance::NotAmong(ids) => {
                write!(formatter, "the instances in the facts are: {}", ids.join(", "))
            }
        }
    }
}

impl Error for UnknownInstance {}
