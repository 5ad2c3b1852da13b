//! Checks the numbers of a scenario, as a tree of values, against their ranges in the schema.
//!
//! Number types such as [`Time`](crate::settings::Time) also check their range when they are read. Plain numbers are
//! checked only here.

use std::sync::OnceLock;

use serde_json::Value as Json;

use crate::mistake::Mistake;
use crate::read::KIND;
use crate::schema::schema;
use crate::settings::shown;
use crate::tree::{Node, Table, Value};

/// Returns an error for each number out of range, in the order of the tree.
pub(crate) fn check_ranges(tree: &Table) -> Vec<Mistake> {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    let schema = SCHEMA.get_or_init(schema);
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
            let why = part["$comment"].as_str().unwrap_or_default();
            let mistake = Mistake::new(message).at(Some(node.place.clone()));
            self.mistakes.push(mistake.hint(format!("write a number in that range: {why}")));
        }
    }
}

/// The part of a schema that describes a table of this kind. Without a known kind, the table counts as the first kind.
pub(crate) fn of_kind<'s>(table: &Table, part: &'s Json) -> &'s Json {
    let Some(kinds) = part["oneOf"].as_array() else { return part };
    let kind = match table.get(KIND).map(|node| &node.value) {
        Some(Value::String(kind)) => kinds.iter().find(|part| part["properties"][KIND]["const"] == **kind),
        _ => None,
    };
    kind.or(kinds.first()).unwrap_or(part)
}

/// The definition that a part of a schema refers to, or the part itself.
pub(crate) fn target<'s>(schema: &'s Json, part: &'s Json) -> &'s Json {
    let reference = part["$ref"].as_str().and_then(|reference| schema.pointer(reference.strip_prefix('#')?));
    reference.unwrap_or(part)
}
