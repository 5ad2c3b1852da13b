//! Words of vocabularies, hardware, and the schemas of ids.

use std::fmt;

use mario_domain::{AgentOperation, HardwareKind, OperationName};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A word of a vocabulary. A newer version may have further words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Word<T> {
    /// A word of this version.
    Known(T),
    /// A word that this version does not know.
    Unknown(String),
}

/// A vocabulary: words with their spelling in JSON and on screen.
pub trait Spelled {
    /// The word.
    fn as_str(&self) -> &'static str;
}

impl<T: Spelled> Word<T> {
    /// The word.
    pub fn as_str(&self) -> &str {
        match self {
            Word::Known(known) => known.as_str(),
            Word::Unknown(word) => word,
        }
    }

    /// The word, if this version knows it.
    pub fn known(&self) -> Option<&T> {
        match self {
            Word::Known(known) => Some(known),
            Word::Unknown(_) => None,
        }
    }
}

impl<T: PartialEq> Word<T> {
    /// Whether it is this word.
    pub fn is(&self, word: &T) -> bool {
        matches!(self, Word::Known(known) if known == word)
    }
}

impl<T: Default> Default for Word<T> {
    fn default() -> Word<T> {
        Word::Known(T::default())
    }
}

impl<T: Spelled> fmt::Display for Word<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The schema has the words of this version.
impl<T: JsonSchema> JsonSchema for Word<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Defines a vocabulary.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$word_doc])* #[serde(rename = $text)] $word,)*
        }

        impl crate::api::Spelled for $name {
            fn as_str(&self) -> &'static str {
                match self {
                    $($name::$word => $text,)*
                }
            }
        }
    };
}
pub(crate) use words;

/// The name of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Operation(pub OperationName);

impl Spelled for Operation {
    fn as_str(&self) -> &'static str {
        self.0.as_str()
    }
}

/// The words in the order of the operations, those of agents that place an instance first, and `deploy` last.
impl JsonSchema for Operation {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Operation".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut agents = AgentOperation::ALL;
        agents.sort_by_key(|operation| !operation.asks_for_place());
        let agents = agents.into_iter().map(|operation| (operation.as_str(), operation.description()));
        let words = agents.chain([(OperationName::Deploy.as_str(), "An operator starts an instance.")]);
        // Plain values keep the order of their keys.
        let words: Vec<Value> = words
            .map(|(word, description)| json!({ "type": "string", "const": word, "description": description }))
            .collect();
        json_schema!({ "oneOf": words, "description": "The name of an operation." })
    }
}

impl From<AgentOperation> for Operation {
    fn from(operation: AgentOperation) -> Operation {
        Operation(OperationName::of(operation))
    }
}

impl From<OperationName> for Operation {
    fn from(name: OperationName) -> Operation {
        Operation(name)
    }
}

/// Hardware: a number of units, or an amount of each kind. A newer node may have kinds that this version does not know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hardware {
    /// A number of units.
    Units(u64),
    /// Amounts by kind, in the order of the node.
    Kinds(Vec<(String, u64)>),
}

/// The hardware of a node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Capacity {
    /// Bounded hardware.
    Bounded(Hardware),
    /// Without bound.
    Unbounded(Unbounded),
}

/// The word for hardware without bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Unbounded {
    /// Without bound.
    Unbounded,
}

impl From<mario_domain::Hardware> for Hardware {
    fn from(hardware: mario_domain::Hardware) -> Hardware {
        if hardware.has_further() {
            Hardware::Kinds(hardware.amounts().map(|(kind, amount)| (kind.as_str().to_owned(), amount)).collect())
        } else {
            Hardware::Units(hardware.as_units())
        }
    }
}

impl From<mario_domain::Capacity> for Capacity {
    fn from(capacity: mario_domain::Capacity) -> Capacity {
        match capacity {
            mario_domain::Capacity::Bounded(hardware) => Capacity::Bounded(hardware.into()),
            mario_domain::Capacity::Unbounded => Capacity::Unbounded(Unbounded::Unbounded),
        }
    }
}

impl TryFrom<Hardware> for mario_domain::Hardware {
    type Error = String;

    fn try_from(hardware: Hardware) -> Result<mario_domain::Hardware, String> {
        let kinds = match hardware {
            Hardware::Units(units) => return Ok(mario_domain::Hardware::units(units)),
            Hardware::Kinds(kinds) => kinds,
        };
        let mut sum = mario_domain::Hardware::NONE;
        for (name, amount) in kinds {
            let kind = HardwareKind::with_name(&name).ok_or_else(|| format!("unknown kind of hardware: `{name}`"))?;
            sum = sum.with(kind, amount).ok_or_else(|| format!("too large an amount of `{name}`: {amount}"))?;
        }
        Ok(sum)
    }
}

impl TryFrom<Capacity> for mario_domain::Capacity {
    type Error = String;

    fn try_from(capacity: Capacity) -> Result<mario_domain::Capacity, String> {
        match capacity {
            Capacity::Bounded(hardware) => hardware.try_into().map(mario_domain::Capacity::Bounded),
            Capacity::Unbounded(Unbounded::Unbounded) => Ok(mario_domain::Capacity::Unbounded),
        }
    }
}

impl fmt::Display for Hardware {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Capacity::Bounded(hardware) => hardware.fmt(formatter),
            Capacity::Unbounded(Unbounded::Unbounded) => formatter.write_str("unbounded"),
        }
    }
}

impl Serialize for Hardware {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Hardware::Units(units) => serializer.serialize_u64(*units),
            Hardware::Kinds(kinds) => serializer.collect_map(kinds.iter().map(|(kind, amount)| (kind, amount))),
        }
    }
}

impl<'de> Deserialize<'de> for Hardware {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hardware, D::Error> {
        deserializer.deserialize_any(HardwareVisitor)
    }
}

struct HardwareVisitor;

impl<'de> Visitor<'de> for HardwareVisitor {
    type Value = Hardware;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("hardware: a number of units, or an amount of each kind")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Hardware, E> {
        Ok(Hardware::Units(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Hardware, A::Error> {
        let mut kinds = Vec::new();
        while let Some(kind) = map.next_entry()? {
            kinds.push(kind);
        }
        Ok(Hardware::Kinds(kinds))
    }
}

impl JsonSchema for Hardware {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Hardware".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Hardware: a number of units, or an amount of each kind.",
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "object", "additionalProperties": { "type": "integer", "minimum": 0 } },
            ],
        })
    }
}

/// The schema of ids.
pub(crate) struct AnyId;

impl JsonSchema for AnyId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "An id: a name or a number.", "type": ["string", "integer"] })
    }
}
