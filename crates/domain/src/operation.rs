//! What can be done with an instance.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Id, NodeId};

/// What can be done with an instance, and where.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "operation", content = "target", rename_all = "lowercase")]
pub enum Operation {
    /// The instance disappears.
    Undeploy,
    /// The instance moves.
    Migrate(Target),
    /// Another instance of the same application appears; this one stays.
    Replicate(Target),
    /// A first instance of an application appears on a node. Only people and outside programs ask for it.
    Deploy(NodeId),
}

/// The word for an operation, without its target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperationName {
    /// See [`Operation::Undeploy`].
    Undeploy,
    /// See [`Operation::Migrate`].
    Migrate,
    /// See [`Operation::Replicate`].
    Replicate,
    /// See [`Operation::Deploy`].
    Deploy,
}

/// The node that an operation leads to, as the policy wrote it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "Id", into = "Id")]
pub enum Target {
    /// The node that the instance is on, written `self`.
    Own,
    /// A node by its id.
    Node(NodeId),
}

/// What an agent can ask for; deploys are asked for by operators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentOperation {
    /// The instance ends.
    Undeploy,
    /// The instance moves to another node.
    Migrate,
    /// A copy of the instance appears on a node.
    Replicate,
}

impl AgentOperation {
    /// All of them, in the order in which tables list them.
    pub const ALL: [AgentOperation; 3] = [AgentOperation::Undeploy, AgentOperation::Migrate, AgentOperation::Replicate];

    /// The word for it, in policies, traces and on screen.
    pub const fn as_str(self) -> &'static str {
        OperationName::of(self).as_str()
    }

    /// Its number in compact forms of traces, caches and pages: its position in [`AgentOperation::ALL`].
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The operation with this number.
    pub const fn with_code(code: u8) -> Option<AgentOperation> {
        match code {
            0 => Some(AgentOperation::Undeploy),
            1 => Some(AgentOperation::Migrate),
            2 => Some(AgentOperation::Replicate),
            _ => None,
        }
    }

    /// The operation with its target; an undeploy has none.
    pub fn towards(self, target: Target) -> Operation {
        match self {
            AgentOperation::Undeploy => Operation::Undeploy,
            AgentOperation::Migrate => Operation::Migrate(target),
            AgentOperation::Replicate => Operation::Replicate(target),
        }
    }
}

impl OperationName {
    /// The name of an agent's operation.
    pub const fn of(operation: AgentOperation) -> OperationName {
        match operation {
            AgentOperation::Undeploy => OperationName::Undeploy,
            AgentOperation::Migrate => OperationName::Migrate,
            AgentOperation::Replicate => OperationName::Replicate,
        }
    }

    /// The agent's operation of this name; `None` for a deploy.
    pub const fn of_agent(self) -> Option<AgentOperation> {
        match self {
            OperationName::Undeploy => Some(AgentOperation::Undeploy),
            OperationName::Migrate => Some(AgentOperation::Migrate),
            OperationName::Replicate => Some(AgentOperation::Replicate),
            OperationName::Deploy => None,
        }
    }

    /// The word, as everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            OperationName::Undeploy => "undeploy",
            OperationName::Migrate => "migrate",
            OperationName::Replicate => "replicate",
            OperationName::Deploy => "deploy",
        }
    }
}

impl Operation {
    /// Its word.
    pub fn name(&self) -> OperationName {
        match self {
            Operation::Undeploy => OperationName::Undeploy,
            Operation::Migrate(_) => OperationName::Migrate,
            Operation::Replicate(_) => OperationName::Replicate,
            Operation::Deploy(_) => OperationName::Deploy,
        }
    }

    /// The node that it leads to when the instance is on `own`; `None` when it leads nowhere.
    pub fn target<'a>(&'a self, own: &'a NodeId) -> Option<&'a NodeId> {
        match self {
            Operation::Undeploy => None,
            Operation::Migrate(target) | Operation::Replicate(target) => Some(target.resolve(own)),
            Operation::Deploy(node) => Some(node),
        }
    }
}

impl Target {
    /// The node that it means for an instance on `own`.
    pub fn resolve<'a>(&'a self, own: &'a NodeId) -> &'a NodeId {
        match self {
            Target::Own => own,
            Target::Node(node) => node,
        }
    }
}

impl From<Id> for Target {
    fn from(id: Id) -> Target {
        // The only id that is no node's is `self`.
        NodeId::try_from(id).map_or(Target::Own, Target::Node)
    }
}

impl From<Target> for Id {
    fn from(target: Target) -> Id {
        match target {
            Target::Own => Id::own(),
            Target::Node(node) => node.into(),
        }
    }
}

impl fmt::Display for OperationName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for AgentOperation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Own => formatter.write_str(crate::SELF),
            Target::Node(node) => node.fmt(formatter),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Undeploy => formatter.write_str("undeploy"),
            Operation::Migrate(target) => write!(formatter, "migrate to {target}"),
            Operation::Replicate(target) => write!(formatter, "replicate to {target}"),
            Operation::Deploy(node) => write!(formatter, "deploy on {node}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_has_this_json() {
        for (json, shown) in [
            (r#"{"operation":"undeploy"}"#, "undeploy"),
            (r#"{"operation":"migrate","target":"n41"}"#, "migrate to n41"),
            (r#"{"operation":"replicate","target":"self"}"#, "replicate to self"),
            (r#"{"operation":"deploy","target":3}"#, "deploy on 3"),
        ] {
            let operation: Operation = serde_json::from_str(json).expect("valid");
            assert_eq!(serde_json::to_string(&operation).expect("plain data"), json);
            assert_eq!(operation.to_string(), shown);
            assert!(json.contains(operation.name().as_str()));
        }
        assert!(serde_json::from_str::<Operation>(r#"{"operation":"deploy","target":"self"}"#).is_err());
        assert_eq!(serde_json::to_string(&OperationName::Replicate).expect("a word"), r#""replicate""#);
    }

    #[test]
    fn codes_are_positions_and_lead_back() {
        for (code, operation) in (0..).zip(AgentOperation::ALL) {
            assert_eq!((operation.code(), AgentOperation::with_code(code)), (code, Some(operation)));
            assert_eq!(OperationName::of(operation).of_agent(), Some(operation));
        }
        assert_eq!(AgentOperation::with_code(AgentOperation::ALL.len() as u8), None);
        assert_eq!(OperationName::Deploy.of_agent(), None);
    }

    #[test]
    fn self_is_the_own_node_and_nothing_else() {
        let own = NodeId::name("n42").expect("a name");
        let replicate = Operation::Replicate(Target::Own);
        assert_eq!(replicate.target(&own), Some(&own));
        assert_eq!(Operation::Undeploy.target(&own), None);
        assert_eq!(Id::from(Target::Own).to_string(), "self");
        assert_eq!(Target::from(Id::from(Target::Own)), Target::Own);
    }
}
