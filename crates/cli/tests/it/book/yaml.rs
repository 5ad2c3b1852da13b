//! Reads the subset of YAML that the examples use. Aliases are errors, and tags are ignored.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// A collection that is being read.
enum Open {
    Sequence(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

/// Parses the documents of a text. An alias or a duplicate key is an error.
pub(super) fn documents(text: &str) -> Result<Vec<Value>, String> {
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        let value = match event {
            Event::Scalar(text, style, _, _) => scalar(&text, style),
            Event::SequenceStart(..) => {
                open.push(Open::Sequence(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Mapping(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::Sequence(values)) => Value::Array(values),
                Some(Open::Mapping(map, _)) => Value::Object(map),
                None => return Err(format!("line {}: nothing is open", span.start.line())),
            },
            Event::Alias(_) => return Err(format!("line {}: an alias", span.start.line())),
            _ => continue,
        };
        match open.last_mut() {
            None => documents.push(value),
            Some(Open::Sequence(values)) => values.push(value),
            Some(Open::Mapping(map, key)) => match key.take() {
                None => *key = Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
                Some(key) => {
                    if map.insert(key.clone(), value).is_some() {
                        return Err(format!("line {}: `{key}` is there twice", span.start.line()));
                    }
                }
            },
        }
    }
    Ok(documents)
}

/// Converts a scalar: a plain one that is a number or a boolean becomes that, all others become text.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    let plain = if style == ScalarStyle::Plain { serde_json::from_str(text).ok() } else { None };
    plain
        .filter(|value: &Value| value.is_number() || value.is_boolean())
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

#[test]
fn reads_documents_with_texts_numbers_and_lists() {
    let text = "a: 1\nb: [x, \"2\"]\nc: |\n  one\n  two\n---\n- {d: true}\n";
    let expected = [serde_json::json!({"a": 1, "b": ["x", "2"], "c": "one\ntwo\n"}), serde_json::json!([{"d": true}])];
    assert_eq!(documents(text).expect("YAML"), expected);
    assert!(documents("a: [1\nb: 2\n").is_err());
    assert!(documents("a: 1\na: 2\n").is_err());
}
