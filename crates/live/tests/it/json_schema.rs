//! Checks JSON against the part of JSON Schema that `openapi.json` uses. Unlike a schema, the check refuses fields that
//! no part of the schema describes.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Checks a value against a schema of a document. The error names the part that is wrong.
pub fn valid(document: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let described = described(document, schema, value)?;
    let fields = value.as_object().into_iter().flat_map(Map::keys);
    match fields.into_iter().find(|field| !described.contains(*field)) {
        Some(field) => Err(format!("the field `{field}` is not described")),
        None => Ok(()),
    }
}

/// Checks a value, and returns the fields that the schema describes.
fn described(document: &Value, schema: &Value, value: &Value) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    if let Some(name) = schema["$ref"].as_str() {
        let target = name.strip_prefix('#').and_then(|pointer| document.pointer(pointer)).expect("a schema");
        found.extend(described(document, target, value)?);
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|wanted| has_type(value, wanted)) {
        return Err(format!("{value} is not of type {types:?}"));
    }
    let is_listed = schema["enum"].as_array().is_none_or(|all| all.contains(value));
    if !is_listed || !schema["const"].is_null() && schema["const"] != *value {
        return Err(format!("{value} is another word"));
    }
    if value.as_f64().zip(schema["minimum"].as_f64()).is_some_and(|(value, minimum)| value < minimum) {
        return Err(format!("{value} is too small"));
    }
    if let Value::Object(fields) = value {
        found.extend(described_fields(document, schema, fields)?);
    }
    if let Value::Array(items) = value {
        let places = schema["prefixItems"].as_array();
        for (place, item) in items.iter().enumerate() {
            let schema = places.and_then(|places| places.get(place)).unwrap_or(&schema["items"]);
            valid(document, schema, item).map_err(|fault| format!("[{place}]: {fault}"))?;
        }
    }
    for branches in ["anyOf", "oneOf"].iter().filter_map(|keyword| schema[*keyword].as_array()) {
        let checked: Vec<_> = branches.iter().map(|branch| described(document, branch, value)).collect();
        let faults: Vec<String> = checked.iter().filter_map(|one| one.as_ref().err().cloned()).collect();
        let fits = checked.into_iter().find_map(Result::ok);
        found.extend(fits.ok_or_else(|| format!("none fits: {}", faults.join("; ")))?);
    }
    Ok(found)
}

fn described_fields(document: &Value, schema: &Value, fields: &Map<String, Value>) -> Result<BTreeSet<String>, String> {
    let known = schema["properties"].as_object();
    let mut found: BTreeSet<String> = known.into_iter().flat_map(Map::keys).cloned().collect();
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(required) {
            return Err(format!("the field `{required}` is missing"));
        }
    }
    for (name, field) in fields {
        let schema = known.and_then(|known| known.get(name)).or_else(|| schema.get("additionalProperties"));
        if let Some(schema) = schema.filter(|schema| schema.is_object()) {
            valid(document, schema, field).map_err(|fault| format!(".{name}: {fault}"))?;
            found.insert(name.clone());
        }
    }
    Ok(found)
}

fn has_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => panic!("unknown type: {wanted}"),
    }
}
