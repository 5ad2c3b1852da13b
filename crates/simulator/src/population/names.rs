//! The names of nodes, applications, flavours and operations in policies.

use std::collections::BTreeMap;
use std::sync::Arc;

use mario_domain::{AgentOperation, Application, FlavourIndex, Id, IdError, NodeId, SELF};
use mario_policy::Constant;
use mario_prolog::{Symbols, Value};
use mario_scenario::{ApplicationIndex, NodeIndex};

use crate::population::agent::Neighbour;
use crate::population::proposal::Target;

/// Maps nodes, applications, flavours and operations to constants in facts, and written targets back to nodes and
/// flavours.
#[derive(Clone)]
pub(crate) struct Names {
    symbols: Arc<Symbols>,
    nodes: Vec<Constant>,
    /// The position of each node among all node ids and `self`, in the standard order of terms.
    ranks: Vec<u32>,
    own_rank: u32,
    by_id: BTreeMap<Id, NodeIndex>,
    applications: Vec<Constant>,
    /// The flavours of each application.
    flavours: Vec<Vec<Constant>>,
    own: Constant,
    operations: [Constant; AgentOperation::COUNT],
}

impl Names {
    pub(crate) fn new<'a>(
        symbols: &Arc<Symbols>,
        nodes: impl Iterator<Item = &'a Id>,
        applications: &[Application],
    ) -> Names {
        let mut names = Names {
            symbols: Arc::clone(symbols),
            nodes: Vec::new(),
            ranks: Vec::new(),
            own_rank: 0,
            by_id: BTreeMap::new(),
            applications: Vec::new(),
            flavours: Vec::new(),
            own: Value::Atom(symbols.intern(SELF)),
            operations: AgentOperation::ALL.map(|name| Value::Atom(symbols.intern(name.as_str()))),
        };
        for (position, id) in nodes.enumerate() {
            names.nodes.push(constant(symbols, id));
            names.by_id.insert(id.clone(), NodeIndex::at(position));
        }
        for application in applications {
            names.applications.push(constant(symbols, application.id.id()));
            let flavours = application.flavours.iter().map(|flavour| constant(symbols, flavour.id.id()));
            names.flavours.push(flavours.collect());
        }
        names.ranks = vec![0; names.nodes.len()];
        let own = Id::name(SELF).expect("it has characters");
        for (rank, (id, node)) in (0..).zip(&names.by_id) {
            let after_own = u32::from(*id > own);
            names.ranks[node.position()] = rank + after_own;
            names.own_rank += 1 - after_own;
        }
        names
    }

    pub(crate) fn node(&self, node: NodeIndex) -> Constant {
        self.nodes[node.position()]
    }

    pub(crate) fn application(&self, application: ApplicationIndex) -> Constant {
        self.applications[application.position()]
    }

    /// A flavour of an application; `None` if the application does not have it.
    pub(crate) fn flavour(&self, application: ApplicationIndex, flavour: FlavourIndex) -> Option<Constant> {
        self.flavours[application.position()].get(usize::from(flavour.0)).copied()
    }

    pub(crate) fn neighbour(&self, neighbour: Neighbour) -> Constant {
        match neighbour {
            Neighbour::Own => self.own,
            Neighbour::Node(node) => self.node(node),
        }
    }

    /// The position of a neighbour among all node ids and `self`, in the standard order of terms.
    pub(crate) fn rank(&self, neighbour: Neighbour) -> u32 {
        match neighbour {
            Neighbour::Own => self.own_rank,
            Neighbour::Node(node) => self.ranks[node.position()],
        }
    }

    pub(crate) fn operation(&self, operation: AgentOperation) -> Constant {
        self.operations[usize::from(operation.code())]
    }

    pub(crate) fn target(&self, target: &Target) -> Constant {
        match target {
            Target::Own => self.own,
            Target::Node(node) => self.node(*node),
            Target::Unknown(id) => constant(&self.symbols, id.id()),
            Target::Flavour(id) => constant(&self.symbols, id.id()),
        }
    }

    /// The target for a node as written by a policy. The nodes in `likely` are tried first, because that is cheaper.
    pub(crate) fn find(&self, written: Constant, likely: &[NodeIndex]) -> Target {
        if written == self.own {
            return Target::Own;
        }
        if let Some(node) = likely.iter().find(|node| self.node(**node) == written) {
            return Target::Node(*node);
        }
        let Ok(id) = self.id(written) else { return Names::nothing() };
        match self.by_id.get(&id) {
            Some(node) => Target::Node(*node),
            None => NodeId::try_from(id).map_or(Target::Own, |id| Target::Unknown(Box::new(id))),
        }
    }

    /// The target for a flavour as written by a policy: [`Target::Flavour`] for any valid id, even if no application
    /// has such a flavour.
    pub(crate) fn find_flavour(&self, written: Constant) -> Target {
        self.id(written).map_or(Names::nothing(), |id| Target::Flavour(Box::new(id.into())))
    }

    fn id(&self, written: Constant) -> Result<Id, IdError> {
        match written {
            Value::Integer(number) => Ok(Id::number(number)),
            Value::Atom(atom) => Id::name(self.symbols.name(atom)),
            _ => Err(IdError::Empty),
        }
    }

    /// The target for what is not a valid id, such as the empty name. Because it is [`Target::Unknown`], it resolves to
    /// no node, even if there is a node with the id 0.
    fn nothing() -> Target {
        Target::Unknown(Box::new(NodeId::number(0)))
    }

    /// The id of a target in facts, as a sort key.
    pub(crate) fn target_order(&self, target: &Target) -> Id {
        match self.target(target) {
            Value::Integer(number) => Id::number(number),
            Value::Atom(atom) => Id::name(self.symbols.name(atom)).unwrap_or(Id::number(0)),
            _ => Id::number(0),
        }
    }
}

fn constant(symbols: &Symbols, id: &Id) -> Constant {
    match id {
        Id::Number(number) => Value::Integer(*number),
        Id::Name(name) => Value::Atom(symbols.intern(name.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_is_ordered_among_the_names_of_nodes() {
        let engine = mario_prolog::Engine::new();
        let ids: Vec<Id> = ["zebra", "apple", "sea"].map(|name| Id::name(name).expect("a name")).into();
        let ids: Vec<Id> = ids.into_iter().chain([Id::number(7)]).collect();
        let names = Names::new(engine.symbols(), ids.iter(), &[]);
        let rank = |node| names.rank(Neighbour::Node(NodeIndex(node)));
        // 7, apple, sea, self, zebra
        assert_eq!([rank(3), rank(1), rank(2), names.rank(Neighbour::Own), rank(0)], [0, 1, 2, 3, 4]);
    }

    #[test]
    fn an_empty_name_is_not_the_node_0() {
        let engine = mario_prolog::Engine::new();
        let names = Names::new(engine.symbols(), [Id::number(0)].iter(), &[]);
        assert_eq!(names.find(Value::Integer(0), &[]), Target::Node(NodeIndex(0)));
        let empty = Value::Atom(engine.symbols().intern(""));
        assert_eq!(names.find(empty, &[]).resolve(NodeIndex(0)), None);
        assert!(matches!(names.find_flavour(empty), Target::Unknown(_)));
    }
}
