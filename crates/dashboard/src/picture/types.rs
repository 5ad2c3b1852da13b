//! Compares `assets/types.d.ts` and `assets/operators.d.ts`, which declare the page's data for the type checker of its
//! scripts, with the structs: the first with those of the page, the second with the schemas of the operators' interface.

use std::path::Path;

use mario_live::api::schemas;
use mario_testing::check_stored;
use serde_json::Value;

use super::charts::ShownChart;
use super::event::ColonyEvent;
use super::shown::{InstanceDetails, NodeDetails, Snapshot};
use crate::declarations::Declarations;

const ASSETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");

#[test]
fn declared_types_match_the_data_of_the_page() {
    let page = Declarations::new().with::<Snapshot>().with::<NodeDetails>().with::<InstanceDetails>();
    let declarations = page.with::<ColonyEvent>().with::<ShownChart>();
    declarations.compare_with_file(&Path::new(ASSETS).join("types.d.ts"), "");
}

#[test]
fn declared_types_match_the_answers_of_nodes() {
    let mut text = String::from(
        "// Generated from the schemas of the operators' interface: UPDATE_DOCUMENTS=1 cargo test -p mario-dashboard types\n\n\
         declare namespace Operators {\n",
    );
    for (name, schema) in schemas() {
        text += &format!("  type {name} = {};\n", type_of(&schema));
    }
    text += "}\n";
    check_stored(&Path::new(ASSETS).join("operators.d.ts"), &text, "UPDATE_DOCUMENTS");
}

/// The TypeScript type of a schema.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    let words = |all: &Vec<Value>| all.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    let union = |all: &Vec<Value>| all.iter().map(type_of).collect::<Vec<_>>().join(" | ");
    let branches = schema["anyOf"].as_array().or(schema["oneOf"].as_array()).map(union);
    match (&schema["type"], branches) {
        (Value::String(kind), Some(branches)) if kind == "object" => format!("{} & ({branches})", object(schema)),
        (_, Some(branches)) => branches,
        _ if !schema["const"].is_null() => schema["const"].to_string(),
        _ if schema["enum"].is_array() => schema["enum"].as_array().map(words).unwrap_or_default(),
        (Value::String(kind), None) => simple(kind, schema),
        (Value::Array(kinds), None) => {
            let kinds = kinds.iter().filter_map(Value::as_str);
            kinds.map(|kind| simple(kind, schema)).collect::<Vec<_>>().join(" | ")
        }
        _ => panic!("no type: {schema}"),
    }
}

fn simple(kind: &str, schema: &Value) -> String {
    match kind {
        "integer" | "number" => "number".to_owned(),
        "string" | "boolean" | "null" => kind.to_owned(),
        "object" => object(schema),
        "array" => match schema["prefixItems"].as_array() {
            Some(places) => format!("[{}]", places.iter().map(type_of).collect::<Vec<_>>().join(", ")),
            None => format!("Array<{}>", type_of(&schema["items"])),
        },
        _ => panic!("unknown type: {kind}"),
    }
}

fn object(schema: &Value) -> String {
    let Some(fields) = schema["properties"].as_object() else {
        return format!("Record<string, {}>", type_of(&schema["additionalProperties"]));
    };
    let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let fields = fields
        .iter()
        .map(|(name, field)| format!("{name}{}: {}", if is_required(name) { "" } else { "?" }, type_of(field)));
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}
