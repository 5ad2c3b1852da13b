//! The stored schema, and the parts of `docs/scenarios.md` that are generated from the schema, are up to date.

use std::fs;
use std::path::{Path, PathBuf};

use mario_scenario::{schema, schema_text};
use mario_testing::{check_stored, replaced_part};
use serde_json::Value;

fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Compares a file with its expected content, or writes it if `UPDATE_DOCUMENTS` is set.
fn check(path: &str, wanted: &str) {
    check_stored(&workspace(path), wanted, "UPDATE_DOCUMENTS");
}

/// Compares the part of a page between its `begin` and `end` comments with the expected content, or writes it if
/// `UPDATE_DOCUMENTS` is set.
fn check_part(path: &str, name: &str, wanted: &str) {
    let page = fs::read_to_string(workspace(path)).expect("it is there");
    let [begin, end] = ["begin", "end"].map(|word| format!("<!-- {word}: {name} -->\n"));
    check(path, &replaced_part(&page, &begin, &end, wanted));
}

#[test]
fn the_stored_schema_is_current() {
    check("scenarios/scenario.schema.json", &schema_text());
}

/// The definition that a part of the schema refers to; the part itself if it has no `$ref`.
fn target<'a>(schema: &'a Value, part: &'a Value) -> &'a Value {
    match part.get("$ref").and_then(Value::as_str) {
        Some(reference) => schema.pointer(reference.trim_start_matches('#')).expect("references lead somewhere"),
        None => part,
    }
}

/// The description on one line, with `|` escaped for a table; empty if there is none.
fn sentence(part: &Value) -> String {
    let text = part.get("description").and_then(Value::as_str).unwrap_or_default();
    text.replace('\n', " ").replace('|', "\\|")
}

fn default(part: &Value) -> String {
    match part.get("default") {
        None | Some(Value::Null) => String::new(),
        Some(value) if value.is_object() || value == &Value::Array(Vec::new()) => String::new(),
        Some(value) => format!("`{value}`"),
    }
}

/// The strings that the schema lists as valid values; empty if it lists none.
fn words(schema: &Value, part: &Value) -> Vec<String> {
    let part = target(schema, part);
    let alternatives = part.get("oneOf").or(part.get("anyOf")).and_then(Value::as_array);
    let mut found: Vec<String> = alternatives.into_iter().flatten().flat_map(|part| words(schema, part)).collect();
    found.extend(part.get("const").and_then(Value::as_str).map(str::to_owned));
    found.extend(
        part.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned),
    );
    found
}

/// The range of the numbers of a key, and its reason; `None` if the key has no range.
fn range(schema: &Value, part: &Value) -> Option<(String, String)> {
    let part = target(schema, part);
    if let (Some(min), Some(max)) = (part["minimum"].as_f64(), part["maximum"].as_f64()) {
        let why = part["$comment"].as_str().expect("every range has a reason");
        return Some((format!("{} to {}", number(min), number(max)), why.to_owned()));
    }
    let inner = part["anyOf"].as_array().into_iter().flatten().chain(part.get("items"));
    inner.filter(|inner| target(schema, inner).get("properties").is_none()).find_map(|inner| range(schema, inner))
}

/// A number with thousands separators from 10,000 on, and in scientific notation from 10⁹ on.
fn number(value: f64) -> String {
    if value >= 1e9 {
        return format!("{value:.3e}").replace(".000", "");
    }
    let plain = value.to_string();
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain.as_str()), |digits| ("-", digits));
    if digits.contains('.') || digits.len() < 5 {
        return plain;
    }
    let first = digits.len() % 3;
    let groups = (first..digits.len()).step_by(3).map(|start| &digits[start..start + 3]);
    let all: Vec<&str> = Some(&digits[..first]).filter(|first| !first.is_empty()).into_iter().chain(groups).collect();
    format!("{sign}{}", all.join(","))
}

/// Collects every range with its reason and its keys, in the order of the schema.
fn add_reasons(schema: &Value, table: &Value, prefix: &str, reasons: &mut Vec<([String; 2], Vec<String>)>) {
    let table = target(schema, table);
    for kind in table["oneOf"].as_array().into_iter().flatten() {
        add_reasons(schema, kind, prefix, reasons);
    }
    for (key, part) in table["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{key}");
        if let Some((range, why)) = range(schema, part) {
            let place = reasons.iter().position(|(known, _)| known[0] == range && known[1] == why);
            let place = place.unwrap_or_else(|| {
                reasons.push(([range, why], Vec::new()));
                reasons.len() - 1
            });
            if !reasons[place].1.contains(&path) {
                reasons[place].1.push(path);
            }
            continue;
        }
        let inner = target(schema, part);
        let inner = inner.get("items").unwrap_or(inner);
        add_reasons(schema, inner, &format!("{path}."), reasons);
    }
}

#[test]
fn the_page_states_the_reason_of_every_range() {
    let schema = schema();
    let mut reasons = Vec::new();
    add_reasons(&schema, &schema, "", &mut reasons);
    let mut table = "| range | why | keys |\n|---|---|---|\n".to_owned();
    for ([range, why], keys) in reasons {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        table += &format!("| {range} | {why} | {} |\n", keys.join(", "));
    }
    check_part("docs/scenarios.md", "ranges", &table);
}

/// A Markdown table of the keys of a section, including nested keys.
fn rows(schema: &Value, table: &Value) -> String {
    let mut rows = "| key | default | range | meaning |\n|---|---|---|---|\n".to_owned();
    add_rows(schema, table, "", &mut rows);
    rows
}

fn add_rows(schema: &Value, table: &Value, prefix: &str, rows: &mut String) {
    let required: Vec<&str> = table["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, part) in table["properties"].as_object().into_iter().flatten() {
        let inner = target(schema, part);
        if inner.get("properties").is_some() {
            add_rows(schema, inner, &format!("{prefix}{key}."), rows);
            continue;
        }
        let default = match (default(part), required.contains(&key.as_str())) {
            (_, true) => "required".to_owned(),
            (default, false) => default,
        };
        let words = words(schema, part);
        let choice = if words.is_empty() {
            String::new()
        } else {
            format!(" One of {}.", words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "))
        };
        *rows += &format!(
            "| `{prefix}{key}` | {default} | {} | {}{} |\n",
            range(schema, part).map(|(range, _)| range).unwrap_or_default(),
            sentence(part),
            choice.replace(" One of `\"unbounded\"`.", "")
        );
    }
}

/// The generated part of the page: the keys of the file itself, then each section with its keys.
fn reference() -> String {
    let schema = schema();
    let mut page = String::from("## Keys of the file itself\n\n");
    let mut top = schema.clone();
    let mut sections = Vec::new();
    let properties = top["properties"].as_object_mut().expect("it is an object");
    let keys: Vec<String> = properties.keys().cloned().collect();
    for key in keys {
        let part = &schema["properties"][&key];
        let items = part.get("items").map(|items| target(&schema, items));
        let table = items.unwrap_or_else(|| target(&schema, part));
        if table.get("properties").is_some()
            || table.get("oneOf").is_some_and(|kinds| kinds[0].get("properties").is_some())
        {
            sections.push((key.clone(), items.is_some(), table));
            properties.shift_remove(&key);
        }
    }
    page += &rows(&schema, &top);
    for (key, is_list, table) in sections {
        let heading = if is_list { format!("[[{key}]]") } else { format!("[{key}]") };
        page += &format!("\n## `{heading}`\n\n{}\n\n", sentence(&schema["properties"][&key]));
        match table.get("oneOf").and_then(Value::as_array) {
            None => page += &rows(&schema, table),
            Some(kinds) => {
                for kind in kinds {
                    let name = kind["properties"]["kind"]["const"].as_str().expect("every kind has a name");
                    let mut described = kind.clone();
                    described["properties"].as_object_mut().expect("it is an object").shift_remove("kind");
                    page +=
                        &format!("### `kind = \"{name}\"`\n\n{}\n\n{}\n", sentence(kind), rows(&schema, &described));
                }
                page.truncate(page.trim_end().len());
                page.push('\n');
            }
        }
    }
    page
}

#[test]
fn the_page_lists_every_key_of_the_schema() {
    const MARK: &str = "<!-- What follows is made from the schema. -->\n";
    let page = fs::read_to_string(workspace("docs/scenarios.md")).expect("it is there");
    let (before, _) = page.split_once(MARK).expect("the mark is there");
    check("docs/scenarios.md", &format!("{before}{MARK}\n{}", reference()));
}
