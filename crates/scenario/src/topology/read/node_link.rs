//! Reads the node-link JSON of networkx: `{"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 2}]}`. Older
//! versions write `links` for `edges`.

use std::fmt;
use std::ops::Range;

use mario_domain::HardwareKind;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Attribute, Graph, GraphEdge, GraphError, GraphNode, GraphProblem, Scalar};

/// The attributes that state the hardware of a node.
const CAPACITIES: [&str; 3] = ["capacity", "hardware", "units"];

/// The members of an object, each with the text of its value, which determines its place.
struct Object<'t>(Vec<(String, &'t RawValue)>);

pub(super) fn read(text: &str) -> Result<Graph, GraphError> {
    let document: &RawValue = parse(text, text)?;
    let members = object(text, document, "an object with `nodes` and `edges`")?;
    let mut graph = Graph { span: place(text, document), ..Graph::default() };
    let find = |names: &[&str]| members.0.iter().find(|(name, _)| names.contains(&name.as_str())).map(|(_, raw)| *raw);
    let directed = match find(&["directed"]) {
        Some(raw) => scalar(text, raw)? == Some(Scalar::Truth(true)),
        None => false,
    };
    let missing = |what| GraphError::new(graph.span.clone(), GraphProblem::Missing { what, inside: "the object" });
    let nodes = find(&["nodes"]).ok_or_else(|| missing("`nodes`"))?;
    let edges = find(&["edges", "links"]).ok_or_else(|| missing("`edges`"))?;
    for raw in list(text, nodes)? {
        let span = place(text, raw);
        let mut members = object(text, raw, "a node: an object with an `id`")?;
        let id = members.take(text, "id", &span, "an `id`", "the node")?;
        let name = match &id {
            // As in the other formats, an integer in quotes is a number.
            Scalar::Text(name) => Scalar::untyped_name(name),
            _ => id.clone(),
        };
        graph.nodes.push(GraphNode { key: written(&id), name, span, attributes: members.attributes(text)? });
    }
    for raw in list(text, edges)? {
        let span = place(text, raw);
        let mut members = object(text, raw, "an edge: an object with a `source` and a `target`")?;
        let source = written(&members.take(text, "source", &span, "a `source`", "the edge")?);
        let target = written(&members.take(text, "target", &span, "a `target`", "the edge")?);
        graph.edges.push(GraphEdge { source, target, directed, span, attributes: members.attributes(text)? });
    }
    Ok(graph)
}

impl Object<'_> {
    fn take(
        &mut self,
        text: &str,
        name: &str,
        span: &Range<usize>,
        what: &'static str,
        inside: &'static str,
    ) -> Result<Scalar, GraphError> {
        let place_of = self.0.iter().position(|(key, _)| key == name);
        let missing = || GraphError::new(span.clone(), GraphProblem::Missing { what, inside });
        let (_, raw) = self.0.remove(place_of.ok_or_else(missing)?);
        let expected = || GraphError::new(place(text, raw), GraphProblem::Expected("a name or an integer"));
        scalar(text, raw)?.ok_or_else(expected)
    }

    fn attributes(self, text: &str) -> Result<Vec<Attribute>, GraphError> {
        let mut attributes = Vec::new();
        for (name, raw) in self.0 {
            if raw.get().starts_with(['{', '[']) && CAPACITIES.contains(&name.to_ascii_lowercase().as_str()) {
                attributes.extend(hardware(text, raw)?);
            } else if let Some(value) = scalar(text, raw)? {
                attributes.push(Attribute { name, value, span: place(text, raw) });
            }
        }
        Ok(attributes)
    }
}

/// The attributes of hardware that is written as in a scenario, `{"units": 4, "memory_mb": 2048}`. As there, kinds that
/// are left out are 0.
fn hardware(text: &str, raw: &RawValue) -> Result<Vec<Attribute>, GraphError> {
    const EXPECTED: &str =
        "a number of units, or an object of amounts: `units`, `bandwidth_mbps`, `gpu`, `memory_mb`, `storage_gb`";
    let units = || Attribute { name: "units".to_owned(), value: Scalar::Whole(0), span: place(text, raw) };
    let mut attributes = Vec::new();
    for (name, amount) in object(text, raw, EXPECTED)?.0 {
        let value = scalar(text, amount)?.filter(|_| HardwareKind::with_name(&name).is_some());
        let value = value.ok_or_else(|| GraphError::new(place(text, amount), GraphProblem::Expected(EXPECTED)))?;
        attributes.push(Attribute { name, value, span: place(text, amount) });
    }
    if !attributes.iter().any(|attribute| attribute.name == "units") {
        attributes.push(units());
    }
    Ok(attributes)
}

/// The key by which edges refer to a node. The text "1" and the number 1 have different keys.
fn written(id: &Scalar) -> String {
    match id {
        Scalar::Text(text) => format!("\"{text}"),
        Scalar::Whole(number) => number.to_string(),
        Scalar::Number(number) => number.to_string(),
        Scalar::Truth(truth) => truth.to_string(),
    }
}

fn object<'t>(text: &str, raw: &'t RawValue, expected: &'static str) -> Result<Object<'t>, GraphError> {
    if raw.get().starts_with('{') {
        parse(text, raw.get())
    } else {
        Err(GraphError::new(place(text, raw), GraphProblem::Expected(expected)))
    }
}

fn list<'t>(text: &str, raw: &'t RawValue) -> Result<Vec<&'t RawValue>, GraphError> {
    if raw.get().starts_with('[') {
        parse(text, raw.get())
    } else {
        Err(GraphError::new(place(text, raw), GraphProblem::Expected("a list")))
    }
}

/// A text, a number or a boolean; `None` for `null`, lists and objects.
fn scalar(text: &str, raw: &RawValue) -> Result<Option<Scalar>, GraphError> {
    Ok(match raw.get().as_bytes().first() {
        Some(b'"') => Some(Scalar::Text(parse(text, raw.get())?)),
        Some(b't' | b'f') => Some(Scalar::Truth(raw.get() == "true")),
        Some(b'{' | b'[' | b'n') => None,
        _ => match raw.get().parse::<i64>() {
            Ok(number) => Some(Scalar::Whole(number)),
            Err(_) => match raw.get().parse::<f64>() {
                Ok(number) if number.is_finite() => Some(Scalar::Number(number)),
                _ => Some(Scalar::Text(raw.get().to_owned())),
            },
        },
    })
}

/// The byte offset of a part of a text. `part` must borrow from `text`.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

fn place(text: &str, raw: &RawValue) -> Range<usize> {
    let start = offset(text, raw.get());
    start..(start + raw.get().len()).min(text.len())
}

fn parse<'t, T: Deserialize<'t>>(text: &str, part: &'t str) -> Result<T, GraphError> {
    serde_json::from_str(part).map_err(|error| {
        let lines = part.split_inclusive('\n').take(error.line().saturating_sub(1));
        let before: usize = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
        let mut at = (offset(text, part) + before).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let message = error.to_string();
        // The message need not repeat the place, which is in the span.
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        GraphError::new(
            at..text.len().min(at + text[at..].chars().next().map_or(0, char::len_utf8)),
            GraphProblem::Json(message),
        )
    })
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
