//! The facts that a node's manager sees.

use std::sync::Arc;

use mario_domain::{
    Application, ApplicationId, Capacity, Fact, FactPredicate, FlavourId, HardwareKind, Id, Instance, InstanceId, Node,
    NodeId, Wakefulness,
};
use mario_prolog::{Relation, Relations, Symbols, Table, Value};

use crate::knowledge_base::{Constant, KnowledgeBase};

/// The prefix of the placeholder id of a promised instance whose final id is unknown. A number from 1 follows.
const PROMISED: &str = "promised_";

/// The facts that a node's manager may see: its own node, the instances there, the applications with their owners, and
/// extra facts.
#[derive(Clone, Debug)]
pub struct ManagerView {
    pub(super) node: NodeId,
    pub(super) free: Capacity,
    pub(super) facts: KnowledgeBase,
    /// The number of promised instances with a placeholder id.
    promised_count: u32,
}

impl ManagerView {
    /// The view of the manager of `node`, with `free` hardware available.
    pub fn new(symbols: &Arc<Symbols>, node: &Node, free: Capacity) -> ManagerView {
        let mut view =
            ManagerView { node: node.id().clone(), free, facts: KnowledgeBase::new(symbols), promised_count: 0 };
        view.set_node(node, free);
        view
    }

    /// A view of existing facts, which must include `node/2` or `node/3` of `node`. `free/3` is added if it is missing.
    pub(crate) fn from_facts(
        mut facts: KnowledgeBase,
        node: &Node,
        free: Capacity,
        known_owners: &[[Constant; 2]],
    ) -> ManagerView {
        let id = facts.id(node.id().id());
        facts.push(FactPredicate::Capacity, &[id, facts.capacity(node.capacity())]);
        for row in known_owners {
            facts.push(FactPredicate::Owner, row);
        }
        if facts.rows::<3>(FactPredicate::Free).len() == 0 {
            facts.push_free(id, free, node.capacity());
        }
        push_capacity(&mut facts, id, node.capacity());
        ManagerView { node: node.id().clone(), free, facts, promised_count: 0 }
    }

    /// Resets the view to another node, or to the same node at another time. Applications, their owners and extra facts
    /// are kept. Instances, promised instances, and facts about them such as flavours and eviction notices have to be
    /// added again.
    pub fn set_node(&mut self, node: &Node, free: Capacity) {
        self.facts.clear_situation();
        self.promised_count = 0;
        self.node.clone_from(node.id());
        self.free = free;
        let id = self.facts.id(node.id().id());
        self.facts.push_free(id, free, node.capacity());
        push_capacity(&mut self.facts, id, node.capacity());
        let (free, capacity) = (self.facts.capacity(free), self.facts.capacity(node.capacity()));
        let symbols = Arc::clone(self.facts.symbols());
        let neighbours = node.neighbours().iter().map(|neighbour| constant(&symbols, neighbour.id()));
        self.facts.push_node(id, free, neighbours);
        self.facts.push(FactPredicate::Capacity, &[id, capacity]);
    }

    /// Adds an application, and its owner if known.
    pub fn push_application(&mut self, application: &Application) {
        self.facts.push_application(application);
        if let Some(owner) = &application.owner {
            let row = [self.facts.id(application.id.id()), self.facts.id(owner.id())];
            self.facts.push(FactPredicate::Owner, &row);
        }
    }

    /// Adds an instance on the node, awake or asleep, or one that migrates to the node in this cycle.
    pub fn push_instance(&mut self, instance: &Instance) {
        self.push_row(instance.id.id(), &instance.application);
    }

    /// Adds an instance that was promised in this cycle and has no id yet: a replica, or an operator's deployment.
    /// `flavour` is the flavour in which it will run, if its application has flavours. `wakefulness` says whether it
    /// will sleep: the replica of a sleeping instance does.
    ///
    /// The instances are named `promised_1`, `promised_2` and so on, in the order of the promises. The names are
    /// unique, so that `setof/3` and `findall/3` count the same number of instances. The final id is unknown: ids are
    /// assigned when a cycle is enacted.
    pub fn push_promised(
        &mut self,
        application: &ApplicationId,
        flavour: Option<&FlavourId>,
        wakefulness: Wakefulness,
    ) {
        self.promised_count += 1;
        let id = Id::name(&format!("{PROMISED}{}", self.promised_count)).expect("it has characters");
        self.push_row(&id, application);
        if let Some(flavour) = flavour {
            self.push_running(&id.clone().into(), flavour);
        }
        if wakefulness.is_asleep() {
            self.push_asleep(&id.into());
        }
    }

    /// Adds the fact that an instance runs in a flavour.
    pub fn push_running(&mut self, instance: &InstanceId, flavour: &FlavourId) {
        let (instance, flavour) = (self.facts.id(instance.id()), self.facts.id(flavour.id()));
        self.facts.push_running(instance, flavour);
    }

    /// Adds the fact that an instance on the node sleeps.
    pub fn push_asleep(&mut self, instance: &InstanceId) {
        let instance = self.facts.id(instance.id());
        self.facts.push_asleep(instance);
    }

    /// Adds the fact that an instance on the node will be evicted after this number of further evaluations.
    pub fn push_leave(&mut self, instance: &InstanceId, evaluations: u32) {
        let instance = self.facts.id(instance.id());
        self.facts.push_leave(instance, evaluations);
    }

    fn push_row(&mut self, id: &Id, application: &ApplicationId) {
        let (id, application) = (self.facts.id(id), self.facts.id(application.id()));
        let node = self.facts.id(self.node.id());
        self.facts.push_instance(id, application, node);
    }

    /// Adds an extra fact.
    pub fn push_fact(&mut self, fact: &Fact) {
        self.facts.push_domain_fact(fact);
    }

    /// The hardware that is free.
    pub fn free(&self) -> Capacity {
        self.free
    }
}

/// Adds `capacity(Node, Kind, Amount)` for units and for each other kind that the node has.
fn push_capacity(facts: &mut KnowledgeBase, node: Constant, capacity: Capacity) {
    for kind in HardwareKind::ALL {
        let is_named = match capacity {
            Capacity::Bounded(hardware) => kind == HardwareKind::Units || hardware.of(kind) > 0,
            Capacity::Unbounded => true,
        };
        if is_named {
            let row = [node, facts.constant(kind.as_str()), facts.amount(capacity, kind)];
            facts.push(FactPredicate::CapacityByKind, &row);
        }
    }
}

fn constant(symbols: &Symbols, id: &Id) -> Constant {
    match id {
        Id::Number(number) => Value::Integer(*number),
        Id::Name(name) => Value::Atom(symbols.intern(name.as_str())),
    }
}

/// The positions are those of [`FactPredicate::OF_MANAGERS`].
impl Relations for ManagerView {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        self.table(position).map(|table| table as &dyn Relation)
    }

    fn table(&self, position: usize) -> Option<&Table> {
        FactPredicate::OF_MANAGERS.get(position).map(|&predicate| self.facts.table_of(predicate))
    }
}
