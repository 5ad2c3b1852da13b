//! The operations on an instance.

use std::fmt;
use std::ops::{Index, IndexMut};

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::{FlavourId, Id, NodeId};

/// An operation on an instance, with its target.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "operation", content = "target", rename_all = "lowercase")]
pub enum Operation {
    /// The instance disappears.
    Undeploy,
    /// The instance moves to another node.
    Migrate(Target),
    /// Another instance of the same application appears on the target node. The instance itself stays.
    Replicate(Target),
    /// The instance changes to another flavour on the same node.
    Adapt(FlavourId),
    /// The workload of the instance stops; its agent stays.
    Sleep,
    /// The workload of a sleeping instance starts.
    Wake,
    /// A new instance of an application appears on a node. Only operators can request it.
    Deploy(NodeId),
}

/// The target of an operation, as the policy wrote it: a node, or a flavour for an adapt.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// The node that the instance is on, written `self`.
    Own,
    /// A node by its id.
    Node(NodeId),
    /// A flavour by its id.
    Flavour(FlavourId),
}

/// What an operation does to the number of instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InstanceEffect {
    /// An instance appears.
    Created,
    /// The instance disappears.
    Ended,
    /// The number stays.
    Kept,
}

/// The applications with whose instances an operation can be accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Concerned {
    /// Every application. These are the operations of the paper, whose columns come first in tables.
    Every,
    /// Those with flavours.
    WithFlavours,
    /// Those that can sleep.
    WithSleep,
}

/// Generates [`AgentOperation`], [`OperationName`], their lists and [`OperationCounts`] from a table of the operations
/// of agents, in the order of their codes: of each what it does, its name and its word, what it does to the number of
/// instances once it is accepted, and the applications that it concerns.
macro_rules! agent_operations {
    ($(#[doc = $doc:literal] $name:ident $word:ident: $effect:ident, $concerned:ident;)*) => {
        /// An operation that an agent can propose; only operators deploy.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum AgentOperation {
            $(#[doc = $doc] $name,)*
        }

        /// The name of an operation, whether an agent or an operator requests it.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum OperationName {
            $(#[doc = $doc] $name,)*
            /// A new instance appears on a node.
            Deploy,
        }

        /// A count for each operation of agents, under its word.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "each is the operation of that name")]
        pub struct OperationCounts {
            $(pub $word: u64,)*
        }

        impl AgentOperation {
            /// The number of operations.
            pub const COUNT: usize = [$(stringify!($word)),*].len();

            /// All operations, in the order of their codes.
            pub const ALL: [AgentOperation; AgentOperation::COUNT] = [$(AgentOperation::$name),*];

            /// The name of the operation in policies, traces and on screen.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(AgentOperation::$name => stringify!($word),)*
                }
            }

            /// What the operation does, in a sentence.
            pub fn description(self) -> &'static str {
                let text = match self {
                    $(AgentOperation::$name => $doc,)*
                };
                text.trim_start()
            }

            /// What the operation does to the number of instances once it is accepted.
            pub const fn effect(self) -> InstanceEffect {
                match self {
                    $(AgentOperation::$name => InstanceEffect::$effect,)*
                }
            }

            /// The applications with whose instances it can be accepted.
            pub const fn concerned(self) -> Concerned {
                match self {
                    $(AgentOperation::$name => Concerned::$concerned,)*
                }
            }
        }

        impl OperationName {
            /// All names: those of agents in the order of their codes, then `deploy`.
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

        impl Index<AgentOperation> for OperationCounts {
            type Output = u64;

            fn index(&self, operation: AgentOperation) -> &u64 {
                match operation {
                    $(AgentOperation::$name => &self.$word,)*
                }
            }
        }

        impl IndexMut<AgentOperation> for OperationCounts {
            fn index_mut(&mut self, operation: AgentOperation) -> &mut u64 {
                match operation {
                    $(AgentOperation::$name => &mut self.$word,)*
                }
            }
        }
    };
}

agent_operations! {
    /// The instance disappears.
    Undeploy undeploy: Ended, Every;
    /// The instance moves to another node.
    Migrate migrate: Kept, Every;
    /// Another instance of the application appears on the target.
    Replicate replicate: Created, Every;
    /// The instance changes to another flavour.
    Adapt adapt: Kept, WithFlavours;
    /// The workload of the instance stops.
    Sleep sleep: Kept, WithSleep;
    /// The workload of a sleeping instance starts.
    Wake wake: Kept, WithSleep;
}

impl OperationCounts {
    /// Each operation that concerns these applications with its count, in the order of the codes.
    pub fn of(self, concerned: Concerned) -> impl Iterator<Item = (AgentOperation, u64)> {
        self.iter().filter(move |(operation, _)| operation.concerned() == concerned)
    }

    /// Each operation with its count, in the order of the codes.
    pub fn iter(self) -> impl Iterator<Item = (AgentOperation, u64)> {
        AgentOperation::ALL.into_iter().map(move |operation| (operation, self[operation]))
    }
}

impl AgentOperation {
    /// The code of the operation in caches, in messages and in the data of pages: its index in [`AgentOperation::ALL`].
    /// Traces contain the name instead. Messages are why a new operation is appended to the table.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The operation with this code; `None` if there is no such code.
    pub fn with_code(code: u8) -> Option<AgentOperation> {
        AgentOperation::ALL.get(usize::from(code)).copied()
    }

    /// Whether the operation places an instance on its target node, so that the target's manager must accept it. Any
    /// other operation concerns the instance's own node alone.
    pub const fn asks_for_place(self) -> bool {
        match self {
            AgentOperation::Undeploy | AgentOperation::Adapt | AgentOperation::Sleep | AgentOperation::Wake => false,
            AgentOperation::Migrate | AgentOperation::Replicate => true,
        }
    }

    /// Whether its target is a flavour.
    pub const fn asks_for_flavour(self) -> bool {
        matches!(self, AgentOperation::Adapt)
    }

    /// Whether the operation has a target. In a policy, the target of an operation without one is written `self`.
    pub const fn has_target(self) -> bool {
        self.asks_for_place() || self.asks_for_flavour()
    }

    /// Interprets the id that a policy wrote as the target: a flavour for an adapt, a node otherwise.
    pub fn target(self, written: Id) -> Target {
        if self.asks_for_flavour() { Target::Flavour(written.into()) } else { Target::from(written) }
    }

    /// The operation with this target. The target is ignored if the operation has none.
    pub fn towards(self, target: Target) -> Operation {
        match self {
            AgentOperation::Undeploy => Operation::Undeploy,
            AgentOperation::Adapt => Operation::Adapt(target.id().into()),
            AgentOperation::Sleep => Operation::Sleep,
            AgentOperation::Wake => Operation::Wake,
            AgentOperation::Migrate => Operation::Migrate(target),
            AgentOperation::Replicate => Operation::Replicate(target),
        }
    }
}

impl OperationName {
    /// The name as text.
    pub const fn as_str(self) -> &'static str {
        match self.of_agent() {
            Some(operation) => operation.as_str(),
            None => "deploy",
        }
    }

    /// Whether the operation places an instance on a target node. Unlike [`AgentOperation::asks_for_place`], this
    /// includes a deploy.
    pub const fn asks_for_place(self) -> bool {
        match self.of_agent() {
            Some(operation) => operation.asks_for_place(),
            None => true,
        }
    }
}

impl Operation {
    /// The name of the operation.
    pub fn name(&self) -> OperationName {
        match self {
            Operation::Undeploy => OperationName::Undeploy,
            Operation::Migrate(_) => OperationName::Migrate,
            Operation::Replicate(_) => OperationName::Replicate,
            Operation::Adapt(_) => OperationName::Adapt,
            Operation::Sleep => OperationName::Sleep,
            Operation::Wake => OperationName::Wake,
            Operation::Deploy(_) => OperationName::Deploy,
        }
    }

    /// The target that was asked for; `None` if the operation has none.
    pub fn asked(&self) -> Option<Target> {
        match self {
            Operation::Undeploy | Operation::Sleep | Operation::Wake => None,
            Operation::Migrate(target) | Operation::Replicate(target) => Some(target.clone()),
            Operation::Adapt(flavour) => Some(Target::Flavour(flavour.clone())),
            Operation::Deploy(node) => Some(Target::Node(node.clone())),
        }
    }

    /// The operation of an agent with its target, [`Target::Own`] if it has none: the reverse of
    /// [`AgentOperation::towards`]. `None` for a deploy.
    pub fn of_agent(&self) -> Option<(AgentOperation, Target)> {
        Some((self.name().of_agent()?, self.asked().unwrap_or(Target::Own)))
    }

    /// The node on which the operation takes effect, for an instance on `own`: the target node, or `own` for an adapt,
    /// a sleep and a wake. `None` for an undeploy, and for a migrate or replicate whose target is not a node.
    pub fn target<'a>(&'a self, own: &'a NodeId) -> Option<&'a NodeId> {
        match self {
            Operation::Undeploy => None,
            Operation::Migrate(target) | Operation::Replicate(target) => target.resolve(own),
            Operation::Adapt(_) | Operation::Sleep | Operation::Wake => Some(own),
            Operation::Deploy(node) => Some(node),
        }
    }
}

impl Target {
    /// The node that the target denotes for an instance on `own`; `None` for a flavour.
    pub fn resolve<'a>(&'a self, own: &'a NodeId) -> Option<&'a NodeId> {
        match self {
            Target::Own => Some(own),
            Target::Node(node) => Some(node),
            Target::Flavour(_) => None,
        }
    }

    /// The id that the policy wrote.
    pub fn id(&self) -> Id {
        match self {
            Target::Own => Id::own(),
            Target::Node(node) => node.id().clone(),
            Target::Flavour(flavour) => flavour.id().clone(),
        }
    }
}

impl From<Id> for Target {
    fn from(id: Id) -> Target {
        // `self` is the only id that cannot be the id of a node, so the conversion fails for it alone.
        NodeId::try_from(id).map_or(Target::Own, Target::Node)
    }
}

/// The form of a target in JSON: a node's id or `self`, or `{"flavour":"lite"}`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenTarget {
    Node(Id),
    Flavour { flavour: FlavourId },
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            // A binary format does not mark whether a node or a flavour follows; the variant of the `Result` does.
            let node_or_flavour: Result<Id, &FlavourId> = match self {
                Target::Own | Target::Node(_) => Ok(self.id()),
                Target::Flavour(flavour) => Err(flavour),
            };
            return node_or_flavour.serialize(serializer);
        }
        match self {
            Target::Own | Target::Node(_) => WrittenTarget::Node(self.id()),
            Target::Flavour(flavour) => WrittenTarget::Flavour { flavour: flavour.clone() },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
        if !deserializer.is_human_readable() {
            let node_or_flavour = Result::<Id, FlavourId>::deserialize(deserializer)?;
            return Ok(node_or_flavour.map_or_else(Target::Flavour, Target::from));
        }
        Ok(match WrittenTarget::deserialize(deserializer)? {
            WrittenTarget::Node(id) => Target::from(id),
            WrittenTarget::Flavour { flavour } => Target::Flavour(flavour),
        })
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
            Target::Flavour(flavour) => flavour.fmt(formatter),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Undeploy => formatter.write_str("undeploy"),
            Operation::Migrate(target) => write!(formatter, "migrate to {target}"),
            Operation::Replicate(target) => write!(formatter, "replicate to {target}"),
            Operation::Adapt(flavour) => write!(formatter, "adapt to {flavour}"),
            Operation::Sleep => formatter.write_str("sleep"),
            Operation::Wake => formatter.write_str("wake"),
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
            (r#"{"operation":"adapt","target":"lite"}"#, "adapt to lite"),
            (r#"{"operation":"sleep"}"#, "sleep"),
            (r#"{"operation":"wake"}"#, "wake"),
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
    fn counts_are_serialised_under_the_words_in_the_order_of_the_codes() {
        let mut counts = OperationCounts::default();
        for (count, operation) in (1..).zip(AgentOperation::ALL) {
            counts[operation] += count;
        }
        let json = r#"{"undeploy":1,"migrate":2,"replicate":3,"adapt":4,"sleep":5,"wake":6}"#;
        assert_eq!(serde_json::to_string(&counts).expect("plain data"), json);
        assert_eq!(serde_json::from_str::<OperationCounts>(json).expect("valid"), counts);
        let of_sleep: Vec<_> = counts.of(Concerned::WithSleep).collect();
        assert_eq!(of_sleep, [(AgentOperation::Sleep, 5), (AgentOperation::Wake, 6)]);
    }

    #[test]
    fn codes_are_indices_and_round_trip() {
        for (code, operation) in (0..).zip(AgentOperation::ALL) {
            assert_eq!((operation.code(), AgentOperation::with_code(code)), (code, Some(operation)));
            assert_eq!(OperationName::of(operation).of_agent(), Some(operation));
        }
        assert_eq!(AgentOperation::with_code(AgentOperation::ALL.len() as u8), None);
        assert_eq!(OperationName::Deploy.of_agent(), None);
    }

    #[test]
    fn only_self_resolves_to_the_instances_own_node() {
        let own = NodeId::name("n42").expect("a name");
        let replicate = Operation::Replicate(Target::Own);
        assert_eq!(replicate.target(&own), Some(&own));
        assert_eq!(Operation::Undeploy.target(&own), None);
        assert_eq!(Target::Own.id().to_string(), "self");
        assert_eq!(Target::from(Target::Own.id()), Target::Own);
    }

    #[test]
    fn the_target_of_an_adapt_is_a_flavour_whatever_its_name() {
        let own = NodeId::name("n42").expect("a name");
        for written in ["lite", "n42", "self"] {
            let id = Id::name(written).expect("a name");
            let target = AgentOperation::Adapt.target(id.clone());
            assert_eq!((&target, target.resolve(&own)), (&Target::Flavour(id.clone().into()), None));
            let adapt = AgentOperation::Adapt.towards(target.clone());
            assert_eq!((adapt.target(&own), adapt.to_string()), (Some(&own), format!("adapt to {written}")));
            let json = format!(r#"{{"flavour":"{written}"}}"#);
            assert_eq!(serde_json::to_string(&target).expect("plain data"), json);
            assert_eq!(serde_json::from_str::<Target>(&json).expect("valid"), target);
        }
        for target in [Target::Own, Target::Node(own), Target::Flavour(FlavourId::number(3))] {
            let mut memory = [0; 64];
            let bytes = postcard::to_slice(&target, &mut memory).expect("plain data");
            assert_eq!(postcard::from_bytes::<Target>(bytes).expect("the same"), target);
        }
    }
}
