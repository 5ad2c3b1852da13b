//! What another program said, possibly of another version.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The maximum length of the text of an unknown part, in characters.
const TEXT_CHARS_MAX: usize = 120;

/// Parsed JSON together with its original, which may have parts that this version does not know.
#[derive(Clone, PartialEq, Debug)]
pub struct Received<T> {
    /// The parts that this version knows.
    pub known: T,
    original: Value,
}

/// A part that this version does not know.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Unknown {
    /// The names of the fields that lead to it, with `.` between them and `[]` for the items of a list.
    pub path: String,
    /// Its value as JSON, truncated if it is long.
    pub value: String,
}

impl<T: DeserializeOwned> Received<T> {
    /// Parses JSON.
    pub fn read(original: Value) -> Result<Received<T>, serde_json::Error> {
        Ok(Received { known: T::deserialize(&original)?, original })
    }
}

impl<T: Serialize> Received<T> {
    /// The fields that this version does not know, each once, ordered by their paths.
    pub fn unknown(&self) -> Vec<Unknown> {
        let mut found = BTreeMap::new();
        if let Ok(known) = serde_json::to_value(&self.known) {
            compare(&self.original, &known, "", &mut found);
        }
        found.into_iter().map(|(path, value)| Unknown { path, value }).collect()
    }
}

/// Adds the fields of `original` that `known` lacks.
fn compare(original: &Value, known: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    match (original, known) {
        (Value::Object(original), Value::Object(known)) => {
            for (name, part) in original {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match known.get(name) {
                    Some(known) => compare(part, known, &path, found),
                    None => {
                        found.entry(path).or_insert_with(|| truncated(part));
                    }
                }
            }
        }
        (Value::Array(original), Value::Array(known)) => {
            for (part, known) in original.iter().zip(known) {
                compare(part, known, &format!("{path}[]"), found);
            }
        }
        _ => {}
    }
}

fn truncated(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl<T> Serialize for Received<T> {
    /// Writes the original.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.original.serialize(serializer)
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = {}", self.path, self.value)
    }
}
