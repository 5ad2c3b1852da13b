//! Ids: names and numbers.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// The word that a policy uses for the node of its own instance. No node has this id.
pub const SELF: &str = "self";

/// A name or a number. In a policy, a name is an atom and a number an integer.
///
/// The order is Prolog's standard order of terms: numbers by value, then names by their characters. It breaks ties
/// between neighbours, so it must be the same on every machine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Id {
    /// A number.
    Number(i64),
    /// A name; never empty.
    Name(Name),
}

/// A name that is not empty. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(Arc<str>);

/// Why a value is not a valid id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdError {
    /// The name is empty. It must have at least one character.
    Empty,
    /// `self` stands for an instance's own node, so no node may have this name.
    ReservedSelf,
}

impl Name {
    /// The name as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Id {
    /// The id with this name.
    pub fn name(name: &str) -> Result<Id, IdError> {
        if name.is_empty() { Err(IdError::Empty) } else { Ok(Id::Name(Name(name.into()))) }
    }

    /// The id with this number.
    pub fn number(number: i64) -> Id {
        Id::Number(number)
    }

    /// The name `self`.
    pub(crate) fn own() -> Id {
        Id::Name(Name(SELF.into()))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Number(number) => write!(formatter, "{number}"),
            Id::Name(name) => formatter.write_str(name.as_str()),
        }
    }
}

impl fmt::Display for IdError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            IdError::Empty => "a name has at least one character",
            IdError::ReservedSelf => "`self` stands for the instance's own node and cannot be the id of a node",
        })
    }
}

impl Error for IdError {}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            // A binary format does not mark whether a name or a number follows; the variant of the `Result` does.
            let number_or_name: Result<i64, &str> = match self {
                Id::Number(number) => Ok(*number),
                Id::Name(name) => Err(name.as_str()),
            };
            return number_or_name.serialize(serializer);
        }
        match self {
            Id::Number(number) => serializer.serialize_i64(*number),
            Id::Name(name) => serializer.serialize_str(name.as_str()),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Id, D::Error> {
        if !deserializer.is_human_readable() {
            return match Result::<i64, Cow<'_, str>>::deserialize(deserializer)? {
                Ok(number) => Ok(Id::Number(number)),
                Err(name) => Id::name(&name).map_err(de::Error::custom),
            };
        }
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Id;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an id: a name or an integer")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Id, E> {
        Ok(Id::Number(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Id, E> {
        i64::try_from(value).map(Id::Number).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Id, E> {
        Id::name(value).map_err(E::custom)
    }
}

/// Defines one id type for each kind of thing, so that ids of different kinds cannot be confused. Each type accepts any
/// [`Id`].
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Id);

        impl $name {
            /// The id as a name or a number.
            pub fn id(&self) -> &Id {
                &self.0
            }

            /// The id with this name.
            pub fn name(name: &str) -> Result<Self, IdError> {
                Id::name(name).map($name)
            }

            /// The id with this number.
            pub fn number(number: i64) -> Self {
                $name(Id::Number(number))
            }
        }

        impl From<Id> for $name {
            fn from(id: Id) -> Self {
                $name(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )* };
}

ids! {
    /// The id of an application.
    ApplicationId;
    /// The id of an instance.
    InstanceId;
    /// The id of an agent.
    AgentId;
    /// The id of an owner of applications or nodes.
    OwnerId;
    /// The id of a flavour of an application.
    FlavourId;
}

/// The id of a node: any [`Id`] except `self`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "Id", into = "Id")]
pub struct NodeId(Id);

impl NodeId {
    /// The id as a name or a number.
    pub fn id(&self) -> &Id {
        &self.0
    }

    /// The id with this name.
    pub fn name(name: &str) -> Result<NodeId, IdError> {
        Id::name(name).and_then(NodeId::try_from)
    }

    /// The id with this number.
    pub fn number(number: i64) -> NodeId {
        NodeId(Id::Number(number))
    }
}

impl TryFrom<Id> for NodeId {
    type Error = IdError;

    fn try_from(id: Id) -> Result<NodeId, IdError> {
        match &id {
            Id::Name(name) if name.as_str() == SELF => Err(IdError::ReservedSelf),
            _ => Ok(NodeId(id)),
        }
    }
}

impl From<NodeId> for Id {
    fn from(node: NodeId) -> Id {
        node.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_names_or_integers_in_json() {
        for (json, id) in [("\"n42\"", Id::name("n42").expect("a name")), ("-7", Id::number(-7))] {
            assert_eq!(serde_json::from_str::<Id>(json).expect("an id"), id);
            assert_eq!(serde_json::to_string(&id).expect("an id"), json);
        }
        for (json, expected) in [
            ("\"\"", "at least one character"),
            ("1.5", "a name or an integer"),
            ("null", "a name or an integer"),
            ("[]", "a name or an integer"),
            ("9223372036854775808", "a name or an integer"),
        ] {
            let error = serde_json::from_str::<Id>(json).expect_err("not an id").to_string();
            assert!(error.contains(expected), "{json}: {error}");
        }
    }

    #[test]
    fn no_node_is_called_self() {
        assert_eq!(NodeId::name(SELF), Err(IdError::ReservedSelf));
        assert!(serde_json::from_str::<NodeId>("\"self\"").is_err());
        assert_eq!(serde_json::to_string(&NodeId::number(3)).expect("an id"), "3");
        assert!(ApplicationId::name(SELF).is_ok());
    }

    #[test]
    fn ids_have_the_standard_order_of_terms() {
        let mut ids: Vec<Id> = ["b", "a10", "a9", "Z"].map(|name| Id::name(name).expect("a name")).into();
        ids.extend([Id::number(10), Id::number(-1)]);
        ids.sort();
        let ordered: Vec<String> = ids.iter().map(ToString::to_string).collect();
        assert_eq!(ordered, ["-1", "10", "Z", "a10", "a9", "b"]);
    }
}
