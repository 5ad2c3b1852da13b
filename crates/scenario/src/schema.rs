//! The JSON schema of scenario files.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::presets;
use crate::settings::{LISTS, Settings};
use crate::units::allow_units;

/// The JSON schema of scenario files, for editors and for programs that write such files.
pub fn schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Settings>().to_value();
    make_first_kind_the_default(&mut schema);
    allow_units(&mut schema);
    // An application that extends one of an earlier layer needs only its id.
    if let Some(application) = schema.pointer_mut("/$defs/ApplicationSettings/required") {
        *application = json!(["id"]);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let described = std::mem::take(properties);
        *properties = layer_keys();
        properties.extend(described);
    }
    schema
}

/// The schema, made at the first call.
pub(crate) fn stored_schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(schema)
}

/// The schema as formatted JSON, as in the file `scenario.schema.json` beside the presets.
pub fn schema_text() -> String {
    let mut text = serde_json::to_string_pretty(&schema()).expect("a schema is plain data");
    text.push('\n');
    text
}

/// The keys that control how a file is merged with a preset and other files. They are not part of [`Settings`].
fn layer_keys() -> Map<String, Value> {
    let words = |description: &str, items: Value| json!({ "description": description, "anyOf": [items, { "type": "array", "items": items }] });
    let names: Vec<&str> = presets::names().collect();
    let mut keys = Map::new();
    keys.insert("preset".to_owned(), json!({ "description": "The preset that this file extends.", "enum": names }));
    keys.insert(
        "include".to_owned(),
        words("Files that this one extends, relative to its directory; later ones win.", json!({ "type": "string" })),
    );
    keys.insert("reset".to_owned(), words(&reset_description(), json!({ "type": "string" })));
    keys
}

fn reset_description() -> String {
    let lists = LISTS.map(|list| format!("`{list}`")).join(", ");
    format!(
        "Top-level keys of the preset and of included files to clear: the lists {lists}, or tables such as `topology`."
    )
}

/// Makes `kind` optional in tables of the first kind, which is the default. `[[churn]]` has no default kind.
fn make_first_kind_the_default(schema: &mut Value) {
    let Some(Value::Object(definitions)) = schema.get_mut("$defs") else { return };
    for (name, definition) in definitions {
        if name == "ChurnSettings" {
            continue;
        }
        let first = definition.get_mut("oneOf").and_then(|kinds| kinds.get_mut(0));
        if let Some(Value::Array(required)) = first.and_then(|kind| kind.get_mut("required")) {
            required.retain(|key| key != "kind");
        }
    }
}
