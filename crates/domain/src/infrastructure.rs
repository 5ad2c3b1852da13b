//! Nodes, and the instances that run on them.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ApplicationId, Capacity, InstanceId, NodeId};

/// A node: its id, its hardware, and its neighbours.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "TypedNode", into = "TypedNode")]
pub struct Node {
    id: NodeId,
    capacity: Capacity,
    neighbours: Vec<NodeId>,
}

/// A running instance of an application, on one node: `serviceInstance/3` in a policy.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// The id of the instance.
    pub id: InstanceId,
    /// The id of its application.
    pub application: ApplicationId,
    /// The id of its node.
    pub node: NodeId,
}

/// Why a node is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeError {
    /// A node cannot be its own neighbour.
    OwnNeighbour(NodeId),
    /// A neighbour occurs twice.
    NeighbourTwice {
        /// The node.
        node: NodeId,
        /// The repeated neighbour.
        neighbour: NodeId,
    },
}

impl Node {
    /// A node with these neighbours, in the given order. Fails if the node is its own neighbour, or a neighbour occurs
    /// twice.
    pub fn new(id: NodeId, capacity: Capacity, neighbours: Vec<NodeId>) -> Result<Node, NodeError> {
        let mut seen = BTreeSet::new();
        for neighbour in &neighbours {
            if *neighbour == id {
                return Err(NodeError::OwnNeighbour(id));
            }
            if !seen.insert(neighbour) {
                return Err(NodeError::NeighbourTwice { node: id, neighbour: neighbour.clone() });
            }
        }
        Ok(Node { id, capacity, neighbours })
    }

    /// The id of the node.
    pub fn id(&self) -> &NodeId {
        &self.id
    }

    /// The total hardware, including hardware in use.
    pub fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// The neighbours: nodes with a link to this one.
    pub fn neighbours(&self) -> &[NodeId] {
        &self.neighbours
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeError::OwnNeighbour(node) => write!(formatter, "node `{node}` cannot be its own neighbour"),
            NodeError::NeighbourTwice { node, neighbour } => {
                write!(formatter, "node `{node}` has the neighbour `{neighbour}` twice")
            }
        }
    }
}

impl Error for NodeError {}

/// The serialised form of a [`Node`], before its neighbours are validated.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedNode {
    id: NodeId,
    capacity: Capacity,
    #[serde(default)]
    neighbours: Vec<NodeId>,
}

impl TryFrom<TypedNode> for Node {
    type Error = NodeError;

    fn try_from(typed: TypedNode) -> Result<Node, NodeError> {
        Node::new(typed.id, typed.capacity, typed.neighbours)
    }
}

impl From<Node> for TypedNode {
    fn from(node: Node) -> TypedNode {
        TypedNode { id: node.id, capacity: node.capacity, neighbours: node.neighbours }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_and_an_instance_have_this_json() {
        let json = r#"{"id":"n42","capacity":10,"neighbours":["n41",7]}"#;
        let node: Node = serde_json::from_str(json).expect("valid");
        assert_eq!(serde_json::to_string(&node).expect("plain data"), json);
        assert_eq!(node.neighbours().len(), 2);
        let json = r#"{"id":"s1","application":"video","node":"n42"}"#;
        let instance: Instance = serde_json::from_str(json).expect("valid");
        assert_eq!(serde_json::to_string(&instance).expect("plain data"), json);
    }

    #[test]
    fn refuses_own_and_repeated_neighbours() {
        for (json, expected) in [
            (r#"{"id":1,"capacity":1,"neighbours":[1]}"#, "its own neighbour"),
            (r#"{"id":1,"capacity":1,"neighbours":[2,3,2]}"#, "`2` twice"),
            (r#"{"id":1,"capacity":1,"neighbours":["self"]}"#, "`self`"),
        ] {
            let error = serde_json::from_str::<Node>(json).expect_err("not a node").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
