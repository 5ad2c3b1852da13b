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

/// The node that an operation leads to, as the policy wrote it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "Id", into = "Id")]
pub enum Target {
    /// The node that the instance is on, written `self`.
    Own,
    /// A node by its id.
    Node(NodeId),
}

/// Defines what agents can ask for, each with its word, in the order of their codes. Everything that lists operations follows from
/// this table.
macro_rules! agent_operations {
    ($($(#[$doc:meta])* $name:ident $word:literal;)*) => {
        /// What an agent can ask for; deploys are asked for by operators.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum AgentOperation {
            $($(#[$doc])* $name,)*
        }

        /// The word of an operation, of an agent's or an operator's.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum OperationName {
            $($(#[$doc])* $name,)*
            /// A new instance appears on a node.
            Deploy,
        }

        impl AgentOperation {
            /// How many there are.
            pub const COUNT: usize = [$($word),*].len();

            /// All of them, in the order of their codes.
            pub const ALL: [AgentOperation; AgentOperation::COUNT] = [$(AgentOperation::$name),*];

            /// The word for it, in policies, traces and on screen.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(AgentOperation::$name => $word,)*
                }
            }
        }

        impl OperationName {
            /// All of them: those of agents in the order of their codes, then the deploy.
            pub const ALL: [OperationName; AgentOperation::COUNT + 1] =
                [$(OperationName::$name,)* OperationName::Deploy];

            /// The name of an agent's operation.
            pub const fn of(operation: AgentOperation) -> OperationName {
                match operation {
                    $(AgentOperation::$name => OperationName::$name,)*
                }
            }

            /// The agent's operation of this name; `None` for a deploy.
            pub const fn of_agent(self) -> Option<AgentOperation> {
                match self {
                    $(OperationName::$name => Some(AgentOperation::$name),)*
                    OperationName::Deploy => None,
                }
            }
        }
    };
}

agent_operations! {
    /// The instance ends.
    Undeploy "undeploy";
    /// The instance moves to another node.
    Migrate "migrate";
    /// A copy of the instance appears on a node.
    Replicate "replicate";
}

impl AgentOperation {
    /// Its number in compact forms of traces, caches and pages: its position in [`AgentOperation::ALL`].
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The operation with this number.
    pub fn with_code(code: u8) -> Option<AgentOperation> {
        AgentOperation::ALL.get(usize::from(code)).copied()
    }

    /// Whether it needs a place on its target, so that the target's manager is asked. An operation that does not concerns the
    /// instance's own node alone.
    pub const fn asks_for_place(self) -> bool {
        match self {
            AgentOperation::Undeploy => false,
            AgentOperation::Migrate | AgentOperation::Replicate => true,
        }
    }

    /// The operation with its target, if it has one.
    pub fn towards(self, target: Target) -> Operation {
        match self {
            AgentOperation::Undeploy => Operation::Undeploy,
            AgentOperation::Migrate => Operation::Migrate(target),
            AgentOperation::Replicate => Operation::Replicate(target),
        }
    }
}

impl OperationName {
    /// The word, as everywhere.
    pub const fn as_str(self) -> &'static str {
        match self.of_agent() {
            Some(operation) => operation.as_str(),
            None => "deploy",
        }
    }

    /// Whether it needs a place on a node.
    pub const fn asks_for_place(self) -> bool {
        match self.of_agent() {
            Some(operation) => operation.asks_for_place(),
            None => true,
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
