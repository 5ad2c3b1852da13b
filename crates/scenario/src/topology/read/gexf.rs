//! Reads GEXF: `<attribute>` declares attributes, `<attvalue>` has their values.

use std::ops::Range;

use super::graphml::required;
use super::{Attribute, Graph, GraphEdge, GraphError, GraphNode, GraphProblem, Scalar};
use crate::xml::{Element, Piece, Xml};

/// A declared attribute of nodes or edges.
#[derive(Debug)]
struct Declared {
    of_edges: bool,
    id: String,
    title: String,
    kind: String,
    default: Option<(String, Range<usize>)>,
}

/// The state of the reader.
#[derive(Debug, Default)]
struct State {
    graph: Graph,
    has_graph: bool,
    directed: bool,
    declares_for_edges: bool,
    declared: Vec<Declared>,
    node: Option<GraphNode>,
    edge: Option<GraphEdge>,
    /// The text and the place of the `<default>` that is being read.
    default: Option<(String, Range<usize>)>,
}

pub(super) fn read(text: &str) -> Result<Graph, GraphError> {
    let mut xml = Xml::new(text);
    let mut state = State::default();
    while let Some((piece, span)) = xml.next()? {
        match piece {
            Piece::Open(element) if xml.depth() == 1 && element.name != "gexf" => {
                return Err(GraphError::new(span, GraphProblem::Expected("`<gexf>`")));
            }
            Piece::Open(element) => state.open(&element)?,
            Piece::Close(name) => state.close(&name),
            Piece::Text(text) => {
                if let Some((so_far, _)) = &mut state.default {
                    so_far.push_str(&text);
                }
            }
        }
    }
    if !state.has_graph {
        let missing = GraphProblem::Missing { what: "a `<graph>`", inside: "`<gexf>`" };
        return Err(GraphError::new(0..text.len(), missing));
    }
    state.add_defaults();
    Ok(state.graph)
}

impl State {
    fn open(&mut self, element: &Element) -> Result<(), GraphError> {
        let span = element.span.clone();
        match element.name.as_str() {
            "graph" => {
                self.has_graph = true;
                self.graph.span = span;
                self.directed = element.attribute("defaultedgetype") == Some("directed");
            }
            "attributes" => self.declares_for_edges = element.attribute("class") == Some("edge"),
            "attribute" => {
                let id = required(element, "id", "an `id`", "`<attribute>`")?;
                let title = element.attribute("title").unwrap_or(&id).to_owned();
                let kind = element.attribute("type").unwrap_or("string").to_owned();
                self.declared.push(Declared { of_edges: self.declares_for_edges, id, title, kind, default: None });
            }
            "default" => self.default = Some((String::new(), span)),
            "node" if self.node.is_some() => {
                return Err(GraphError::new(span, GraphProblem::Expected("a plain graph, with no node inside a node")));
            }
            "node" => {
                let id = required(element, "id", "an `id`", "`<node>`")?;
                // Some tools always write a label. One that repeats the id carries no information.
                let label = element.attribute("label").filter(|label| *label != id);
                let attributes = label
                    .map(|label| Attribute {
                        name: "label".to_owned(),
                        value: Scalar::Text(label.to_owned()),
                        span: span.clone(),
                    })
                    .into_iter()
                    .collect();
                self.node = Some(GraphNode { name: Scalar::untyped_name(&id), key: id, span, attributes });
            }
            "edge" => {
                let directed = match element.attribute("type") {
                    Some(kind) => kind == "directed",
                    None => self.directed,
                };
                self.edge = Some(GraphEdge {
                    source: required(element, "source", "a `source`", "`<edge>`")?,
                    target: required(element, "target", "a `target`", "`<edge>`")?,
                    directed,
                    span,
                    attributes: Vec::new(),
                });
            }
            "attvalue" => self.attribute_value(element)?,
            _ => {}
        }
        Ok(())
    }

    fn attribute_value(&mut self, element: &Element) -> Result<(), GraphError> {
        let id = match element.attribute("for") {
            Some(id) => id.to_owned(),
            None => required(element, "id", "a `for`", "`<attvalue>`")?,
        };
        let text = required(element, "value", "a `value`", "`<attvalue>`")?;
        let of_edges = self.edge.is_some();
        let declared = self.declared.iter().find(|declared| declared.id == id && declared.of_edges == of_edges);
        let (name, value) = match declared {
            Some(declared) => (declared.title.clone(), Scalar::typed(&text, &declared.kind)),
            None => (id, Scalar::untyped(&text)),
        };
        let attribute = Attribute { name, value, span: element.span.clone() };
        match (&mut self.edge, &mut self.node) {
            (Some(edge), _) => edge.attributes.push(attribute),
            (None, Some(node)) => node.attributes.push(attribute),
            (None, None) => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        match name {
            "default" => {
                if let (Some(declared), Some(default)) = (self.declared.last_mut(), self.default.take()) {
                    declared.default = Some(default);
                }
            }
            "node" => self.graph.nodes.extend(self.node.take()),
            "edge" => self.graph.edges.extend(self.edge.take()),
            _ => {}
        }
    }

    /// Adds the declared default of each attribute to the nodes or edges without it.
    fn add_defaults(&mut self) {
        for declared in &self.declared {
            let Some((text, span)) = &declared.default else { continue };
            let add = |attributes: &mut Vec<Attribute>| {
                if attributes.iter().all(|attribute| attribute.name != declared.title) {
                    let value = Scalar::typed(text, &declared.kind);
                    attributes.push(Attribute { name: declared.title.clone(), value, span: span.clone() });
                }
            };
            if declared.of_edges {
                self.graph.edges.iter_mut().for_each(|edge| add(&mut edge.attributes));
            } else {
                self.graph.nodes.iter_mut().for_each(|node| add(&mut node.attributes));
            }
        }
    }
}
