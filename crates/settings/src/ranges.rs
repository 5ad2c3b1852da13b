//! Checks the numbers of settings, as a tree of values, against their ranges in the JSON schema.
//!
//! Types of numbers may also check their range when they are read. Plain numbers are checked only here.

use serde_json::Value as Json;

use crate::mistake::Mistake;
use crate::read::KIND;
use crate::tree::{Node, Table, Value};

/// Returns an error for each number out of range, in the order of the tree.
pub fn check_ranges(tree: &Table, schema: &Json) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    Checking { schema, mistakes: &mut mistakes }.table(tree, schema);
    mistakes
}

struct Checking<'a> {
    schema: &'a Json,
    mistakes: &'a mut Vec<Mistake>,
}

impl Checking<'_> {
    fn table(&mut self, table: &Table, part: &Json) {
        let part = of_kind(table, part);
        for (key, node) in &table.entries {
            let below = part["properties"].get(key).or(part.get("additionalProperties"));
            if let Some(below) = below {
                self.node(node, key, below);
            }
        }
    }

    fn node(&mut self, node: &Node, key: &str, part: &Json) {
        let part = target(self.schema, part);
        for alternative in part["anyOf"].as_array().into_iter().flatten() {
            self.node(node, key, alternative);
        }
        match &node.value {
            Value::Table(table) => self.table(table, part),
            Value::List(elements) => {
                for element in elements {
                    self.node(element, key, &part["items"]);
                }
            }
            Value::Integer(number) => self.number(node, key, *number as f64, part),
            Value::Float(number) => self.number(node, key, *number, part),
            _ => {}
        }
    }

    fn number(&mut self, node: &Node, key: &str, number: f64, part: &Json) {
        let (Some(min), Some(max)) = (part["minimum"].as_f64(), part["maximum"].as_f64()) else { return };
        if !(min..=max).contains(&number) {
            let message = format!("`{key}` must be from {} to {}, not {}", shown(min), shown(max), shown(number));
            let hint = match part["$comment"].as_str() {
                Some(why) => format!("write a number in that range: {why}"),
                None => "write a number in that range".to_owned(),
            };
            self.mistakes.push(Mistake::new(message).at(Some(node.place.clone())).hint(hint));
        }
    }
}

/// The part of a schema that describes a table of this kind. Without a known kind, the table counts as the first kind.
pub fn of_kind<'s>(table: &Table, part: &'s Json) -> &'s Json {
    let Some(kinds) = part["oneOf"].as_array() else { return part };
    let kind = match table.get(KIND).map(|node| &node.value) {
        Some(Value::String(kind)) => kinds.iter().find(|part| part["properties"][KIND]["const"] == **kind),
        _ => None,
    };
    kind.or(kinds.first()).unwrap_or(part)
}

/// The definition that a part of a schema refers to, or the part itself.
pub fn target<'s>(schema: &'s Json, part: &'s Json) -> &'s Json {
    let reference = part["$ref"].as_str().and_then(|reference| schema.pointer(reference.strip_prefix('#')?));
    reference.unwrap_or(part)
}

/// A number as text for a message: integers below 10^12 with all digits, very large and very small numbers with an
/// exponent.
pub fn shown(value: f64) -> String {
    let size = value.abs();
    if value.fract() == 0.0 && size < 1e12 {
        format!("{value:.0}")
    } else if (1e-4..1e12).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}
