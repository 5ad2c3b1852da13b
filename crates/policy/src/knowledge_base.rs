//! The facts that one agent may see, as plain arrays that a policy reads in place.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mario_domain::{Application, Capacity, DefinedBy, Fact, FactPredicate, FactValue, Id, Quantity};
use mario_prolog::{Loader, Relation, Relations, Symbols, Table, Value};

mod later;

/// A name or a number in a fact. Names are those of one engine's [`Symbols`].
pub type Constant = Value<'static>;

/// The facts that one agent may see.
///
/// Create it once and refill it for each decision: [`KnowledgeBase::clear_situation`] keeps the allocated memory, and
/// the applications and extra facts, which change rarely.
#[derive(Clone, Debug)]
pub struct KnowledgeBase {
    symbols: Names,
    /// For each predicate, its facts. That of an alias stays empty, see [`FactPredicate::own`].
    tables: [Table; FactPredicate::ALL.len()],
    /// For each row of `node/3`, whether it was added as `node/2`, `node/3` or both.
    node_forms: Vec<NodeForm>,
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
            tables: FactPredicate::ALL.map(|predicate| Table::new(predicate.arity())),
            node_forms: Vec::new(),
            neighbours: Vec::new(),
        }
    }

    /// The atom table in use.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols.0
    }

    /// Removes all facts but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.tables.iter_mut().for_each(Table::clear);
        self.node_forms.clear();
    }

    /// Removes the facts that belong to one agent at one time: those with [`mario_domain::Lifetime::Evaluation`].
    pub fn clear_situation(&mut self) {
        for predicate in FactPredicate::OF_ONE_EVALUATION {
            self.tables[predicate as usize].clear();
        }
        self.node_forms.clear();
    }

    /// Whether there are facts that belong to one agent at one time.
    pub fn has_situation(&self) -> bool {
        FactPredicate::OF_ONE_EVALUATION.iter().any(|&predicate| !self.tables[predicate as usize].is_empty())
    }

    /// Removes the extra facts.
    pub fn clear_facts(&mut self) {
        self.own_table(FactPredicate::Fact).clear();
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
        self.own_table(FactPredicate::Service).push(&[application, hardware, max_rate, max_latency]);
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
        self.tables[NODES].push(&[node, free, Value::List(&self.neighbours)]);
        self.node_forms.push(NodeForm::Both);
    }

    /// Adds `serviceInstance(Instance, Application, Node)`.
    pub fn push_instance(&mut self, instance: Constant, application: Constant, node: Constant) {
        self.own_table(FactPredicate::ServiceInstance).push(&[instance, application, node]);
    }

    /// Adds `requests(Instance, Neighbour, Rate, Latency)`.
    pub fn push_requests(&mut self, instance: Constant, neighbour: Constant, rate: Constant, latency: Constant) {
        self.own_table(FactPredicate::Requests).push(&[instance, neighbour, rate, latency]);
    }

    /// Adds `inhibited(Operation, Instance, Target)`, which is also visible as `refused(Operation, Instance, Target)`.
    pub fn push_inhibited(&mut self, operation: Constant, instance: Constant, target: Constant) {
        self.own_table(FactPredicate::Inhibited).push(&[operation, instance, target]);
    }

    /// Adds `fact(Subject, Key, Value)`.
    pub fn push_fact(&mut self, subject: Constant, key: Constant, value: Constant) {
        self.own_table(FactPredicate::Fact).push(&[subject, key, value]);
    }

    /// Adds a fact with these values, as many as the predicate has arguments. Nodes are added by
    /// [`KnowledgeBase::push_node`].
    pub fn push(&mut self, predicate: FactPredicate, row: &[Constant]) {
        debug_assert!(predicate.own() != FactPredicate::NodeWithNeighbours, "a list is not a constant");
        self.own_table(predicate).push(row);
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

    /// The facts of a predicate with `COLUMNS` arguments. A list of neighbours is not a constant, so it is empty here.
    pub fn rows<const COLUMNS: usize>(
        &self,
        predicate: FactPredicate,
    ) -> impl ExactSizeIterator<Item = [Constant; COLUMNS]> {
        assert_eq!(predicate.arity(), COLUMNS, "the arguments of {predicate}");
        let table = self.table_of(predicate);
        (0..table.len()).map(|row| std::array::from_fn(|column| constant(table.value(row, column))))
    }

    /// The `service/4` facts.
    pub fn services(&self) -> impl ExactSizeIterator<Item = [Constant; 4]> {
        self.rows(FactPredicate::Service)
    }

    /// The nodes. A node that was added only as `node/2` has no neighbours here.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeFact<'_>> {
        let nodes = &self.tables[NODES];
        (0..nodes.len()).map(|row| NodeFact {
            node: constant(nodes.value(row, 0)),
            free: constant(nodes.value(row, 1)),
            neighbours: match nodes.value(row, 2) {
                Value::List(neighbours) => neighbours,
                _ => &[],
            },
        })
    }

    /// The `serviceInstance/3` facts.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = [Constant; 3]> {
        self.rows(FactPredicate::ServiceInstance)
    }

    /// The `requests/4` facts.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = [Constant; 4]> {
        self.rows(FactPredicate::Requests)
    }

    /// The `inhibited/3` facts.
    pub fn inhibited(&self) -> impl ExactSizeIterator<Item = [Constant; 3]> {
        self.rows(FactPredicate::Inhibited)
    }

    /// The `fact/3` facts.
    pub fn facts(&self) -> impl ExactSizeIterator<Item = [Constant; 3]> {
        self.rows(FactPredicate::Fact)
    }

    /// Returns the instance whose id has this text or, if `named` is `None`, the only instance. An error if there is no
    /// such instance, or if none is named and there are several.
    pub fn find_instance(&self, named: Option<&str>) -> Result<Constant, UnknownInstance> {
        let ids = || self.instances().map(|row| self.text(row[0])).collect();
        match named {
            _ if self.table_of(FactPredicate::ServiceInstance).is_empty() => Err(UnknownInstance::None),
            Some(named) => {
                let found = self.instances().find(|row| self.text(row[0]) == named);
                found.map(|row| row[0]).ok_or_else(|| UnknownInstance::NotAmong(ids()))
            }
            None => match self.instances().collect::<Vec<_>>().as_slice() {
                [only] => Ok(only[0]),
                _ => Err(UnknownInstance::Several(ids())),
            },
        }
    }

    /// Replaces the facts by copies of those of `other`; reuses the allocated memory.
    pub fn copy_from(&mut self, other: &KnowledgeBase) {
        self.symbols.clone_from(&other.symbols);
        self.tables.clone_from(&other.tables);
        self.node_forms.clone_from(&other.node_forms);
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
            self.set_node_form(self.tables[NODES].len() - 1, form);
            return Ok(());
        };
        if self.node_forms[row] == form || self.node_forms[row] == NodeForm::Both {
            return Err(NodeConflict::Twice);
        }
        if constant(self.tables[NODES].value(row, 1)) != free {
            return Err(NodeConflict::OtherHardware);
        }
        if let Some(neighbours) = neighbours {
            let before = std::mem::replace(&mut self.tables[NODES], Table::new(3));
            for index in 0..before.len() {
                let own = if index == row { Value::List(&neighbours) } else { before.value(index, 2) };
                self.tables[NODES].push(&[before.value(index, 0), before.value(index, 1), own]);
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
        let nodes = &from.tables[NODES];
        self.tables[NODES].clear();
        for (row, free) in (0..nodes.len()).zip(free) {
            self.tables[NODES].push(&[nodes.value(row, 0), free, nodes.value(row, 2)]);
        }
    }

    /// Replaces all facts of a predicate. Nodes are replaced by [`KnowledgeBase::replace_nodes`].
    pub(crate) fn replace_rows<'r>(&mut self, predicate: FactPredicate, rows: impl Iterator<Item = &'r [Constant]>) {
        let table = self.own_table(predicate);
        table.clear();
        rows.for_each(|row| table.push(row));
    }

    /// The facts of a predicate. `node/2` has the table of `node/3`, and reads its first two columns.
    pub(crate) fn table_of(&self, predicate: FactPredicate) -> &Table {
        &self.tables[predicate.own() as usize]
    }

    fn own_table(&mut self, predicate: FactPredicate) -> &mut Table {
        &mut self.tables[predicate.own() as usize]
    }
}

/// The table of the nodes.
const NODES: usize = FactPredicate::NodeWithNeighbours as usize;

/// For each position of [`FactPredicate::OF_AGENTS`], the table of its facts.
const TABLES: [usize; FactPredicate::OF_AGENTS.len()] = {
    let (mut tables, mut position) = ([0; FactPredicate::OF_AGENTS.len()], 0);
    while position < tables.len() {
        tables[position] = FactPredicate::OF_AGENTS[position].own() as usize;
        position += 1;
    }
    tables
};

/// A value of a fact as a constant. Only the neighbours of a node are not a constant; they become the empty list.
pub(crate) fn constant(value: Value<'_>) -> Constant {
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

/// Declares the facts of these predicates to a text that is loaded, at these positions.
pub(crate) fn declare_facts(loader: &mut Loader, predicates: &[FactPredicate]) {
    for predicate in predicates {
        match predicate.row().defined_by {
            DefinedBy::Host => loader.relation(predicate.name(), predicate.arity()),
            DefinedBy::HostUnlessPolicy => loader.default_relation(predicate.name(), predicate.arity()),
        };
    }
}

/// The positions are those of [`FactPredicate::OF_AGENTS`].
impl Relations for KnowledgeBase {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        Relations::table(self, position).map(|table| table as &dyn Relation)
    }

    fn table(&self, position: usize) -> Option<&Table> {
        TABLES.get(position).map(|&table| &self.tables[table])
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
