//! Writes an infrastructure as `GraphML`, from which [`read_graph`](super::read_graph) reads the same nodes and links.
//! Names of tiers are not written, nor are facts that only repeat the tier of their node.

use std::error::Error;
use std::fmt::{self, Write};

use mario_domain::{Capacity, Fact, FactValue, HardwareKind, Id, NodeId};

use super::Topology;

/// Attribute names that have a meaning for the reader, and so cannot be keys of facts. The names of kinds of hardware
/// cannot either.
const TAKEN: [&str; 9] =
    ["capacity", "hardware", "tier", "level", "latitude", "lat", "longitude", "lon", "access_point"];

/// Why an infrastructure cannot be written without loss.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExportError {
    /// The name of a node looks like a number.
    NumberedName(NodeId),
    /// The key of a fact is a number, or has another meaning in a file.
    TakenKey(NodeId, String),
    /// The name of a node, or the key or text of a fact, has a character that is not allowed in XML.
    Character(String),
}

/// The type of a fact's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Whole,
    Number,
}

impl Kind {
    fn of(value: &FactValue) -> Kind {
        match value {
            FactValue::Id(Id::Name(_)) => Kind::Text,
            FactValue::Id(Id::Number(_)) => Kind::Whole,
            FactValue::Number(_) => Kind::Number,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Whole => "long",
            Kind::Number => "double",
        }
    }
}

/// Writes the infrastructure as `GraphML`: nodes with capacity, tier, position, access point and facts; links with
/// latency and bandwidth.
pub fn write_graphml(topology: &Topology) -> Result<String, ExportError> {
    let mut text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
            .to_owned();
    for (name, of, kind) in [
        ("capacity", "node", "string"),
        ("tier", "node", "int"),
        ("latitude", "node", "double"),
        ("longitude", "node", "double"),
        ("access_point", "node", "boolean"),
        ("latency", "edge", "double"),
        ("bandwidth", "edge", "double"),
    ] {
        let _ = writeln!(text, "  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
    for kind in HardwareKind::ALL.into_iter().skip(1).filter(|kind| has_kind(topology, *kind)) {
        let _ = writeln!(text, "  <key id=\"{kind}\" for=\"node\" attr.name=\"{kind}\" attr.type=\"long\"/>");
    }
    let keys = fact_keys(topology)?;
    for (number, (key, kind)) in keys.iter().enumerate() {
        let (name, kind) = (escaped(key)?, kind.as_str());
        let _ = writeln!(text, "  <key id=\"fact{number}\" for=\"node\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
    text.push_str("  <graph edgedefault=\"undirected\">\n");
    for (_, node) in topology.nodes() {
        let _ = writeln!(text, "    <node id=\"{}\">", node_name(&node.id)?);
        let mut data = |key: &str, value: &str| {
            let _ = writeln!(text, "      <data key=\"{key}\">{value}</data>");
        };
        match node.capacity {
            Capacity::Unbounded => data("capacity", "unbounded"),
            Capacity::Bounded(hardware) => {
                data("capacity", &hardware.as_units().to_string());
                for (kind, amount) in hardware.amounts().skip(1) {
                    data(kind.as_str(), &amount.to_string());
                }
            }
        }
        data("tier", &node.tier.to_string());
        if let Some(position) = node.position {
            data("latitude", &position.latitude.to_string());
            data("longitude", &position.longitude.to_string());
        }
        data("access_point", if node.is_access_point { "true" } else { "false" });
        for fact in node.facts.iter().filter(|fact| !is_tier_fact(fact, node.tier)) {
            let kind = Kind::of(&fact.value);
            let place = keys.iter().position(|(key, of)| *key == fact.key.to_string() && *of == kind).unwrap_or(0);
            let value = match &fact.value {
                FactValue::Id(Id::Name(name)) => escaped(name.as_str())?,
                FactValue::Id(Id::Number(number)) => number.to_string(),
                FactValue::Number(number) => number.to_string(),
            };
            data(&format!("fact{place}"), &value);
        }
        text.push_str("    </node>\n");
    }
    for (from, node) in topology.nodes() {
        for (_, link) in topology.links_from(from).filter(|(_, link)| link.to > from) {
            let (source, target) = (node_name(&node.id)?, node_name(&topology.node(link.to).id)?);
            let _ = writeln!(text, "    <edge source=\"{source}\" target=\"{target}\">");
            let _ = writeln!(text, "      <data key=\"latency\">{}</data>", link.latency.units());
            if let Some(bandwidth) = link.bandwidth {
                let _ = writeln!(text, "      <data key=\"bandwidth\">{bandwidth}</data>");
            }
            text.push_str("    </edge>\n");
        }
    }
    text.push_str("  </graph>\n</graphml>\n");
    Ok(text)
}

/// Whether any node has hardware of this kind.
fn has_kind(topology: &Topology, kind: HardwareKind) -> bool {
    let has = |capacity: Capacity| matches!(capacity, Capacity::Bounded(hardware) if hardware.of(kind) > 0);
    topology.nodes().any(|(_, node)| has(node.capacity))
}

/// Whether an attribute of this name means something other than a fact to the reader.
fn is_taken(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TAKEN.contains(&name.as_str()) || HardwareKind::with_name(&name).is_some()
}

/// Whether a fact only repeats the tier of its node, which is written as an attribute.
fn is_tier_fact(fact: &Fact, tier: u16) -> bool {
    fact.key.to_string() == "tier" && fact.value == FactValue::Id(Id::Number(i64::from(tier)))
}

/// The keys of facts with the types of their values, in the order of appearance; an error if a key would be read as
/// something else.
fn fact_keys(topology: &Topology) -> Result<Vec<(String, Kind)>, ExportError> {
    let mut keys: Vec<(String, Kind)> = Vec::new();
    for (_, node) in topology.nodes() {
        for fact in node.facts.iter().filter(|fact| !is_tier_fact(fact, node.tier)) {
            let key = (fact.key.to_string(), Kind::of(&fact.value));
            if matches!(fact.key, Id::Number(_)) || is_taken(&key.0) {
                return Err(ExportError::TakenKey(node.id.clone(), key.0));
            }
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    Ok(keys)
}

/// The escaped name of a node in the file; an error if it cannot be escaped, or if it would be read as a number.
fn node_name(id: &NodeId) -> Result<String, ExportError> {
    match id.id() {
        Id::Number(number) => Ok(number.to_string()),
        Id::Name(name) => match name.as_str().parse::<i64>() {
            Ok(number) if number.to_string() == name.as_str() => Err(ExportError::NumberedName(id.clone())),
            _ => escaped(name.as_str()),
        },
    }
}

/// Escapes a text for an XML attribute or element; an error if it has a character that is not allowed in XML.
fn escaped(text: &str) -> Result<String, ExportError> {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // A reader may turn these into spaces if they are written literally.
            '\t' | '\n' | '\r' => {
                let _ = write!(escaped, "&#{};", letter as u32);
            }
            letter if letter < ' ' || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                return Err(ExportError::Character(text.to_owned()));
            }
            letter => escaped.push(letter),
        }
    }
    Ok(escaped)
}

impl fmt::Display for ExportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::NumberedName(node) => {
                write!(formatter, "the name `{node}` of a node would be read back as a number")
            }
            ExportError::TakenKey(node, key) => {
                write!(formatter, "the fact `{key}` about node `{node}` would be read back as something else")
            }
            ExportError::Character(name) => {
                write!(formatter, "the name {name:?} has a character that XML does not have")
            }
        }
    }
}

impl Error for ExportError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Position;
    use crate::topology::{GraphDefaults, GraphFormat, NodeDescription, TopologyBuilder, read_graph};
    use mario_domain::{Duration, Hardware};

    fn node(id: NodeId, facts: &[(&str, FactValue)]) -> NodeDescription {
        let fact = |(key, value): &(&str, FactValue)| Fact {
            subject: id.id().clone(),
            key: Id::name(key).expect("a name"),
            value: value.clone(),
        };
        NodeDescription {
            capacity: Capacity::units(3),
            tier: 2,
            position: Some(Position { latitude: 0.1 + 0.2, longitude: -12.5 }),
            is_access_point: false,
            facts: facts.iter().map(fact).collect(),
            id,
        }
    }

    #[test]
    fn an_exported_infrastructure_is_read_back_unchanged() {
        let mut builder = TopologyBuilder::default();
        let name = |name: &str| FactValue::name(name).expect("a name");
        let odd = NodeId::name("a <\"&'\n> b").expect("a name");
        let facts =
            [("k & k", name(" x\t")), ("price", FactValue::Number(3.0)), ("price", FactValue::Id(Id::number(3)))];
        let first = builder.node(node(odd, &facts)).expect("a node");
        let mut cloud = node(NodeId::number(-7), &[("price", name("7"))]);
        (cloud.capacity, cloud.tier, cloud.position, cloud.is_access_point) = (Capacity::Unbounded, 0, None, true);
        let second = builder.node(cloud).expect("a node");
        let mut third = node(NodeId::name("c").expect("a name"), &[]);
        let hardware =
            Hardware::units(4).with(HardwareKind::MemoryMb, 512).and_then(|it| it.with(HardwareKind::Gpu, 2));
        third.capacity = Capacity::Bounded(hardware.expect("small amounts"));
        let third = builder.node(third).expect("a node");
        builder.link(third, first, Duration::of(1.0 / 3.0), Some(1e-7)).expect("a link");
        builder.link(first, second, Duration::of(0.0), None).expect("a link");
        let topology = builder.build().expect("a topology");
        let text = write_graphml(&topology).expect("it can be written");
        let again = read_graph(text.as_bytes(), GraphFormat::GraphMl, &GraphDefaults::default()).expect("a graph");
        let [one, other] = [&topology, &again].map(|topology| serde_json::to_string(topology).expect("plain data"));
        assert_eq!(one, other);
    }

    #[test]
    fn an_infrastructure_that_cannot_be_exported_without_loss_is_rejected() {
        let of = |description: NodeDescription| {
            let mut builder = TopologyBuilder::default();
            builder.node(description).expect("a node");
            write_graphml(&builder.build().expect("a topology")).map_err(|error| error.to_string())
        };
        let name = |name: &str| NodeId::name(name).expect("a name");
        let tier = |tier: i64| [("tier", FactValue::Id(Id::number(tier)))];
        assert!(of(node(name("a"), &tier(2))).is_ok_and(|text| !text.contains("fact0")));
        for (description, message) in [
            (node(name("7"), &[]), "the name `7` of a node would be read back as a number"),
            (node(name("a"), &tier(3)), "the fact `tier` about node `a` would be read back as something else"),
            (
                node(name("a"), &[("GPU", FactValue::Id(Id::number(1)))]),
                "the fact `GPU` about node `a` would be read back as something else",
            ),
            (node(name("a\u{1}"), &[]), "the name \"a\\u{1}\" has a character that XML does not have"),
        ] {
            assert_eq!(of(description).expect_err(message), message);
        }
    }
}
