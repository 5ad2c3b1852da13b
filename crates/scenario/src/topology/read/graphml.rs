//! Reads `GraphML`: `<key>` declares attributes, `<data>` has their values.

use std::ops::Range;

use super::{Attribute, Graph, GraphEdge, GraphError, GraphNode, GraphProblem, Scalar};
use crate::xml::{Element, Piece, Xml};

/// A declared attribute of nodes or edges.
#[derive(Debug)]
struct Key {
    id: String,
    of: Of,
    name: String,
    kind: String,
    default: Option<(String, Range<usize>)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Of {
    Node,
    Edge,
    All,
    Other,
}

/// The state of the reader.
#[derive(Debug, Default)]
struct State {
    graph: Graph,
    keys: Vec<Key>,
    has_graph: bool,
    directed: bool,
    node: Option<GraphNode>,
    edge: Option<GraphEdge>,
    /// The `<data>` or `<default>` that is being read: its key, which is empty for a default, its place, and its text
    /// so far.
    data: Option<(String, Range<usize>, String)>,
    key: Option<Key>,
}

pub(super) fn read(text: &str) -> Result<Graph, GraphError> {
    let mut xml = Xml::new(text);
    let mut state = State::default();
    while let Some((piece, span)) = xml.next()? {
        match piece {
            Piece::Open(element) if xml.depth() == 1 && element.name != "graphml" => {
                return Err(GraphError::new(span, GraphProblem::Expected("`<graphml>`")));
            }
            Piece::Open(element) => state.open(&element)?,
            Piece::Close(name) => state.close(&name),
            Piece::Text(text) => {
                if let Some((_, _, so_far)) = &mut state.data {
                    so_far.push_str(&text);
                }
            }
        }
    }
    if !state.has_graph {
        let missing = GraphProblem::Missing { what: "a `<graph>`", inside: "`<graphml>`" };
        return Err(GraphError::new(0..text.len(), missing));
    }
    state.add_defaults();
    Ok(state.graph)
}

impl State {
    fn open(&mut self, element: &Element) -> Result<(), GraphError> {
        let unexpected = |what| Err(GraphError::new(element.span.clone(), GraphProblem::Expected(what)));
        match element.name.as_str() {
            "key" => self.key = Some(key(element)?),
            "default" => self.data = Some((String::new(), element.span.clone(), String::new())),
            "graph" if self.has_graph => return unexpected("one plain graph, none inside a node and no second one"),
            "graph" => {
                self.has_graph = true;
                self.graph.span = element.span.clone();
                self.directed = element.attribute("edgedefault") == Some("directed");
            }
            "hyperedge" => return unexpected("edges between two nodes"),
            "node" if self.has_graph => {
                let id = required(element, "id", "an `id`", "`<node>`")?;
                let name = Scalar::untyped_name(&id);
                self.node = Some(GraphNode { key: id, name, span: element.span.clone(), attributes: Vec::new() });
            }
            "edge" if self.has_graph => {
                let directed = match element.attribute("directed") {
                    Some(directed) => directed == "true",
                    None => self.directed,
                };
                self.edge = Some(GraphEdge {
                    source: required(element, "source", "a `source`", "`<edge>`")?,
                    target: required(element, "target", "a `target`", "`<edge>`")?,
                    directed,
                    span: element.span.clone(),
                    attributes: Vec::new(),
                });
            }
            "data" => {
                let key = required(element, "key", "a `key`", "`<data>`")?;
                self.data = Some((key, element.span.clone(), String::new()));
            }
            // A `<data>` that contains another element is not a scalar, and is skipped.
            _ => self.data = None,
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        match name {
            "key" => self.keys.extend(self.key.take()),
            "default" => {
                if let (Some(key), Some((_, span, text))) = (&mut self.key, self.data.take()) {
                    key.default = Some((text, span));
                }
            }
            "node" => self.graph.nodes.extend(self.node.take()),
            "edge" => self.graph.edges.extend(self.edge.take()),
            "data" => {
                let Some((id, span, text)) = self.data.take() else { return };
                let of = if self.edge.is_some() { Of::Edge } else { Of::Node };
                let key = self.keys.iter().find(|key| key.id == id && (key.of == of || key.of == Of::All));
                // The name of an undeclared key is its id.
                let attribute = match key {
                    Some(key) => Attribute { name: key.name.clone(), value: Scalar::typed(&text, &key.kind), span },
                    None => Attribute { name: id, value: Scalar::untyped(text.trim()), span },
                };
                match (&mut self.edge, &mut self.node) {
                    (Some(edge), _) => edge.attributes.push(attribute),
                    (None, Some(node)) => node.attributes.push(attribute),
                    (None, None) => {}
                }
            }
            _ => {}
        }
    }

    /// Adds the declared default of each attribute to the nodes or edges without it.
    fn add_defaults(&mut self) {
        for key in &self.keys {
            let Some((text, span)) = &key.default else { continue };
            let add = |attributes: &mut Vec<Attribute>| {
                if attributes.iter().all(|attribute| attribute.name != key.name) {
                    let value = Scalar::typed(text, &key.kind);
                    attributes.push(Attribute { name: key.name.clone(), value, span: span.clone() });
                }
            };
            if matches!(key.of, Of::Node | Of::All) {
                self.graph.nodes.iter_mut().for_each(|node| add(&mut node.attributes));
            }
            if matches!(key.of, Of::Edge | Of::All) {
                self.graph.edges.iter_mut().for_each(|edge| add(&mut edge.attributes));
            }
        }
    }
}

fn key(element: &Element) -> Result<Key, GraphError> {
    let id = required(element, "id", "an `id`", "`<key>`")?;
    let of = match element.attribute("for") {
        Some("node") => Of::Node,
        Some("edge") => Of::Edge,
        None | Some("all") => Of::All,
        Some(_) => Of::Other,
    };
    let name = element.attribute("attr.name").unwrap_or(&id).to_owned();
    let kind = element.attribute("attr.type").unwrap_or("string").to_owned();
    Ok(Key { id, of, name, kind, default: None })
}

/// The value of a required XML attribute; an error with `what` and `inside` if it is missing.
pub(super) fn required(
    element: &Element,
    attribute: &str,
    what: &'static str,
    inside: &'static str,
) -> Result<String, GraphError> {
    let missing = || GraphError::new(element.span.clone(), GraphProblem::Missing { what, inside });
    element.attribute(attribute).map(str::to_owned).ok_or_else(missing)
}
