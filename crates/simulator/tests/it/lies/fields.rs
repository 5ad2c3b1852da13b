//! The fields of a trace, by name, and how each can be changed.

use std::fmt;

use serde_json::{Value, json};

use super::Trace;

/// How a field is changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Change {
    /// The number plus 1.
    More,
    /// The number minus 1.
    Less,
    /// The number times 100, plus 37.
    Much,
    /// The next index of the table in the header (0 after the last), or 0 instead of null.
    Other,
    /// Another valid word, an unknown name, or the negation of a boolean.
    Word,
    /// The field, list element or record is removed.
    Dropped,
    /// The list element or record occurs twice.
    Repeated,
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Change::More => "one more",
            Change::Less => "one less",
            Change::Much => "much more",
            Change::Other => "of another place",
            Change::Word => "of another word",
            Change::Dropped => "omitted",
            Change::Repeated => "told twice",
        })
    }
}

/// A change of one field in one place.
pub struct Lie {
    /// The field, such as `evaluation/requests/*/rate`.
    pub field: String,
    pub change: Change,
    /// The line, from 0.
    pub line: usize,
    pointer: String,
    value: Option<Value>,
}

impl Lie {
    pub fn tell(&self, trace: &mut Trace) {
        let (parent, last) = self.pointer.rsplit_once('/').unwrap_or(("", ""));
        match (&self.value, self.change) {
            (Some(value), _) => *trace.0[self.line].pointer_mut(&self.pointer).expect("a field") = value.clone(),
            (None, change) if self.pointer.is_empty() => {
                if change == Change::Repeated {
                    trace.0.insert(self.line, trace.0[self.line].clone());
                } else {
                    trace.0.remove(self.line);
                }
            }
            (None, change) => match trace.0[self.line].pointer_mut(parent).expect("a list or an object") {
                Value::Array(elements) => {
                    let place: usize = last.parse().expect("a place");
                    if change == Change::Repeated {
                        elements.insert(place, elements[place].clone());
                    } else {
                        elements.remove(place);
                    }
                }
                Value::Object(object) => drop(object.shift_remove(last)),
                _ => unreachable!("only lists and objects have elements"),
            },
        }
    }
}

/// The names of the elements of each kind of record in the traces that are changed, after the kind itself.
const RECORDS: &[(&str, &[&str])] = &[
    ("deployed", &["time", "instance", "application", "node", "policy"]),
    ("handover", &["time", "user", "from", "to"]),
    ("evaluation", &["time", "instance", "node", "free", "requests", "inhibited", "solutions", "ending", "random"]),
    ("cycle", &["time", "outcomes"]),
    ("node-leaving", &["time", "node"]),
    ("node-down", &["time", "node", "cause", "instances"]),
    ("node-up", &["time", "node"]),
    ("link-down", &["time", "node", "node"]),
    ("link-up", &["time", "node", "node"]),
    ("regret", &["time", "search", "users", "actual", "best"]),
    ("responses", &["time", "application", "served", "lost", "sum", "histogram"]),
    ("usage", &["time", "application", "evaluations", "sum"]),
    ("client", &["time", "user", "served", "lost", "sum"]),
    ("handovers", &["time", "moves"]),
    ("counts", &["time", "outcomes", "rules", "instances"]),
    ("gone", &["time", "instances"]),
    ("owner", &["time", "node", "acts"]),
    ("owners", &["time", "counts"]),
    ("clients", &["time", "application", "users", "served", "lost", "sum"]),
    ("calls", &["time", "call", "sent", "served", "lost", "sum"]),
    ("end", &["time", "totals"]),
];

/// The names of the elements of the lists in records; `*` stands for any position in a list, and a word such as `nop`
/// for the positions whose elements are of that kind.
const ELEMENTS: &[(&str, &[&str])] = &[
    ("evaluation/requests/*", &["neighbour", "rate", "latency"]),
    ("evaluation/inhibited/*", &["operation", "target"]),
    ("evaluation/solutions/*", &["operation", "target", "clause"]),
    ("evaluation/solutions/invalid", &["operation", "why", "clause"]),
    ("cycle/outcomes/nop", &["instance", "operation"]),
    ("cycle/outcomes/undeploy accepted", &["instance", "operation", "verdict"]),
    ("cycle/outcomes/deploy accepted", &["instance", "operation", "node", "verdict", "new", "application", "policy"]),
    ("cycle/outcomes/deploy inhibited", &["instance", "operation", "node", "verdict", "reason", "application"]),
    ("regret/actual", &["present", "satisfied", "served", "latency", "instances"]),
    ("regret/best", &["present", "satisfied", "served", "latency", "instances"]),
    ("responses/histogram/*", &["bin", "count"]),
    ("handovers/moves/*", &["application", "count"]),
    (
        "counts/outcomes/*",
        &["application", "nop", "undeploy", "migrate", "replicate", "inhibited", "deployed", "not deployed", "adapt"],
    ),
    ("counts/rules/*", &["rule", "count"]),
    ("counts/instances/*", &["application", "tier", "count"]),
    ("gone/instances/*", &["application", "tier", "count"]),
    ("owner/acts/evicted", &["act", "instance", "reason"]),
    ("owner/acts/shrunk", &["act", "instance", "flavour", "reason"]),
    ("owner/acts/leave", &["act", "instance", "evaluations", "reason"]),
    ("owners/counts/*", &["application", "tier", "evicted", "shrunk", "announced"]),
];

/// The names of the elements of an accepted outcome of a cycle that is not in [`ELEMENTS`].
const ACCEPTED: &[&str] = &["instance", "operation", "target", "verdict", "new"];
/// The names of the elements of an inhibited outcome of a cycle that is not in [`ELEMENTS`].
const INHIBITED: &[&str] = &["instance", "operation", "target", "verdict", "reason"];

/// The names of fields, each with some of its valid words. [`Change::Word`] replaces a listed word with the next one.
const WORDS: &[(&str, &[&str])] = &[
    ("operation", &["undeploy", "migrate", "replicate", "nop", "adapt"]),
    ("verdict", &["accepted", "inhibited"]),
    ("cause", &["crash", "leave", "absent"]),
    ("rule", &["capacity", "neighbourhood", "leaving", "down", "acceptance", "flavour"]),
    ("search", &["greedy", "exact"]),
    ("observation", &["arrivals", "route-entries"]),
    ("routing", &["nearest", "least-used"]),
    ("arbitration", &["managers", "sequential", "central"]),
    ("memory", &["sliding", "periodic"]),
    ("order", &["sequence", "parallel"]),
    ("traffic", &["messages", "rates"]),
    ("detail", &["full", "operations", "summary"]),
];

/// All lies to try on a trace.
pub fn lies(truth: &Trace) -> Vec<Lie> {
    let tables = Tables {
        nodes: length(&truth.0[0]["nodes"]),
        applications: length(&truth.0[0]["applications"]),
        users: length(&truth.0[0]["users"]),
        policies: length(&truth.0[0]["policies"]),
        acceptances: length(&truth.0[0]["acceptances"]),
        calls: length(&truth.0[0]["calls"]),
    };
    let mut all = Vec::new();
    for (line, value) in truth.0.iter().enumerate() {
        let mut found = Vec::new();
        if line == 0 {
            object(value, "header", "", &tables, &mut found);
        } else {
            let kind = value[0].as_str().expect("a kind");
            found.push((kind.to_owned(), Change::Dropped, String::new(), None));
            found.push((kind.to_owned(), Change::Repeated, String::new(), None));
            let (_, names) = RECORDS.iter().find(|(name, _)| *name == kind).expect("a kind of record");
            for (place, element) in value.as_array().expect("a list").iter().enumerate().skip(1) {
                let field = format!("{kind}/{}", names[place - 1]);
                any(element, &field, &format!("/{place}"), &tables, &mut found);
            }
        }
        all.extend(found.into_iter().map(|(field, change, pointer, value)| Lie {
            field,
            change,
            line,
            pointer,
            value,
        }));
    }
    all
}

fn length(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

/// The sizes of the tables of the header.
struct Tables {
    nodes: usize,
    applications: usize,
    users: usize,
    policies: usize,
    acceptances: usize,
    calls: usize,
}

impl Tables {
    /// The size of the table that the field is an index into; `None` if it is no index.
    fn of(&self, field: &str) -> Option<usize> {
        let name = field.rsplit('/').next().unwrap_or_default();
        match name {
            "node" if field.starts_with("cycle/") && field.contains("reason") => None,
            "node" | "from" | "to" | "target" | "neighbour" | "neighbours" => Some(self.nodes),
            "application" | "caller" => Some(self.applications),
            "call" => Some(self.calls),
            "user" => Some(self.users),
            "policy" => Some(self.policies),
            "acceptance" => Some(self.acceptances),
            _ => None,
        }
    }
}

type Changes = Vec<(String, Change, String, Option<Value>)>;

fn any(value: &Value, field: &str, pointer: &str, tables: &Tables, changes: &mut Changes) {
    match value {
        Value::Array(elements) => list(elements, field, pointer, tables, changes),
        Value::Object(_) => object(value, field, pointer, tables, changes),
        _ => leaf(value, field, pointer, tables, changes),
    }
}

fn object(value: &Value, field: &str, pointer: &str, tables: &Tables, changes: &mut Changes) {
    for (key, value) in value.as_object().expect("an object") {
        let (field, pointer) = (format!("{field}/{key}"), format!("{pointer}/{key}"));
        changes.push((field.clone(), Change::Dropped, pointer.clone(), None));
        any(value, &field, &pointer, tables, changes);
    }
}

fn list(elements: &[Value], field: &str, pointer: &str, tables: &Tables, changes: &mut Changes) {
    let named = |field: &str| ELEMENTS.iter().find(|(name, _)| *name == field).map(|(_, names)| *names);
    if let Some(names) = named(field) {
        // The elements of this list have names. They are changed, but neither dropped nor repeated.
        for (place, element) in elements.iter().enumerate() {
            any(element, &format!("{field}/{}", names[place]), &format!("{pointer}/{place}"), tables, changes);
        }
        return;
    }
    for (place, element) in elements.iter().enumerate() {
        let pointer = format!("{pointer}/{place}");
        let (field, names) = match field {
            "cycle/outcomes" => outcome(element),
            "owner/acts" => {
                let field = format!("owner/acts/{}", element[0].as_str().unwrap_or_default());
                let names = named(&field);
                (field, names)
            }
            "evaluation/solutions" if element[0] == "invalid" => {
                let field = "evaluation/solutions/invalid".to_owned();
                let names = named(&field);
                (field, names)
            }
            _ => {
                let field = format!("{field}/*");
                let names = named(&field);
                (field, names)
            }
        };
        changes.push((field.clone(), Change::Dropped, pointer.clone(), None));
        changes.push((field.clone(), Change::Repeated, pointer.clone(), None));
        match (element, names) {
            (Value::Array(parts), Some(names)) => {
                for (place, part) in parts.iter().enumerate() {
                    any(part, &format!("{field}/{}", names[place]), &format!("{pointer}/{place}"), tables, changes);
                }
            }
            _ => any(element, &field, &pointer, tables, changes),
        }
    }
}

/// The field of an outcome of a cycle, and the names of its elements.
fn outcome(element: &Value) -> (String, Option<&'static [&'static str]>) {
    let word = |place: usize| element[place].as_str().unwrap_or_default();
    let verdict = match (word(1), word(2), word(3)) {
        ("nop", ..) => "",
        ("undeploy", "accepted", _) | (_, _, "accepted") => " accepted",
        _ => " inhibited",
    };
    let field = format!("cycle/outcomes/{}{verdict}", word(1));
    let known = ELEMENTS.iter().find(|(name, _)| *name == field).map(|(_, names)| *names);
    let others = if verdict == " accepted" { ACCEPTED } else { INHIBITED };
    (field, Some(known.unwrap_or(others)))
}

fn leaf(value: &Value, field: &str, pointer: &str, tables: &Tables, changes: &mut Changes) {
    let mut change = |change: Change, value: Value| {
        changes.push((field.to_owned(), change, pointer.to_owned(), Some(value)));
    };
    let name = field.trim_end_matches("/*").rsplit('/').next().unwrap_or_default();
    let table = tables.of(field.trim_end_matches("/*"));
    match (value, table) {
        (Value::Number(place), Some(count)) if count > 1 => {
            let place = place.as_u64().expect("a place");
            change(Change::Other, json!((place + 1) % count as u64));
        }
        (Value::Number(_), Some(_)) => {}
        (Value::Number(number), None) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => {
                change(Change::More, json!(whole + 1));
                change(Change::Much, json!(whole * 100 + 37));
                if whole > 0 {
                    change(Change::Less, json!(whole - 1));
                }
            }
            (None, Some(fraction)) => {
                change(Change::More, json!(fraction + 1.0));
                change(Change::Much, json!(fraction * 100.0 + 37.0));
                change(Change::Less, json!(fraction - 1.0));
            }
            (None, None) => {}
        },
        // For example, the access point before an arrival or after a departure.
        (Value::Null, Some(_)) => change(Change::Other, json!(0)),
        (Value::Null, None) if name == "bin" => change(Change::Other, json!(0)),
        (Value::Bool(word), _) => change(Change::Word, json!(!word)),
        (Value::String(word), _) => {
            let known = WORDS.iter().find(|(of, words)| *of == name && words.contains(&word.as_str()));
            let other = match known {
                Some((_, words)) => {
                    let place = words.iter().position(|known| *known == word.as_str()).unwrap_or(0);
                    words[(place + 1) % words.len()].to_owned()
                }
                None => format!("{word} x"),
            };
            change(Change::Word, json!(other));
        }
        _ => {}
    }
}
