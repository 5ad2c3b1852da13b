//! The facts that one agent may see, as plain arrays that a policy reads in place.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mario_domain::{Application, Capacity, Fact, FactValue, Id, Quantity};
use mario_prolog::{Relation, Relations, Symbols, Value};

/// A name or a number in a fact. Names are those of one engine's [`Symbols`].
pub type Constant = Value<'static>;

/// The facts that one agent may see.
///
/// Fill it once and refill it for each decision: [`KnowledgeBase::clear_situation`] keeps the memory, and the
/// applications, which change rarely.
#[derive(Clone, Debug)]
pub struct KnowledgeBase {
    symbols: Names,
    services: Table<4>,
    nodes: Nodes,
    instances: Table<3>,
    requests: Table<4>,
    inhibited: Table<3>,
    facts: Table<3>,
}

/// A node as its facts show it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NodeFact<'a> {
    /// Which node.
    pub node: Constant,
    /// Its free hardware.
    pub free: Constant,
    /// Its neighbours.
    pub neighbours: &'a [Constant],
}

/// Why it is not clear which instance to decide for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UnknownInstance {
    /// There is no `serviceInstance/3` fact.
    None,
    /// There are several, and none was named: their ids.
    Several(Vec<String>),
    /// The one that was named is not among these.
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
    /// No facts yet. The names in it are those of `symbols`, which must be those of the policies that will read it.
    pub fn new(symbols: &Arc<Symbols>) -> KnowledgeBase {
        KnowledgeBase {
            symbols: Names(Arc::clone(symbols)),
            services: Table::default(),
            nodes: Nodes::default(),
            instances: Table::default(),
            requests: Table::default(),
            inhibited: Table::default(),
            facts: Table::default(),
        }
    }

    /// The names in use.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols.0
    }

    /// Forgets everything; keeps the memory.
    pub fn clear(&mut self) {
        self.services.rows.clear();
        self.facts.rows.clear();
        self.clear_situation();
    }

    /// Forgets what belongs to one agent at one moment: node, instance, requests and inhibitions. Applications and extra
    /// facts stay.
    pub fn clear_situation(&mut self) {
        self.nodes.clear();
        self.instances.rows.clear();
        self.requests.rows.clear();
        self.inhibited.rows.clear();
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

    /// The id that a constant is; `None` for a float or the empty name.
    pub fn to_id(&self, constant: Constant) -> Option<Id> {
        match constant {
            Value::Integer(number) => Some(Id::Number(number)),
            Value::Atom(atom) => Id::name(self.symbols.0.name(atom)).ok(),
            _ => None,
        }
    }

    /// A constant as people write an id: without quotes.
    pub fn text(&self, constant: Constant) -> String {
        constant_text(&self.symbols.0, constant)
    }

    /// The constant for free or required hardware.
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
        self.services.rows.push([application, hardware, max_rate, max_latency]);
    }

    /// Adds the `service/4` fact of an application.
    pub fn push_application(&mut self, application: &Application) {
        let id = self.id(application.id.id());
        let hardware = self.capacity(Capacity::Bounded(application.hardware));
        self.push_service(id, hardware, quantity(application.max_rate), quantity(application.max_latency));
    }

    /// Adds `node(Node, FreeHardware)` and `node(Node, FreeHardware, Neighbours)`.
    pub fn push_node(&mut self, node: Constant, free: Constant, neighbours: impl IntoIterator<Item = Constant>) {
        self.nodes.push(node, free, neighbours);
    }

    /// Adds `serviceInstance(Instance, Application, Node)`.
    pub fn push_instance(&mut self, instance: Constant, application: Constant, node: Constant) {
        self.instances.rows.push([instance, application, node]);
    }

    /// Adds `requests(Instance, Neighbour, Rate, Latency)`.
    pub fn push_requests(&mut self, instance: Constant, neighbour: Constant, rate: Constant, latency: Constant) {
        self.requests.rows.push([instance, neighbour, rate, latency]);
    }

    /// Adds `inhibited(Operation, Instance, Target)`, which is `refused(Operation, Instance, Target)` too.
    pub fn push_inhibited(&mut self, operation: Constant, instance: Constant, target: Constant) {
        self.inhibited.rows.push([operation, instance, target]);
    }

    /// Adds `fact(Subject, Key, Value)`.
    pub fn push_fact(&mut self, subject: Constant, key: Constant, value: Constant) {
        self.facts.rows.push([subject, key, value]);
    }

    /// Adds an extra fact of the domain.
    pub fn push_domain_fact(&mut self, fact: &Fact) {
        let value = match &fact.value {
            FactValue::Id(id) => self.id(id),
            FactValue::Number(number) => Value::Float(*number),
        };
        let (subject, key) = (self.id(&fact.subject), self.id(&fact.key));
        self.push_fact(subject, key, value);
    }

    /// The `service/4` facts.
    pub fn services(&self) -> &[[Constant; 4]] {
        &self.services.rows
    }

    /// The `node/3` facts.
    pub fn nodes(&self) -> impl Iterator<Item = NodeFact<'_>> {
        (0..self.nodes.rows.len()).map(|row| NodeFact {
            node: self.nodes.rows[row].node,
            free: self.nodes.rows[row].free,
            neighbours: self.nodes.neighbours_of(row),
        })
    }

    /// The `serviceInstance/3` facts.
    pub fn instances(&self) -> &[[Constant; 3]] {
        &self.instances.rows
    }

    /// The `requests/4` facts.
    pub fn requests(&self) -> &[[Constant; 4]] {
        &self.requests.rows
    }

    /// The `inhibited/3` facts.
    pub fn inhibited(&self) -> &[[Constant; 3]] {
        &self.inhibited.rows
    }

    /// The `fact/3` facts.
    pub fn facts(&self) -> &[[Constant; 3]] {
        &self.facts.rows
    }

    /// The instance that is meant: the one with this id, or the only one.
    pub fn find_instance(&self, named: Option<&str>) -> Result<Constant, UnknownInstance> {
        let ids = || self.instances.rows.iter().map(|row| self.text(row[0])).collect();
        match (named, self.instances.rows.as_slice()) {
            (_, []) => Err(UnknownInstance::None),
            (None, [only]) => Ok(only[0]),
            (None, _) => Err(UnknownInstance::Several(ids())),
            (Some(named), rows) => {
                let found = rows.iter().find(|row| self.text(row[0]) == named);
                found.map(|row| row[0]).ok_or_else(|| UnknownInstance::NotAmong(ids()))
            }
        }
    }

    /// Makes the facts the same as those of `other`; keeps the memory.
    pub fn copy_from(&mut self, other: &KnowledgeBase) {
        self.symbols.clone_from(&other.symbols);
        self.services.rows.clone_from(&other.services.rows);
        self.nodes.rows.clone_from(&other.nodes.rows);
        self.nodes.neighbours.clone_from(&other.nodes.neighbours);
        self.instances.rows.clone_from(&other.instances.rows);
        self.requests.rows.clone_from(&other.requests.rows);
        self.inhibited.rows.clone_from(&other.inhibited.rows);
        self.facts.rows.clone_from(&other.facts.rows);
    }

    pub(crate) fn extra_facts(&self) -> &dyn Relation {
        &self.facts
    }

    pub(crate) fn nodes_mut(&mut self) -> &mut Nodes {
        &mut self.nodes
    }
}

/// A constant as people write an id: without quotes.
pub(crate) fn constant_text(symbols: &Symbols, constant: Constant) -> String {
    match constant {
        Value::Atom(atom) => symbols.name(atom).to_owned(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        // No constant is one of these: they are not 'static data of a knowledge base.
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
        // The positions are those of `FACTS`. One table serves `node/2` and `node/3`: the shorter form reads its first
        // two columns. One serves `inhibited/3` and its alias.
        match position {
            0 => Some(&self.services),
            1 | 2 => Some(&self.nodes),
            3 => Some(&self.instances),
            4 => Some(&self.requests),
            5 | 6 => Some(&self.inhibited),
            7 => Some(&self.facts),
            _ => None,
        }
    }
}

/// Rows of constants.
#[derive(Clone, Debug)]
pub(crate) struct Table<const COLUMNS: usize> {
    pub(crate) rows: Vec<[Constant; COLUMNS]>,
}

impl<const COLUMNS: usize> Default for Table<COLUMNS> {
    fn default() -> Self {
        Table { rows: Vec::new() }
    }
}

impl<const COLUMNS: usize> Relation for Table<COLUMNS> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.rows[row][column]
    }

    fn next_row(&self, from: usize, bound: &[Option<Value<'_>>]) -> Option<usize> {
        let rows = self.rows.get(from..)?;
        let matches = |row: &[Constant; COLUMNS]| {
            row.iter().zip(bound).all(|(value, wanted)| wanted.is_none_or(|wanted| *value == wanted))
        };
        rows.iter().position(matches).map(|position| from + position)
    }
}

/// Node facts. Neighbours of all nodes share one array.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    rows: Vec<NodeRow>,
    neighbours: Vec<Constant>,
}

#[derive(Clone, Copy, Debug)]
struct NodeRow {
    node: Constant,
    free: Constant,
    neighbours_start: u32,
    neighbours_end: u32,
    given: Given,
}

/// Which of the two forms of a node fact was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Given {
    Short,
    Long,
    Both,
}

/// Why a node fact cannot be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeConflict {
    Twice,
    OtherHardware,
}

impl Nodes {
    fn clear(&mut self) {
        self.rows.clear();
        self.neighbours.clear();
    }

    fn push(&mut self, node: Constant, free: Constant, neighbours: impl IntoIterator<Item = Constant>) {
        let start = self.neighbours.len() as u32;
        self.neighbours.extend(neighbours);
        let end = self.neighbours.len() as u32;
        self.rows.push(NodeRow { node, free, neighbours_start: start, neighbours_end: end, given: Given::Both });
    }

    /// Adds a fact of one form; the other form of the same fact may be there already.
    pub(crate) fn push_form(
        &mut self,
        node: Constant,
        free: Constant,
        neighbours: Option<Vec<Constant>>,
    ) -> Result<(), NodeConflict> {
        let form = if neighbours.is_some() { Given::Long } else { Given::Short };
        let Some(row) = self.rows.iter().position(|row| row.node == node) else {
            self.push(node, free, neighbours.unwrap_or_default());
            if let Some(last) = self.rows.last_mut() {
                last.given = form;
            }
            return Ok(());
        };
        if self.rows[row].given == form || self.rows[row].given == Given::Both {
            return Err(NodeConflict::Twice);
        }
        if self.rows[row].free != free {
            return Err(NodeConflict::OtherHardware);
        }
        self.rows[row].given = Given::Both;
        if let Some(neighbours) = neighbours {
            self.rows[row].neighbours_start = self.neighbours.len() as u32;
            self.neighbours.extend(neighbours);
            self.rows[row].neighbours_end = self.neighbours.len() as u32;
        }
        Ok(())
    }

    fn neighbours_of(&self, row: usize) -> &[Constant] {
        let row = &self.rows[row];
        &self.neighbours[row.neighbours_start as usize..row.neighbours_end as usize]
    }
}

impl Relation for Nodes {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        match column {
            0 => self.rows[row].node,
            1 => self.rows[row].free,
            _ => Value::List(self.neighbours_of(row)),
        }
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
