//! Reads GML: keys with numbers, texts, or lists of keys in brackets.

use std::ops::Range;

use super::{Attribute, Graph, GraphEdge, GraphError, GraphNode, GraphProblem, Scalar};

/// A token of a GML text.
#[derive(Clone, PartialEq, Debug)]
enum Token {
    Key(String),
    Value(Scalar),
    Open,
    Close,
}

/// A list in brackets that is being read. Only the graph, its nodes and its edges are used; values in other lists are
/// skipped.
#[derive(Debug)]
enum Block {
    Graph,
    Node(Vec<Attribute>),
    Edge(Vec<Attribute>),
    Other,
}

pub(super) fn read(text: &str) -> Result<Graph, GraphError> {
    let mut tokens = Tokens { text, position: 0 };
    let mut graph = Graph::default();
    let (mut has_graph, mut directed) = (false, false);
    let mut blocks: Vec<(Block, Range<usize>)> = Vec::new();
    while let Some((token, span)) = tokens.next()? {
        let key = match token {
            Token::Key(key) => key,
            Token::Close => {
                let Some((block, opened)) = blocks.pop() else {
                    return Err(GraphError::new(span, GraphProblem::Expected("a key: nothing is open here")));
                };
                close(block, opened.start..span.end, directed, &mut graph)?;
                continue;
            }
            Token::Open | Token::Value(_) => {
                return Err(GraphError::new(span, GraphProblem::Expected("a key, such as `node`")));
            }
        };
        let value = tokens.next()?;
        match (value, blocks.last_mut().map(|(block, _)| block)) {
            (Some((Token::Open, _)), inside) => {
                let block = match (inside, key.as_str()) {
                    (None, "graph") if has_graph => {
                        return Err(GraphError::new(span, GraphProblem::Expected("one graph, and no second one")));
                    }
                    (None, "graph") => {
                        has_graph = true;
                        graph.span = span.clone();
                        Block::Graph
                    }
                    (Some(Block::Graph), "node") => Block::Node(Vec::new()),
                    (Some(Block::Graph), "edge") => Block::Edge(Vec::new()),
                    _ => Block::Other,
                };
                blocks.push((block, span));
            }
            (Some((Token::Value(value), end)), inside) => match inside {
                Some(Block::Graph) if key == "directed" => directed = value == Scalar::Whole(1),
                Some(Block::Node(attributes) | Block::Edge(attributes)) => {
                    attributes.push(Attribute { name: key, value, span: span.start..end.end });
                }
                _ => {}
            },
            _ => {
                let expected = "a value for the key: a number, a text in quotes, or a list in brackets";
                return Err(GraphError::new(span, GraphProblem::Expected(expected)));
            }
        }
    }
    if let Some((_, opened)) = blocks.pop() {
        return Err(GraphError::new(opened, GraphProblem::Expected("`]` before the text ends")));
    }
    if !has_graph {
        let missing = GraphProblem::Missing { what: "a `graph [ ... ]`", inside: "the text" };
        return Err(GraphError::new(0..text.len(), missing));
    }
    // Whether the graph is directed may be stated after its edges.
    graph.edges.iter_mut().for_each(|edge| edge.directed = directed);
    Ok(graph)
}

fn close(block: Block, span: Range<usize>, directed: bool, graph: &mut Graph) -> Result<(), GraphError> {
    let required = |attributes: &mut Vec<Attribute>, name: &str, what, inside| {
        let place = attributes.iter().position(|attribute| attribute.name == name);
        let value = place.map(|place| attributes.remove(place).value);
        value.ok_or_else(|| GraphError::new(span.clone(), GraphProblem::Missing { what, inside }))
    };
    match block {
        Block::Node(mut attributes) => {
            let id = required(&mut attributes, "id", "an `id`", "`node`")?;
            let label = attributes.iter().position(|attribute| attribute.name == "label");
            let name = match label.map(|place| attributes.remove(place).value) {
                Some(Scalar::Text(label)) => Scalar::untyped_name(&label),
                Some(label) => label,
                None => id.clone(),
            };
            graph.nodes.push(GraphNode { key: written(&id), name, span, attributes });
        }
        Block::Edge(mut attributes) => {
            let source = written(&required(&mut attributes, "source", "a `source`", "`edge`")?);
            let target = written(&required(&mut attributes, "target", "a `target`", "`edge`")?);
            graph.edges.push(GraphEdge { source, target, directed, span, attributes });
        }
        Block::Graph | Block::Other => {}
    }
    Ok(())
}

fn written(value: &Scalar) -> String {
    match value {
        Scalar::Text(text) => text.clone(),
        Scalar::Whole(number) => number.to_string(),
        Scalar::Number(number) => number.to_string(),
        Scalar::Truth(truth) => truth.to_string(),
    }
}

struct Tokens<'t> {
    text: &'t str,
    position: usize,
}

impl Tokens<'_> {
    fn next(&mut self) -> Result<Option<(Token, Range<usize>)>, GraphError> {
        self.skip_blank();
        let start = self.position;
        let rest = &self.text[start..];
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let token = match first {
            '[' => self.take(1, Token::Open),
            ']' => self.take(1, Token::Close),
            '"' => {
                let Some(length) = rest[1..].find('"') else {
                    let problem = GraphProblem::Expected("a `\"` at the end of the text in quotes");
                    return Err(GraphError::new(start..self.text.len(), problem));
                };
                let text = decode(&rest[1..=length]);
                self.take(length + 2, Token::Value(Scalar::Text(text)))
            }
            _ => {
                let length = rest.find(|end: char| end.is_whitespace() || "[]\"#".contains(end)).unwrap_or(rest.len());
                let word = &rest[..length];
                if first.is_ascii_alphabetic() || first == '_' {
                    self.take(length, Token::Key(word.to_owned()))
                } else {
                    let value = number(word).ok_or_else(|| {
                        let problem = GraphProblem::Expected("a key, a number, a text in quotes, `[` or `]`");
                        GraphError::new(start..start + length.max(first.len_utf8()), problem)
                    })?;
                    self.take(length, Token::Value(value))
                }
            }
        };
        Ok(Some((token, start..self.position)))
    }

    fn take(&mut self, length: usize, token: Token) -> Token {
        self.position += length;
        token
    }

    /// Skips white space, a byte order mark, and comments from `#` to the end of the line.
    fn skip_blank(&mut self) {
        loop {
            let rest = &self.text[self.position..];
            let trimmed =
                rest.trim_start_matches(|character: char| character.is_whitespace() || character == '\u{feff}');
            self.position += rest.len() - trimmed.len();
            if !trimmed.starts_with('#') {
                return;
            }
            self.position += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }
}

fn number(word: &str) -> Option<Scalar> {
    if let Ok(whole) = word.parse::<i64>() {
        return Some(Scalar::Whole(whole));
    }
    let number: f64 = word.parse().ok()?;
    // networkx writes `+INF`, which is not a finite number, but a valid unbounded capacity.
    Some(if number == f64::INFINITY && !word.contains(|digit: char| digit.is_ascii_digit()) {
        Scalar::Text("inf".to_owned())
    } else if number.is_finite() {
        Scalar::Number(number)
    } else {
        return None;
    })
}

/// Decodes character references such as `&#228;` and `&amp;`: GML files are ASCII. A text with an invalid reference
/// stays as it is.
fn decode(text: &str) -> String {
    quick_xml::escape::unescape(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}
