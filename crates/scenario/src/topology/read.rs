//! Reads infrastructures from graph files: `GraphML`, GEXF, GML, and the node-link JSON of networkx.
//!
//! Each reader parses its format into the same list of nodes and edges with attributes, and `interpret` builds the
//! infrastructure from that. So an attribute has the same meaning in every format.

mod gexf;
mod gml;
mod graphml;
mod interpret;
mod node_link;

use std::error::Error;
use std::fmt;
use std::ops::Range;

use mario_domain::{Capacity, Duration, IdError};

use super::Topology;
use crate::position::Position;
use crate::xml::XmlError;
pub use crate::xml::XmlProblem;

/// The format of a graph file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphFormat {
    /// `GraphML`.
    GraphMl,
    /// GEXF, of Gephi.
    Gexf,
    /// GML, the Graph Modelling Language.
    Gml,
    /// The node-link JSON of networkx.
    NodeLink,
}

/// The properties of nodes and links that a file does not state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GraphDefaults {
    /// The hardware of a node.
    pub capacity: Capacity,
    /// The latency of a link.
    pub latency: Duration,
    /// Size units per millisecond; `None` is unlimited.
    pub bandwidth: Option<f64>,
    /// Which nodes are access points if none is marked.
    pub access_points: DefaultAccessPoints,
    /// The number of bits of a size unit, for bandwidths with a unit such as `100 Mbps`.
    pub size_bits: f64,
    /// If set, `x` and `y` of a node are metres east and north of this position; otherwise they are facts.
    pub origin: Option<Position>,
}

/// Which nodes are access points if none is marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefaultAccessPoints {
    /// Nodes with exactly one link; all nodes if there are no such nodes.
    Leaves,
    /// All nodes.
    All,
    /// No nodes.
    None,
}

impl Default for GraphDefaults {
    fn default() -> Self {
        GraphDefaults {
            capacity: Capacity::units(1),
            latency: Duration::of(1.0),
            bandwidth: None,
            access_points: DefaultAccessPoints::Leaves,
            size_bits: 8.0,
            origin: None,
        }
    }
}

/// Why a text is not a valid graph, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct GraphError {
    /// The place of the error, as a range of bytes in the text.
    pub span: Range<usize>,
    /// The problem.
    pub problem: GraphProblem,
}

/// A problem of a graph file.
#[derive(Clone, PartialEq, Debug)]
pub enum GraphProblem {
    /// It is not UTF-8.
    NotUtf8,
    /// It is not well-formed XML.
    Xml(XmlProblem),
    /// It is not valid JSON.
    Json(String),
    /// A value is invalid; the text says what is expected.
    Expected(&'static str),
    /// A part is missing.
    Missing {
        /// The missing part.
        what: &'static str,
        /// The part that must contain it.
        inside: &'static str,
    },
    /// There are no nodes.
    Empty,
    /// The id of a node is invalid.
    Id(IdError),
    /// Two nodes have this id.
    NodeTwice(String),
    /// There is no node with this id.
    UnknownNode(String),
    /// An attribute has an invalid value.
    Value {
        /// The attribute.
        attribute: &'static str,
        /// The valid values.
        expected: &'static str,
    },
    /// The value of an attribute has a unit that its quantity does not have, or a unit that makes it a fraction where a
    /// whole number is needed.
    Unit {
        /// The problem, in one line.
        message: String,
        /// What the user can do about it.
        hint: String,
    },
    /// A node has only one of latitude and longitude, or of `x` and `y`; or it has values of both pairs.
    HalfPosition,
    /// The position of a node, in metres from the origin, is off the map.
    OffTheMap,
    /// An edge leads from a node to itself.
    LinkToItself,
    /// Two nodes have two edges that are not a pair of opposite directed edges.
    LinkTwice,
    /// A directed edge has no counterpart in the opposite direction.
    OneWay,
    /// A directed edge has another latency or bandwidth than its counterpart in the opposite direction.
    TwoWays,
}

/// Reads an infrastructure from a graph file.
pub fn read_graph(bytes: &[u8], format: GraphFormat, defaults: &GraphDefaults) -> Result<Topology, GraphError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        let end = error.error_len().map_or(bytes.len(), |length| start + length);
        GraphError::new(start..end, GraphProblem::NotUtf8)
    })?;
    let graph = match format {
        GraphFormat::GraphMl => graphml::read(text)?,
        GraphFormat::Gexf => gexf::read(text)?,
        GraphFormat::Gml => gml::read(text)?,
        GraphFormat::NodeLink => node_link::read(text)?,
    };
    interpret::topology(graph, defaults)
}

/// A graph as written, before its attributes are interpreted.
#[derive(Debug, Default)]
struct Graph {
    /// The place that errors about the whole graph refer to.
    span: Range<usize>,
    nodes: Vec<GraphNode>,
    edges: Vec<GraphEdge>,
}

#[derive(Debug)]
struct GraphNode {
    /// The key by which edges refer to the node.
    key: String,
    /// The id of the node.
    name: Scalar,
    span: Range<usize>,
    attributes: Vec<Attribute>,
}

#[derive(Debug)]
struct GraphEdge {
    source: String,
    target: String,
    directed: bool,
    span: Range<usize>,
    attributes: Vec<Attribute>,
}

#[derive(Debug)]
struct Attribute {
    name: String,
    value: Scalar,
    span: Range<usize>,
}

/// The value of an attribute, or the id of a node.
#[derive(Clone, PartialEq, Debug)]
enum Scalar {
    Text(String),
    Whole(i64),
    Number(f64),
    Truth(bool),
}

impl Scalar {
    /// Parses the id of a node: an integer in canonical form is a number, everything else is a name.
    fn untyped_name(text: &str) -> Scalar {
        match text.parse::<i64>() {
            // `007` and `+7` are names: as numbers they would not round-trip.
            Ok(number) if number.to_string() == text => Scalar::Whole(number),
            _ => Scalar::Text(text.to_owned()),
        }
    }

    /// Parses a value without a declared type: an integer, a finite number, or else a text.
    fn untyped(text: &str) -> Scalar {
        match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) if number.to_string() == text => Scalar::Whole(number),
            (_, Ok(number)) if number.is_finite() => Scalar::Number(number),
            _ => Scalar::Text(text.to_owned()),
        }
    }

    /// Parses a value of a declared type. A value that does not match its type stays text; if a number is needed, that
    /// is reported later.
    fn typed(text: &str, kind: &str) -> Scalar {
        let trimmed = text.trim();
        let scalar = match kind {
            "int" | "integer" | "long" => trimmed.parse().ok().map(Scalar::Whole),
            "float" | "double" => trimmed.parse().ok().filter(|number: &f64| number.is_finite()).map(Scalar::Number),
            "boolean" => match trimmed.to_ascii_lowercase().as_str() {
                "true" | "1" => Some(Scalar::Truth(true)),
                "false" | "0" => Some(Scalar::Truth(false)),
                _ => None,
            },
            _ => None,
        };
        scalar.unwrap_or_else(|| Scalar::Text(text.to_owned()))
    }
}

impl GraphError {
    fn new(span: Range<usize>, problem: GraphProblem) -> GraphError {
        GraphError { span, problem }
    }
}

impl From<XmlError> for GraphError {
    fn from(error: XmlError) -> Self {
        GraphError::new(error.span, GraphProblem::Xml(error.problem))
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(formatter)
    }
}

impl fmt::Display for GraphProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphProblem::NotUtf8 => formatter.write_str("this is not UTF-8"),
            GraphProblem::Xml(problem) => problem.fmt(formatter),
            GraphProblem::Json(message) => write!(formatter, "this is not JSON: {message}"),
            GraphProblem::Expected(what) => write!(formatter, "expected {what}"),
            GraphProblem::Missing { what, inside } => write!(formatter, "{inside} needs {what}"),
            GraphProblem::Empty => formatter.write_str("the graph has no node"),
            GraphProblem::Id(error) => error.fmt(formatter),
            GraphProblem::NodeTwice(node) => write!(formatter, "there are two nodes `{node}`"),
            GraphProblem::UnknownNode(node) => write!(formatter, "there is no node `{node}`"),
            GraphProblem::Value { attribute, expected } => write!(formatter, "`{attribute}` must be {expected}"),
            GraphProblem::Unit { message, .. } => formatter.write_str(message),
            GraphProblem::HalfPosition => formatter.write_str("latitude and longitude go together: one is missing"),
            GraphProblem::OffTheMap => formatter.write_str("`x` and `y` lead off the map"),
            GraphProblem::LinkToItself => formatter.write_str("the edge leads from a node to itself"),
            GraphProblem::LinkTwice => formatter.write_str("these two nodes are linked already"),
            GraphProblem::OneWay => formatter.write_str(
                "links have two directions: make the graph undirected, or add the edge in the other direction",
            ),
            GraphProblem::TwoWays => {
                formatter.write_str("the edge in the other direction has another latency or bandwidth")
            }
        }
    }
}

impl Error for GraphError {}

#[cfg(test)]
mod tests;
